//! Which pieces of the file a structure takes, so that they can be used again.

use std::collections::HashSet;

use ferrocdf_bytes::Result;

use super::object::Extent;
use crate::heaps::{FractalHeap, LocalHeap};
use crate::trees::btree1;
use crate::trees::btree2::Tree;
use crate::wire::{CHECKSUM, Reader, bad};
use crate::{Address, Source};

/// Pieces of a file. Those that nobody has read yet count only if they begin with the signature of their kind: others are not
/// what a damaged address says that they are, and may be of use to somebody else.
struct Found<'s> {
    source: &'s Source,
    list: Vec<Extent>,
}

impl Found<'_> {
    fn add(&mut self, at: Address, len: u64) {
        self.list.push(Extent { at, len });
    }

    fn add_unread(&mut self, at: Address, len: u64, kinds: &[&[u8; 4]]) {
        if self.source.read("signature", at, 4).is_ok_and(|found| kinds.iter().any(|kind| found == *kind)) {
            self.add(at, len);
        }
    }
}

/// The pieces of a version 2 B-tree.
pub(super) fn tree(source: &Source, at: Address) -> Result<Vec<Extent>> {
    let tree = Tree::open(source, at)?;
    let sizes = source.sizes;
    let mut found = Found { source, list: vec![] };
    found.add(at, (4 + 12 + sizes.offset + 2 + sizes.length + CHECKSUM) as u64);
    tree.nodes(&mut |at, len| found.add_unread(at, len, &[b"BTIN", b"BTLF"]))?;
    Ok(found.list)
}

/// The pieces of a fractal heap: header, blocks, huge objects and their index, free-space manager.
pub(super) fn heap(source: &Source, at: Address) -> Result<Vec<Extent>> {
    let sizes = source.sizes;
    let heap = FractalHeap::open(source, at)?;
    let mut found = Found { source, list: vec![] };
    heap.pieces(&mut |at, len, is_packed| match is_packed {
        true => found.add(at, len),
        false => found.add_unread(at, len, &[b"FRHP", b"FHDB", b"FHIB"]),
    })?;

    // Behind signature, version, identifier length, filter length, flags, maximum size, next huge identifier.
    let head = source.read("fractal heap header", at, (14 + 3 * sizes.length + 2 * sizes.offset) as u64)?;
    let mut reader = Reader::new("fractal heap header", &head);
    reader.skip(14 + sizes.length)?;
    let huge = reader.address(sizes)?;
    reader.skip(sizes.length)?;
    let manager = reader.address(sizes)?;
    if let Some(index) = huge {
        found.list.extend(tree(source, index)?);
        Tree::open(source, index)?.walk(&mut |record| {
            let mut reader = Reader::new("record of a huge object", record);
            let at = reader.defined(sizes, "huge object")?;
            found.add(at, reader.length(sizes)?);
            Ok(())
        })?;
    }
    if let Some(manager) = manager {
        // Behind signature, version, client, four numbers and four of two bytes.
        let len =
            (6 + 4 * sizes.length + 8 + sizes.length + sizes.offset + 2 * sizes.length + CHECKSUM) as u64;
        let head = source.read("free space manager", manager, len)?;
        let mut reader = Reader::new("free space manager", &head);
        reader.signature(b"FSHD")?;
        reader.skip(2 + 4 * sizes.length + 8 + sizes.length)?;
        let sections = reader.address(sizes)?;
        reader.skip(sizes.length)?;
        let allocated = reader.length(sizes)?;
        found.add(manager, len);
        if let Some(at) = sections {
            found.add_unread(at, allocated, &[b"FSSE"]);
        }
    }
    Ok(found.list)
}

/// The pieces of a group's symbol table: B-tree, nodes and local heap. `k` is half the children of a tree node, and half
/// the entries of a symbol table node.
pub(super) fn symbols(source: &Source, body: &[u8], k: (u16, u16)) -> Result<Vec<Extent>> {
    let sizes = source.sizes;
    let mut reader = Reader::new("symbol table message", body);
    let (root, heap) = (reader.defined(sizes, "B-tree")?, reader.defined(sizes, "local heap")?);
    let list = old_tree(source, root, 0, sizes.length, k.0)?;
    let mut found = Found { source, list };
    let entry = sizes.length + sizes.offset + 24;
    let len = (8 + 2 * usize::from(k.1) * entry) as u64;
    btree1::walk(source, root, 0, sizes.length, &mut |_, at| {
        found.add_unread(at, len, &[b"SNOD"]);
        Ok(())
    })?;
    found.add(heap, (8 + 2 * sizes.length + sizes.offset) as u64);
    let (at, len) = LocalHeap::open(source, heap)?.data();
    found.add(at, len);
    Ok(found.list)
}

/// The nodes of a version 1 B-tree; `k` is half their children.
pub(super) fn old_tree(
    source: &Source,
    root: Address,
    node_type: u8,
    key: usize,
    k: u16,
) -> Result<Vec<Extent>> {
    let offset = source.sizes.offset;
    let head = 8 + 2 * offset;
    let len = (head + 2 * usize::from(k) * (key + offset) + key) as u64;
    let (mut found, mut seen, mut waiting) = (Vec::new(), HashSet::new(), vec![root]);
    while let Some(at) = waiting.pop() {
        if !seen.insert(at) {
            return Err(bad(format!("version 1 B-tree node at {at}: it is in the tree twice")));
        }
        found.push(Extent { at, len });
        let bytes = source.read("version 1 B-tree node", at, head as u64)?;
        let mut reader = Reader::new("version 1 B-tree node", &bytes);
        reader.signature(b"TREE")?;
        let (found_type, level, count) = (reader.u8()?, reader.u8()?, usize::from(reader.u16()?));
        if found_type != node_type {
            return Err(reader.error("the type is not the tree's"));
        }
        if level > 0 {
            let bytes = source.read("version 1 B-tree node", at, (head + count * (key + offset)) as u64)?;
            for entry in bytes[head..].chunks_exact(key + offset) {
                waiting.push(Reader::new("child", &entry[key..]).defined(source.sizes, "child")?);
            }
        }
    }
    Ok(found)
}
