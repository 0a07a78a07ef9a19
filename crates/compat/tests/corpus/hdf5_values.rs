//! Every HDF5 file of the corpus, object by object, value by value, as h5py reads it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use ferrocdf_compat::listing::{compare, listing};
use ferrocdf_compat::python::Listings;

use crate::{each, files};

/// How long any file may take, however damaged it is.
const PATIENCE: Duration = Duration::from_secs(2);
/// Times that a file may try; the machine may have been busy with something else.
const TRIES: usize = 3;

/// Files where the two differ, by the end of their path and a part of the difference, each with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("", "filter 32013 (zfp", NOT_BUILT_IN),
    ("", "filter 32017 (", NOT_BUILT_IN),
    ("", "filter 32018 (", NOT_BUILT_IN),
    ("", "filter 32024 (", NOT_BUILT_IN),
    ("", "filter 32026 (", NOT_BUILT_IN),
    ("", "filter 32028 (", NOT_BUILT_IN),
    ("fill_value/FValue_chunk.h5", "values", NEVER_FILLED),
    ("fill_value/FValue_fd.h5", "values", NEVER_FILLED),
    ("fill_value/FValue_int64.h5", "values", NEVER_FILLED),
    ("fill_value/FValue_int8.h5", "values", NEVER_FILLED),
    ("fill_value/FValue_uint64.h5", "values", NEVER_FILLED),
    ("fill_value/FValue_uint8.h5", "values", NEVER_FILLED),
    ("cve-2018-13871.h5", "rest", "the damaged heap of an empty group, which the reference never looks at"),
    (
        "cve-2025-2309.h5",
        "@Comp_OBJREF",
        "a datatype of bits beyond its element: the reference reads what lies there",
    ),
    ("dtype_unbounded_recursion.h5", "", "types within one another, deeper than the 64 that we follow"),
    (
        "gh-4431-poc-03.h5",
        "",
        "a driver information block beyond the end of the file, which the reference does not read",
    ),
];

const NOT_BUILT_IN: &str = "a filter of hdf5plugin that is not built in; the error names it";
const NEVER_FILLED: &str = "chunks that were never written, of a dataset that is never filled: the reference leaves memory as it was";

fn exception(path: &str, difference: &str) -> Option<usize> {
    EXCEPTIONS.iter().position(|(file, part, _)| path.ends_with(file) && difference.contains(part))
}

#[test]
fn every_object_is_what_h5py_reads() {
    let files = files(&["hdf5"]);
    assert!(files.len() > 1000, "only {} HDF5 files", files.len());
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|entry| entry.path.clone()).collect();
    let began = Instant::now();
    let mut listings = Listings::start(&paths, folder.path());
    listings.finish();
    println!("h5py took {:.1} s", began.elapsed().as_secs_f64());

    let began = Instant::now();
    let (same, only_ours, closed, open) = Default::default();
    let counts: [&AtomicUsize; 4] = [&same, &only_ours, &closed, &open];
    let times = Mutex::new(vec![]);
    let used = Mutex::new(vec![0; EXCEPTIONS.len()]);
    let differences = each(&files, |entry| {
        let path = entry.path.to_str().expect("names in the corpus are UTF-8");
        let number = paths.iter().position(|path| *path == entry.path).expect("one of the files");
        let theirs = listings.facts(number);
        let mut best = Duration::MAX;
        let mut ours = None;
        for _ in 0..TRIES {
            let start = Instant::now();
            match catch_unwind(AssertUnwindSafe(|| listing(&entry.path))) {
                Ok(facts) => ours = Some(facts),
                Err(_) => return vec![format!("{path}: it panicked")],
            }
            best = best.min(start.elapsed());
            if best < PATIENCE {
                break;
            }
        }
        times.lock().unwrap().push((best, path.to_string()));
        let mut found = vec![];
        if best >= PATIENCE {
            found.push(format!("{path}: it took {best:?}"));
        }
        let ours = ours.expect("at least one try");
        let compared = compare(&theirs, &ours);
        same.fetch_add(compared.same, Relaxed);
        only_ours.fetch_add(compared.only_ours, Relaxed);
        closed.fetch_add(usize::from(compared.closed), Relaxed);
        open.fetch_add(usize::from(compared.closed && !ours.contains_key(&(0, "open".to_string()))), Relaxed);
        found.extend(compared.differences.into_iter().map(|what| format!("{path}: {what}")));
        found.retain(|difference| match exception(path, difference) {
            Some(number) => {
                used.lock().unwrap()[number] += 1;
                false
            }
            None => true,
        });
        found
    });
    let [same, only_ours, closed, open] = counts.map(|count| count.load(Relaxed));
    println!(
        "{} files in {:.1} s: {same} facts are the same, {only_ours} only we can tell; h5py cannot open {closed} files, \
         of which we open {open}",
        files.len(),
        began.elapsed().as_secs_f64()
    );
    let mut times = times.into_inner().unwrap();
    times.sort_unstable_by(|a, b| b.cmp(a));
    for (time, path) in times.iter().take(5) {
        println!("{:6.2} s {path}", time.as_secs_f64());
    }
    for ((file, part, why), count) in EXCEPTIONS.iter().zip(used.into_inner().unwrap()) {
        println!("{count} differences excused in {file} ({part}): {why}");
        assert!(count > 0, "{file} ({part}) is no exception any more");
    }
    assert!(same > 20_000, "only {same} facts were compared");
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}
