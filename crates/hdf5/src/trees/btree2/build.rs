//! Whole trees from their records, node by node.
//!
//! A tree is made as low as it can be, with its records spread evenly: nodes are at least about half full, so that the
//! reference can go on with it as if it had made it.

use ferrocdf_bytes::{Result, ToUsize};

use super::{BTree2ChildPointer, BTree2Header, BTree2NodeHead, HEADER, Level, NODE, NODE_HEAD, bad};
use crate::block::{Alloc, Block, BlockKind};
use crate::wire::{CHECKSUM, Writer};
use crate::{Address, Sizes};

/// A tree to be made.
pub(crate) struct NewBTree2<'a> {
    /// "Type" of the records.
    pub record_type: u8,
    /// Bytes of a record, at least 1.
    pub record_size: usize,
    /// Bytes of a node.
    pub node_size: u32,
    /// The records, one behind the other, sorted by their keys.
    pub records: &'a [u8],
}

/// A node that was made, as its parent or the header points at it.
struct Made {
    at: Address,
    /// Records in it, and in it and below.
    records: usize,
    all: usize,
}

struct BTree2Builder<'a, 'b> {
    sizes: Sizes,
    tree: &'a NewBTree2<'a>,
    levels: Vec<Level>,
    alloc: &'a mut Alloc<'b>,
    blocks: &'a mut Vec<Block>,
}

impl NewBTree2<'_> {
    /// Makes the tree: adds its blocks, the header last, whose address it gives.
    ///
    /// # Errors
    /// `EHDFERR` if not two records fit into a node; `ERANGE` if there are more than the file's numbers can count; those
    /// of `alloc`.
    pub fn build(&self, sizes: Sizes, alloc: &mut Alloc<'_>, blocks: &mut Vec<Block>) -> Result<Address> {
        let count = self.records.len() / self.record_size.max(1);
        let mut header = BTree2Header {
            record_type: self.record_type.into(),
            node_size: self.node_size.into(),
            record_size: self.record_size as u64,
            records: count as u64,
            ..BTree2Header::new(sizes)
        };
        let levels = loop {
            let levels = header.levels()?;
            match levels.last() {
                Some(top) if top.below < count as u64 => header.depth += 1,
                _ => break levels,
            }
        };
        if count > 0 {
            let depth = levels.len() - 1;
            let mut build =
                BTree2Builder { sizes, tree: self, levels, alloc: &mut *alloc, blocks: &mut *blocks };
            let root = build.node(depth, 0, count)?;
            (header.root, header.root_records) = (Some(root.at), root.records as u64);
        }
        let mut w = Writer::new(HEADER);
        w.record(&mut header);
        let bytes = w.finish_checked()?;
        let at = alloc(bytes.len() as u64)?;
        blocks.push(Block { at, kind: BlockKind::Tree2Header, bytes });
        Ok(at)
    }
}

impl BTree2Builder<'_, '_> {
    /// The records from `first` on.
    fn records(&self, first: usize, count: usize) -> &[u8] {
        let size = self.tree.record_size;
        &self.tree.records[first * size..(first + count) * size]
    }

    /// Makes a node with `count` records in it and below.
    fn node(&mut self, depth: usize, first: usize, count: usize) -> Result<Made> {
        let mut w = Writer::new(NODE);
        w.record(&mut BTree2NodeHead { is_leaf: depth == 0, record_type: self.tree.record_type.into() });
        let (mut records, mut kind) = (count, BlockKind::Tree2Leaf);
        if depth == 0 {
            w.bytes(self.records(first, count));
        } else {
            kind = BlockKind::Tree2Internal;
            let below = self.levels[depth - 1].below;
            // As few children as can hold all but the records between them, but two.
            let children = (count as u64 + 1).div_ceil(below + 1).max(2).saturate();
            records = children - 1;
            let all = count - records;
            let (mut made, mut next) = (Vec::with_capacity(children), first);
            for child in 0..children {
                let len = all * (child + 1) / children - all * child / children;
                if len == 0 {
                    return Err(bad(format!("{NODE}: {count} records are too few for {children} nodes")));
                }
                made.push(self.node(depth - 1, next, len)?);
                next += len;
                if child < records {
                    w.bytes(self.records(next, 1));
                    next += 1;
                }
            }
            let (sizes, level) = (self.sizes, self.levels[depth]);
            for Made { at, records, all } in made {
                let (records, all) = (records as u64, all as u64);
                w.record(&mut BTree2ChildPointer { sizes, level, at, records, all });
            }
        }
        debug_assert!(records as u64 <= self.levels[depth].most);
        w.checksum();
        let size = self.tree.node_size as usize;
        debug_assert!(w.position() <= size && w.position() >= NODE_HEAD + CHECKSUM);
        w.zeros(size - w.position());
        let at = (self.alloc)(size as u64)?;
        self.blocks.push(Block { at, kind, bytes: w.finish()? });
        Ok(Made { at, records, all: count })
    }
}

#[cfg(test)]
mod tests {
    use super::super::BTree2;
    use super::*;
    use crate::block::tests::BlockSpace;
    use crate::wire::number;

    const SIZES: Sizes = Sizes { offset: 8, length: 8 };

    fn built(count: u64, node_size: u32, record_size: usize) -> (BTree2, usize) {
        let mut records = Vec::new();
        for key in 0..count {
            records.extend(&key.to_le_bytes());
            records.resize(records.len() + record_size - 8, 7);
        }
        let (mut space, mut blocks) = (BlockSpace::new(), Vec::new());
        let tree = NewBTree2 { record_type: 200, record_size, node_size, records: &records };
        let at = tree.build(SIZES, &mut |len| space.take(len), &mut blocks).unwrap();
        let source = space.file(&blocks, SIZES);
        (BTree2::open(&source, at).unwrap(), blocks.len())
    }

    #[test]
    fn trees_of_any_number_of_records() {
        for (node_size, record_size) in [(64, 8), (512, 11), (90, 20)] {
            for count in (0..200).chain([997, 5000]) {
                let (tree, _) = built(count, node_size, record_size);
                assert_eq!((tree.records(), tree.record_type()), (count, 200));
                let mut next = 0;
                tree.walk(&mut |record| {
                    assert_eq!(number(record), next);
                    next += 1;
                    Ok(())
                })
                .unwrap();
                assert_eq!(next, count);
                for key in [0, count / 3, count.saturating_sub(1)].into_iter().filter(|_| count > 0) {
                    let found = tree.find(&mut |record| Ok(key.cmp(&number(record)))).unwrap();
                    assert_eq!(number(&found.unwrap()), key);
                }
                assert!(tree.find(&mut |record| Ok(count.cmp(&number(record)))).unwrap().is_none());
            }
        }
    }

    #[test]
    fn nodes_are_full_of_records() {
        // 254 records fit into a leaf, and need no other node.
        assert_eq!(built(254, 2048, 8).1, 2);
        // Two leaves and a root.
        assert_eq!(built(255, 2048, 8).1, 4);
        let (tree, blocks) = built(400_000, 2048, 24);
        assert_eq!(tree.records(), 400_000);
        // 84 records a leaf at most.
        assert!(blocks < 400_000 / 75, "{blocks}");
    }

    #[test]
    fn records_that_do_not_fit_are_an_error() {
        let records = [0; 600];
        let tree = NewBTree2 { record_type: 5, record_size: 600, node_size: 512, records: &records };
        assert!(tree.build(SIZES, &mut |_| Ok(Address(0)), &mut Vec::new()).is_err());
    }
}
