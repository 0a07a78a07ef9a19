//! "Symbol Table Message", "Symbol Table Node" (III.B) and "Symbol Table Entry" (III.C).
#![deny(clippy::arithmetic_side_effects)]

use std::cmp::Ordering;
use std::collections::HashSet;

use ferrocdf_bytes::{Coder, Record, Result};

use super::{Charset, Link, LinkTarget};
use crate::fields::{self, Fields};
use crate::heaps::LocalHeap;
use crate::messages::small::SymbolTable;
use crate::trees::btree1;
use crate::wire::{self, bad, number};
use crate::{Address, Sizes, Source};

const NODE: &str = "symbol table node";
/// Type of the B-trees of groups.
const GROUP_NODES: u8 = 0;
/// "Cache Type" of an entry that is a soft link.
const SOFT: u32 = 2;
/// Bytes of a node before its entries.
pub(crate) const NODE_HEAD: usize = 8;
/// What is read of a node first: one of usual size.
const FIRST_READ: u64 = 8 + 8 * 40;

/// A group's tree and heap.
struct OpenedSymbolTable<'a> {
    source: &'a Source,
    tree: Address,
    heap: LocalHeap<'a>,
}

/// "Symbol Table Node" before its entries.
pub(crate) struct SymbolNodeHead {
    /// "Number of Symbols".
    pub count: u16,
}

impl Record for SymbolNodeHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"SNOD")?;
        c.version(1..=1, &mut 1)?;
        c.reserved(1)?;
        c.int("number of symbols", &mut self.count)
    }
}

/// "Symbol Table Entry".
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolEntry {
    pub sizes: Sizes,
    /// Where in the heap the name is.
    pub name: u64,
    pub object: Option<Address>,
    /// What the scratch-pad is about.
    pub cache_type: u32,
    pub scratch: [u64; 2],
}

impl Record for SymbolEntry {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.length("link name offset", self.sizes, &mut self.name)?;
        c.address("object header address", self.sizes, &mut self.object)?;
        c.int("cache type", &mut self.cache_type)?;
        c.reserved(4)?;
        let [first, second] = &mut self.scratch;
        c.position("scratch-pad space", 8, first)?;
        c.position("scratch-pad space", 8, second)
    }
}

impl SymbolEntry {
    /// An entry to be read.
    pub fn unread(sizes: Sizes) -> SymbolEntry {
        SymbolEntry { sizes, name: 0, object: None, cache_type: 0, scratch: [0; 2] }
    }

    /// Bytes of a node with so many entries.
    pub fn node_len(count: usize, sizes: Sizes) -> u64 {
        count.saturating_mul(Self::len(sizes)).saturating_add(NODE_HEAD) as u64
    }

    /// Bytes of an entry.
    pub fn len(sizes: Sizes) -> usize {
        sizes.length.saturating_add(sizes.offset).saturating_add(24)
    }

    /// True for a soft link.
    pub fn is_soft(&self) -> bool {
        self.cache_type == SOFT
    }

    /// Where in the heap the path of a soft link is, in the first four bytes of the scratch-pad.
    fn soft(&self) -> Option<u64> {
        self.is_soft().then_some(self.scratch[0] & 0xffff_ffff)
    }
}

impl<'a> OpenedSymbolTable<'a> {
    fn open(source: &'a Source, message: &[u8]) -> Result<OpenedSymbolTable<'a>> {
        let SymbolTable { tree, heap, .. } = SymbolTable::decode(message, source.sizes)?;
        Ok(OpenedSymbolTable { source, tree, heap: LocalHeap::open(source, heap)? })
    }

    fn entries(&self, at: Address) -> Result<Vec<SymbolEntry>> {
        let sizes = self.source.sizes;
        let size = SymbolEntry::len(sizes);
        let bytes = self.source.read_some(NODE, at, FIRST_READ)?;
        let mut head = SymbolNodeHead { count: 0 };
        wire::decode(&mut head, NODE, at, &bytes)?;
        let len = SymbolEntry::node_len(head.count.into(), sizes);
        let bytes = self.source.read_on(NODE, at, bytes, len)?;
        let entry = |bytes: &[u8]| {
            let mut entry = SymbolEntry::unread(sizes);
            fields::read(&mut entry, "symbol table entry", bytes)?;
            Ok(entry)
        };
        bytes.get(NODE_HEAD..).unwrap_or_default().chunks_exact(size).map(entry).collect()
    }

    fn link(&self, entry: &SymbolEntry, name: Vec<u8>) -> Result<Link> {
        let target = match (entry.soft(), entry.object) {
            (Some(path), _) => LinkTarget::Soft(self.heap.string(path)?),
            (None, Some(object)) => LinkTarget::Hard(object),
            (None, None) => {
                let name = String::from_utf8_lossy(&name);
                return Err(bad(format!(
                    "symbol table entry {name:?}: the address of its object is undefined"
                )));
            }
        };
        Ok(Link { name, order: None, charset: Charset::Ascii, target })
    }

    /// Bytes of a key: the heap offset of a name.
    fn key(&self) -> usize {
        self.source.sizes.length
    }
}

/// All links of the group with this symbol table message.
pub fn all(source: &Source, message: &[u8]) -> Result<Vec<Link>> {
    let mut table = OpenedSymbolTable::open(source, message)?;
    table.heap.read_whole()?;
    let mut links = Vec::new();
    let mut seen = HashSet::new();
    let mut left = source.blob.size()?;
    btree1::prefetch(source, table.tree, GROUP_NODES, table.key(), FIRST_READ);
    btree1::walk(source, table.tree, GROUP_NODES, table.key(), &mut |_, at| {
        let entries = table.entries(at)?;
        // Nodes that are there twice or overlap would make more links than the file has bytes for.
        let rest = left.checked_sub(entries.len() as u64);
        left = rest
            .filter(|_| seen.insert(at))
            .ok_or_else(|| bad(format!("{NODE} at {at}: it is there twice")))?;
        for entry in entries {
            let name = table.heap.string(entry.name)?;
            links.push(table.link(&entry, name)?);
        }
        Ok(())
    })?;
    Ok(links)
}

/// The link of this name.
pub fn find(source: &Source, message: &[u8], name: &[u8]) -> Result<Option<Link>> {
    let table = OpenedSymbolTable::open(source, message)?;
    let mut found = None;
    let mut wanted = |left: &[u8], right: &[u8]| {
        // Names of a child are greater than its left key and not greater than its right one.
        let behind = name > table.heap.string(number(left))?.as_slice();
        Ok(behind && name <= table.heap.string(number(right))?.as_slice())
    };
    btree1::walk_where(source, table.tree, GROUP_NODES, table.key(), &mut wanted, &mut |_, at| {
        let entries = table.entries(at)?;
        let (mut from, mut to) = (0, entries.len());
        while from < to {
            let middle = from.midpoint(to);
            let other = table.heap.string(entries[middle].name)?;
            match name.cmp(&other) {
                Ordering::Less => to = middle,
                Ordering::Greater => from = middle.saturating_add(1),
                Ordering::Equal => {
                    found = Some(table.link(&entries[middle], other)?);
                    break;
                }
            }
        }
        Ok(())
    })?;
    Ok(found)
}
