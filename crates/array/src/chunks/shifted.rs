//! Chunks from some number on along a dimension, as those of an array of their own: chunks are copied behind those that an array has.

use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::BlobMut;

use super::index::{ChunkIndex, ChunkLocation, ChunkStore};
use super::layout::Chunks;
use crate::Index;

/// The chunks of a store from `first` on along dimension `dim`.
#[derive(Debug)]
struct ShiftedStore {
    store: Arc<dyn ChunkStore>,
    dim: usize,
    first: u64,
}

impl ShiftedStore {
    /// Returns the coordinates of a chunk in the whole store.
    fn moved(&self, chunk: &[u64]) -> Index {
        let mut moved = Index::from_slice(chunk);
        if let Some(at) = moved.get_mut(self.dim) {
            *at = at.saturating_add(self.first);
        }
        moved
    }
}

impl ChunkIndex for ShiftedStore {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.store.locate(&self.moved(first), count)
    }

    fn count_stored(&self, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
        self.store.count_stored(&self.moved(first), count, limit)
    }
}

impl ChunkStore for ShiftedStore {
    fn allocate(&self, chunk: &[u64], len: u64) -> Result<u64> {
        self.store.allocate(&self.moved(chunk), len)
    }

    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()> {
        self.store.insert(&self.moved(chunk), at, len, mask)
    }

    fn release(&self, chunk: &[u64], at: u64, len: u64) {
        self.store.release(&self.moved(chunk), at, len);
    }

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.store.blob()
    }

    fn uncommitted_position(&self, chunk: &[u64]) -> Option<u64> {
        self.store.uncommitted_position(&self.moved(chunk))
    }

    fn keeps_masks(&self) -> bool {
        self.store.keeps_masks()
    }

    fn can_grow(&self, dim: usize) -> bool {
        self.store.can_grow(dim)
    }
}

impl Chunks {
    /// Returns the chunks from `first` on along a dimension as those of an array of their own, for [`copy_chunks`](crate::copy_chunks).
    /// `None` for chunks that are only read, that are objects, or of which one is pending.
    pub fn from_chunk(&self, dim: usize, first: u64) -> Option<Chunks> {
        let store = self.pending.as_ref()?.writer().store.clone();
        if self.has_pending() || store.objects().is_some() || store.is_shared() {
            return None;
        }
        let store = Arc::new(ShiftedStore { store, dim, first });
        Some(Chunks::writable(self.shape.clone(), store, self.chain.clone(), self.fill.clone()))
    }
}
