//! The chunks of one variable by their coordinates.

use std::collections::BTreeMap;

use ferrocdf_array::{ChunkLocation, Index, count_in_box};
use ferrocdf_bytes::{Code, Error, Result};

/// Locations of chunks in the order of their coordinates, last dimension fastest.
#[derive(Debug, Default)]
pub(super) struct ChunkTable(pub(super) BTreeMap<Index, ChunkLocation>);

impl ChunkTable {
    /// Returns the locations of the chunks in a box, as `ChunkIndex::locate` does.
    pub(super) fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let no_memory =
            || Error::new(Code::ENOMEM, format!("no memory for the locations of {count:?} chunks"));
        let total = count.iter().try_fold(1u64, |total, &count| total.checked_mul(count));
        let total = total.and_then(|total| usize::try_from(total).ok()).ok_or_else(no_memory)?;
        let mut found = Vec::new();
        found.try_reserve_exact(total).map_err(|_| no_memory())?;
        found.resize(total, ChunkLocation::Missing);
        if total == 0 {
            return Ok(found);
        }
        let last: Index = first.iter().zip(count).map(|(&at, &len)| at.saturating_add(len - 1)).collect();
        for (coordinates, &location) in self.0.range(Index::from_slice(first)..=last) {
            // `None` for a chunk beside the box.
            let place = coordinates.iter().zip(first).zip(count).try_fold(0, |place, ((at, first), &len)| {
                let inside = at.checked_sub(*first).filter(|&inside| inside < len)?;
                Some(place * len + inside)
            });
            if let Some(place) = place {
                found[place as usize] = location;
            }
        }
        Ok(found)
    }

    /// Returns the number of chunks in a box, up to `limit`. `grid` has the number of chunks along each dimension of the array; `None` if these
    /// are more than 64 bits count.
    pub(super) fn count(
        &self,
        grid: &[u64],
        first: &[u64],
        count: &[u64],
        limit: u64,
    ) -> Result<Option<u64>> {
        if grid.iter().try_fold(1u64, |all, &len| all.checked_mul(len.max(1))).is_none() {
            return Ok(None);
        }
        let number = |at: &[u64]| at.iter().zip(grid).fold(0, |number, (at, len)| number * len.max(&1) + at);
        let coordinates = |mut number: u64| {
            let mut at = Index::from_elem(0, grid.len());
            for (dim, &len) in grid.iter().enumerate().rev() {
                (at[dim], number) =
                    if dim == 0 { (number, 0) } else { (number % len.max(1), number / len.max(1)) };
            }
            at
        };
        let next = |numbers: std::ops::RangeInclusive<u64>| {
            let found = self.0.range(coordinates(*numbers.start())..).next();
            Ok(found.map(|(at, _)| number(at)).filter(|number| numbers.contains(number)))
        };
        count_in_box(grid, (first, count), limit, next).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_located_and_counted_in_any_box() {
        let grid = [4u64, 3, 5];
        let stored = |at: &[u64]| (at[0] * 15 + at[1] * 5 + at[2]) * 7 % 11 < 4;
        let location =
            |at: &[u64]| ChunkLocation::At { at: at[0] * 100 + at[1] * 10 + at[2], len: 1, mask: 0 };
        let all = |first: [u64; 3], count: [u64; 3]| {
            let mut list = vec![];
            for a in first[0]..first[0] + count[0] {
                for b in first[1]..first[1] + count[1] {
                    list.extend((first[2]..first[2] + count[2]).map(|c| [a, b, c]));
                }
            }
            list
        };
        let is_stored = |at: &[u64; 3]| at.iter().zip(&grid).all(|(at, len)| at < len) && stored(at);
        let table = all([0; 3], grid).into_iter().filter(is_stored);
        let table = ChunkTable(table.map(|at| (Index::from_slice(&at), location(&at))).collect());
        for number in 0..4 * 3 * 5 * 3 * 3 * 4 {
            let first = [number % 4, number / 4 % 3, number / 12 % 5];
            let count = [number / 60 % 3 + 1, number / 180 % 3 + 1, number / 540 % 4];
            let wanted = all(first, count);
            let expected: Vec<_> = wanted
                .iter()
                .map(|at| if is_stored(at) { location(at) } else { ChunkLocation::Missing })
                .collect();
            assert_eq!(table.locate(&first, &count).unwrap(), expected, "{first:?} {count:?}");
            let stored = wanted.iter().filter(|at| is_stored(at)).count() as u64;
            assert_eq!(
                table.count(&grid, &first, &count, u64::MAX).unwrap(),
                Some(stored),
                "{first:?} {count:?}"
            );
        }
        assert_eq!(table.count(&[u64::MAX, 3, 5], &[0; 3], &[1; 3], 1).unwrap(), None);
        assert!(table.locate(&[0; 3], &[u64::MAX; 3]).is_err());
    }
}
