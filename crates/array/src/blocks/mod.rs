//! Arrays cut into blocks: chunks that are found through an index and may be packed by filters.

mod cache;
mod hits;
mod memory;
mod part;
mod read;

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_codec::Chain;

use cache::Cached;

pub(crate) use read::read;

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
}

impl Blocks {
    /// Blocks of a shape; see the fields.
    pub fn new(
        shape: Vec<u64>,
        index: Arc<dyn BlockIndex>,
        chain: Arc<Chain>,
        fill: impl Into<Arc<[u8]>>,
    ) -> Self {
        Blocks { shape, index, chain, fill: fill.into(), cached: Arc::new(Cached::new()) }
    }

    /// The same blocks of bytes: one more dimension, the fastest, of `size` bytes. They are not kept: the index is asked
    /// in other coordinates.
    pub(crate) fn as_bytes(&self, size: u64) -> Self {
        let shape = self.shape.iter().copied().chain([size]).collect();
        Blocks::new(shape, Arc::new(Bytewise(self.index.clone())), self.chain.clone(), self.fill.clone())
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

/// An index seen with one more dimension, along which there is one block.
#[derive(Debug)]
struct Bytewise(Arc<dyn BlockIndex>);

impl BlockIndex for Bytewise {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        let rank = first.len().saturating_sub(1);
        self.0.locate(&first[..rank], &count[..rank])
    }
}
