//! How much of a selection is stored, by the chunk index alone: no chunk is read.

use ferrocdf_bytes::Result;

use super::index::ChunkLocation;
use super::layout::Chunks;
use crate::{Coverage, Selection};

/// Maximum number of chunks that are located at a time.
pub(super) const MAX_LOCATED: u64 = 1 << 16;

/// Maximum number of stored chunks that are counted in one box: of an array that is halved again and again, each box would count them all.
const MAX_COUNTED: u64 = 1 << 10;

impl Chunks {
    /// True if at least one chunk of an array of this shape is missing, or may be because the index does not tell.
    pub(crate) fn lacks_some(&self, shape: &[u64]) -> Result<bool> {
        Ok(!shape.contains(&0) && self.has_any(&self.grid(shape), ChunkLocation::may_be_missing)?)
    }

    /// Returns how much of a selection of at least one element is stored. Pending chunks count as stored.
    pub(crate) fn coverage(&self, selection: &Selection) -> Result<Coverage> {
        if self.has_pending() {
            return Ok(Coverage::Whole);
        }
        let mut met = Selection::all(&self.shape);
        for (dim, &len) in self.shape.iter().enumerate() {
            let first = selection.start[dim];
            let last = first + (selection.count[dim] - 1) * selection.stride[dim];
            (met.start[dim], met.count[dim]) = (first / len, last / len - first / len + 1);
        }
        let (all, mut counted) = (met.elements().unwrap_or(u64::MAX), None);
        self.read_consistently(|attempt| {
            counted = self.count_stored(attempt.index, &met, all.min(MAX_COUNTED))?;
            Ok(true)
        })?;
        match counted {
            Some(0) => return Ok(Coverage::Nothing),
            Some(stored) if stored == all => return Ok(Coverage::Whole),
            Some(stored) if stored < MAX_COUNTED => return Ok(Coverage::Part),
            _ => {}
        }
        // Many are stored, or the index cannot count: the first missing chunk tells a part from the whole.
        let (mut has_stored, mut has_missing) = (counted.is_some(), false);
        self.has_any(&met, |location| {
            has_stored |= location != ChunkLocation::Missing;
            has_missing |= location == ChunkLocation::Missing;
            has_stored && has_missing
        })?;
        Ok(match (has_stored, has_missing) {
            (true, true) => Coverage::Part,
            (true, false) => Coverage::Whole,
            (false, _) => Coverage::Nothing,
        })
    }

    /// True if a box of chunks contains a chunk whose location is wanted. `is_wanted` sees a chunk again if another writer moves
    /// chunks meanwhile.
    fn has_any(&self, grid: &Selection, mut is_wanted: impl FnMut(ChunkLocation) -> bool) -> Result<bool> {
        for (_, _, some) in grid.pieces(MAX_LOCATED) {
            let mut has = false;
            self.read_consistently(|attempt| {
                let locations = self.locate(attempt.index, &some.start, &some.count)?;
                has = locations.into_iter().any(&mut is_wanted);
                Ok(true)
            })?;
            if has {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
