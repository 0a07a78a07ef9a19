//! "Version 1 B-trees" (III.A.1): the index of a symbol table group (type 0) or of chunks (type 1).
//!
//! Nodes are visited from the root down, never by their sibling pointers: a node that was visited before is an error,
//! and so are nodes that together are longer than the file, so that no damaged tree leads in a circle or makes more
//! work than the file has bytes.
#![deny(clippy::arithmetic_side_effects)]

#[allow(clippy::arithmetic_side_effects, reason = "sizes of what is in memory")]
mod build;

use std::collections::HashSet;

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};
use crate::wire::{self, bad};
use crate::{Address, Sizes, Source};

pub(crate) use build::{NewBTree1, node_count};

const WHAT: &str = "version 1 B-tree node";
/// Children for which the first read of a node has room: twice the usual K of chunk trees, the larger of both.
const USUAL_CHILDREN: usize = 64;

/// Says, of the left and the right key of a child, whether it is wanted.
pub type Wanted<'a> = dyn FnMut(&[u8], &[u8]) -> Result<bool> + 'a;

/// Visits the children of all leaves in the order of their keys: what stands below the leaves, each with its left key.
pub fn walk(
    source: &Source,
    root: Address,
    node_type: u8,
    key_size: usize,
    visit: &mut dyn FnMut(&[u8], Address) -> Result<()>,
) -> Result<()> {
    walk_where(source, root, node_type, key_size, &mut |_, _| Ok(true), visit)
}

/// [`walk`] without the children, on every level, that `wanted` turns down by their left and right key.
pub fn walk_where(
    source: &Source,
    root: Address,
    node_type: u8,
    key_size: usize,
    wanted: &mut Wanted<'_>,
    visit: &mut dyn FnMut(&[u8], Address) -> Result<()>,
) -> Result<()> {
    let left = source.blob.size()?;
    let tree = BTree1 { source, node_type, key_size };
    let mut walk = BTree1Walk { tree, wanted, visit, seen: HashSet::new(), left };
    walk.node(root, None)
}

/// Reads all nodes of a slow source, and of the children of leaves the first `child_len` bytes each, level by level: a walk then
/// finds them in memory. An error shows when the damaged node is walked.
pub fn prefetch(source: &Source, root: Address, node_type: u8, key_size: usize, child_len: u64) {
    if source.is_near() {
        return;
    }
    let tree = BTree1 { source, node_type, key_size };
    let Ok(mut left) = source.blob.size() else { return };
    let mut seen = HashSet::new();
    let (mut nodes, mut level) = (vec![root], None);
    while !nodes.is_empty() {
        nodes.retain(|&at| seen.insert(at));
        source.prefetch(nodes.iter().map(|&at| (at, tree.usual_len())));
        let (mut children, mut below) = (Vec::new(), None);
        for &at in &nodes {
            let Ok(node) = tree.read(at, level) else { continue };
            // Nodes that overlap would have more children than the file has bytes for.
            let Some(rest) = left.checked_sub(node.bytes.len() as u64) else { return };
            left = rest;
            below = node.level.checked_sub(1);
            children.extend((0..node.count).filter_map(|index| tree.child(tree.entry(&node, index).1).ok()));
        }
        level = below;
        if level.is_none() {
            source.prefetch(children.into_iter().filter(|_| child_len > 0).map(|at| (at, child_len)));
            return;
        }
        nodes = children;
    }
}

/// "Version 1 B-trees": what nodes begin with. Behind it, keys and children take turns, a key first and last.
pub(crate) struct BTree1NodeHead {
    pub sizes: Sizes,
    /// 0 groups, 1 chunks.
    pub node_type: u8,
    /// 0 for leaves.
    pub level: u8,
    /// "Entries Used": the number of children.
    pub count: u16,
    pub left: Option<Address>,
    pub right: Option<Address>,
}

impl Record for BTree1NodeHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"TREE")?;
        c.int("node type", &mut self.node_type)?;
        c.int("node level", &mut self.level)?;
        c.int("entries used", &mut self.count)?;
        c.address("address of left sibling", self.sizes, &mut self.left)?;
        c.address("address of right sibling", self.sizes, &mut self.right)
    }
}

impl BTree1NodeHead {
    /// A head to be read.
    pub fn unread(sizes: Sizes) -> BTree1NodeHead {
        BTree1NodeHead { sizes, node_type: 0, level: 0, count: 0, left: None, right: None }
    }

    /// Bytes of a head.
    pub fn len(sizes: Sizes) -> usize {
        sizes.offset.saturating_mul(2).saturating_add(8)
    }
}

/// "Child Pointer".
struct BTree1ChildPointer {
    sizes: Sizes,
    at: Address,
}

impl Record for BTree1ChildPointer {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.defined("child pointer", self.sizes, &mut self.at)
    }
}

/// Returns the address that stands behind a key.
pub(crate) fn child(stored: &[u8], sizes: Sizes) -> Result<Address> {
    let mut child = BTree1ChildPointer { sizes, at: Address(0) };
    fields::read(&mut child, WHAT, stored)?;
    Ok(child.at)
}

/// Bytes that a node takes in the file: it has room for `2 * half` children, however many there are.
pub(crate) fn allocated_len(sizes: Sizes, half: usize, key_size: usize) -> usize {
    let entries = half.saturating_mul(2).saturating_mul(key_size.saturating_add(sizes.offset));
    BTree1NodeHead::len(sizes).saturating_add(entries).saturating_add(key_size)
}

/// The nodes of one tree.
#[derive(Clone, Copy)]
struct BTree1<'a> {
    source: &'a Source,
    node_type: u8,
    key_size: usize,
}

/// A node that was read whole.
struct BTree1Node {
    bytes: Vec<u8>,
    level: u8,
    count: usize,
}

impl BTree1<'_> {
    /// Bytes of a node before its keys and children.
    fn head(&self) -> usize {
        BTree1NodeHead::len(self.source.sizes)
    }

    /// Bytes of a key and a child.
    fn entry_len(&self) -> usize {
        self.key_size.saturating_add(self.source.sizes.offset)
    }

    /// Bytes of a node with so many children. A node without children need not have a key.
    fn node_len(&self, children: usize) -> usize {
        let last_key = if children == 0 { 0 } else { self.key_size };
        children.saturating_mul(self.entry_len()).saturating_add(last_key).saturating_add(self.head())
    }

    /// Bytes of a node of the usual size.
    fn usual_len(&self) -> u64 {
        self.node_len(USUAL_CHILDREN) as u64
    }

    /// Reads a node, which must be on this level.
    fn read(&self, at: Address, level: Option<u8>) -> Result<BTree1Node> {
        let bytes = self.source.read_some(WHAT, at, self.usual_len())?;
        let mut head = BTree1NodeHead::unread(self.source.sizes);
        wire::decode(&mut head, WHAT, at, &bytes)?;
        let BTree1NodeHead { node_type, level: found, count, .. } = head;
        if node_type != self.node_type {
            let wanted = self.node_type;
            return Err(bad(format!("{WHAT} at {at}: its type is {node_type}, not {wanted}")));
        }
        if level.is_some_and(|level| level != found) {
            return Err(bad(format!("{WHAT} at {at}: level {found} is not one below its parent's")));
        }
        let count = usize::from(count);
        let bytes = self.source.read_on(WHAT, at, bytes, self.node_len(count) as u64)?;
        Ok(BTree1Node { bytes, level: found, count })
    }

    /// Returns the left key, the stored address and the right key of a child.
    fn entry<'n>(&self, node: &'n BTree1Node, index: usize) -> (&'n [u8], &'n [u8], &'n [u8]) {
        let start = index.saturating_mul(self.entry_len()).saturating_add(self.head());
        let (left, rest) = node.bytes[start..].split_at(self.key_size);
        let (child, rest) = rest.split_at(self.source.sizes.offset);
        (left, child, &rest[..self.key_size])
    }

    fn child(&self, stored: &[u8]) -> Result<Address> {
        child(stored, self.source.sizes)
    }
}

struct BTree1Walk<'a> {
    tree: BTree1<'a>,
    wanted: &'a mut Wanted<'a>,
    visit: &'a mut dyn FnMut(&[u8], Address) -> Result<()>,
    seen: HashSet<Address>,
    /// Bytes of the file that are not in a visited node.
    left: u64,
}

impl BTree1Walk<'_> {
    /// Visits a node, which must be on this level, and what is below it.
    fn node(&mut self, at: Address, level: Option<u8>) -> Result<()> {
        if !self.seen.insert(at) {
            return Err(bad(format!("{WHAT} at {at}: it is in the tree twice")));
        }
        let node = self.tree.read(at, level)?;
        let overlap = || bad(format!("{WHAT} at {at}: the nodes of its tree overlap"));
        self.left = self.left.checked_sub(node.bytes.len() as u64).ok_or_else(overlap)?;
        for index in 0..node.count {
            let (left, child, right) = self.tree.entry(&node, index);
            if !(self.wanted)(left, right)? {
                continue;
            }
            let child = self.tree.child(child)?;
            match node.level.checked_sub(1) {
                Some(below) => self.node(child, Some(below))?,
                None => (self.visit)(left, child)?,
            }
        }
        Ok(())
    }
}
