//! The chunks of a B-tree, version 1 (specification, section III.A.1, node type 1) or 2 (section III.A.2, record types 10
//! and 11), as a table.

use ferrocdf_bytes::Result;

use super::stored::{ChunkKey, ChunkRecord, Form, StoredEntry};
use super::table::ChunkTable;
use super::{ChunkEntry, DatasetChunks};
use crate::messages::ChunkIndex;
use crate::trees::{btree1, btree2};
use crate::wire::bad;
use crate::{Address, fields};

/// Node type of chunks in trees of version 1.
pub(super) const CHUNKS: u8 = 1;

/// Record types of chunks in trees of version 2.
const PLAIN: u8 = 10;
const FILTERED: u8 = 11;

/// Reads a whole tree. Chunks outside the present extent are left out.
pub(super) fn load(chunks: &DatasetChunks, kind: ChunkIndex, root: Address) -> Result<ChunkTable> {
    let mut found = Vec::new();
    if kind == ChunkIndex::BTree1 {
        old(chunks, root, &mut found)?;
    } else {
        new(chunks, root, &mut found)?;
    }
    found.shrink_to_fit();
    Ok(ChunkTable::new(found, chunks.filtered))
}

/// Version 1: the keys hold size, mask, and the position of the first element, of which the last number is 0.
fn old(chunks: &DatasetChunks, root: Address, found: &mut Vec<(u64, ChunkEntry)>) -> Result<()> {
    let rank = chunks.chunk.len();
    let key_size = 8 + 8 * (rank + 1);
    btree1::prefetch(&chunks.source, root, CHUNKS, key_size, 0);
    let mut key = ChunkKey { rank: rank as u64 + 1, ..ChunkKey::default() };
    btree1::walk(&chunks.source, root, CHUNKS, key_size, &mut |bytes, at| {
        key.offsets.clear();
        fields::read(&mut key, "chunk key", bytes)?;
        // A position that no chunk begins at is that of the chunk it lies in.
        let coords = key.offsets.iter().zip(&chunks.chunk).map(|(&at, &chunk)| at / chunk);
        let entry = ChunkEntry { at, len: key.len, mask: key.mask };
        found.extend(chunks.number(coords).map(|number| (number, entry)));
        Ok(())
    })
}

/// Version 2: the records hold the address, for filtered chunks size and mask, and the coordinates in chunks.
fn new(chunks: &DatasetChunks, root: Address, found: &mut Vec<(u64, ChunkEntry)>) -> Result<()> {
    let rank = chunks.chunk.len();
    let sizes = chunks.source.sizes;
    let mut coords = Vec::with_capacity(rank);
    let kind = btree2::walk(&chunks.source, root, &mut |bytes| {
        let width = bytes.len().checked_sub(8 * rank);
        let form = width.and_then(|width| Form::of(width, chunks.filtered, sizes));
        let form = form.ok_or_else(|| bad(format!("chunk record: a record of {} bytes", bytes.len())))?;
        let stored = StoredEntry { form, entry: None };
        coords.clear();
        let mut record = ChunkRecord { stored, coords: std::mem::take(&mut coords), rank: rank as u64 };
        fields::read(&mut record, "chunk record", bytes)?;
        coords = record.coords;
        found.extend(chunks.number(coords.iter().copied()).zip(record.stored.entry));
        Ok(())
    })?;
    let expected = if chunks.filtered { FILTERED } else { PLAIN };
    if kind != expected {
        return Err(bad(format!("the chunk index at {root} has records of type {kind}, not {expected}")));
    }
    Ok(())
}
