//! Chunk locations, and the traits that a format implements for its chunk index.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, BlobMut, ByteRange, Filled, Store};

use super::changes::Changes;
use crate::Index;

/// An index that locates the chunks of one array.
pub trait ChunkIndex: Debug + Send + Sync {
    /// Returns the locations of all chunks in a box, last dimension fastest. `first` has the coordinates of the first chunk of
    /// the box, counted in chunks, not elements; `count` has the number of chunks along each dimension. The box may reach beyond
    /// the array; chunks there are missing.
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>>;

    /// Returns the number of chunks in a box that [`locate`](ChunkIndex::locate) does not call missing, or `limit` if there are as many or
    /// more. Costs as many steps as chunks are stored, not as many as the box has. `None` if the index has no way to count that is
    /// cheaper than `locate`.
    fn count_stored(&self, _first: &[u64], _count: &[u64], _limit: u64) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Returns the decoded bytes of a stored chunk as a blob, if the chunk is too large to be decoded as a whole; `None` for other
    /// chunks. A read that decodes a whole chunk to the memory of the caller does not use it.
    fn decoded(&self, _location: ChunkLocation) -> Option<Arc<dyn Blob>> {
        None
    }

    /// Returns the objects that hold chunks; `None` if all chunks are ranges of the blob of the array.
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

    /// Returns a snapshot of the index as it is now; the last snapshot, the same `Arc`, if nothing changed since. `None` if no
    /// other process can change the index.
    ///
    /// # Errors
    /// Those of reading the index, which another process may be in the middle of changing.
    fn refresh(&self) -> Result<Option<Arc<dyn ChunkIndex>>> {
        Ok(None)
    }
}

/// The answer to a request for a chunk in an object, and the encoded bytes of the chunk.
pub(super) type FetchedObject = (Filled, Vec<u8>);

/// The objects that hold the chunks of one array: each chunk has an object of its own, or several share one.
pub trait ChunkObjects: Send + Sync {
    /// Returns the store of the objects.
    fn store(&self) -> &dyn Store;

    /// Returns the key of the object that holds the chunk with these coordinates.
    fn key(&self, chunk: &[u64]) -> String;
}

/// A consistent read of an index that another process may change.
#[derive(Clone, Debug)]
pub struct IndexSnapshot {
    /// The index at the time of the snapshot. Its locations never change.
    pub index: Arc<dyn ChunkIndex>,
    /// True if the index is likely to have changed since: it changed before, or the mtime of the file is too recent to show
    /// another change. Then readers record checksums from their first attempt on, so that the second one can verify it.
    pub is_volatile: bool,
}

/// A chunk index that can be written: stores encoded chunks and updates their locations.
///
/// Any thread that needs the memory of a pending chunk stores the chunk, even a thread that writes to another file. So other
/// threads may call these methods at any time between a [`write()`](crate::write) of the owner and its next
/// [`flush`](crate::flush), but not while the owner is inside one of the two, and not between a `flush` and the next `write`.
/// Implementations must not call the engine, and the owner must not call the engine while it has a lock that an implementation
/// takes.
pub trait ChunkStore: ChunkIndex {
    /// Stores a batch of encoded chunks in objects, and makes `locate` find them. After an error any of them may be stored.
    /// Returns false, and does nothing, if chunks are stored in the blob: then the caller allocates space for each chunk and
    /// writes it there.
    fn put(&self, _batch: &dyn ChunkBatch) -> Result<bool> {
        Ok(false)
    }

    /// Allocates `len` bytes for an encoded chunk and returns their position. The caller writes the bytes there, then calls
    /// [`insert`](ChunkStore::insert) or, if the write failed, [`release`](ChunkStore::release). Until `insert`, `locate` finds
    /// the old chunk, so a failed write changes nothing. The engine calls `allocate` in the same order whatever the number of
    /// threads.
    fn allocate(&self, chunk: &[u64], len: u64) -> Result<u64>;

    /// Makes `locate` find a chunk at position `at`, which [`allocate`](ChunkStore::allocate) returned. The `len` bytes there are
    /// written; `mask` is their filter mask. The space of the old chunk may be allocated again, unless it is part of the last
    /// committed state.
    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()>;

    /// Frees space that [`allocate`](ChunkStore::allocate) returned and into which no complete chunk was written.
    fn release(&self, chunk: &[u64], at: u64, len: u64);

    /// Returns the blob that positions refer to: the one that is given to [`write()`](crate::write).
    fn blob(&self) -> Arc<dyn BlobMut>;

    /// Returns the position of a chunk that may be overwritten in place because it is not part of the last committed state;
    /// `None` for any other chunk.
    fn uncommitted_position(&self, _chunk: &[u64]) -> Option<u64> {
        None
    }

    /// True if chunks are stored with their filter masks. In other stores each chunk is encoded with all filters.
    fn keeps_masks(&self) -> bool {
        true
    }

    /// True if other writers may store chunks of the array at the same time. Then chunks that are not written whole have
    /// [`ChunkBatch::changes`].
    fn is_shared(&self) -> bool {
        false
    }

    /// True if the array may grow along a dimension. A chunk that reaches beyond the array along such a dimension stays pending,
    /// since elements may be appended to it. Along other dimensions a chunk is complete once all its elements within the array
    /// were written.
    fn can_grow(&self, _dim: usize) -> bool {
        true
    }
}

/// Encoded chunks that are stored together, in their order.
pub trait ChunkBatch: Sync {
    /// Returns the number of chunks.
    fn len(&self) -> usize;

    /// True if the batch has no chunk.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the coordinates of a chunk.
    fn coordinates(&self, number: usize) -> Index;

    /// Returns the number of encoded bytes of a chunk.
    fn encoded_len(&self, number: usize) -> u64;

    /// Returns the filter mask of a chunk.
    fn mask(&self, number: usize) -> u32;

    /// Returns the elements of a chunk that were written; `None` for a whole chunk, and if the store [is not shared](ChunkStore::is_shared).
    fn changes(&self, _number: usize) -> Option<&Changes> {
        None
    }

    /// Borrows the encoded bytes of consecutive chunks as one slice; `None` if they are not contiguous in memory.
    fn borrow(&self, chunks: Range<usize>) -> Option<&[u8]>;

    /// Copies the encoded bytes of a chunk to `into`, which has [`encoded_len`](ChunkBatch::encoded_len) bytes.
    ///
    /// # Errors
    /// Those of building the chunk, if its bytes are not in memory yet. A chunk with an error must not be stored.
    fn copy_to(&self, number: usize, into: &mut [u8]) -> Result<()>;
}

/// Location and filter mask of a chunk, or that it is missing.
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
    /// The chunk is an object of a store, or a range of one. [`ChunkIndex::objects`] has the store and the key. If the object
    /// does not exist, the chunk is missing.
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
    /// The `len` of a chunk that ends where its object ends.
    pub const TO_END: u64 = u64::MAX;

    /// Returns the number of encoded bytes; `chunk_len`, the number of decoded bytes, if the index does not tell.
    pub(super) fn expected_len(self, chunk_len: u64) -> u64 {
        match self {
            ChunkLocation::Missing => 0,
            ChunkLocation::Object { len: ChunkLocation::TO_END, .. } => chunk_len,
            ChunkLocation::At { len, .. } | ChunkLocation::Object { len, .. } => len,
        }
    }

    /// True if the chunk is missing or may be: an object may turn out not to exist.
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

    /// Returns the range of the chunk in its object; `None` if the chunk is in no object.
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
        Ok(vec![ChunkLocation::Missing; chunks.to_usize("chunk locations")?])
    }
}
