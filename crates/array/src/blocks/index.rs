//! Where chunks lie: the traits that a format implements for its chunk index.

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::BlobMut;

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
/// methods may be called at any time between a [`write()`](crate::write) of the owner and its next [`flush`](crate::flush), but never
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
pub(super) struct Nowhere;

impl BlockIndex for Nowhere {
    fn locate(&self, _first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        let blocks = count.iter().product::<u64>();
        Ok(vec![Place::Missing; blocks as usize])
    }
}
