//! Writing the tiles of a plan.
//!
//! If the selected elements are near each other but not contiguous (one variable of a file of many small records), a tile is
//! read, changed and written back. The bytes between the selected ones are rewritten unchanged: the caller's lock keeps other
//! writers of the blob away meanwhile. A tile ends at its last selected element, so the blob never grows beyond it.

use ferrocdf_bytes::Result;
use ferrocdf_store::{BlobMut, writes_slowly};

use crate::convert::Conversion;
use crate::memory::MapWalk;
use crate::requests::{BatchLimit, Windows, run_in_batches};
use crate::scratch::Scratch;
use crate::tiling::{Tile, TilePlan};
use crate::{PastEnd, pool, scatter};

/// Maximum bytes of a tile of elements that are converted. Writing a new file of 1 GB takes a quarter less time than with
/// tiles of 256 KiB.
pub(crate) const TILE: u64 = 1 << 20;

/// Writes dense memory of `size` bytes an element to the tiles of a plan.
pub(crate) fn dense(
    blob: &dyn BlobMut,
    plan: &TilePlan,
    conversion: Conversion,
    input: &[u8],
    size: usize,
) -> Result<bool> {
    TileWriter { blob, plan, conversion, source: Source::Dense(input), size }.all()
}

/// The source of the elements.
pub(crate) enum Source<'a> {
    /// Dense memory.
    Dense(&'a [u8]),
    /// Memory with a map.
    Mapped(MapWalk, &'a [u8]),
    /// The same elements for each tile; as many as the largest has.
    Same(Vec<u8>),
}

/// Writes the tiles of a plan.
pub(crate) struct TileWriter<'a> {
    pub(crate) blob: &'a dyn BlobMut,
    pub(crate) plan: &'a TilePlan,
    pub(crate) conversion: Conversion,
    pub(crate) source: Source<'a>,
    /// Bytes of an element in the source.
    pub(crate) size: usize,
}

impl TileWriter<'_> {
    /// True if contiguous elements are written unconverted, straight from the caller's memory.
    pub(crate) fn is_as_is(&self) -> bool {
        self.conversion.is_copy() && self.plan.is_dense() && !matches!(self.source, Source::Mapped(..))
    }

    /// Writes all tiles, on all threads if tiles do not overlap and elements are converted. One thread writes unconverted tiles:
    /// kernels let one thread at a time write to a file.
    pub(crate) fn all(&self) -> Result<bool> {
        let tiles = self.plan.tiles();
        if !self.plan.cost.is_near() && self.plan.disjoint && !self.plan.is_dense() {
            return self.in_batches();
        }
        match self.plan.shared() {
            Some((pool, together)) if self.plan.disjoint && !self.is_as_is() => {
                pool.install(|| self.split(0, tiles, together))
            }
            _ => self.range(0, tiles),
        }
    }

    fn split(&self, from: u64, to: u64, together: u64) -> Result<bool> {
        if to - from <= together {
            return self.range(from, to);
        }
        let middle = from + (to - from) / 2;
        let (left, right) =
            pool::join(|| self.split(from, middle, together), || self.split(middle, to, together));
        Ok(left? & right?)
    }

    fn range(&self, from: u64, to: u64) -> Result<bool> {
        let mut all = true;
        for number in from..to {
            all &= self.tile(&self.plan.tile(number), None)?;
        }
        Ok(all)
    }

    /// Writes all tiles, which do not overlap and have gaps, to a slow blob: their old bytes are read in batches.
    fn in_batches(&self) -> Result<bool> {
        let plan = self.plan;
        let tiles = (0..plan.tiles()).map(|number| plan.tile(number));
        let fetch = |tiles: &[Tile], _is_first, mut windows: Windows| {
            let ranges = tiles.iter().map(|tile| tile.at..tile.at + tile.span as u64);
            windows.read(&self.blob, PastEnd::Zero, ranges, |_| Ok(()))?;
            Ok(windows)
        };
        run_in_batches(
            BatchLimit::of(&plan.cost),
            tiles,
            |tile| tile.span as u64,
            fetch,
            |tiles, windows| {
                let mut tiles = tiles.iter().enumerate();
                tiles.try_fold(true, |all, (number, tile)| {
                    Ok(all & self.tile(tile, Some(windows.get(number)))?)
                })
            },
        )
    }

    /// Writes one tile. `old` has the bytes of the blob there, if they were read.
    fn tile(&self, tile: &Tile, old: Option<&[u8]>) -> Result<bool> {
        Scratch::with(|scratch| {
            let elements = match &self.source {
                Source::Dense(bytes) => &bytes[tile.first * self.size..][..tile.elements * self.size],
                Source::Same(bytes) => &bytes[..tile.elements * self.size],
                Source::Mapped(walk, memory) => {
                    let dense = scratch.dense.get(tile.elements * self.size);
                    walk.gather(memory, self.size, tile.first, dense);
                    dense
                }
            };
            let dense = self.plan.is_dense();
            let as_is = self.conversion.is_copy() && !(dense && writes_slowly(tile.at, elements));
            let (stored, in_range) = if as_is {
                (elements, true)
            } else {
                let stored = scratch.stored.at(tile.at, tile.elements * self.plan.size());
                let in_range = self.conversion.run(elements, stored);
                (&*stored, in_range)
            };
            if dense {
                self.blob.write_at(tile.at, stored)?;
                return Ok(in_range);
            }
            let window = scratch.window.at(tile.at, tile.span);
            match old {
                Some(old) => window.copy_from_slice(old),
                None => self.blob.read_zero_filled_at(tile.at, window)?,
            }
            scatter::scatter(stored, &self.plan.window(tile), self.plan.size(), window);
            self.blob.write_at(tile.at, window)?;
            Ok(in_range)
        })
    }
}
