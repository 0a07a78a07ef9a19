//! The chunks of a tree as a sorted table, which is kept as small as the numbers in it allow.

use std::ops::RangeInclusive;

use super::ChunkEntry;
use crate::Address;

/// Entries by chunk number.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ChunkTable {
    /// Sorted, no two the same; empty if they are 0, 1, 2 and so on.
    numbers: Vec<u64>,
    addresses: Vec<u64>,
    /// Empty if there are no filters.
    lens: Vec<u64>,
    /// Empty if all are 0.
    masks: Vec<u32>,
}

impl ChunkTable {
    /// A table of these chunks. Of two with the same number the later one is taken, as the reference does.
    pub fn new(mut chunks: Vec<(u64, ChunkEntry)>, filtered: bool) -> ChunkTable {
        if !chunks.is_sorted_by_key(|chunk| chunk.0) {
            chunks.sort_by_key(|chunk| chunk.0);
        }
        chunks.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                *earlier = *later;
            }
            same
        });
        let mut table = ChunkTable::default();
        if chunks.last().is_some_and(|last| last.0 != chunks.len() as u64 - 1) {
            table.numbers = chunks.iter().map(|chunk| chunk.0).collect();
        }
        if filtered {
            table.lens = chunks.iter().map(|chunk| chunk.1.len).collect();
            if chunks.iter().any(|chunk| chunk.1.mask != 0) {
                table.masks = chunks.iter().map(|chunk| chunk.1.mask).collect();
            }
        }
        table.addresses = chunks.into_iter().map(|chunk| chunk.1.at.0).collect();
        table
    }

    /// All entries with their numbers, in order.
    pub fn numbered(&self) -> impl Iterator<Item = (u64, ChunkEntry)> {
        let number = |row: usize| self.numbers.get(row).copied().unwrap_or(row as u64);
        (0..self.addresses.len()).filter_map(move |row| Some((number(row), self.row(row)?)))
    }

    fn row(&self, row: usize) -> Option<ChunkEntry> {
        let at = Address(*self.addresses.get(row)?);
        let len = self.lens.get(row).copied().unwrap_or_default();
        Some(ChunkEntry { at, len, mask: self.masks.get(row).copied().unwrap_or_default() })
    }

    /// Returns the least number of a chunk of the table in a range.
    pub fn next(&self, numbers: RangeInclusive<u64>) -> Option<u64> {
        let from = *numbers.start();
        let next = match self.numbers.is_empty() {
            true => Some(from).filter(|&from| from < self.addresses.len() as u64),
            false => self.numbers.get(self.numbers.partition_point(|&number| number < from)).copied(),
        };
        next.filter(|next| numbers.contains(next))
    }

    /// The entry of this chunk. `hint` is the row that was found last: neighbours are often asked for in turn.
    pub fn find(&self, number: u64, hint: &mut usize) -> Option<ChunkEntry> {
        let row = if self.numbers.is_empty() {
            usize::try_from(number).ok()?
        } else {
            let next = *hint + 1;
            match self.numbers.get(next) {
                Some(&found) if found == number => next,
                _ => self.numbers.binary_search(&number).ok()?,
            }
        };
        *hint = row;
        self.row(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(at: u64, mask: u32) -> ChunkEntry {
        ChunkEntry { at: Address(at), len: at + 1, mask }
    }

    #[test]
    fn entries_are_found() {
        let table = ChunkTable::new(
            vec![(7, entry(70, 0)), (2, entry(20, 5)), (7, entry(71, 1)), (4, entry(40, 0))],
            true,
        );
        for mut hint in 0..4 {
            assert_eq!(table.find(2, &mut hint), Some(entry(20, 5)));
            assert_eq!(table.find(4, &mut hint), Some(entry(40, 0)));
            assert_eq!(table.find(5, &mut hint), None);
            assert_eq!(table.find(7, &mut hint), Some(entry(71, 1)));
            assert_eq!(table.find(8, &mut hint), None);
        }
    }

    #[test]
    fn a_full_table_has_no_numbers() {
        let table = ChunkTable::new(vec![(0, entry(5, 0)), (1, entry(6, 0))], false);
        assert_eq!(table, ChunkTable { addresses: vec![5, 6], ..ChunkTable::default() });
        assert_eq!(table.find(1, &mut 0), Some(ChunkEntry { at: Address(6), len: 0, mask: 0 }));
        assert_eq!(table.find(2, &mut 0), None);
        assert_eq!(ChunkTable::new(Vec::new(), true).find(0, &mut 0), None);
    }
}
