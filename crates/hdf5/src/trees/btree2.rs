//! "Version 2 B-trees" (III.A.2): the indexes of dense links and attributes, huge objects, and some chunks.
//!
//! What is in a record is the caller's matter; here it is bytes of one length, which lie side by side in a node. Widths of the counts in internal nodes
//! follow from how many records can be below a node, which `Shape` works out once.
#![deny(clippy::arithmetic_side_effects)]

#[allow(clippy::arithmetic_side_effects, reason = "sizes of what is in memory")]
mod build;

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::OnceLock;

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use crate::fields::{self, Fields};
use crate::wire::{self, CHECKSUM, bad, width_of};
use crate::{Address, Sizes, Source};

pub(crate) use build::NewBTree2;

const HEADER: &str = "version 2 B-tree header";
const NODE: &str = "version 2 B-tree node";
/// Bytes of a node besides records and pointers.
const NODE_OVERHEAD: u64 = (NODE_HEAD + CHECKSUM) as u64;
/// Signature, version, type.
pub(crate) const NODE_HEAD: usize = 6;

/// "Version 2 B-tree Header".
#[derive(Debug)]
pub(crate) struct BTree2Header {
    sizes: Sizes,
    pub record_type: u64,
    pub node_size: u64,
    pub record_size: u64,
    pub depth: u64,
    split: u64,
    merge: u64,
    pub root: Option<Address>,
    pub root_records: u64,
    records: u64,
}

impl Record for BTree2Header {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"BTHD")?;
        c.version(0..=0, &mut 0)?;
        c.uint("type", 1, &mut self.record_type)?;
        c.uint("node size", 4, &mut self.node_size)?;
        c.uint("record size", 2, &mut self.record_size)?;
        c.uint("depth", 2, &mut self.depth)?;
        c.uint("split percent", 1, &mut self.split)?;
        c.uint("merge percent", 1, &mut self.merge)?;
        c.address("root node address", self.sizes, &mut self.root)?;
        c.uint("number of records in root node", 2, &mut self.root_records)?;
        c.uint("total number of records in B-tree", self.sizes.length, &mut self.records)
    }
}

/// What nodes begin with.
pub(crate) struct BTree2NodeHead {
    pub is_leaf: bool,
    pub record_type: u64,
}

impl Record for BTree2NodeHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(if self.is_leaf { b"BTLF" } else { b"BTIN" })?;
        c.version(0..=0, &mut 0)?;
        c.uint("type", 1, &mut self.record_type)
    }
}

/// What an internal node has for each child, behind its records.
pub(crate) struct BTree2ChildPointer {
    pub sizes: Sizes,
    /// The level of the node.
    pub level: Level,
    pub at: Address,
    /// Records in the child.
    pub records: u64,
    /// Records in the child and below, unless it is a leaf: for those who look up the n-th record.
    pub all: u64,
}

impl Record for BTree2ChildPointer {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let [_, records, all] = self.level.pointer;
        c.defined("child node address", self.sizes, &mut self.at)?;
        c.uint("number of records in child node", records, &mut self.records)?;
        if all > 0 {
            c.uint("total number of records in child node", all, &mut self.all)?;
        }
        Ok(())
    }
}

/// A tree whose header is read. The root node is kept once it was read: most trees are no more.
#[derive(Debug)]
pub struct BTree2 {
    source: Source,
    header: BTree2Header,
    levels: Vec<Level>,
    top: OnceLock<BTree2Node>,
}

/// A node that another one, or the header, points at.
#[derive(Clone, Copy, Debug)]
struct Child {
    at: Address,
    records: u64,
    /// 0 is a leaf.
    depth: usize,
}

/// Nodes that were visited, and the bytes of the file that are in none of them.
struct Visited {
    nodes: HashSet<Address>,
    left: u64,
}

/// What holds for all nodes of a depth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Records that a node can have.
    pub most: u64,
    /// Records that can be in a node and all below it.
    below: u64,
    /// Bytes of a child pointer in such a node: address, count, and count of all below it.
    pub pointer: [usize; 3],
}

impl Level {
    /// Bytes of a child pointer; 0 in leaves.
    fn pointer_len(&self) -> u64 {
        self.pointer.iter().sum::<usize>() as u64
    }

    /// Bytes of a node with so many records of a size: what all nodes have, the records, and a pointer more than records.
    pub fn node_len(&self, records: u64, record_size: u64) -> u64 {
        let pointers = records.saturating_add(1).saturating_mul(self.pointer_len());
        let used = records.saturating_mul(record_size).saturating_add(pointers);
        used.saturating_add(NODE_OVERHEAD)
    }
}

impl BTree2Header {
    /// A header of an empty tree, with the percentages that the reference uses everywhere.
    pub fn new(sizes: Sizes) -> BTree2Header {
        let (record_type, node_size, record_size, depth) = (0, 0, 0, 0);
        let (split, merge, root, root_records, records) = (100, 40, None, 0, 0);
        BTree2Header {
            sizes,
            record_type,
            node_size,
            record_size,
            depth,
            split,
            merge,
            root,
            root_records,
            records,
        }
    }

    /// Bytes of a header.
    pub fn len(sizes: Sizes) -> u64 {
        const NUMBERS: usize = 4 + 12 + 2 + CHECKSUM;
        sizes.offset.saturating_add(sizes.length).saturating_add(NUMBERS) as u64
    }

    /// The levels from the leaves up to the root.
    pub fn levels(&self) -> Result<Vec<Level>> {
        let lies = || bad("node size, record size and depth do not fit together");
        let room = self.node_size.checked_sub(NODE_OVERHEAD).ok_or_else(lies)?;
        let most = room.checked_div(self.record_size).filter(|&most| most > 0).ok_or_else(lies)?;
        let count = width_of(most);
        let mut levels = vec![Level { most, below: most, pointer: [0; 3] }];
        while let Some(&under) = levels.last().filter(|_| (levels.len() as u64) <= self.depth) {
            let counts_all = levels.len() > 1;
            let all = if counts_all { width_of(under.below) } else { 0 };
            let pointer = [self.sizes.offset, count, all];
            let len = pointer.iter().sum::<usize>() as u64;
            let rest = room.checked_sub(len).ok_or_else(lies)?;
            let most = rest.checked_div(self.record_size.saturating_add(len)).ok_or_else(lies)?;
            // Below each of `most + 1` children.
            let children = most.saturating_add(1);
            let below = under.below.checked_mul(children).and_then(|below| below.checked_add(most));
            let below = below.filter(|_| most > 0).ok_or_else(lies)?;
            levels.push(Level { most, below, pointer });
        }
        Ok(levels)
    }
}

impl BTree2 {
    /// Reads the header.
    pub fn open(source: &Source, at: Address) -> Result<BTree2> {
        let sizes = source.sizes;
        let mut header = BTree2Header::new(sizes);
        let bytes = source.read(HEADER, at, BTree2Header::len(sizes))?;
        fields::read_checked(&mut header, HEADER, at, &bytes)?;
        let levels = header.levels().map_err(|error| error.at(format_args!("{HEADER} at {at}")))?;
        Ok(BTree2 { source: source.clone(), header, levels, top: OnceLock::new() })
    }

    /// What the records are: "Type".
    pub fn record_type(&self) -> u8 {
        self.header.record_type as u8
    }

    /// The number of records, as the header says.
    pub fn records(&self) -> u64 {
        self.header.records
    }

    /// Visits all records in the order of their keys.
    pub fn walk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self.root()? {
            Some(root) => {
                self.prefetch(root);
                let mut visited = Visited { nodes: HashSet::new(), left: self.source.blob.size()? };
                self.walk_node(root, &mut visited, visit)
            }
            None => Ok(()),
        }
    }

    /// The record for which `compare` says `Equal`; it says how the key that is looked for is to a record's.
    pub fn find(&self, compare: &mut dyn FnMut(&[u8]) -> Result<Ordering>) -> Result<Option<Vec<u8>>> {
        let mut next = self.root()?;
        while let Some(child) = next {
            let mut read = None;
            let node = self.node(child, &mut read)?;
            let (mut from, mut to) = (0, node.records);
            while from < to {
                let middle = from.midpoint(to);
                let record = node.record(middle);
                match compare(record)? {
                    Ordering::Equal => return Ok(Some(record.to_vec())),
                    Ordering::Less => to = middle,
                    Ordering::Greater => from = middle.saturating_add(1),
                }
            }
            next = if child.depth == 0 { None } else { Some(node.child(self, from)?) };
        }
        Ok(None)
    }

    /// The root node; `None` in an empty tree.
    fn root(&self) -> Result<Option<Child>> {
        Ok(self.header.root.filter(|_| self.header.root_records > 0).map(|at| Child {
            at,
            records: self.header.root_records,
            depth: self.levels.len().saturating_sub(1),
        }))
    }

    /// Returns a node: the root, which is kept once it was read, or another one, which is read into `read`.
    fn node<'a>(&'a self, child: Child, read: &'a mut Option<BTree2Node>) -> Result<&'a BTree2Node> {
        if child.depth.saturating_add(1) < self.levels.len() {
            return Ok(read.insert(self.read(child)?));
        }
        if let Some(node) = self.top.get() {
            return Ok(node);
        }
        let node = self.read(child)?;
        Ok(self.top.get_or_init(|| node))
    }

    /// Reads all nodes of a slow source, level by level. An error shows when the damaged node is walked.
    fn prefetch(&self, root: Child) {
        if self.source.is_near() {
            return;
        }
        let Ok(mut left) = self.source.blob.size() else { return };
        let mut seen = HashSet::new();
        let mut level = vec![root];
        while level.first().is_some_and(|node| node.depth > 0) {
            let mut children = Vec::new();
            for &child in &level {
                let Ok(node) = self.read(child) else { continue };
                // Nodes that overlap would have more children than the file has bytes for.
                let Some(rest) = left.checked_sub(node.bytes.len() as u64) else { return };
                left = rest;
                let below = (0..=node.records).filter_map(|index| node.child(self, index).ok());
                children.extend(below.filter(|child| seen.insert(child.at)));
            }
            level = children;
            self.source.prefetch(level.iter().map(|child| (child.at, self.header.node_size)));
        }
    }

    fn walk_node(
        &self,
        child: Child,
        seen: &mut Visited,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        // A tree of one level has one node, which cannot be visited twice.
        if self.levels.len() > 1 && !seen.nodes.insert(child.at) {
            return Err(bad(format!("{NODE} at {}: it is in the tree twice", child.at)));
        }
        let mut read = None;
        let node = self.node(child, &mut read)?;
        let overlap = || bad(format!("{NODE} at {}: the nodes of its tree overlap", child.at));
        seen.left = seen.left.checked_sub(node.bytes.len() as u64).ok_or_else(overlap)?;
        for index in 0..node.records {
            if child.depth > 0 {
                self.walk_node(node.child(self, index)?, seen, visit)?;
            }
            visit(node.record(index))?;
        }
        if child.depth > 0 {
            self.walk_node(node.child(self, node.records)?, seen, visit)?;
        }
        Ok(())
    }

    /// Reads a node. Its records and pointers are all there.
    fn read(&self, child: Child) -> Result<BTree2Node> {
        let Child { at, records, depth } = child;
        let level = self.levels[depth];
        if records > level.most || (records == 0 && depth > 0) {
            let why =
                format!("{NODE} at {at}: it is said to have {records} records, not 1 to {}", level.most);
            return Err(bad(why));
        }
        // Not more than the node size, which has 32 bits.
        let bytes = self.source.read(NODE, at, level.node_len(records, self.header.record_size))?;
        let mut head = BTree2NodeHead { is_leaf: depth == 0, record_type: 0 };
        fields::read_checked(&mut head, NODE, at, &bytes)?;
        let record_type = head.record_type;
        if record_type != self.header.record_type {
            return Err(bad(format!("{NODE} at {at}: type {record_type} is not the tree's")));
        }
        let record_size = self.header.record_size.saturate();
        Ok(BTree2Node { at, bytes, record_size, records: records.saturate(), depth, level })
    }
}

/// A node that was read whole.
#[derive(Debug)]
struct BTree2Node {
    at: Address,
    bytes: Vec<u8>,
    record_size: usize,
    records: usize,
    depth: usize,
    level: Level,
}

impl BTree2Node {
    fn record(&self, index: usize) -> &[u8] {
        &self.bytes[self.records_end(index)..][..self.record_size]
    }

    /// Returns the byte behind the first `count` records.
    fn records_end(&self, count: usize) -> usize {
        count.saturating_mul(self.record_size).saturating_add(NODE_HEAD)
    }

    /// The child before record `index`, or behind the last.
    fn child(&self, tree: &BTree2, index: usize) -> Result<Child> {
        let len = self.level.pointer_len().saturate();
        let start = self.records_end(self.records).saturating_add(index.saturating_mul(len));
        let sizes = tree.source.sizes;
        let mut pointer = BTree2ChildPointer { sizes, level: self.level, at: Address(0), records: 0, all: 0 };
        wire::decode(&mut pointer, NODE, self.at, &self.bytes[start..])?;
        Ok(Child { at: pointer.at, records: pointer.records, depth: self.depth.saturating_sub(1) })
    }
}

/// Visits all records of a tree in the order of their keys, and gives their type.
pub fn walk(source: &Source, header: Address, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u8> {
    let tree = BTree2::open(source, header)?;
    tree.walk(visit)?;
    Ok(tree.record_type())
}

impl BTree2 {
    /// Visits the places of all nodes, which are of one size.
    pub fn nodes(&self, visit: &mut dyn FnMut(Address, u64)) -> Result<()> {
        let Some(root) = self.root()? else { return Ok(()) };
        let mut seen = HashSet::new();
        let mut waiting = vec![root];
        while let Some(child) = waiting.pop() {
            if !seen.insert(child.at) {
                return Err(bad(format!("{NODE} at {}: it is in the tree twice", child.at)));
            }
            visit(child.at, self.header.node_size);
            if child.depth > 0 {
                let node = self.read(child)?;
                for index in 0..=node.records {
                    waiting.push(node.child(self, index)?);
                }
            }
        }
        Ok(())
    }
}
