//! The plan of a read: which chunks, where they lie, and which bytes of the blob are fetched together.

use ferrocdf_bytes::Result;
use smallvec::SmallVec;

use super::Reader;
use crate::blocks::decoded::Shared;
use crate::blocks::fetch_plan::{Fetch, coalesce, largest};
use crate::blocks::index::{BlockIndex, Place};
use crate::blocks::places::{Ranges, combinations};
use crate::blocks::tries::Tries;

/// The chunks to read, in the order in which they are fetched, and the requests that fetch them.
pub(super) struct Plan {
    pub(super) chunks: Vec<Planned>,
    pub(super) fetches: Vec<Fetch>,
}

/// One chunk.
pub(super) struct Planned {
    /// Its number in the box of chunks, last dimension fastest.
    pub(super) number: usize,
    /// Its number among the chunks that the selection meets in each dimension.
    pub(super) at: SmallVec<[usize; 4]>,
    pub(super) place: Place,
    /// Its decoded bytes, if they are in memory.
    pub(super) kept: Option<Shared>,
    /// The snapshot of the index that located it.
    pub(super) look: u64,
    pub(super) need: Need,
}

/// What a chunk needs of the blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// All of its stored bytes, at this position and of this length.
    Whole(u64, u64),
    /// Few elements of an unfiltered chunk at this position, which are fetched by requests of their own.
    Part(u64),
    /// Nothing: its elements are in memory, or have the fill value.
    Nothing,
}

impl Need {
    /// The position by which requests are sorted; chunks without requests come last.
    fn position(self) -> u64 {
        match self {
            Need::Whole(at, _) | Need::Part(at) => at,
            Need::Nothing => u64::MAX,
        }
    }

    /// The bytes that are fetched together with those of other chunks.
    fn range(self) -> Option<(u64, u64)> {
        match self {
            Need::Whole(at, len) => Some((at, len)),
            Need::Part(_) | Need::Nothing => None,
        }
    }
}

impl Reader<'_> {
    /// Plans the read of the chunks in a box, but for those that need not be read again.
    pub(super) fn plan(
        &self,
        ranges: &Ranges,
        index: &dyn BlockIndex,
        is_again: bool,
        tries: &Tries,
    ) -> Result<Plan> {
        // This comes before the chunks are located: a chunk that was pending has a location when it is no longer pending.
        let mut kept = self.kept(ranges, is_again).into_iter();
        let places = self.chunks.blocks.places(index, &self.chunks.hits, ranges)?;
        let look = index.look();
        let planned = |((number, at), place): ((usize, SmallVec<[usize; 4]>), Place)| {
            let kept = kept.next().flatten().filter(|kept| kept.is_of(look));
            let need = if kept.is_some() { Need::Nothing } else { self.need(&at, place) };
            Planned { number, at, place, kept, look, need }
        };
        let mut chunks: Vec<Planned> = combinations(ranges).enumerate().zip(places).map(planned).collect();
        chunks.retain(|chunk| !tries.is_settled(chunk.number));
        if chunks.len() > 1 {
            chunks.sort_by_key(|chunk| chunk.need.position());
        }
        let fetches = coalesce(chunks.iter().map(|chunk| chunk.need.range()), &self.cost);
        Ok(Plan { chunks, fetches })
    }

    /// Returns the decoded chunks of a box that are in memory; an empty list if none is.
    fn kept(&self, ranges: &Ranges, is_again: bool) -> Vec<Option<Shared>> {
        let blocks = self.chunks.blocks;
        let keys = || combinations(ranges).map(|at| self.chunks.key(&at));
        // Another reader may have cached bytes that were read ahead of the last snapshot.
        let mut kept = if is_again { Vec::new() } else { blocks.cached.get(keys()) };
        if let Some(pending) = &blocks.pending {
            pending.overlay(&mut kept, keys());
        }
        for chunk in &mut kept {
            *chunk = chunk.take().map(|chunk| chunk.for_elements(self.chunks.element));
        }
        kept
    }

    /// Returns what a chunk that is not in memory needs.
    fn need(&self, at: &[usize], place: Place) -> Need {
        let Place::At { at: position, len, mask } = place else { return Need::Nothing };
        // Requests of their own pay if the chunk is too large for one, or for a quarter of what one would read too much.
        let is_part = self.stored.chain.is_identity(mask) && len == self.stored.block_len && {
            let wanted = self.chunks.elements(at).saturating_mul(self.chunks.element as u64);
            len > largest(&self.cost) || (len > self.cost.gap && wanted < len / 4)
        };
        if is_part { Need::Part(position) } else { Need::Whole(position, len) }
    }
}
