//! Which locations are stores, and the store of a location.

use std::path::Path;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{DirectoryStore, Store};

use crate::location::Location;

/// True for a location that is a folder for sure, so that no request for bytes is needed: a directory, and a key that ends like one.
pub(crate) fn is_folder(location: &Location) -> bool {
    match location {
        Location::Path(path) => path.is_dir(),
        Location::Object { key, .. } => key.is_empty() || key.ends_with(".zarr") || key.ends_with('/'),
        _ => false,
    }
}

/// True for a location that can be a folder.
pub(crate) fn may_be_folder(location: &Location) -> bool {
    match location {
        Location::Path(path) => path.is_dir(),
        Location::Object { .. } => true,
        _ => false,
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
