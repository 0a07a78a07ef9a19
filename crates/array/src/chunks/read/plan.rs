//! The plan of a read: the chunks, their locations, and the requests for their bytes.

use ferrocdf_bytes::Result;
use smallvec::SmallVec;

use super::ChunkReader;
use crate::chunks::decoded::Shared;
use crate::chunks::fetch_plan::{Fetch, coalesce};
use crate::chunks::index::{ChunkIndex, ChunkLocation};
use crate::chunks::locate::{Ranges, combinations};
use crate::chunks::optimistic::Attempts;
use crate::requests::largest;

/// The chunks to read and the requests that serve them, both in the order of the fetches.
pub(super) struct ReadPlan {
    pub(super) chunks: SmallVec<[PlannedChunk; 1]>,
    pub(super) fetches: Vec<Fetch>,
    /// Generation of the snapshot that located the chunks.
    pub(super) generation: u64,
}

impl ReadPlan {
    /// True if a chunk is too large to be decoded as a whole.
    pub(super) fn has_decoded(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.need == Need::Decoded)
    }
}

/// One chunk of a plan.
pub(super) struct PlannedChunk {
    /// Number of the chunk in its box, last dimension fastest.
    pub(super) number: usize,
    /// For each dimension, the number of the chunk among those that the selection meets.
    pub(super) at: SmallVec<[usize; 4]>,
    pub(super) location: ChunkLocation,
    /// The decoded chunk, if it is cached or pending.
    pub(super) kept: Option<Shared>,
    pub(super) need: Need,
}

/// The bytes that a chunk needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// All of its encoded bytes: position in the blob and length.
    Whole(u64, u64),
    /// The selected elements of an unfiltered chunk at this position, fetched with requests of their own.
    Part(u64),
    /// All of its encoded bytes, which are in an object.
    Object,
    /// The selected elements of a chunk that is too large to be decoded as a whole, read from [`ChunkIndex::decoded`].
    Decoded,
    /// None: the chunk is cached, pending or missing.
    Nothing,
}

impl Need {
    /// Returns the sort key of a chunk, rank and position: chunks in the blob in the order of their positions, then chunks in
    /// objects, then chunks that need no bytes.
    fn position(self) -> (u8, u64) {
        match self {
            Need::Whole(at, _) | Need::Part(at) => (0, at),
            Need::Object => (1, 0),
            Need::Decoded | Need::Nothing => (2, 0),
        }
    }

    /// Returns position and length of the bytes that one request may fetch together with those of other chunks.
    fn range(self) -> Option<(u64, u64)> {
        match self {
            Need::Whole(at, len) => Some((at, len)),
            Need::Part(_) | Need::Object | Need::Decoded | Need::Nothing => None,
        }
    }
}

impl ChunkReader<'_> {
    /// Plans the read of the chunks in a box that are not verified yet.
    pub(super) fn plan(
        &self,
        ranges: &Ranges,
        index: &dyn ChunkIndex,
        is_again: bool,
        attempts: &Attempts,
    ) -> Result<ReadPlan> {
        // Pending chunks are looked up before the chunks are located: a chunk that another thread stores in between is no longer
        // pending, but the index already has its new location.
        let mut kept = self.kept(ranges, is_again).into_iter();
        let locations = self.selected.chunks.locate_selected(index, &self.selected.by_dim, ranges)?;
        let generation = index.generation();
        let planned = |((number, at), location): ((usize, SmallVec<[usize; 4]>), ChunkLocation)| {
            let kept = kept.next().flatten().filter(|kept| kept.is_of(generation));
            let need = if kept.is_some() { Need::Nothing } else { self.need(&at, location) };
            PlannedChunk { number, at, location, kept, need }
        };
        let mut chunks: SmallVec<[PlannedChunk; 1]> =
            combinations(ranges).enumerate().zip(locations).map(planned).collect();
        if attempts.is_verifying() {
            chunks.retain(|chunk| !attempts.is_verified(chunk.number));
        }
        if !chunks.is_sorted_by_key(|chunk| chunk.need.position()) {
            chunks.sort_by_key(|chunk| chunk.need.position());
        }
        let coalesce =
            |chunks: &[PlannedChunk]| coalesce(chunks.iter().map(|chunk| chunk.need.range()), &self.cost);
        let fetches = if self.stored.objects.is_none() {
            coalesce(&chunks)
        } else {
            let in_blob = chunks.partition_point(|chunk| chunk.need.position().0 < 1);
            let stored = chunks.partition_point(|chunk| chunk.need.position().0 < 2);
            let mut fetches = coalesce(&chunks[..in_blob]);
            fetches.resize(fetches.len() + stored - in_blob, Fetch { range: 0..0, chunks: 1 });
            fetches.append(&mut coalesce(&chunks[stored..]));
            fetches
        };
        Ok(ReadPlan { chunks, fetches, generation })
    }

    /// Returns the cached and pending chunks of a box, `None` for the others; an empty list if there are none.
    fn kept(&self, ranges: &Ranges, is_again: bool) -> Vec<Option<Shared>> {
        let chunks = self.selected.chunks;
        let keys = || combinations(ranges).map(|at| self.selected.key(&at));
        // After the first attempt the cache is not used: another reader may have cached bytes that are older than the snapshot.
        let mut kept = if is_again { Vec::new() } else { chunks.cached.get(keys()) };
        if let Some(pending) = &chunks.pending {
            pending.overlay(&mut kept, keys());
        }
        for chunk in &mut kept {
            *chunk = chunk.take().map(|chunk| chunk.for_elements(self.selected.element));
        }
        kept
    }

    /// Returns the bytes that a chunk needs if it is neither cached nor pending.
    fn need(&self, at: &[usize], location: ChunkLocation) -> Need {
        let (position, len, mask) = match location {
            ChunkLocation::Missing => return Need::Nothing,
            ChunkLocation::Object { .. } => return Need::Object,
            ChunkLocation::At { at, len, mask } => (at, len, mask),
        };
        if self.selected.chunks.index.decoded(location).is_some() && !self.decodes_in_place(at, len) {
            return Need::Decoded;
        }
        // Requests for parts pay if the chunk is too large for one request, or if less than a quarter of it is selected.
        let is_part =
            len > self.cost.gap && len == self.stored.chunk_len && self.stored.chain.is_identity(mask) && {
                let wanted = self.selected.elements(at).saturating_mul(self.selected.element as u64);
                len > largest(&self.cost) || wanted < len / 4
            };
        if is_part { Need::Part(position) } else { Need::Whole(position, len) }
    }

    /// True if a chunk of `len` encoded bytes can be decoded to the memory that it fills. Encoded bytes of much more than what they decode
    /// to are never read as a whole.
    fn decodes_in_place(&self, at: &[usize], len: u64) -> bool {
        let chunk_len = self.stored.chunk_len;
        len <= chunk_len.saturating_mul(2)
            && self.conversion.is_in_place()
            && self.selected.rows(at).is_whole(chunk_len)
    }
}
