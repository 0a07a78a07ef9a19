//! The structures of every HDF5 file of the corpus, printed as `ferrocdf dump --structure` does.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrocdf::Location;

use crate::{each, files};

/// Whole files, as readers have them, with a structure that says something that its specification does not allow: the reference
/// does not look at it.
const EXCEPTIONS: &[&str] = &[];

/// The first printed error that names no address of a structure or message printed before it. Errors of opening the file stand
/// below the superblock.
fn without_place(text: &str) -> Option<&str> {
    let mut printed = HashSet::new();
    let mut title = "";
    for line in text.lines() {
        let first = line.trim_start().split(' ').next().unwrap_or_default();
        if first == "error:" {
            let mut words = line.split(|c: char| !c.is_ascii_alphanumeric());
            if !title.contains("superblock") && !words.any(|word| printed.contains(word)) {
                return Some(line.trim_start());
            }
        } else if let Some((_, at)) = line.rsplit_once(" of the global heap collection at ") {
            printed.insert(at);
        } else if first.starts_with("0x") {
            printed.insert(first);
            title = if line.starts_with("0x") { line } else { title };
        }
    }
    None
}

/// True if a line prints the error that was returned.
fn is_of(line: &str, returned: &str) -> bool {
    line.trim_start().strip_prefix("error: ").is_some_and(|error| returned.contains(error))
}

#[test]
fn structures_of_all_files_are_printed() {
    let files = files(&["hdf5"]);
    assert!(files.len() > 1000, "only {} HDF5 files", files.len());
    let arrays = [
        "fixed array data block\n",
        "extensible array data block\n",
        "fractal heap indirect block\n",
        "global heap collection\n",
    ];
    let seen = arrays.map(|_| AtomicBool::new(false));
    let wrong = each(&files, |entry| {
        let mut text = Vec::new();
        let result = Location::Path(entry.path.clone()).write_structure(&mut text);
        let name = entry.path.display();
        for (title, seen) in arrays.iter().zip(&seen) {
            seen.fetch_or(text.windows(title.len()).any(|part| part == title.as_bytes()), Relaxed);
        }
        let excused = EXCEPTIONS.iter().any(|exception| entry.path.ends_with(exception));
        match result {
            Ok(()) if text.starts_with(b"0x0 superblock") => vec![],
            Ok(()) => vec![format!("{name}: no superblock")],
            Err(error) if entry.normal && !excused => vec![error.to_string()],
            Err(error) => {
                let (what, text) = (error.to_string(), String::from_utf8_lossy(&text));
                let unplaced =
                    without_place(&text).map(|line| format!("{name}: {line}: no such structure before it"));
                let early = text.is_empty() || what.contains("superblock");
                let is_printed = early || text.lines().any(|line| is_of(line, &what));
                let unprinted = (!is_printed).then(|| format!("{what} is not in the text"));
                unplaced.into_iter().chain(unprinted).collect()
            }
        }
    });
    for (title, seen) in arrays.iter().zip(seen) {
        assert!(seen.into_inner(), "no {title} in any file");
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
