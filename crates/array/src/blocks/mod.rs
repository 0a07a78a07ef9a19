//! Arrays cut into blocks: chunks that are found through an index and may be packed by filters.

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_codec::Chain;

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
    /// The bytes of one element, as stored, that a missing block is made of; zeros if it is empty.
    pub fill: Arc<[u8]>,
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
