//! Every classic file of the corpus copied to each classic kind: the reference prints our copy as it prints its own,
//! and what it refuses is refused in the same words.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::nccopy_tool::{ours, printed, reference};
use crate::{Entry, classic, each};

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
