//! Parts that are read.

use std::sync::Arc;

use ferrocdf_bytes::{ErrorKind, Result};
use ferrocdf_store::{Blob, ObjectBlob};

use super::format::PartIndex;
use crate::Location;

/// Returns the bytes of a part. No page of it is kept: each chunk is read once.
pub(super) fn blob(part: &Location) -> Result<Arc<dyn Blob>> {
    match &*part.resolved()? {
        Location::Object { store, key } => Ok(Arc::new(ObjectBlob::new(store.clone(), key))),
        other => other.blob(true),
    }
}

/// Reads the index of a part.
pub(super) fn index(part: &Location, blob: &dyn Blob) -> Result<PartIndex> {
    PartIndex::read(blob).map_err(|error| error.at(part.name().display()))
}

/// Returns the key that a part was written with; `None` if there is no part, or none that is complete. A worker that starts again skips
/// a part that has its key.
///
/// # Errors
/// Those of the system and the store.
pub fn part_key(part: &Location) -> Result<Option<String>> {
    let read = blob(part).and_then(|blob| index(part, &*blob));
    match read {
        Ok(index) => Ok(Some(index.key)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt) => Ok(None),
        Err(error) => Err(error),
    }
}
