//! The index of a dataset's chunks, made anew after chunks were placed.

use ferrocdf_bytes::Result;

use super::chunks::Spot;
use super::commit::Build;
use super::dataset::Data;
use super::extents;
use super::object::Extent;
use crate::messages::{ChunkIndex, ChunkedLayout, DataLayout};
use crate::trees::btree1::NewTree;
use crate::wire::{Writer, bad};
use crate::{Address, Source};

/// Node type of chunks in trees of version 1.
const CHUNKS: u8 = 1;

/// Bytes of a key of such a tree: size, mask, and the position of the chunk, the byte of the element last.
fn key_size(layout: &ChunkedLayout) -> usize {
    8 + 8 * (layout.shape.len() + 1)
}

/// Makes the index anew if chunks were placed; `k` is half the children of a node of a version 1 B-tree.
pub(super) fn index(data: &mut Data, k: u16, build: &mut Build<'_>) -> Result<()> {
    let Some(chunks) = data.store.as_ref().and_then(|store| store.changed()) else { return Ok(()) };
    if data.blocks.is_none() {
        data.blocks = Some(blocks(data, k, build.source)?);
    }
    let DataLayout::Chunked(layout) = &mut data.layout else { return Ok(()) };
    let old = data.blocks.get_or_insert_default();
    // Chunks that are stored plainly for lying at the edge are told from others by their masks from now on.
    layout.plain_edges = false;
    match layout.index {
        ChunkIndex::Implicit => {}
        ChunkIndex::Single(filtered) => {
            let chunk = chunks.first().map(|(_, spot)| *spot);
            layout.address = chunk.map(|chunk| chunk.at);
            let stored = |_| chunk.map_or((0, 0), |chunk| (chunk.len, chunk.mask));
            layout.index = ChunkIndex::Single(filtered.map(stored));
        }
        _ if chunks.is_empty() => {
            build.give_up(old);
            layout.address = None;
        }
        ChunkIndex::BTree1 => layout.address = Some(tree1(layout, &chunks, k, old, build)?),
        other => return Err(bad(format!("{other:?}"))),
    }
    Ok(())
}

fn tree1(
    layout: &ChunkedLayout,
    chunks: &[(Vec<u64>, Spot)],
    k: u16,
    old: &mut Vec<Extent>,
    build: &mut Build<'_>,
) -> Result<Address> {
    let mut w = Writer::new("chunk keys");
    for (coords, spot) in chunks {
        w.uint(4, spot.len);
        w.u32(spot.mask);
        for (at, chunk) in coords.iter().zip(&layout.shape) {
            w.uint(8, at.saturating_mul(*chunk));
        }
        w.uint(8, 0);
    }
    // The key behind the last chunk is greater than that.
    w.zeros(8);
    let last = chunks.last().map(|(coords, _)| coords.as_slice()).unwrap_or_default();
    for (at, chunk) in last.iter().zip(&layout.shape) {
        w.uint(8, at.saturating_add(1).saturating_mul(*chunk));
    }
    w.uint(8, 0);
    let keys = w.finish()?;
    let children = chunks.iter().map(|(_, spot)| spot.at).collect();
    let half = usize::from(k);
    let tree = NewTree { node_type: CHUNKS, half, key_size: key_size(layout), keys: &keys, children };
    let sizes = build.sizes;
    build.build(old, |alloc, made| tree.build(sizes, alloc, made))
}

/// Where the committed index is.
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
