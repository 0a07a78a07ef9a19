//! Reading the tiles of a plan into dense memory.

use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, reads_slowly};

use crate::convert::Conversion;
use crate::scratch::Scratch;
use crate::tile_job::{TileJob, read_in_batches};
use crate::tiling::{Tile, TilePlan};
use crate::{PastEnd, non_temporal, pool, scatter};

/// Reads the tiles of a plan.
#[derive(Clone, Copy)]
pub(crate) struct TileReader<'a> {
    blob: &'a dyn Blob,
    plan: &'a TilePlan,
    conversion: Conversion,
    past_end: PastEnd,
    /// Bytes of an element in memory.
    size: usize,
    /// True if the result is too large to stay in the caches of the processor.
    non_temporal: bool,
}

impl<'a> TileReader<'a> {
    pub(crate) fn new(
        blob: &'a dyn Blob,
        plan: &'a TilePlan,
        conversion: Conversion,
        past_end: PastEnd,
        size: usize,
    ) -> Self {
        TileReader { blob, plan, conversion, past_end, size, non_temporal: false }
    }

    /// Reads all tiles into dense memory, on all threads if there is enough to do; those of a slow source in batches.
    pub(crate) fn all(&self, out: &mut [u8]) -> Result<bool> {
        if !self.plan.cost.is_near() {
            let tiles = TileJob::split(self.plan, std::iter::once(out), self.size, None);
            return read_in_batches(self.blob, self.past_end, self.conversion, tiles);
        }
        let windows = TileReader { non_temporal: out.len() as u64 >= non_temporal::LARGE, ..*self };
        let tiles = self.plan.tiles();
        match self.plan.shared() {
            Some((pool, together)) => pool.install(|| windows.split(0, tiles, together, out)),
            None => windows.range(0, tiles, out),
        }
    }

    /// Reads tiles `from..to`, whose elements are `out`; threads take at most `together` tiles at a time.
    fn split(&self, from: u64, to: u64, together: u64, out: &mut [u8]) -> Result<bool> {
        if to - from <= together {
            return self.range(from, to, out);
        }
        let middle = from + (to - from) / 2;
        let here = (self.plan.tile(middle).first - self.plan.tile(from).first) * self.size;
        let (left, right) = out.split_at_mut(here);
        let (left, right) = pool::join(
            || self.split(from, middle, together, left),
            || self.split(middle, to, together, right),
        );
        Ok(left? & right?)
    }

    /// Reads tiles `from..to`, whose elements are `out`, one after another.
    fn range(&self, from: u64, to: u64, mut out: &mut [u8]) -> Result<bool> {
        let mut all = true;
        for number in from..to {
            let tile = self.plan.tile(number);
            let (piece, rest) = out.split_at_mut(tile.elements * self.size);
            all &= self.tile(&tile, piece)?;
            out = rest;
        }
        Ok(all)
    }

    /// Reads one tile.
    fn tile(&self, tile: &Tile, out: &mut [u8]) -> Result<bool> {
        let conversion = &self.conversion;
        let dense = self.plan.is_dense();
        if dense && conversion.is_copy() && !reads_slowly(tile.at, out) {
            self.fetch(tile.at, out)?;
            return Ok(true);
        }
        Scratch::with(|scratch| {
            let window = scratch.window.at(tile.at, tile.span);
            self.fetch(tile.at, window)?;
            if dense && conversion.is_copy() && self.non_temporal {
                non_temporal::copy_rows(std::iter::once((&*window, out)));
                return Ok(true);
            }
            if dense {
                return Ok(conversion.run(window, out));
            }
            let (dims, size) = (self.plan.window(tile), self.plan.size());
            if conversion.is_copy() {
                scatter::gather(window, &dims, size, out);
                return Ok(true);
            }
            let stored = scratch.stored.get(tile.elements * size);
            scatter::gather(window, &dims, size, stored);
            Ok(conversion.run(stored, out))
        })
    }

    fn fetch(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.past_end.fetch(self.blob, at, into)
    }
}
