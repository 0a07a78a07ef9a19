//! The chunked layout of an array.

use std::sync::Arc;

use ferrocdf_codec::Chain;

use super::cache::CachedChunks;
use super::decoded::Key;
use super::encode::ChunkWriter;
use super::index::{BlockIndex, BlockStore, Nowhere};
use super::pending::PendingChunks;
use crate::Selection;

/// An array cut into blocks of one shape.
#[derive(Clone, Debug)]
pub struct Blocks {
    /// The shape of a block in elements, a length for each dimension of the array, none of them 0. Blocks at the upper
    /// borders reach beyond the array and are stored whole.
    pub shape: Vec<u64>,
    /// Where the blocks lie.
    pub index: Arc<dyn BlockIndex>,
    /// What packs each block.
    pub chain: Arc<Chain>,
    /// What missing blocks are made of: the bytes, as stored, of one element or of several that are repeated along the
    /// fastest dimension of a block, whose length is a multiple of theirs. Zeros if it is empty.
    pub fill: Arc<[u8]>,
    /// The decoded chunks that readers keep.
    pub(super) cached: Arc<CachedChunks>,
    /// The chunks that are changed and not stored, if chunks can be written.
    pub(super) pending: Option<Arc<PendingChunks>>,
    /// How many of the last dimensions the index's blocks do not have: bytes of elements, along which there is one block.
    pub(super) inner: usize,
}

impl Blocks {
    /// Blocks of a shape; see the fields.
    pub fn new(
        shape: Vec<u64>,
        index: Arc<dyn BlockIndex>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        let cached = Arc::new(CachedChunks::new());
        Blocks { shape, index, chain, fill: fill.into(), cached, pending: None, inner: 0 }
    }

    /// Blocks that can be written as well. Clones of them share what is held back, whatever becomes of the array's shape:
    /// their owner makes them once and calls [`flush`](crate::flush) before the store's blob is used without them, or dropped.
    pub fn stored(
        shape: Vec<u64>,
        store: Arc<dyn BlockStore>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        let writer = ChunkWriter::new(store.clone(), chain.clone());
        let pending = Some(Arc::new(PendingChunks::new(writer)));
        Blocks { pending, ..Blocks::new(shape, store, chain, fill) }
    }

    /// The same blocks seen as bytes: one more dimension, the fastest, of `size` bytes. What is kept and held back is that
    /// of these blocks.
    pub fn as_bytes(&self, size: u64) -> Self {
        let shape = self.shape.iter().copied().chain([size]).collect();
        Blocks { shape, inner: self.inner + 1, ..self.clone() }
    }

    /// What a block is kept by; its coordinates may be those of one seen as bytes.
    pub(super) fn key(&self, block: impl Iterator<Item = u64>) -> Key {
        block.take(self.shape.len().saturating_sub(self.inner)).collect()
    }

    /// All blocks of an array of a shape.
    pub(super) fn grid(&self, shape: &[u64]) -> Selection {
        let grid: Key = shape.iter().zip(&self.shape).map(|(len, block)| len.div_ceil(*block)).collect();
        Selection::all(&grid)
    }

    /// True if some chunk is pending.
    pub(super) fn has_pending(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.has_any())
    }

    /// Makes a block of the fill value.
    pub(super) fn fill_block(&self, block: &mut [u8]) {
        let fill = &self.fill;
        if fill.is_empty() {
            return block.fill(0);
        }
        let unit = fill.len().min(block.len());
        block[..unit].copy_from_slice(&fill[..unit]);
        let mut done = unit;
        while done < block.len() {
            let more = done.min(((64 << 10) / unit).max(1) * unit).min(block.len() - done);
            block.copy_within(..more, done);
            done += more;
        }
    }

    /// One block of this shape that is nowhere: every element has the fill value.
    pub(crate) fn nowhere(shape: &[u64], fill: &Arc<[u8]>) -> Self {
        let shape = shape.iter().map(|&len| len.max(1)).collect();
        Blocks::new(shape, Arc::new(Nowhere), Arc::default(), fill.clone())
    }
}
