//! A part or a joined file that is not complete yet.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{BlobMut, FileDraft, ObjectDraft};

use crate::Location;

/// Bytes that appear at their location when they are complete.
pub(super) enum Draft {
    File(FileDraft),
    Object(Arc<ObjectDraft>),
}

impl Draft {
    /// Makes an empty draft of what is to be at a location: a path, or the URL or store of an object.
    ///
    /// # Errors
    /// `NC_EINVAL` for other locations; those of the system and the store.
    pub(super) fn new(location: &Location) -> Result<Draft> {
        match &*location.resolved()? {
            Location::Path(path) => FileDraft::new(path).map(Draft::File),
            Location::Object { store, key } => {
                Ok(Draft::Object(Arc::new(ObjectDraft::new(store.clone(), key.clone(), false)?)))
            }
            other => {
                let what = "nothing can be written there: only at a path, or to an object of a store";
                Err(Error::new(Code::EINVAL, what).at(other.name().display()))
            }
        }
    }

    pub(super) fn blob(&self) -> Arc<dyn BlobMut> {
        match self {
            Draft::File(draft) => draft.blob(),
            Draft::Object(draft) => draft.clone(),
        }
    }

    /// Makes the bytes appear. Whatever was at the location before is replaced.
    pub(super) fn finish(self) -> Result<()> {
        match self {
            Draft::File(draft) => draft.finish(),
            Draft::Object(draft) => draft.sync(),
        }
    }
}
