//! The files of `tests/data`, and all that is in a file as text.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::{Address, File, LinkTarget, Object};
use ferrocdf_store::MemoryBlob;

pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

pub fn open(name: &str) -> File {
    File::open(Arc::new(MemoryBlob::new(bytes(name)))).unwrap()
}

/// All files but those of others in the folder.
pub fn names() -> Vec<String> {
    let names =
        std::fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".h5")).collect();
    names.sort();
    assert!(names.len() >= 20, "{names:?}");
    names
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn link_names(object: &Object) -> Vec<String> {
    object.links().unwrap().list.iter().map(|link| text(&link.name)).collect()
}

/// Every object that hard links lead to, its links and its attributes. Each error is one of the result.
pub fn everything(file: &File) -> (String, Vec<ferrocdf_bytes::Error>) {
    let mut out = String::new();
    let mut errors = Vec::new();
    let mut seen = HashSet::new();
    let mut waiting = vec![file.superblock().root];
    while let Some(at) = waiting.pop() {
        if seen.insert(at)
            && let Err(error) = object(file, at, &mut waiting, &mut errors, &mut out)
        {
            errors.push(error);
        }
    }
    (out, errors)
}

fn object(
    file: &File,
    at: Address,
    waiting: &mut Vec<Address>,
    errors: &mut Vec<ferrocdf_bytes::Error>,
    out: &mut String,
) -> Result<()> {
    let object = file.object(at)?;
    writeln!(out, "{at} {:?} {}", object.kind(), object.references()).unwrap();
    match object.links() {
        Ok(links) => {
            for link in links.list {
                writeln!(out, "  {:?}", link).unwrap();
                if let LinkTarget::Hard(target) = link.target {
                    waiting.push(target);
                }
            }
        }
        Err(error) => errors.push(error),
    }
    for (name, attribute) in object.attributes()?.list {
        match attribute {
            Ok(attribute) => {
                writeln!(out, "  {}: {:?} {:?}", text(&name), attribute.order, attribute.data).unwrap()
            }
            Err(error) => errors.push(error),
        }
    }
    Ok(())
}
