//! The structures of every HDF5 file of the corpus, printed as `ferrocdf dump --structure` does.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrocdf::Location;

use crate::{each, files};

/// Whole files, as readers have them, with a structure that says something that its specification does not allow: the reference
/// does not look at it.
const EXCEPTIONS: &[&str] = &[];

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
            // An address, a byte, or the file that is a part of something.
            Err(error) => {
                let what = error.to_string();
                let says_where = ["0x", "byte", "superblock", "truncated", "part of", "signature"];
                match says_where.iter().any(|word| what.contains(word)) {
                    true => vec![],
                    false => vec![format!("{what} does not say where")],
                }
            }
        }
    });
    for (title, seen) in arrays.iter().zip(seen) {
        assert!(seen.into_inner(), "no {title} in any file");
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
