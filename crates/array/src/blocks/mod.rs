//! Arrays cut into blocks: chunks that are found through an index and may be packed by filters.
//!
//! Blocks that can be written have a [`BlockStore`], which allocates space for each encoded block. A block of which a part was
//! written is held back decoded ("pending") in the cache that readers use too, and is packed once.

mod cache;
mod copy;
mod coverage;
mod hits;
mod moving;
mod pack;
mod part;
mod pending;
mod places;
mod read;
mod tries;
mod write;

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_codec::Chain;
use ferrocdf_store::BlobMut;

use cache::{Cached, Key};
use pending::Home;

pub use copy::copy_blocks;
pub use pending::flush;
pub(crate) use read::read;
pub(crate) use write::write;

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
    /// The blocks that are kept decoded.
    cached: Arc<Cached>,
    /// How many of the last dimensions the index's blocks do not have: bytes of elements, along which there is one block.
    inner: usize,
}

impl Blocks {
    /// Blocks of a shape; see the fields.
    pub fn new(
        shape: Vec<u64>,
        index: Arc<dyn BlockIndex>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        let cached = Arc::new(Cached::new(None));
        Blocks { shape, index, chain, fill: fill.into(), cached, inner: 0 }
    }

    /// Blocks that can be written as well. Clones of them share what is held back, whatever becomes of the array's shape:
    /// their owner makes them once and calls [`flush`] before the store's blob is used without them, or dropped.
    pub fn stored(
        shape: Vec<u64>,
        store: Arc<dyn BlockStore>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        let home = Home::new(store.clone(), chain.clone());
        let cached = Arc::new(Cached::new(Some(Arc::new(home))));
        Blocks { shape, index: store, chain, fill: fill.into(), cached, inner: 0 }
    }

    /// The same blocks seen as bytes: one more dimension, the fastest, of `size` bytes. What is kept and held back is that
    /// of these blocks.
    pub fn as_bytes(&self, size: u64) -> Self {
        let shape = self.shape.iter().copied().chain([size]).collect();
        Blocks { shape, inner: self.inner + 1, ..self.clone() }
    }

    /// What a block is kept by; its coordinates may be those of one seen as bytes.
    fn key(&self, block: impl Iterator<Item = u64>) -> Key {
        block.take(self.shape.len().saturating_sub(self.inner)).collect()
    }

    /// Makes a block of the fill value.
    fn fill_block(&self, block: &mut [u8]) {
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

/// Where blocks lie.
pub trait BlockIndex: Debug + Send + Sync {
    /// Finds a box of blocks, `count` of them in each dimension from block `first` on: the places of all its blocks, last
    /// dimension fastest. Coordinates are in blocks, not elements. The box may reach beyond the array: blocks there are
    /// missing.
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>>;

    /// A number that no other look at the same index has: see [`now`](BlockIndex::now). 0 where there is only one, since nobody
    /// else changes it.
    fn look(&self) -> u64 {
        0
    }

    /// The index as it was when it was looked at last, where somebody else may change it: it finds blocks where they were
    /// then. `None` if nobody can.
    fn last(&self) -> Option<LastLook> {
        None
    }

    /// The same as it is now: the last one, if nobody changed it since.
    ///
    /// # Errors
    /// Those of reading it, perhaps half-way through a change.
    fn now(&self) -> Result<Option<Arc<dyn BlockIndex>>> {
        Ok(None)
    }
}

/// An index as it was when it was looked at last.
#[derive(Clone, Debug)]
pub struct LastLook {
    /// What finds blocks where they were then.
    pub index: Arc<dyn BlockIndex>,
    /// Whether [`now`](BlockIndex::now) is likely to give another one: it did so before, or will because a change just now
    /// would look like the last one. Then more is done for the next reads to go well while it changes.
    pub is_restless: bool,
}

/// An index that blocks can be put into.
///
/// Blocks that are held back are stored by whoever needs their room: perhaps a thread that writes to another file. So its
/// methods may be called at any time between a [`write()`](crate::write) of the owner and its next [`flush`], but never
/// while the owner is inside one of these, and never from a `flush` on until the next `write`. They do not call the
/// engine, and no lock that they take is held while the engine is called.
pub trait BlockStore: BlockIndex {
    /// Allocates `len` bytes for an encoded block; the position of the first. The caller writes the bytes there, then calls
    /// [`insert`](BlockStore::insert) or, if that failed, [`release`](BlockStore::release): until then `locate` finds the
    /// block where it was before, so a failed write leaves the block as it was. Calls come in an order that does not depend
    /// on threads.
    fn allocate(&self, block: &[u64], len: u64) -> Result<u64>;

    /// Makes `locate` find a block at `at`, where [`allocate`](BlockStore::allocate) said, now that its bytes are written:
    /// `len` of them, encoded without the filters in `mask`. The space where it was before may be allocated again, unless
    /// it is part of what was committed.
    fn insert(&self, block: &[u64], at: u64, len: u64, mask: u32) -> Result<()>;

    /// Gives back space that was allocated for a block and not written.
    fn release(&self, block: &[u64], at: u64, len: u64);

    /// The bytes that places are positions in: the same that are given to [`write()`](crate::write).
    fn blob(&self) -> Arc<dyn BlobMut>;

    /// Where a block lies, if it may be changed there: its place is not part of what was committed.
    fn in_place(&self, _block: &[u64]) -> Option<u64> {
        None
    }

    /// Whether the array may become longer along a dimension. Blocks that reach beyond the array there are held back for
    /// what may follow; others are packed as soon as all that the array has of them was written.
    fn grows(&self, _dim: usize) -> bool {
        true
    }
}

/// Where one block lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// It is not stored: all its elements are fill values.
    #[default]
    Missing,
    /// In the blob.
    At {
        /// The byte position.
        at: u64,
        /// The stored bytes.
        len: u64,
        /// The filters it was stored without: bit `n` for the `n`-th of the chain.
        mask: u32,
    },
}

/// The index of blocks none of which is stored.
#[derive(Debug)]
struct Nowhere;

impl BlockIndex for Nowhere {
    fn locate(&self, _first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        let blocks = count.iter().product::<u64>();
        Ok(vec![Place::Missing; blocks as usize])
    }
}
