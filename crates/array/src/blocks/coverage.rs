//! Which blocks are stored, by the index alone.

use ferrocdf_bytes::Result;

use super::{Blocks, Place};
use crate::{Coverage, Selection};

/// The most blocks that are looked for at a time.
pub(super) const BLOCKS: u64 = 1 << 16;

impl Blocks {
    /// True if some block of an array of this shape is not stored.
    pub(crate) fn lacks_some(&self, shape: &[u64]) -> Result<bool> {
        Ok(!shape.contains(&0) && self.has_any(&self.grid(shape), |place| place == Place::Missing)?)
    }

    /// Returns how much of a selection of at least one element is stored, or held back.
    pub(crate) fn coverage(&self, selection: &Selection) -> Result<Coverage> {
        if self.cached.holds() {
            return Ok(Coverage::Whole);
        }
        let mut met = Selection::all(&self.shape);
        for (dim, &len) in self.shape.iter().enumerate() {
            let first = selection.start[dim];
            let last = first + (selection.count[dim] - 1) * selection.stride[dim];
            (met.start[dim], met.count[dim]) = (first / len, last / len - first / len + 1);
        }
        // Most boxes have all their blocks or none of them: one of these two calls ends at the first block then.
        if !self.has_any(&met, |place| place == Place::Missing)? {
            return Ok(Coverage::Whole);
        }
        let has_some = self.has_any(&met, |place| place != Place::Missing)?;
        Ok(if has_some { Coverage::Part } else { Coverage::Nothing })
    }

    /// True if a box of blocks has one in such a place.
    fn has_any(&self, grid: &Selection, is_wanted: impl Fn(Place) -> bool) -> Result<bool> {
        for (_, _, some) in grid.pieces(BLOCKS) {
            let mut has = false;
            self.settled(|attempt| {
                let places = self.locate(attempt.index, &some.start, &some.count)?;
                has = places.into_iter().any(&is_wanted);
                Ok(true)
            })?;
            if has {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
