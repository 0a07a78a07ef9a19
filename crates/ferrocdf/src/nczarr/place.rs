//! Which locations are stores, and the store of a location.

use std::path::Path;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{DirectoryStore, Store};

use crate::location::Location;

/// True for an object whose key is that of a folder, so that no request for its bytes is needed.
pub(crate) fn is_folder(location: &Location) -> bool {
    matches!(location, Location::Object { key, .. } if key.is_empty() || key.ends_with(".zarr") || key.ends_with('/'))
}

/// What the system answers to reading a folder.
const EISDIR: Code = Code(21);

/// True if the answer to reading the first bytes at a location is that of a folder: a directory, or a key that no object has, or only an
/// empty one that stands for the folder.
pub(crate) fn has_no_bytes(location: &Location, answer: &Result<usize>) -> bool {
    let is_object = matches!(location, Location::Object { .. });
    match answer {
        Ok(got) => *got == 0 && is_object,
        Err(error) => error.code == EISDIR || error.code == Code::ENOOBJECT && is_object,
    }
}

/// Returns the store that holds what is at a location, and its path there.
pub(super) fn store(location: &Location) -> Result<(Arc<dyn Store>, String)> {
    match location {
        Location::Path(path) => Ok((Arc::new(DirectoryStore::open(as_folder(path))?), String::new())),
        Location::Object { store, key } => Ok((store.clone(), key.trim_end_matches('/').to_string())),
        _ => Err(Error::new(Code::ENOTNC, "it is no folder of a store")),
    }
}

/// An empty path is the folder of the process.
fn as_folder(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
