//! The chunks of a B-tree, version 1 (specification, section III.A.1, node type 1) or 2 (section III.A.2, record types 10
//! and 11), as a table.

use ferrocdf_bytes::Result;

use super::table::Table;
use super::{Chunks, Entry};
use crate::Address;
use crate::messages::ChunkIndex;
use crate::trees::{btree1, btree2};
use crate::wire::{Reader, bad};

/// Node type of chunks in trees of version 1.
pub(super) const CHUNKS: u8 = 1;

/// Record types of chunks in trees of version 2.
const PLAIN: u8 = 10;
const FILTERED: u8 = 11;

/// Reads a whole tree. Chunks outside the present extent are left out.
pub(super) fn load(chunks: &Chunks, kind: ChunkIndex, root: Address) -> Result<Table> {
    let mut found = Vec::new();
    if kind == ChunkIndex::BTree1 {
        old(chunks, root, &mut found)?;
    } else {
        new(chunks, root, &mut found)?;
    }
    found.shrink_to_fit();
    Ok(Table::new(found, chunks.filtered))
}

/// Version 1: the keys hold size, mask, and the position of the first element, of which the last number is 0.
fn old(chunks: &Chunks, root: Address, found: &mut Vec<(u64, Entry)>) -> Result<()> {
    let rank = chunks.chunk.len();
    let key_size = 8 + 8 * (rank + 1);
    btree1::prefetch(&chunks.source, root, CHUNKS, key_size, 0);
    btree1::walk(&chunks.source, root, CHUNKS, key_size, &mut |key, at| {
        let mut r = Reader::new("chunk key", key);
        let (len, mask) = (u64::from(r.u32()?), r.u32()?);
        let mut coords = Vec::with_capacity(rank);
        for &chunk in &chunks.chunk {
            // A position that no chunk begins at is that of the chunk it lies in.
            coords.push(r.uint(8)? / chunk);
        }
        found.extend(chunks.number(coords.into_iter()).map(|number| (number, Entry { at, len, mask })));
        Ok(())
    })
}

/// Version 2: the records hold the address, for filtered chunks size and mask, and the coordinates in chunks.
fn new(chunks: &Chunks, root: Address, found: &mut Vec<(u64, Entry)>) -> Result<()> {
    let rank = chunks.chunk.len();
    let sizes = chunks.source.sizes;
    let kind = btree2::walk(&chunks.source, root, &mut |record| {
        let mut r = Reader::new("chunk record", record);
        let at = r.address(sizes)?;
        let (mut len, mut mask) = (0, 0);
        if chunks.filtered {
            let width = record.len().checked_sub(sizes.offset + 4 + 8 * rank);
            let width = width.filter(|width| (1..=8).contains(width));
            let width = width.ok_or_else(|| r.error(format_args!("a record of {} bytes", record.len())))?;
            len = r.uint(width)?;
            mask = r.u32()?;
        }
        let mut coords = Vec::with_capacity(rank);
        for _ in 0..rank {
            coords.push(r.uint(8)?);
        }
        let number = chunks.number(coords.into_iter());
        found.extend(number.zip(at).map(|(number, at)| (number, Entry { at, len, mask })));
        Ok(())
    })?;
    let expected = if chunks.filtered { FILTERED } else { PLAIN };
    if kind != expected {
        return Err(bad(format!("the chunk index at {root} has records of type {kind}, not {expected}")));
    }
    Ok(())
}
