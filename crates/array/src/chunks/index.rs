//! Where chunks lie: the traits that a format implements for its chunk index.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::{BlobMut, ByteRange, Store};

use crate::Index;

/// An index that locates the chunks of one array.
pub trait ChunkIndex: Debug + Send + Sync {
    /// Returns the locations of all chunks in a box, last dimension fastest: `count` chunks in each dimension from chunk
    /// `first` on. Coordinates count chunks, not elements. The box may reach beyond the array; chunks there are missing.
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>>;

    /// Returns what names the objects that hold chunks; `None` if all chunks are ranges of the blob of the array.
    fn objects(&self) -> Option<&dyn ChunkObjects> {
        None
    }

    /// Returns the generation of this snapshot of the index, unique per index; 0 if no other process changes the index. See
    /// [`refresh`](ChunkIndex::refresh).
    fn generation(&self) -> u64 {
        0
    }

    /// Returns the last snapshot of an index that another process may change; `None` if no other process can.
    fn snapshot(&self) -> Option<IndexSnapshot> {
        None
    }

    /// Returns a snapshot of the index as it is now: the last one, if nothing changed since. `None` if no other process can
    /// change the index.
    ///
    /// # Errors
    /// Those of reading the index, which the other process may have changed only half.
    fn refresh(&self) -> Result<Option<Arc<dyn ChunkIndex>>> {
        Ok(None)
    }
}

/// The objects that hold the chunks of one array: each chunk has an object of its own, or several share one.
pub trait ChunkObjects: Send + Sync {
    /// Returns the store of the objects.
    fn store(&self) -> &dyn Store;

    /// Returns the key of the object that holds the chunk with these coordinates.
    fn key(&self, chunk: &[u64]) -> String;
}

/// An index as it was when it was last read.
#[derive(Clone, Debug)]
pub struct IndexSnapshot {
    /// The index, unchanging: it locates chunks where they were at that time.
    pub index: Arc<dyn ChunkIndex>,
    /// True if the index is likely to have changed: it changed before, or the time stamp of the file is too recent to show
    /// another change. Readers then checksum their first attempt already, so that a second one can confirm it.
    pub is_volatile: bool,
}

/// An index that encoded chunks can be put into.
///
/// The thread that needs the memory of a pending chunk stores the chunk, also a thread that writes to another file. So the
/// methods may be called at any time between a [`write()`](crate::write) of the owner and its next [`flush`](crate::flush),
/// but never while the owner is inside one of these, and never from a `flush` on until the next `write`. They do not call
/// the engine, and no lock that they take is held while the engine is called.
pub trait ChunkStore: ChunkIndex {
    /// Stores a batch of encoded chunks in objects, and makes `locate` find them: all of them, or after an error any. Returns
    /// false, and does nothing, if chunks are stored in the blob: then the caller allocates space for each chunk, and writes it.
    fn put(&self, _batch: &dyn ChunkBatch) -> Result<bool> {
        Ok(false)
    }

    /// Allocates `len` bytes for an encoded chunk and returns their position. The caller writes the bytes there, then calls
    /// [`insert`](ChunkStore::insert) or, if the write failed, [`release`](ChunkStore::release). Until then `locate` finds
    /// the old chunk, so a failed write changes nothing. The order of calls does not depend on threads.
    fn allocate(&self, chunk: &[u64], len: u64) -> Result<u64>;

    /// Makes `locate` find a chunk at `at`, which [`allocate`](ChunkStore::allocate) returned: its `len` bytes are written,
    /// encoded without the filters in `mask`. The space of the old chunk may be allocated again, unless it is part of the
    /// last committed state.
    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()>;

    /// Gives back space that was allocated for a chunk and not written.
    fn release(&self, chunk: &[u64], at: u64, len: u64);

    /// Returns the blob that positions refer to: the one that is given to [`write()`](crate::write).
    fn blob(&self) -> Arc<dyn BlobMut>;

    /// Returns the position of a chunk that may be overwritten where it is: it is not part of the last committed state.
    fn uncommitted_position(&self, _chunk: &[u64]) -> Option<u64> {
        None
    }

    /// True if the array may grow along a dimension. A chunk that reaches beyond the array there stays pending for elements
    /// that may follow; along other dimensions a chunk is complete when all its elements within the array were written.
    fn can_grow(&self, _dim: usize) -> bool {
        true
    }
}

/// Encoded chunks that are stored together, in their order.
pub trait ChunkBatch: Sync {
    /// Returns the number of chunks.
    fn len(&self) -> usize;

    /// True if there is no chunk.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the coordinates of a chunk.
    fn coordinates(&self, number: usize) -> Index;

    /// Returns the number of encoded bytes of a chunk.
    fn encoded_len(&self, number: usize) -> u64;

    /// Returns the filter mask of a chunk.
    fn mask(&self, number: usize) -> u32;

    /// Borrows the encoded bytes of some chunks that follow each other, if their bytes lie one behind the other in memory.
    fn borrow(&self, chunks: Range<usize>) -> Option<&[u8]>;

    /// Copies the encoded bytes of a chunk to `into`, which is as long.
    ///
    /// # Errors
    /// Those of making the bytes, if they are not in memory. The chunk must not be stored then.
    fn copy_to(&self, number: usize, into: &mut [u8]) -> Result<()>;
}

/// Where a chunk lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChunkLocation {
    /// The chunk is not stored: all its elements have the fill value.
    #[default]
    Missing,
    /// The chunk is a range of the blob.
    At {
        /// Position of the first byte.
        at: u64,
        /// Length in bytes, as stored.
        len: u64,
        /// The filter mask: bit `n` is set if the chunk was stored without the `n`-th filter of the chain.
        mask: u32,
    },
    /// The chunk is an object, or a range of one, which [`ChunkIndex::objects`] names. If there is no such object, the chunk is
    /// missing.
    Object {
        /// Position of the first byte in the object.
        at: u64,
        /// Length in bytes, as stored; [`ChunkLocation::TO_END`] for all bytes of the object from `at` on.
        len: u64,
        /// The filter mask, as in [`ChunkLocation::At`].
        mask: u32,
    },
}

impl ChunkLocation {
    /// The length of a chunk that ends where its object ends.
    pub const TO_END: u64 = u64::MAX;

    /// Returns the number of stored bytes, or that of a decoded chunk if it is unknown.
    pub(super) fn expected_len(self, chunk_len: u64) -> u64 {
        match self {
            ChunkLocation::Missing => 0,
            ChunkLocation::Object { len: ChunkLocation::TO_END, .. } => chunk_len,
            ChunkLocation::At { len, .. } | ChunkLocation::Object { len, .. } => len,
        }
    }

    /// True if the elements of the chunk may have the fill value because it is not stored.
    pub(super) fn may_be_missing(self) -> bool {
        !matches!(self, ChunkLocation::At { .. })
    }

    /// Returns the filter mask of a stored chunk.
    pub(super) fn mask(self) -> Option<u32> {
        match self {
            ChunkLocation::Missing => None,
            ChunkLocation::At { mask, .. } | ChunkLocation::Object { mask, .. } => Some(mask),
        }
    }

    /// Returns the range of the object that holds the chunk; `None` if it is elsewhere.
    pub(super) fn in_object(self) -> Option<ByteRange> {
        match self {
            ChunkLocation::Object { at: 0, len: ChunkLocation::TO_END, .. } => Some(ByteRange::All),
            ChunkLocation::Object { at, len, .. } => Some(ByteRange::Bounded { start: at, len }),
            ChunkLocation::Missing | ChunkLocation::At { .. } => None,
        }
    }
}

/// The index of an array without stored chunks.
#[derive(Debug)]
pub(super) struct NoChunks;

impl ChunkIndex for NoChunks {
    fn locate(&self, _first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let chunks = count.iter().product::<u64>();
        Ok(vec![ChunkLocation::Missing; chunks as usize])
    }
}
