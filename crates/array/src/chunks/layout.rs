//! The chunked layout of an array.

use std::sync::Arc;

use ferrocdf_codec::Chain;

use super::cache::CachedChunks;
use super::decoded::Key;
use super::encode::ChunkWriter;
use super::index::{ChunkIndex, ChunkStore, NoChunks};
use super::pending::PendingChunks;
use crate::Selection;

/// The chunks of an array, all of one shape.
#[derive(Clone, Debug)]
pub struct Chunks {
    /// The shape of a chunk in elements, a length for each dimension of the array, none of them 0. Chunks at the upper
    /// edges reach beyond the array and are stored whole.
    pub shape: Vec<u64>,
    /// The index that locates chunks.
    pub index: Arc<dyn ChunkIndex>,
    /// The filters that encode each chunk.
    pub chain: Arc<Chain>,
    /// The bytes, as stored, of an element of a missing chunk; zeros if empty. Several elements are repeated along the
    /// fastest dimension of the chunk, whose length is a multiple of theirs.
    pub fill: Arc<[u8]>,
    /// The decoded chunks that readers keep.
    pub(super) cached: Arc<CachedChunks>,
    /// The chunks that are changed in memory and not stored yet; `None` if chunks are only read.
    pub(super) pending: Option<Arc<PendingChunks>>,
    /// Number of trailing dimensions that the index does not have: the bytes of an element, which lie in one chunk.
    pub(super) inner: usize,
}

impl Chunks {
    /// Makes chunks that are only read; see the fields.
    pub fn new(
        shape: Vec<u64>,
        index: Arc<dyn ChunkIndex>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        let cached = Arc::new(CachedChunks::new());
        Chunks { shape, index, chain, fill: fill.into(), cached, pending: None, inner: 0 }
    }

    /// Makes chunks that can be written as well. Clones share the pending chunks, whatever the shape of their arrays. The owner
    /// of the array calls this once. It calls [`flush`](crate::flush) before it uses the blob of the store in any other way, and
    /// before it drops the last clone: that drops pending chunks.
    pub fn writable(
        shape: Vec<u64>,
        store: Arc<dyn ChunkStore>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        let writer = ChunkWriter::new(store.clone(), chain.clone());
        let pending = Some(Arc::new(PendingChunks::new(writer)));
        Chunks { pending, ..Chunks::new(shape, store, chain, fill) }
    }

    /// True if the chunks can be written too.
    pub fn is_writable(&self) -> bool {
        self.pending.is_some()
    }

    /// Returns the same chunks with elements of `size` bytes as one more, fastest dimension of bytes. Cached and pending
    /// chunks are shared.
    pub fn as_bytes(&self, size: u64) -> Self {
        let shape = self.shape.iter().copied().chain([size]).collect();
        Chunks { shape, inner: self.inner + 1, ..self.clone() }
    }

    /// Returns the coordinates of a chunk in the index, without those of [`as_bytes`](Chunks::as_bytes).
    pub(crate) fn key(&self, chunk: impl Iterator<Item = u64>) -> Key {
        chunk.take(self.shape.len().saturating_sub(self.inner)).collect()
    }

    /// Returns the box of all chunks of an array of a shape.
    pub(super) fn grid(&self, shape: &[u64]) -> Selection {
        let grid: Key = shape.iter().zip(&self.shape).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        Selection::all(&grid)
    }

    /// True if some chunk is pending.
    pub(super) fn has_pending(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.has_any())
    }

    /// Fills a decoded chunk with the fill value.
    pub(super) fn fill_chunk(&self, chunk: &mut [u8]) {
        let fill = &self.fill;
        if fill.is_empty() {
            return chunk.fill(0);
        }
        let unit = fill.len().min(chunk.len());
        chunk[..unit].copy_from_slice(&fill[..unit]);
        let mut done = unit;
        while done < chunk.len() {
            let more = done.min(((64 << 10) / unit).max(1) * unit).min(chunk.len() - done);
            chunk.copy_within(..more, done);
            done += more;
        }
    }

    /// Makes chunks of this shape of which none is stored: every element has the fill value.
    pub(crate) fn missing(shape: &[u64], fill: &Arc<[u8]>) -> Self {
        let shape = shape.iter().map(|&len| len.max(1)).collect();
        Chunks::new(shape, Arc::new(NoChunks), Arc::default(), fill.clone())
    }
}
