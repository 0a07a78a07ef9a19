//! Tiles of slow sources: the range of the blob that a tile needs, and the memory that it fills.
//!
//! Unlike for near sources, the memory is split at the borders of tiles before the tiles are fetched, so that one batch of
//! requests may contain tiles of several chunks.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrocdf_bytes::Result;
use ferrocdf_store::Blob;
use smallvec::SmallVec;

use crate::convert::Conversion;
use crate::requests::{BatchLimit, Placed, Windows, read_placed, run_in_batches, share};
use crate::scratch::Scratch;
use crate::tiling::{PARALLEL_BYTES, Tile, TilePlan};
use crate::{PastEnd, scatter};

/// A tile, and the memory that it fills.
pub(crate) struct TileJob<'t> {
    plan: &'t TilePlan,
    tile: Tile,
    /// The memory, in rows that follow each other in the order of the elements.
    rows: SmallVec<[&'t mut [u8]; 1]>,
    /// Bytes of an element in memory.
    size: usize,
    /// Flag of the caller that [`fill`](TileJob::fill) sets to false if a number is out of range.
    in_range: Option<&'t AtomicBool>,
}

impl<'t> TileJob<'t> {
    /// Splits memory into the tiles of a plan. `rows` follow each other in the order of the elements; an element has `size`
    /// bytes.
    pub(crate) fn split(
        plan: &'t TilePlan,
        mut rows: impl Iterator<Item = &'t mut [u8]>,
        size: usize,
        in_range: Option<&'t AtomicBool>,
    ) -> impl Iterator<Item = TileJob<'t>> {
        let mut rest: &mut [u8] = &mut [];
        (0..plan.tiles()).map(move |number| {
            let tile = plan.tile(number);
            let (mut left, mut pieces) = (tile.elements * size, SmallVec::new());
            while left > 0 {
                if rest.is_empty() {
                    // The rows have as many elements as the tiles.
                    let Some(row) = rows.next() else { break };
                    rest = row;
                }
                let len = left.min(rest.len());
                let (piece, more) = std::mem::take(&mut rest).split_at_mut(len);
                left -= len;
                pieces.push(piece);
                rest = more;
            }
            TileJob { plan, tile, rows: pieces, size, in_range }
        })
    }

    /// Returns the range of the blob that the tile needs.
    pub(crate) fn range(&self) -> Range<u64> {
        self.tile.at..self.tile.at + self.tile.span as u64
    }

    /// Returns the number of bytes of the blob that the tile needs.
    pub(crate) fn len(&self) -> u64 {
        self.tile.span as u64
    }

    /// Returns the range and the memory of the tile if its bytes go there as they are.
    pub(crate) fn into_placed(
        mut self,
        conversion: &Conversion,
    ) -> std::result::Result<Placed<'t>, TileJob<'t>> {
        if !(self.plan.is_dense() && conversion.is_copy() && self.rows.len() == 1) {
            return Err(self);
        }
        let range = self.range();
        self.rows.pop().map(|row| (range, row)).ok_or(self)
    }

    /// Gathers and converts the elements of the tile into memory; `window` has the bytes of [`range`](TileJob::range). True if
    /// all numbers were in range.
    pub(crate) fn fill(&mut self, window: &[u8], conversion: &Conversion) -> bool {
        let (plan, rows, in_memory) = (self.plan, &mut self.rows, self.size);
        let mut fill = |mut elements: &[u8]| {
            rows.iter_mut().fold(true, |in_range, row| {
                let (here, rest) = elements.split_at(row.len() / in_memory * plan.size());
                elements = rest;
                in_range & conversion.run(here, row)
            })
        };
        let in_range = if plan.is_dense() {
            fill(window)
        } else {
            Scratch::with(|scratch| {
                let stored = scratch.stored.get(self.tile.elements * plan.size());
                scatter::gather(window, &plan.window(&self.tile), plan.size(), stored);
                fill(stored)
            })
        };
        if let Some(all) = self.in_range.filter(|_| !in_range) {
            all.store(false, Relaxed);
        }
        in_range
    }
}

/// Reads tiles of a slow source. True if all numbers were in range.
pub(crate) fn read_in_batches<'t>(
    blob: &dyn Blob,
    past_end: PastEnd,
    conversion: Conversion,
    tiles: impl Iterator<Item = TileJob<'t>>,
) -> Result<bool> {
    let (mut placed, mut filled) = (vec![], vec![]);
    for tile in tiles {
        match tile.into_placed(&conversion) {
            Ok(tile) => placed.push(tile),
            Err(tile) => filled.push(tile),
        }
    }
    read_placed(blob, past_end, placed, |_| Ok(()))?;
    fill_in_batches(blob, past_end, conversion, filled.into_iter())
}

/// Reads tiles of a slow source in their order, each by way of a buffer. True if all numbers were in range.
pub(crate) fn fill_in_batches<'t>(
    blob: &dyn Blob,
    past_end: PastEnd,
    conversion: Conversion,
    tiles: impl Iterator<Item = TileJob<'t>>,
) -> Result<bool> {
    let fetch = |tiles: &[TileJob<'_>], _is_first, mut windows: Windows| {
        windows.read(blob, past_end, tiles.iter().map(TileJob::range), |_| Ok(()))?;
        Ok(windows)
    };
    run_in_batches(BatchLimit::of(&blob.cost()), tiles, TileJob::len, fetch, |tiles, windows| {
        let shares = tiles.iter().map(TileJob::len).sum::<u64>() >= PARALLEL_BYTES;
        share(shares, tiles, |number, mut tile| Ok(tile.fill(windows.get(number), &conversion)))
    })
}
