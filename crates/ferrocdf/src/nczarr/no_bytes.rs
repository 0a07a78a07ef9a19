//! The bytes of a dataset that has none of its own.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, BlobMut, Cost, Store};

/// No bytes: all of the dataset is in objects of this store. Waiting for the disk means to wait for the store.
pub(super) struct NoBytes(pub(super) Arc<dyn Store>);

impl Blob for NoBytes {
    fn size(&self) -> Result<u64> {
        Ok(0)
    }

    fn read_at(&self, _at: u64, _into: &mut [u8]) -> Result<usize> {
        Ok(0)
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}

impl BlobMut for NoBytes {
    fn write_at(&self, _at: u64, from: &[u8]) -> Result<()> {
        if from.is_empty() { Ok(()) } else { Err(self.no_place()) }
    }

    fn set_size(&self, size: u64) -> Result<()> {
        if size == 0 { Ok(()) } else { Err(self.no_place()) }
    }

    fn sync(&self) -> Result<()> {
        self.0.sync()
    }
}

impl NoBytes {
    fn no_place(&self) -> Error {
        Error::new(Code::EINTERNAL, "bytes outside of the objects of a Zarr store").at(self.0.name())
    }
}
