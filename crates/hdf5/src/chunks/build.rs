//! Whole chunk indexes from the places of the chunks.
//!
//! A list of chunks is put into the order of its index once; then each index is made in one pass over it.

use ferrocdf_bytes::Result;

use super::stored::{ChunkKey, ChunkRecord, Form, StoredEntry};
use super::{ChunkEntry, array_weights, extensible_array, fixed_array, most_chunks, slowest_of_growing};
use crate::block::{Alloc, Block};
use crate::messages::{ChunkIndex, ChunkedLayout, Dataspace};
use crate::trees::{btree1, btree2};
use crate::wire::{Writer, bad, width_of};
use crate::{Address, Sizes};

const WHAT: &str = "chunk index";

/// Chunks and their places.
#[derive(Clone, Debug)]
pub(crate) struct ChunkList {
    rank: usize,
    /// The coordinates of the chunks, counted in chunks, one behind the other.
    coords: Vec<u64>,
    entries: Vec<ChunkEntry>,
}

impl ChunkList {
    /// An empty list for a dataset of so many dimensions, at least 1.
    pub fn new(rank: usize) -> ChunkList {
        ChunkList { rank, coords: Vec::new(), entries: Vec::new() }
    }

    /// Adds a chunk, by its coordinates counted in chunks. Without filters, length and mask do not matter.
    pub fn push(&mut self, coords: &[u64], entry: ChunkEntry) {
        debug_assert_eq!(coords.len(), self.rank);
        self.coords.extend_from_slice(coords);
        self.entries.push(entry);
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn coords(&self, chunk: usize) -> &[u64] {
        &self.coords[chunk * self.rank..(chunk + 1) * self.rank]
    }

    /// The chunks in the order of their coordinates, of which no two may be the same.
    fn in_order(&self) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        if !order.is_sorted_by_key(|&chunk| self.coords(chunk)) {
            order.sort_unstable_by_key(|&chunk| self.coords(chunk));
        }
        match order.windows(2).find(|pair| self.coords(pair[0]) == self.coords(pair[1])) {
            None => Ok(order),
            Some(pair) => Err(bad(format!("{WHAT}: chunk {:?} is there twice", self.coords(pair[0])))),
        }
    }
}

/// An index to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewIndex<'a> {
    /// Shape of chunks, bytes of elements, and which index; the address is not looked at.
    pub layout: &'a ChunkedLayout,
    /// The shape of the dataset.
    pub space: &'a Dataspace,
    /// Whether chunks have filters.
    pub filtered: bool,
    /// Half the children of a node of a version 1 B-tree, see [`crate::messages::small::TreeSizes`].
    pub half: u16,
}

/// An index that was made, for the layout message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuiltIndex {
    /// The index as asked for; a single chunk's entry is in it.
    pub index: ChunkIndex,
    /// Where it is; `None` without chunks.
    pub address: Option<Address>,
}

impl ChunkIndex {
    /// The index that the reference chooses for layout messages of version 4 and later. `early` says that space is taken
    /// when the dataset is made.
    pub(crate) fn best(chunk: &[u64], space: &Dataspace, filtered: bool, early: bool) -> ChunkIndex {
        let rank = space.dims.len();
        let unlimited = (0..rank).filter(|&dim| space.max(dim).is_none()).count();
        let single =
            || (0..rank).all(|dim| [Some(space.dims[dim]), chunk.get(dim).copied()] == [space.max(dim); 2]);
        match unlimited {
            0 if single() => ChunkIndex::Single(None),
            0 if early && !filtered => ChunkIndex::Implicit,
            0 => ChunkIndex::FixedArray { page_bits: 10 },
            1 => ChunkIndex::ExtensibleArray([32, 4, 4, 16, 10]),
            _ => ChunkIndex::BTree2 { node: 2048, split: 100, merge: 40 },
        }
    }
}

impl NewIndex<'_> {
    /// Makes the index: adds its blocks.
    ///
    /// # Errors
    /// `EHDFERR` for chunks that the index cannot hold: two of the same coordinates, those beyond the largest extent,
    /// more than one in an index of one; `ERANGE` for lengths that it cannot hold; those of `alloc`.
    pub fn build(
        &self,
        chunks: &ChunkList,
        sizes: Sizes,
        alloc: &mut Alloc<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<BuiltIndex> {
        let ChunkedLayout { shape, element, index, .. } = self.layout;
        let bytes = shape.iter().try_fold(*element, |bytes, &len| bytes.checked_mul(len));
        let bytes = bytes.ok_or_else(|| bad(format!("{WHAT}: chunks of shape {shape:?}")))?;
        let mut built = BuiltIndex { index: *index, address: None };
        if shape.len() != chunks.rank || space_rank(self.space) != chunks.rank {
            return Err(bad(format!("{WHAT}: chunks of shape {shape:?}, with {} coordinates", chunks.rank)));
        }
        if chunks.len() == 0 {
            if matches!(index, ChunkIndex::Single(_)) {
                built.index = ChunkIndex::Single(self.filtered.then_some((0, 0)));
            }
            return Ok(built);
        }
        let form = Form { sizes, len_width: self.filtered.then_some((1 + width_of(bytes)).min(8)) };
        let at = match *index {
            ChunkIndex::Single(_) => {
                let [entry] = chunks.entries[..] else {
                    return Err(bad(format!("{WHAT}: {} chunks where there is one", chunks.len())));
                };
                built.index = ChunkIndex::Single(self.filtered.then_some((entry.len, entry.mask)));
                entry.at
            }
            ChunkIndex::BTree1 => self.old_tree(chunks, bytes, sizes, alloc, blocks)?,
            ChunkIndex::BTree2 { node, .. } => {
                let mut w = Writer::new("chunk record");
                for chunk in chunks.in_order()? {
                    let stored = StoredEntry { form, entry: Some(chunks.entries[chunk]) };
                    let coords = chunks.coords(chunk).to_vec();
                    w.record(&mut ChunkRecord { stored, coords, rank: chunks.rank as u64 });
                }
                let tree = btree2::NewBTree2 {
                    record_type: if self.filtered { 11 } else { 10 },
                    record_size: form.width() + 8 * chunks.rank,
                    node_size: node,
                    records: &w.finish()?,
                };
                tree.build(sizes, alloc, blocks)?
            }
            ChunkIndex::Implicit => {
                let entries = self.numbered(chunks)?;
                let first = entries[0].1.at.0.checked_sub(entries[0].0.saturating_mul(bytes));
                let side_by_side = |&(number, entry): &(u64, ChunkEntry)| {
                    Some(entry.at.0)
                        == number.checked_mul(bytes).and_then(|offset| first?.checked_add(offset))
                };
                if !entries.iter().all(side_by_side) {
                    return Err(bad(format!("{WHAT}: the chunks do not lie side by side")));
                }
                Address(first.unwrap_or_default())
            }
            ChunkIndex::FixedArray { page_bits } => {
                let most = most_chunks(self.space, shape);
                let count = most.iter().try_fold(1u64, |count, &len| count.checked_mul(len?));
                let count = count.ok_or_else(|| bad(format!("{WHAT}: a fixed array without limit")))?;
                fixed_array::build(page_bits, count, &self.numbered(chunks)?, form, alloc, blocks)?
            }
            ChunkIndex::ExtensibleArray(parameters) => {
                extensible_array::build(parameters, &self.numbered(chunks)?, form, alloc, blocks)?
            }
        };
        Ok(BuiltIndex { address: Some(at), ..built })
    }

    /// The entries by the numbers that arrays give them, in order.
    fn numbered(&self, chunks: &ChunkList) -> Result<Vec<(u64, ChunkEntry)>> {
        let most = most_chunks(self.space, &self.layout.shape);
        let grows = matches!(self.layout.index, ChunkIndex::ExtensibleArray(_));
        let weights = array_weights(&most, if grows { slowest_of_growing(&most)? } else { 0 })?;
        let mut entries = Vec::with_capacity(chunks.len());
        for (chunk, &entry) in chunks.entries.iter().enumerate() {
            let coords = chunks.coords(chunk);
            let outside = || bad(format!("{WHAT}: chunk {coords:?} lies outside of the dataset"));
            let mut number = 0u64;
            for ((&at, &weight), &most) in coords.iter().zip(&weights).zip(&most) {
                let part = at.checked_mul(weight).filter(|_| most.is_none_or(|most| at < most));
                number = part.and_then(|part| part.checked_add(number)).ok_or_else(outside)?;
            }
            entries.push((number, entry));
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            None => Ok(entries),
            Some(pair) => Err(bad(format!("{WHAT}: chunk number {} is there twice", pair[0].0))),
        }
    }

    /// A B-tree of version 1: the keys hold size, mask, and the position of the first element, of which the last number
    /// is 0. The last key is that of a chunk behind the last one in every dimension, as the reference has it.
    fn old_tree(
        &self,
        chunks: &ChunkList,
        bytes: u64,
        sizes: Sizes,
        alloc: &mut Alloc<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<Address> {
        let order = chunks.in_order()?;
        let ChunkedLayout { shape, element, .. } = self.layout;
        let mut w = Writer::new("chunk key");
        let mut key = |len: u64, mask: u32, first: &mut dyn Iterator<Item = u64>, last: u64| {
            let mut offsets = Vec::with_capacity(shape.len() + 1);
            for (at, &len) in first.zip(shape) {
                let offset = at.checked_mul(len);
                offsets.push(offset.ok_or_else(|| bad(format!("{WHAT}: chunk {at} of {len} elements")))?);
            }
            offsets.push(last);
            w.record(&mut ChunkKey { len, mask, rank: offsets.len() as u64, offsets });
            Ok(())
        };
        for &chunk in &order {
            let ChunkEntry { len, mask, .. } = chunks.entries[chunk];
            let (len, mask) = if self.filtered { (len, mask) } else { (bytes, 0) };
            key(len, mask, &mut chunks.coords(chunk).iter().copied(), 0)?;
        }
        let behind = order.last().map_or(&[][..], |&last| chunks.coords(last));
        key(0, 0, &mut behind.iter().map(|at| at.saturating_add(1)), *element)?;
        let tree = btree1::NewBTree1 {
            node_type: super::tree::CHUNKS,
            half: self.half.into(),
            key_size: 8 + 8 * (chunks.rank + 1),
            keys: &w.finish()?,
            children: order.iter().map(|&chunk| chunks.entries[chunk].at).collect(),
        };
        tree.build(sizes, alloc, blocks)
    }
}

fn space_rank(space: &Dataspace) -> usize {
    space.dims.len()
}

#[cfg(test)]
mod tests {
    use ferrocdf_array::ChunkIndex as _;
    use ferrocdf_array::ChunkLocation;

    use ferrocdf_store::testing::Rng;

    use super::*;
    use crate::block::tests::BlockSpace;
    use crate::chunks::DatasetChunks;
    use crate::messages::SpaceKind;

    const SIZES: Sizes = Sizes { offset: 8, length: 8 };

    struct Case {
        index: ChunkIndex,
        /// Chunks in each dimension now, and at most.
        counts: Vec<u64>,
        max: Vec<Option<u64>>,
        filtered: bool,
        /// Every so many chunks one is left out.
        hole: u64,
    }

    /// Builds the index and looks for every chunk.
    fn check(case: &Case) -> Vec<Block> {
        let rank = case.counts.len();
        let scale = |counts: &u64| counts * 3;
        let space = Dataspace {
            kind: SpaceKind::Simple,
            dims: case.counts.iter().map(scale).collect(),
            max: Some(case.max.iter().map(|max| max.as_ref().map(scale)).collect()),
        };
        let layout = ChunkedLayout {
            shape: vec![3; rank],
            element: 8,
            plain_edges: false,
            index: case.index,
            address: None,
        };
        let mut list = ChunkList::new(rank);
        let mut wanted = Vec::new();
        let total: u64 = case.counts.iter().product();
        let bytes = 8 * 3u64.pow(rank as u32);
        for number in 0..total {
            let mut rest = number;
            let mut coords = vec![0; rank];
            for (at, &count) in coords.iter_mut().zip(&case.counts).rev() {
                (*at, rest) = (rest % count, rest / count);
            }
            if number % case.hole == case.hole - 1 {
                wanted.push(ChunkLocation::Missing);
                continue;
            }
            let at = 1_000_000 + number * bytes;
            let (len, mask) = if case.filtered { (number % 300, number as u32 % 2) } else { (bytes, 0) };
            wanted.push(ChunkLocation::At { at, len, mask });
            list.push(&coords, ChunkEntry { at: Address(at), len, mask });
        }
        // The order in which they are told does not matter.
        let mut mixed = ChunkList::new(rank);
        for chunk in 0..list.len() {
            let chunk = (chunk * 7919) % list.len();
            mixed.push(list.coords(chunk), list.entries[chunk]);
        }
        let list = if list.len().is_multiple_of(7919) { list } else { mixed };
        let (mut taken, mut blocks) = (BlockSpace::new(), Vec::new());
        let new = NewIndex { layout: &layout, space: &space, filtered: case.filtered, half: 32 };
        let built = new.build(&list, SIZES, &mut |len| taken.take(len), &mut blocks).unwrap();
        let source = taken.file(&blocks, SIZES);
        let layout = ChunkedLayout { index: built.index, address: built.address, ..layout };
        let chunks = DatasetChunks::new(&source, &layout, &space, case.filtered).unwrap();
        let found = chunks.locate(&vec![0; rank], &case.counts).unwrap();
        for (number, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            assert_eq!(found, wanted, "chunk {number}");
        }
        check_counts(&chunks, &case.counts);
        blocks
    }

    /// Counts the stored chunks of boxes, some of which reach beyond the array.
    fn check_counts(chunks: &DatasetChunks, counts: &[u64]) {
        let mut rng = Rng::new(5);
        for _ in 0..40 {
            let first: Vec<u64> = counts.iter().map(|&count| rng.below(count + 1)).collect();
            let count: Vec<u64> = counts.iter().map(|&count| rng.below(count.min(30) + 2)).collect();
            let found = chunks.locate(&first, &count).unwrap();
            let stored = found.iter().filter(|&&found| found != ChunkLocation::Missing).count() as u64;
            let counted = |limit| chunks.count_stored(&first, &count, limit).unwrap().unwrap();
            assert_eq!(counted(u64::MAX), stored, "{first:?} {count:?}");
            assert_eq!(counted(3), stored.min(3), "{first:?} {count:?}");
        }
    }

    const TREE: ChunkIndex = ChunkIndex::BTree2 { node: 2048, split: 100, merge: 40 };
    const FIXED: ChunkIndex = ChunkIndex::FixedArray { page_bits: 10 };
    const EXTENSIBLE: ChunkIndex = ChunkIndex::ExtensibleArray([32, 4, 4, 16, 10]);

    #[test]
    fn every_chunk_is_found_in_every_index() {
        let none = [None, None];
        let limits = [Some(70), Some(90)];
        let shapes = [[1, 1], [1, 5], [7, 1], [20, 3], [64, 64], [70, 90]];
        for (index, max) in [
            (ChunkIndex::BTree1, none),
            (TREE, none),
            (FIXED, limits),
            (EXTENSIBLE, [None, Some(90)]),
            (EXTENSIBLE, [Some(70), None]),
        ] {
            for counts in shapes {
                for filtered in [false, true] {
                    for hole in [2, 5, 5000] {
                        check(&Case { index, counts: counts.to_vec(), max: max.to_vec(), filtered, hole });
                    }
                }
            }
        }
        let implicit = ChunkIndex::Implicit;
        check(&Case {
            index: implicit,
            counts: vec![4, 5],
            max: vec![Some(4), Some(5)],
            filtered: false,
            hole: 99,
        });
        for filtered in [false, true] {
            let counts = vec![1, 1, 1];
            let max = vec![Some(1); 3];
            check(&Case { index: ChunkIndex::Single(None), counts, max, filtered, hole: 9 });
        }
    }

    /// The node that the reference writes for three chunks of 16 bytes in a dataset of shape [3, 4], but for its places.
    #[test]
    fn a_version_1_tree_as_the_reference_writes_it() {
        let space = Dataspace { kind: SpaceKind::Simple, dims: vec![3, 4], max: Some(vec![None, Some(4)]) };
        let index = ChunkIndex::BTree1;
        let layout =
            ChunkedLayout { shape: vec![1, 4], element: 4, plain_edges: false, index, address: None };
        let mut list = ChunkList::new(2);
        for row in 0..3 {
            list.push(&[row, 0], ChunkEntry { at: Address(10_808 + 16 * row), len: 16, mask: 0 });
        }
        let new = NewIndex { layout: &layout, space: &space, filtered: true, half: 32 };
        let (mut taken, mut blocks) = (BlockSpace::new(), Vec::new());
        new.build(&list, SIZES, &mut |len| taken.take(len), &mut blocks).unwrap();
        let mut wanted = [&b"TREE"[..], &[1, 0, 3, 0], &[255; 16]].concat();
        for (size, position, child) in [
            (16u64, [0, 0, 0], 10_808u64),
            (16, [1, 0, 0], 10_824),
            (16, [2, 0, 0], 10_840),
            (0, [3, 4, 4], 0),
        ] {
            // The filter mask behind the size is 0.
            wanted.extend(size.to_le_bytes());
            wanted.extend(position.iter().flat_map(|at: &u64| at.to_le_bytes()));
            wanted.extend(child.to_le_bytes());
        }
        // Behind the last key there is no child; all the rest is not used.
        wanted.resize(24 + 64 * 40 + 32, 0);
        assert_eq!(blocks.len(), 1);
        assert!(blocks[0].bytes == wanted, "{:?}", &blocks[0].bytes[..160]);
    }

    #[test]
    fn many_chunks_take_little() {
        for (index, max) in
            [(ChunkIndex::BTree1, None), (TREE, None), (FIXED, Some(400_000)), (EXTENSIBLE, None)]
        {
            let case = Case { index, counts: vec![400_000], max: vec![max], filtered: true, hole: 1_000_000 };
            let bytes: usize = check(&case).iter().map(|block| block.bytes.len()).sum();
            assert!(bytes < 400_000 * 40, "{index:?}: {bytes}");
        }
    }

    #[test]
    fn chunks_that_an_index_cannot_hold_are_an_error() {
        let build = |index, coords: &[[u64; 1]], max| {
            let space = Dataspace { kind: SpaceKind::Simple, dims: vec![10], max: Some(vec![max]) };
            let shape = vec![2];
            let layout = ChunkedLayout { shape, element: 4, plain_edges: false, index, address: None };
            let mut list = ChunkList::new(1);
            coords.iter().enumerate().for_each(|(n, coords)| {
                list.push(coords, ChunkEntry { at: Address(64 * n as u64), len: 1, mask: 0 });
            });
            let new = NewIndex { layout: &layout, space: &space, filtered: true, half: 32 };
            let mut end = 0;
            let mut alloc = |len| {
                end += len;
                Ok(Address(end))
            };
            new.build(&list, SIZES, &mut alloc, &mut Vec::new())
        };
        for (index, max) in [(ChunkIndex::BTree1, None), (TREE, None), (FIXED, Some(10)), (EXTENSIBLE, None)]
        {
            assert!(build(index, &[[0], [4]], max).is_ok());
            assert!(build(index, &[[3], [3]], max).is_err(), "{index:?}");
            assert_eq!(build(index, &[], max).unwrap().address, None);
        }
        assert!(build(FIXED, &[[5]], Some(10)).is_err());
        assert!(build(FIXED, &[[4]], None).is_err());
        assert!(build(EXTENSIBLE, &[[4]], Some(10)).is_err());
        assert!(build(EXTENSIBLE, &[[1 << 32]], None).is_ok());
        assert!(build(EXTENSIBLE, &[[1 << 33]], None).is_err());
        assert!(build(ChunkIndex::Single(None), &[[0], [1]], Some(10)).is_err());
        assert!(build(ChunkIndex::Implicit, &[[0], [1]], Some(10)).is_err());
    }

    #[test]
    fn the_index_that_fits() {
        let space = |max: [Option<u64>; 2]| Dataspace {
            kind: SpaceKind::Simple,
            dims: vec![4, 6],
            max: Some(max.to_vec()),
        };
        let limited = space([Some(4), Some(6)]);
        assert_eq!(ChunkIndex::best(&[4, 6], &limited, true, false), ChunkIndex::Single(None));
        assert_eq!(ChunkIndex::best(&[4, 3], &limited, true, false), FIXED);
        assert_eq!(ChunkIndex::best(&[4, 3], &limited, false, true), ChunkIndex::Implicit);
        assert_eq!(ChunkIndex::best(&[4, 6], &space([Some(8), Some(6)]), false, false), FIXED);
        assert_eq!(ChunkIndex::best(&[4, 6], &space([None, Some(6)]), false, true), EXTENSIBLE);
        assert_eq!(ChunkIndex::best(&[4, 6], &space([None, None]), false, true), TREE);
    }
}
