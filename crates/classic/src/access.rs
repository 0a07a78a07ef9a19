//! The bytes of an open classic file, and what may be done with them.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, BlobMut, Cost};

/// The bytes of a file, and whether they may be changed.
pub(crate) enum Access {
    Read(Arc<dyn Blob>),
    Write(Box<dyn BlobMut>),
    HalfMoved(HalfMoved),
}

impl Access {
    pub(crate) fn blob(&self) -> &dyn Blob {
        match self {
            Access::Read(blob) => &**blob,
            Access::Write(blob) => &**blob,
            Access::HalfMoved(blob) => blob,
        }
    }

    /// Fails with `NC_EPERM` if the file was opened for reading.
    pub(crate) fn blob_mut(&self) -> Result<&dyn BlobMut> {
        match self {
            Access::Read(blob) => {
                Err(Error::new(Code::EPERM, format!("{} is open for reading only", blob.name())))
            }
            Access::Write(blob) => Ok(&**blob),
            Access::HalfMoved(blob) => Err(blob.refused()),
        }
    }
}

/// The bytes of a file whose data was moved half-way in place. No layout tells where its data lies, so each request fails.
pub(crate) struct HalfMoved {
    pub(crate) name: String,
}

impl HalfMoved {
    fn refused(&self) -> Error {
        let what = "moving its data failed half-way; the file is damaged and is left as it is";
        Error::new(Code::EIO, format!("{}: {what}", self.name))
    }
}

impl Blob for HalfMoved {
    fn size(&self) -> Result<u64> {
        Err(self.refused())
    }

    fn read_at(&self, _at: u64, _into: &mut [u8]) -> Result<usize> {
        Err(self.refused())
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}
