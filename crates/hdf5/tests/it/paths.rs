//! Paths through links, within a file and to others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ferrocdf_bytes::{Code, Result};
use ferrocdf_hdf5::{File, OpenOptions, Resolver};
use ferrocdf_store::{Blob, MemoryBlob};

use crate::sample::{bytes, link_names, names, open, text};

/// The folder of the samples.
#[derive(Default)]
struct Folder {
    opened: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl Resolver for Folder {
    fn open(&self, file_name: &str) -> Result<Option<Arc<dyn Blob>>> {
        self.asked.lock().unwrap().push(file_name.to_string());
        if !names().contains(&file_name.to_string()) {
            return Ok(None);
        }
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Arc::new(MemoryBlob::new(bytes(file_name)))))
    }
}

#[test]
fn paths_within_a_file() {
    let file = open("links.h5");
    let root = file.superblock().root;
    let at = |path: &str| file.open_path(root, path.as_bytes()).unwrap().map(|object| object.address());
    let (a, b, c) = (at("a"), at("/a/b"), at("//a/./b//c/"));
    assert!(a.is_some() && b.is_some() && c.is_some() && a != b && b != c);
    assert_eq!(at("/"), Some(root));
    assert_eq!(at("a/up"), a);
    assert_eq!(at("a/up/up/b/relative"), c);
    assert_eq!(at("a/loop/loop/b"), b);
    for absent in ["dangling", "a/..", "a/b/c/d", "other", "nothing"] {
        assert_eq!(at(absent), None, "{absent}");
    }
    let inner = file.open_path(b.unwrap(), b"c").unwrap().unwrap();
    assert_eq!(Some(inner.address()), c);
    let from_root = file.open_path(b.unwrap(), b"/a").unwrap().unwrap();
    assert_eq!(Some(from_root.address()), a);
}

#[test]
fn links_in_a_circle() {
    let error = open("links.h5").open_path(open("links.h5").superblock().root, b"circle").unwrap_err();
    assert!(error.what.contains("in a circle"), "{error}");
}

#[test]
fn paths_to_other_files() {
    let folder = Arc::new(Folder::default());
    let options = OpenOptions { resolver: Some(folder.clone()), ..OpenOptions::default() };
    let file = File::open_with(Arc::new(MemoryBlob::new(bytes("links.h5"))), options).unwrap();
    let root = file.superblock().root;
    let other = file.open_path(root, b"other").unwrap().unwrap();
    let there = open("dense.h5");
    let wanted = there.open_path(there.superblock().root, b"g03").unwrap().unwrap();
    assert_eq!(other.address(), wanted.address());
    assert!(file.open_path(root, b"no_file").unwrap().is_none());
    // The file itself is another one when it is reached by its name; the way goes on there.
    assert_eq!(link_names(&file.open_path(root, b"self").unwrap().unwrap()), ["c", "relative"]);
    assert!(file.open_path(root, b"self/c").unwrap().is_some());
    // Each was opened once.
    file.open_path(root, b"other").unwrap().unwrap();
    assert_eq!(folder.opened.load(Ordering::Relaxed), 2);
    assert_eq!(*folder.asked.lock().unwrap(), ["dense.h5", "none.h5", "links.h5"]);
}

#[test]
fn what_is_no_file() {
    for wrong in [b"".as_slice(), b"CDF\x01", b"\x89HDF\r\n\x1a", &[0; 5000]] {
        let error = File::open(Arc::new(MemoryBlob::new(wrong.to_vec()))).unwrap_err();
        assert_eq!(error.code, Code::ENOTNC, "{wrong:?}");
    }
}

#[test]
fn a_user_block_may_be_put_before_a_file_or_taken_off() {
    let whole = bytes("user_block.h5");
    let moved = [vec![1; 1024], whole.clone()].concat();
    for (bytes, base) in [(whole[1024..].to_vec(), 0), (moved, 2048)] {
        let file = File::open(Arc::new(MemoryBlob::new(bytes.clone()))).unwrap();
        assert_eq!(file.superblock().base, base);
        assert_eq!(link_names(&file.root().unwrap()), ["data", "größe"]);
        // The end is moved too.
        let short = bytes[..bytes.len() - 1].to_vec();
        let error = File::open(Arc::new(MemoryBlob::new(short))).unwrap_err();
        assert!(text(error.what.as_bytes()).contains("truncated"), "{error}");
    }
}
