//! Rebuilds the chunk index of a dataset after chunks were stored.

use ferrocdf_bytes::Result;

use super::build::CommitBuilder;
use super::dataset::Data;
use super::extents;
use super::space::Extent;
use crate::chunks::build::NewIndex;
use crate::messages::{ChunkIndex, ChunkedLayout, DataLayout};
use crate::trees::btree1;
use crate::{Sizes, Source};

/// Node type of chunks in trees of version 1.
const CHUNKS: u8 = 1;

/// Size of a key of such a tree in bytes: chunk size, filter mask, chunk offset in each dimension and in the element.
fn key_size(layout: &ChunkedLayout) -> usize {
    8 + 8 * (layout.shape.len() + 1)
}

/// Rebuilds the index if chunks were stored; `k` is half the children of a node of a version 1 B-tree.
pub(super) fn index(data: &mut Data, k: u16, build: &mut CommitBuilder<'_>) -> Result<()> {
    let Some(chunks) = data.store.as_ref().and_then(|store| store.changed()) else { return Ok(()) };
    if data.blocks.is_none() {
        data.blocks = Some(blocks(data, k, build.source)?);
    }
    let DataLayout::Chunked(layout) = &mut data.layout else { return Ok(()) };
    let old = data.blocks.get_or_insert_default();
    // The filter mask of each edge chunk says from now on that it was stored without filters.
    layout.plain_edges = false;
    if layout.index == ChunkIndex::Implicit {
        return Ok(());
    }
    let (space, filtered) = (&data.space, !data.filters.is_empty());
    let new = NewIndex { layout, space, filtered, half: k };
    let sizes = build.sizes;
    let built = build.build(old, |alloc, made| new.build(&chunks, sizes, alloc, made))?;
    (layout.index, layout.address) = (built.index, built.address);
    data.written = None;
    Ok(())
}

/// Returns the bytes of the index of this many chunks, if it is a version 1 B-tree; 0 for other indexes.
pub(super) fn tree_len(data: &Data, k: u16, chunks: u64, sizes: Sizes) -> u64 {
    match &data.layout {
        DataLayout::Chunked(layout) if layout.index == ChunkIndex::BTree1 && chunks > 0 => {
            let node = btree1::allocated_len(sizes, k.into(), key_size(layout)) as u64;
            btree1::node_count(k.into(), chunks).saturating_mul(node)
        }
        _ => 0,
    }
}

/// Returns the extents of the committed index.
pub(super) fn blocks(data: &Data, k: u16, source: &Source) -> Result<Vec<Extent>> {
    if let Some(blocks) = &data.blocks {
        return Ok(blocks.clone());
    }
    let DataLayout::Chunked(layout) = &data.layout else { return Ok(Vec::new()) };
    match (layout.index, layout.address) {
        (_, None) | (ChunkIndex::Implicit | ChunkIndex::Single(_), _) => Ok(Vec::new()),
        (ChunkIndex::BTree1, Some(root)) => extents::old_tree(source, root, CHUNKS, key_size(layout), k),
        (ChunkIndex::BTree2 { .. }, Some(root)) => extents::tree(source, root),
        _ => Ok(Vec::new()),
    }
}
