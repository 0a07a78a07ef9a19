//! The chunk store of one variable in a part: chunks are appended to the part.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_array::{ChunkIndex, ChunkLocation, ChunkStore, Index};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::BlobMut;

use super::table::ChunkTable;

/// The bytes of a part that is being written.
pub(super) struct PartBytes {
    pub(super) blob: Arc<dyn BlobMut>,
    /// One past the last byte of the chunks.
    pub(super) end: AtomicU64,
}

/// The chunk store of one variable. All stores of a part append to the same bytes.
pub(super) struct PartStore {
    part: Arc<PartBytes>,
    chunks: Mutex<ChunkTable>,
}

impl PartStore {
    pub(super) fn new(part: Arc<PartBytes>) -> PartStore {
        PartStore { part, chunks: Mutex::default() }
    }

    /// Returns the chunks that were stored.
    pub(super) fn chunks(&self) -> MutexGuard<'_, ChunkTable> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for PartStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartStore").field("part", &self.part.blob.name()).finish_non_exhaustive()
    }
}

impl ChunkIndex for PartStore {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.chunks().locate(first, count)
    }
}

impl ChunkStore for PartStore {
    fn allocate(&self, _chunk: &[u64], len: u64) -> Result<u64> {
        let taken =
            self.part.end.fetch_update(Ordering::AcqRel, Ordering::Acquire, |end| end.checked_add(len));
        taken.map_err(|_| Error::new(Code::EVARSIZE, "a part of more than 2^64 bytes"))
    }

    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()> {
        self.chunks().0.insert(Index::from_slice(chunk), ChunkLocation::At { at, len, mask });
        Ok(())
    }

    fn release(&self, _chunk: &[u64], _at: u64, _len: u64) {}

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.part.blob.clone()
    }

    // A region takes whole chunks, so none is kept for elements that may come.
    fn can_grow(&self, _dim: usize) -> bool {
        false
    }
}
