//! The boxes of a grid of chunks in which some chunk is stored. A huge array of few stored chunks takes as many steps as chunks are stored,
//! not as many as the grid has.

use std::ops::RangeInclusive;

use ferrocdf_bytes::Result;

use super::coverage::MAX_LOCATED;
use super::index::{ChunkIndex, ChunkLocation};
use super::layout::Chunks;
use crate::Selection;

/// A box is not halved where more than one chunk of so many is stored.
const SPARSE: u64 = 64;

/// Counts the stored chunks in a box, up to `limit`. The number of a chunk is its place in `grid`, which has the number of chunks along each
/// dimension, the last one fastest; the box may reach beyond the grid along the first dimension. `next` returns the least number of a stored
/// chunk in a range.
///
/// # Errors
/// Those of `next`.
pub fn count_in_box(
    grid: &[u64],
    (first, count): (&[u64], &[u64]),
    limit: u64,
    mut next: impl FnMut(RangeInclusive<u64>) -> Result<Option<u64>>,
) -> Result<u64> {
    let ends: Vec<u64> =
        first.iter().zip(count).map(|(&first, &count)| first.saturating_add(count)).collect();
    let number = |at: &[u64]| {
        at.iter()
            .zip(grid)
            .fold(0u64, |number, (&at, &len)| number.saturating_mul(len.max(1)).saturating_add(at))
    };
    let is_outside = |dim: usize| dim > 0 && first[dim] >= grid[dim];
    if count.contains(&0) || (0..grid.len()).any(is_outside) {
        return Ok(0);
    }
    let (mut stored, mut at) = (0, first.to_vec());
    let mut from = number(&at);
    let within = |(dim, &end): (usize, &u64)| if dim == 0 { end } else { end.min(grid[dim]) };
    let last: Vec<u64> = ends.iter().enumerate().map(within).map(|end| end - 1).collect();
    let last = number(&last);
    while stored < limit && from <= last {
        let Some(found) = next(from..=last)? else { break };
        let mut rest = found;
        for (dim, &len) in grid.iter().enumerate().rev() {
            (at[dim], rest) = if dim == 0 { (rest, 0) } else { (rest % len.max(1), rest / len.max(1)) };
        }
        let Some(outside) = (0..at.len()).find(|&dim| at[dim] < first[dim] || at[dim] >= ends[dim]) else {
            stored += 1;
            let Some(behind) = found.checked_add(1) else { break };
            from = behind;
            continue;
        };
        // The next number of a chunk in the box: in the same row before the box, or in a row behind it.
        let mut dim = outside;
        if at[dim] >= ends[dim] {
            loop {
                let Some(before) = dim.checked_sub(1) else { return Ok(stored) };
                dim = before;
                at[dim] += 1;
                if at[dim] < ends[dim] {
                    break;
                }
            }
            dim += 1;
        }
        at[dim..].copy_from_slice(&first[dim..]);
        from = number(&at);
    }
    Ok(stored)
}

impl Chunks {
    /// Returns the number of stored chunks in a box of the grid, up to `limit`; `None` if the index cannot count them.
    pub(super) fn count_stored(
        &self,
        index: &dyn ChunkIndex,
        some: &Selection,
        limit: u64,
    ) -> Result<Option<u64>> {
        let rank = some.start.len().saturating_sub(self.inner);
        index.count_stored(&some.start[..rank], &some.count[..rank], limit)
    }

    /// Calls `visit` with the coordinates and the location of each stored chunk of an array of a shape, last dimension fastest. Chunks in
    /// objects may turn out to be missing.
    ///
    /// # Errors
    /// Those of the index and of `visit`.
    pub fn try_for_each_stored(
        &self,
        shape: &[u64],
        mut visit: impl FnMut(&[u64], ChunkLocation) -> Result<()>,
    ) -> Result<()> {
        if shape.contains(&0) {
            return Ok(());
        }
        let visited = self.try_for_each_box(&self.grid(shape), |some, is_missing| {
            if is_missing {
                return Ok(true);
            }
            let mut locations = vec![];
            self.read_consistently(|attempt| {
                locations = self.locate(attempt.index, &some.start, &some.count)?;
                Ok(true)
            })?;
            let stored = (0..).zip(locations).filter(|(_, location)| *location != ChunkLocation::Missing);
            for (number, location) in stored {
                visit(&some.nth(number), location)?;
            }
            Ok(true)
        });
        visited.map(drop)
    }

    /// Calls `visit` with the boxes that a box of the grid is cut into, in their order, and with true for a box without a stored chunk. Other
    /// boxes have at most [`MAX_LOCATED`] chunks. Ends when `visit` returns false, and returns that.
    pub(super) fn try_for_each_box(
        &self,
        grid: &Selection,
        mut visit: impl FnMut(&Selection, bool) -> Result<bool>,
    ) -> Result<bool> {
        let mut rest = vec![grid.clone()];
        while let Some(some) = rest.pop() {
            let all = some.elements().unwrap_or(u64::MAX);
            let few = all / SPARSE;
            let mut stored = None;
            if all > MAX_LOCATED {
                self.read_consistently(|attempt| {
                    stored = self.count_stored(attempt.index, &some, few.max(1))?;
                    Ok(true)
                })?;
            }
            let halves = match stored {
                Some(0) => {
                    if !visit(&some, true)? {
                        return Ok(false);
                    }
                    continue;
                }
                Some(stored) if stored < few => halves(&some),
                _ => None,
            };
            if let Some((before, after)) = halves {
                rest.extend([after, before]);
                continue;
            }
            for (_, _, piece) in some.pieces(MAX_LOCATED) {
                if !visit(&piece, false)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Halves a box along the first dimension along which it has several chunks; `None` if it has one chunk.
fn halves(whole: &Selection) -> Option<(Selection, Selection)> {
    let dim = whole.count.iter().position(|&count| count > 1)?;
    let (mut before, mut after) = (whole.clone(), whole.clone());
    before.count[dim] /= 2;
    after.start[dim] += before.count[dim];
    after.count[dim] -= before.count[dim];
    Some((before, after))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn counts_in_boxes_equal_those_found_by_search() {
        let grid = [5u64, 4, 7];
        let stored: BTreeSet<u64> = (0..160).filter(|n| n * n % 11 < 3).collect();
        for case in 0..3000u64 {
            let draw = |shift: u32, below: u64| (case.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> shift) % below;
            let first = [draw(3, 7), draw(9, 5), draw(15, 8)];
            let count = [draw(21, 6), draw(27, 5), draw(33, 9)];
            let is_in = |&&number: &&u64| {
                let at = [number / 28, number / 7 % 4, number % 7];
                (0..3).all(|dim| (first[dim]..first[dim] + count[dim]).contains(&at[dim]))
            };
            let wanted = stored.iter().filter(is_in).count() as u64;
            let next = |numbers: RangeInclusive<u64>| Ok(stored.range(numbers).next().copied());
            let counted = |limit| count_in_box(&grid, (&first, &count), limit, next).unwrap();
            assert_eq!(counted(u64::MAX), wanted, "{first:?} {count:?}");
            assert_eq!(counted(2), wanted.min(2));
        }
        // No chunk beside the stored one is looked at.
        let huge = [1 << 31, 1 << 31];
        let mut looks = 0;
        let next = |numbers: RangeInclusive<u64>| {
            looks += 1;
            Ok(Some(77 << 31 | 5).filter(|stored| numbers.contains(stored)))
        };
        assert_eq!(count_in_box(&huge, (&[0, 0], &huge), u64::MAX, next).unwrap(), 1);
        assert!(looks < 4, "{looks}");
    }
}
