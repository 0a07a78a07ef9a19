//! HDF5 files of the corpus that the reference prints, printed by both, byte for byte: one in three, unless `FERROCDF_EVERY` says otherwise.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::excused::{self, Excused, is_excused};
use crate::ncdump_tool::{Run, ours};
use crate::{each, files, sampled, within_seconds};

/// All of it, and what `-s` adds, which is in the header.
const WAYS: [&[&str]; 2] = [&[], &["-h", "-s"]];

/// Files where the two differ besides those excused everywhere.
const EXCEPTIONS: &[Excused] = &[
    ("larger_than_INT_MAX_pixels.bag", "the reference prints none of 8,000,000,000 values"),
    ("h5diff_dset1.h5", TWO_BYTES),
    ("h5diff_dset2.h5", TWO_BYTES),
    ("h5diff_dset3.h5", TWO_BYTES),
    (
        "tenum.h5",
        "the reference does not escape the names of enumeration members, which ncgen cannot read then",
    ),
    ("nc4_compressed.nc", PROPERTIES),
    ("same_size_dims.nc", PROPERTIES),
];

/// Damaged files with a dataset that the reference leaves out without a word. Both print the same of them; ours says why
/// something is missing, and ends as what failed.
const TOLD: [&str; 3] = ["cve-2017-17507.h5", "cve-2021-45833.h5", "cve-2026-26200.h5"];

/// What our text shows where a file has types without a name. Debian's version leaves out what is of them; `unnamed_types`
/// compares these files with the newest.
const UNNAMED: &[u8] = b"_Anonymous";

const TWO_BYTES: &str = "the reference takes text of fixed length for pointers";
const PROPERTIES: &str = "the reference prints memory that it freed for _NCProperties";

fn reference(args: &[&str]) -> Run {
    let run = within_seconds(20).arg("ncdump").args(args).output();
    let output = run.expect("the reference's ncdump must be installed");
    Run { code: output.status.code(), out: output.stdout, err: output.stderr }
}

/// The first line that differs.
fn difference(theirs: &[u8], mine: &[u8]) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(120).collect::<String>();
    let (mut their, mut my) = (theirs.split(|&b| b == b'\n'), mine.split(|&b| b == b'\n'));
    for number in 1.. {
        match (their.next(), my.next()) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => return format!("line {number}: {:?}, ours {:?}", text(a), text(b)),
            (a, b) => return format!("line {number}: {:?}, ours {:?}", a.map(text), b.map(text)),
        }
    }
    unreachable!("two texts that are the same")
}

#[test]
fn what_the_reference_prints_we_print() {
    let files = files(&["hdf5"]);
    assert!(files.len() > 1000, "only {} HDF5 files", files.len());
    // Of all files, more than 1,200 texts of the reference are compared.
    let files = sampled(files, 3);
    let [compared, unnamed] = [0; 2].map(AtomicUsize::new);
    let differences = each(&files, |entry| {
        let file = entry.path.to_str().expect("names in the corpus are UTF-8");
        let mut found = vec![];
        if is_excused(&entry.path, EXCEPTIONS) {
            return found;
        }
        for way in WAYS {
            let args = [way, &[file]].concat();
            let theirs = reference(&args);
            if theirs.code != Some(0) {
                // Where it cannot print the data, its header is of no worth.
                break;
            }
            let mine = ours(&args);
            if mine.out.windows(UNNAMED.len()).any(|text| text == UNNAMED) {
                unnamed.fetch_add(1, Relaxed);
                break;
            }
            compared.fetch_add(1, Relaxed);
            let code = if TOLD.iter().any(|name| entry.path.ends_with(name)) { Some(1) } else { theirs.code };
            if (mine.code, &mine.out) != (code, &theirs.out) {
                let what = match mine.code {
                    Some(0 | 1) if mine.out != theirs.out => difference(&theirs.out, &mine.out),
                    _ => String::from_utf8_lossy(&mine.err).into_owned(),
                };
                found.push(format!("{file} {way:?}: {what}"));
            }
        }
        found
    });
    let [compared, unnamed] = [compared, unnamed].map(AtomicUsize::into_inner);
    println!("{compared} runs of the reference; {unnamed} files have types without a name; excused:");
    excused::all(EXCEPTIONS).for_each(|(file, why)| println!("{file}: {why}"));
    assert!(
        compared > files.len(),
        "only {compared} runs of the reference on {} files went well",
        files.len()
    );
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
