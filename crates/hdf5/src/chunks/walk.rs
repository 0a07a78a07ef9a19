//! Going through all stored chunks of an index. It takes no longer than the index is large: what it has no entries for, or
//! leaves out, is passed over.

use ferrocdf_bytes::Result;

use super::pages::Leaf;
use super::{ChunkEntry, Cursor, DatasetChunks, Finder, slowest_first, tree};
use crate::Address;
use crate::wire::bad;

/// What is told of a chunk: its coordinates, its entry, and the filters that it is stored without.
pub(crate) type EachChunk<'a> = dyn FnMut(&[u64], ChunkEntry, u32) -> Result<()> + 'a;

impl DatasetChunks {
    /// Visits all stored chunks within the present extent.
    pub fn each(&self, visit: &mut EachChunk<'_>) -> Result<()> {
        let mut coords = vec![0; self.counts.len()];
        self.numbered(&mut |number, entry| {
            if !self.coords(number, &mut coords) {
                return Ok(());
            }
            let plain = self.plain_edges && self.is_partial(&coords);
            visit(&coords, entry, if plain { u32::MAX } else { entry.mask })
        })
    }

    /// Visits all stored chunks, also outside the present extent, with their numbers.
    pub(super) fn numbered(&self, visit: &mut dyn FnMut(u64, ChunkEntry) -> Result<()>) -> Result<()> {
        match &self.finder {
            Finder::Nothing => Ok(()),
            Finder::Single(entry) => visit(0, *entry),
            Finder::Implicit(at) => self.side_by_side(*at, visit),
            Finder::FixedArray(array) => self.leaves(|number| array.leaf(&self.source, number), visit),
            Finder::ExtensibleArray(array) => self.leaves(|number| array.leaf(&self.source, number), visit),
            Finder::Tree { kind, root, table } => {
                let table = table.get(|| tree::load(self, *kind, *root))?;
                table.numbered().try_for_each(|(number, entry)| visit(number, entry))
            }
        }
    }

    /// Visits chunks that lie one after another, for all of which the file has room.
    fn side_by_side(&self, at: Address, visit: &mut dyn FnMut(u64, ChunkEntry) -> Result<()>) -> Result<()> {
        let slowest = self.counts.get(self.slowest).copied().unwrap_or(1);
        let all = self.weights.get(self.slowest).map_or(Some(1), |weight| weight.checked_mul(slowest));
        let begin = self.source.position(at)?;
        let end = |all: u64| all.checked_mul(self.bytes)?.checked_add(begin);
        let size = self.source.blob.size()?;
        let all = all.filter(|&all| end(all).is_some_and(|end| end <= size)).ok_or_else(|| {
            bad(format!("the chunks of {} bytes from {at} on reach beyond the end of the file", self.bytes))
        })?;
        let mut cursor = Cursor::default();
        for number in 0..all {
            if let Some(entry) = self.entry(number, &mut cursor)? {
                visit(number, entry)?;
            }
        }
        Ok(())
    }

    /// Visits the chunks of an array, leaf by leaf.
    fn leaves(
        &self,
        leaf: impl Fn(u64) -> Result<Leaf>,
        visit: &mut dyn FnMut(u64, ChunkEntry) -> Result<()>,
    ) -> Result<()> {
        let mut number = 0;
        while number < u64::MAX {
            let leaf = leaf(number)?;
            let stored = leaf.bytes.iter().flat_map(|list| list.chunks_exact(leaf.width));
            for (number, entry) in (leaf.first..).zip(stored) {
                if let Some(entry) = ChunkEntry::decode(entry, self.source.sizes) {
                    visit(number, entry)?;
                }
            }
            number = leaf.end;
        }
        Ok(())
    }

    /// The coordinates of the chunk of this number; `false` if it lies outside the present extent.
    fn coords(&self, mut number: u64, coords: &mut [u64]) -> bool {
        let mut is_inside = true;
        for dim in slowest_first(coords.len(), self.slowest) {
            let weight = self.weights[dim].max(1);
            (coords[dim], number) = (number / weight, number % weight);
            is_inside &= coords[dim] < self.counts[dim];
        }
        is_inside
    }
}
