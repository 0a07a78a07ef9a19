//! Finds the extents of a structure, so that its space can be reused.

use std::collections::HashSet;

use ferrocdf_bytes::Result;

use super::space::Extent;
use crate::groups::symbols::SymbolEntry;
use crate::heaps::fractal::header::FractalHeapHeader;
use crate::heaps::fractal::stored::HugeObject;
use crate::heaps::free_space::FreeSpaceManager;
use crate::heaps::{FractalHeap, LocalHeap, local};
use crate::messages::small::SymbolTable;
use crate::trees::btree1;
use crate::trees::btree2::{self, BTree2};
use crate::wire::{self, bad};
use crate::{Address, Source, fields};

/// Extents of a structure. A block that was not decoded is added only if it begins with the signature of its kind: a damaged
/// address may lead to a block of another structure, whose space must not be freed.
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

/// Returns the extents of a version 2 B-tree.
pub(super) fn tree(source: &Source, at: Address) -> Result<Vec<Extent>> {
    let tree = BTree2::open(source, at)?;
    let mut found = Found { source, list: vec![] };
    found.add(at, btree2::BTree2Header::len(source.sizes));
    tree.nodes(&mut |at, len| found.add_unread(at, len, &[b"BTIN", b"BTLF"]))?;
    Ok(found.list)
}

/// Returns the extents of a fractal heap: header, blocks, huge objects and their index, free-space manager.
pub(super) fn heap(source: &Source, at: Address) -> Result<Vec<Extent>> {
    let sizes = source.sizes;
    let heap = FractalHeap::open(source, at)?;
    let mut found = Found { source, list: vec![] };
    heap.pieces(&mut |at, len, is_packed| match is_packed {
        true => found.add(at, len),
        false => found.add_unread(at, len, &[b"FRHP", b"FHDB", b"FHIB"]),
    })?;

    let (stored, filters) = FractalHeapHeader::read(source, at)?;
    if let Some(index) = stored.huge_index {
        found.list.extend(tree(source, index)?);
        BTree2::open(source, index)?.walk(&mut |record| {
            let mut huge = HugeObject::unread(sizes, filters.is_some(), false);
            fields::read(&mut huge, "record of a huge object", record)?;
            found.add(huge.at, huge.len);
            Ok(())
        })?;
    }
    if let Some(manager) = stored.free_space {
        let len = FreeSpaceManager::len(sizes);
        let mut head = FreeSpaceManager::unread(sizes);
        let bytes = source.read(FreeSpaceManager::WHAT, manager, len)?;
        fields::read_checked(&mut head, FreeSpaceManager::WHAT, manager, &bytes)?;
        found.add(manager, len);
        if let Some(at) = head.sections {
            found.add_unread(at, head.allocated, &[b"FSSE"]);
        }
    }
    Ok(found.list)
}

/// Returns the extents of a group's symbol table: B-tree, nodes and local heap. `k` is half the children of a tree node, and half
/// the entries of a symbol table node.
pub(super) fn symbols(source: &Source, body: &[u8], k: (u16, u16)) -> Result<Vec<Extent>> {
    let sizes = source.sizes;
    let SymbolTable { tree: root, heap, .. } = SymbolTable::decode(body, sizes)?;
    let list = old_tree(source, root, 0, sizes.length, k.0)?;
    let mut found = Found { source, list };
    let len = SymbolEntry::node_len(2 * usize::from(k.1), sizes);
    btree1::walk(source, root, 0, sizes.length, &mut |_, at| {
        found.add_unread(at, len, &[b"SNOD"]);
        Ok(())
    })?;
    found.add(heap, local::LocalHeapHeader::len(sizes));
    let (at, len) = LocalHeap::open(source, heap)?.data();
    found.add(at, len);
    Ok(found.list)
}

/// Returns the extents of the nodes of a version 1 B-tree; `k` is half the children of a node.
pub(super) fn old_tree(
    source: &Source,
    root: Address,
    node_type: u8,
    key: usize,
    k: u16,
) -> Result<Vec<Extent>> {
    let offset = source.sizes.offset;
    let head = btree1::BTree1NodeHead::len(source.sizes);
    let len = btree1::allocated_len(source.sizes, k.into(), key) as u64;
    let (mut found, mut seen, mut waiting) = (Vec::new(), HashSet::new(), vec![root]);
    while let Some(at) = waiting.pop() {
        if !seen.insert(at) {
            return Err(bad(format!("version 1 B-tree node at {at}: the tree refers to it twice")));
        }
        found.push(Extent { at, len });
        let bytes = source.read("version 1 B-tree node", at, head as u64)?;
        let mut node = btree1::BTree1NodeHead::unread(source.sizes);
        wire::decode(&mut node, "version 1 B-tree node", at, &bytes)?;
        if node.node_type != node_type {
            return Err(bad(format!("version 1 B-tree node at {at}: its node type is not that of the tree")));
        }
        if node.level > 0 {
            let count = usize::from(node.count);
            let bytes = source.read("version 1 B-tree node", at, (head + count * (key + offset)) as u64)?;
            for entry in bytes[head..].chunks_exact(key + offset) {
                waiting.push(btree1::child(&entry[key..], source.sizes)?);
            }
        }
    }
    Ok(found)
}
