//! "Version 1 B-trees" (III.A.1): the index of a symbol table group (type 0) or of chunks (type 1).
//!
//! Nodes are visited from the root down, never by their sibling pointers: a node that was visited before is an error,
//! and so are nodes that together are longer than the file, so that no damaged tree leads in a circle or makes more
//! work than the file has bytes.

mod build;

use std::collections::HashSet;

use ferrocdf_bytes::Result;

use crate::wire::{Reader, bad};
use crate::{Address, Source};

pub(crate) use build::NewTree;

const WHAT: &str = "version 1 B-tree node";
/// Children for which the first read of a node has room: twice the usual K of chunk trees, the larger of both.
const USUAL_CHILDREN: u64 = 64;

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
    let mut walk = Walk { source, node_type, key_size, wanted, visit, seen: HashSet::new(), left };
    walk.node(root, None)
}

struct Walk<'a> {
    source: &'a Source,
    node_type: u8,
    key_size: usize,
    wanted: &'a mut Wanted<'a>,
    visit: &'a mut dyn FnMut(&[u8], Address) -> Result<()>,
    seen: HashSet<Address>,
    /// Bytes of the file that are not in a visited node.
    left: u64,
}

impl Walk<'_> {
    /// Visits a node, which must be on this level, and what is below it.
    fn node(&mut self, at: Address, level: Option<u8>) -> Result<()> {
        if !self.seen.insert(at) {
            return Err(bad(format!("{WHAT} at {at}: it is in the tree twice")));
        }
        let offset = self.source.sizes.offset;
        let head = 8 + 2 * offset;
        let entry = self.key_size + offset;
        let guess = (head + self.key_size) as u64 + USUAL_CHILDREN * entry as u64;
        let bytes = self.source.read_some(WHAT, at, guess)?;

        let mut reader = Reader::new(WHAT, &bytes);
        reader.signature(b"TREE").map_err(|error| error.at(at))?;
        let (node_type, found, count) = (reader.u8()?, reader.u8()?, reader.u16()?);
        if node_type != self.node_type {
            let wanted = self.node_type;
            return Err(bad(format!("{WHAT} at {at}: its type is {node_type}, not {wanted}")));
        }
        if level.is_some_and(|level| level != found) {
            return Err(bad(format!("{WHAT} at {at}: level {found} is not one below its parent's")));
        }
        let len = head + usize::from(count) * entry + self.key_size;
        // A tree without entries need not have a key.
        let len = if count == 0 { head } else { len };
        let bytes = self.source.read_on(WHAT, at, bytes, len as u64)?;

        let overlap = || bad(format!("{WHAT} at {at}: the nodes of its tree overlap"));
        self.left = self.left.checked_sub(len as u64).ok_or_else(overlap)?;

        let entries = bytes.get(head..).unwrap_or_default();
        for index in 0..usize::from(count) {
            let (left, rest) = entries[index * entry..].split_at(self.key_size);
            let (child, rest) = rest.split_at(offset);
            let right = &rest[..self.key_size];
            if !(self.wanted)(left, right)? {
                continue;
            }
            let child = Reader::new(WHAT, child).defined(self.source.sizes, "child")?;
            match found.checked_sub(1) {
                Some(below) => self.node(child, Some(below))?,
                None => (self.visit)(left, child)?,
            }
        }
        Ok(())
    }
}
