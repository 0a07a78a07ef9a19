//! Whole trees from their entries, level by level.

use ferrocdf_bytes::Result;

use super::{BTree1ChildPointer, BTree1NodeHead, WHAT, allocated_len};
use crate::block::{Alloc, Block, BlockKind};
use crate::wire::{Writer, bad};
use crate::{Address, Sizes};

/// A tree to be made.
pub(crate) struct NewBTree1<'a> {
    /// "Node Type": 0 groups, 1 chunks.
    pub node_type: u8,
    /// Half the children that a node has room for, at least 1.
    pub half: usize,
    /// Bytes of a key.
    pub key_size: usize,
    /// The left key of each child, one behind the other, and the key behind the last child.
    pub keys: &'a [u8],
    /// What the leaves point at.
    pub children: Vec<Address>,
}

impl NewBTree1<'_> {
    /// Bytes of a node.
    pub fn node_len(&self, sizes: Sizes) -> usize {
        allocated_len(sizes, self.half, self.key_size)
    }

    /// Makes the tree: adds its nodes, and gives the address of the root. A tree without children is one empty node.
    ///
    /// # Errors
    /// `EHDFERR` for more than 255 levels; those of `alloc`.
    pub fn build(&self, sizes: Sizes, alloc: &mut Alloc<'_>, blocks: &mut Vec<Block>) -> Result<Address> {
        let key = |index: usize| &self.keys[index * self.key_size..][..self.key_size];
        let most = 2 * self.half.max(1);
        let len = self.node_len(sizes);
        // The children of this level with the number of the entry that each begins with, and the end.
        let mut children = self.children.clone();
        let mut starts: Vec<usize> = (0..=children.len()).collect();
        for level in 0..=u8::MAX {
            let nodes = children.len().div_ceil(most).max(1);
            // All nodes but the last are full: when children are added behind the others, those stay as they are.
            let cut = |node: usize| node.saturating_mul(most).min(children.len());
            let addresses = (0..nodes).map(|_| alloc(len as u64)).collect::<Result<Vec<_>>>()?;
            for (node, &at) in addresses.iter().enumerate() {
                let (from, to) = (cut(node), cut(node + 1));
                let mut w = Writer::new(WHAT);
                // Twice a number of 16 bits, which is checked here.
                let count = u16::try_from(to - from);
                let count = count.map_err(|_| bad(format!("{WHAT}: {} children", to - from)))?;
                w.record(&mut BTree1NodeHead {
                    sizes,
                    node_type: self.node_type,
                    level,
                    count,
                    left: node.checked_sub(1).and_then(|left| addresses.get(left)).copied(),
                    right: addresses.get(node + 1).copied(),
                });
                for child in from..to {
                    w.bytes(key(starts[child]));
                    w.record(&mut BTree1ChildPointer { sizes, at: children[child] });
                }
                if to > from {
                    w.bytes(key(starts[to]));
                }
                w.zeros(len - w.position());
                blocks.push(Block { at, kind: BlockKind::Tree1Node, bytes: w.finish()? });
            }
            if let [root] = addresses[..] {
                return Ok(root);
            }
            starts = (0..=nodes).map(|node| starts[cut(node)]).collect();
            children = addresses;
        }
        Err(bad(format!("{WHAT}: more than 255 levels")))
    }
}

/// Returns the number of nodes of a tree with this many children below its leaves, as [`NewBTree1::build`] makes it.
pub(crate) fn node_count(half: usize, children: u64) -> u64 {
    let most = 2 * half.max(1) as u64;
    let (mut level, mut count) = (children, 0);
    loop {
        level = level.div_ceil(most).max(1);
        count += level;
        if level == 1 {
            return count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::tests::BlockSpace;
    use crate::trees::btree1::{walk, walk_where};
    use crate::wire::number;

    const SIZES: Sizes = Sizes { offset: 8, length: 8 };

    #[test]
    fn trees_of_any_number_of_children() {
        for half in [1, 2, 32] {
            for count in (0..150).chain([5000]) {
                let keys: Vec<u8> = (0..=count as u64).flat_map(|key| (10 * key).to_le_bytes()).collect();
                let children = (0..count as u64).map(|child| Address(1000 + child)).collect();
                let tree = NewBTree1 { node_type: 1, half, key_size: 8, keys: &keys, children };
                let (mut space, mut blocks) = (BlockSpace::new(), Vec::new());
                let root = tree.build(SIZES, &mut |len| space.take(len), &mut blocks).unwrap();
                assert!(blocks.iter().all(|block| block.bytes.len() == tree.node_len(SIZES)));
                assert_eq!(node_count(half, count as u64), blocks.len() as u64);
                let source = space.file(&blocks, SIZES);
                let mut next = 0;
                walk(&source, root, 1, 8, &mut |key, at| {
                    assert_eq!((number(key), at), (10 * next, Address(1000 + next)));
                    next += 1;
                    Ok(())
                })
                .unwrap();
                assert_eq!(next, count as u64);
                // The keys lead to one child on each level.
                if count > 0 {
                    let wanted = 10 * (count as u64 / 2) + 5;
                    let mut found = Vec::new();
                    let mut asked =
                        |left: &[u8], right: &[u8]| Ok((number(left)..number(right)).contains(&wanted));
                    walk_where(&source, root, 1, 8, &mut asked, &mut |_, at| {
                        found.push(at);
                        Ok(())
                    })
                    .unwrap();
                    assert_eq!(found, [Address(1000 + count as u64 / 2)]);
                }
            }
        }
    }

    #[test]
    fn siblings_point_at_each_other() {
        let keys: Vec<u8> = (0..=200u64).flat_map(u64::to_le_bytes).collect();
        let children = (0..200).map(Address).collect();
        let tree = NewBTree1 { node_type: 1, half: 32, key_size: 8, keys: &keys, children };
        let (mut space, mut blocks) = (BlockSpace::new(), Vec::new());
        tree.build(SIZES, &mut |len| space.take(len), &mut blocks).unwrap();
        // Four leaves and the root; a node has 1576 bytes.
        let link = |block: &Block, at: usize| number(&block.bytes[at..at + 8]);
        let nodes: Vec<_> = blocks.iter().map(|b| (b.at.0, link(b, 8), link(b, 16), b.bytes[5])).collect();
        let (none, len) = (u64::MAX, tree.node_len(SIZES) as u64);
        let at = |node: u64| 64 + node * len;
        let leaves = [
            (at(0), none, at(1), 0),
            (at(1), at(0), at(2), 0),
            (at(2), at(1), at(3), 0),
            (at(3), at(2), none, 0),
        ];
        assert_eq!(nodes, [&leaves[..], &[(at(4), none, none, 1)]].concat());
    }
}
