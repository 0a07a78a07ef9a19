//! Every classic file of the corpus copied to each classic kind: the reference prints our copy as it prints its own,
//! and what it refuses is refused in the same words.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::excused::UNFILLED;
use crate::nccopy_tool::{ours, printed, reference};
use crate::{Entry, classic, each, newest, within_seconds};

/// The three kinds; the reference documents `-5` and refuses it.
const KINDS: [&str; 3] = ["nc3", "nc6", "cdf5"];

/// What is wrong with the copies of a file; `copies` counts those that both made.
fn compare(entry: &Entry, copies: &AtomicUsize) -> Vec<String> {
    let path = entry.path.to_str().expect("names in the corpus are UTF-8");
    let folder = tempfile::tempdir().unwrap();
    let [their_file, our_file] = ["theirs.nc", "ours.nc"].map(|name| folder.path().join(name));
    let mut wrong = vec![];
    for kind in KINDS {
        let their = reference(&["-k", kind, path, their_file.to_str().unwrap()], folder.path());
        let our = ours(&["-k", kind, path, our_file.to_str().unwrap()]);
        if their != our {
            wrong.push(format!("{path} {kind}: {their:?} and {our:?}"));
        } else if their.code == Some(0) {
            copies.fetch_add(1, Ordering::Relaxed);
            if printed(&their_file) != printed(&our_file) {
                wrong.push(format!("{path} {kind}: the copies differ"));
            }
        }
    }
    wrong
}

#[test]
fn every_file_is_copied_to_each_kind() {
    let files: Vec<Entry> = classic().into_iter().filter(|entry| entry.normal).collect();
    let copies = AtomicUsize::new(0);
    let wrong = each(&files, |entry| compare(entry, &copies));
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    let (copies, runs) = (copies.into_inner(), files.len() * KINDS.len());
    println!("{runs} runs gave {copies} copies; the others were refused alike");
    assert!(copies > runs * 9 / 10, "only {copies} copies of {runs}");
}

/// Bytes of a file's data; none if it cannot be opened.
pub(crate) fn data_bytes(entry: &Entry) -> Option<u64> {
    let file = ferrocdf::File::open(&entry.path).ok()?;
    let model = file.model();
    let bytes = |var| model.shape(var).iter().fold(8u64, |bytes, &len| bytes.saturating_mul(len));
    Some(model.var_ids().map(bytes).fold(0, u64::saturating_add))
}

#[test]
fn hdf5_files_that_the_reference_copies_to_a_classic_kind() {
    let (copies, large) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // Of all files, the reference copies more than 280.
    let files = crate::sampled(crate::files(&["hdf5"]), 4);
    let wrong = each(&files, |entry| {
        let path = entry.path.to_str().expect("names in the corpus are UTF-8");
        match data_bytes(entry) {
            Some(bytes) if bytes > 200_000_000 => {
                large.fetch_add(1, Ordering::Relaxed);
                return vec![];
            }
            _ if !entry.normal
                || newest::LEFT_OUT.iter().chain(&UNFILLED).any(|(name, _)| path.ends_with(name)) =>
            {
                return vec![];
            }
            _ => {}
        }
        let folder = tempfile::tempdir().unwrap();
        let [their_file, our_file] = ["theirs.nc", "ours.nc"].map(|name| folder.path().join(name));
        let mut reference = within_seconds(20);
        let is_for_newest = newest::has_unnamed_types(&entry.path);
        if is_for_newest {
            reference.env("LD_PRELOAD", newest::library());
        }
        let their = reference.args(["nccopy", "-k", "cdf5", path]).arg(&their_file).output();
        let their = their.expect("the reference's nccopy must be installed");
        let our = ours(&["-k", "cdf5", path, our_file.to_str().unwrap()]);
        if !their.status.success() {
            let said = String::from_utf8_lossy(&their.stderr);
            let is_alike = our.code == Some(1) && said.lines().next() == Some(&*our.said);
            if is_for_newest && said.contains("netcdf-4 operation") && !is_alike {
                return vec![format!("{path}: {our:?} where the reference says {said}")];
            }
            return vec![];
        }
        copies.fetch_add(1, Ordering::Relaxed);
        if our.code != Some(0) {
            return vec![format!("{path}: {our:?}")];
        }
        let same = std::fs::read(&their_file).unwrap() == std::fs::read(&our_file).unwrap()
            || printed(&their_file) == printed(&our_file);
        if same { vec![] } else { vec![format!("{path}: the copies differ")] }
    });
    let (copies, large) = (copies.into_inner(), large.into_inner());
    println!("{copies} copies compared, {large} files too large");
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(copies > files.len() / 6, "only {copies} copies of {}", files.len());
}
