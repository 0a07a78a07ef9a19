//! Writing: convert, scatter, store. `chunks::write` writes chunks.
//!
//! If the selected elements are near each other but not contiguous (one variable of a file of many small records), a tile is
//! read, changed and written back. The bytes between the selected ones are rewritten unchanged: the caller's lock keeps other
//! writers of the blob away meanwhile. A tile ends at its last selected element, so the blob never grows beyond it.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{BlobMut, writes_slowly};

use crate::array::too_large;
use crate::convert::Conversion;
use crate::memory::{MapWalk, check_dense};
use crate::read::check_rank;
use crate::requests::{BatchLimit, Windows, run_in_batches};
use crate::scratch::Scratch;
use crate::short_run::ShortRun;
use crate::tiling::{self, Tile, TilePlan};
use crate::{
    Array, Chunks, ConversionRules, In, Layout, PastEnd, RangeCheck, Selection, Stored, chunks, scatter,
    virtual_layout,
};

/// Maximum bytes of a tile of elements that are converted. Writing a new file of 1 GB takes a quarter less time than with
/// tiles of 256 KiB.
pub(crate) const TILE: u64 = 1 << 20;

/// Maximum bytes of a tile of contiguous elements that are written unconverted, straight from the caller's memory.
const AS_IS: u64 = 4 << 20;

/// Bytes of mapped memory, or of one value, that are written to chunks at a time: larger pieces cut fewer chunks.
const PIECE: u64 = 16 << 20;

/// Writes `input` to the selected elements of `array`. The shape is that after growth; the blob grows as needed.
///
/// Numbers that are out of range of the stored kind are converted all the same; the result reports them. No other thread may
/// write to the blob near the selected elements meanwhile. Partially written chunks stay pending until
/// [`flush`](crate::flush).
///
/// # Errors
/// Those of [`Selection::check`]; `ECHAR` between text and numbers; `EINVAL` if `input` is not exactly the selected elements, or
/// its map leads outside; `EPERM` for an inline array, chunks without a store, and elements with a decoder; `EVARSIZE` for
/// positions beyond 64 bits; those of the blob; for chunks those of the filters and the store, also for chunks of an earlier call
/// that were pending. After an error any part may have been written.
pub fn write(blob: &dyn BlobMut, array: &Array, sel: &Selection, input: In<'_>) -> Result<RangeCheck> {
    if input.map.is_none()
        && let Some(run) = ShortRun::of(array, sel)
    {
        return run.write(|at, bytes| blob.write_at(at, bytes), input.kind, input.rules, input.bytes);
    }
    sel.check(&array.shape)?;
    let conversion = Conversion::new(input.rules, Stored::native(input.kind), array.stored)?;
    let elements = sel.elements().ok_or_else(|| too_large(&array.shape))?;
    if input.map.is_none() {
        check_dense(input.bytes.len(), input.kind, elements)?;
    }
    let walk = match input.map {
        Some(map) if elements > 0 => MapWalk::new(map, &sel.count, input.bytes.len(), input.kind)?,
        _ => None,
    };
    let (chunks, size) = (chunked(array, elements)?, input.kind.size());
    let sources = match &array.layout {
        Layout::Virtual(layout) if elements > 0 => Some(layout),
        _ => None,
    };
    if chunks.is_some() || sources.is_some() {
        let dense = |sel: &Selection, elements: &[u8]| {
            let of_sources = sources.map(|layout| {
                virtual_layout::write(blob, layout, sel, In { bytes: elements, map: None, ..input })
            });
            let of_chunks =
                chunks.map(|chunks| chunks::write(blob, array, chunks, sel, conversion, size, elements));
            of_chunks.or(of_sources).unwrap_or(Ok(true))
        };
        let Some(walk) = walk else { return dense(sel, input.bytes).map(RangeCheck::from) };
        let mut buffer = Vec::new();
        let in_range =
            sel.pieces(PIECE / size as u64).try_fold(true, |in_range, (first, elements, piece)| {
                buffer.resize(elements * size, 0);
                walk.gather(input.bytes, size, first, &mut buffer);
                Ok(in_range & dense(&piece, &buffer)?)
            });
        return in_range.map(RangeCheck::from);
    }
    // A mapped tile lies in memory twice more, in up to eight times its size.
    let limit = if walk.is_some() { tiling::TILE } else { TILE };
    let Some(plan) = make_plan(blob, array, sel, elements, limit)? else { return Ok(RangeCheck::InRange) };
    let source = match walk {
        Some(walk) => Source::Mapped(walk, input.bytes),
        None => Source::Dense(input.bytes),
    };
    let writer = Writer { blob, plan: &plan, conversion, source, size: input.kind.size() };
    let larger = match writer.is_as_is() && plan.tiles() > 1 {
        true => make_plan(blob, array, sel, elements, AS_IS)?.filter(TilePlan::is_dense),
        false => None,
    };
    Writer { plan: larger.as_ref().unwrap_or(&plan), ..writer }.all().map(RangeCheck::from)
}

/// Sets the selected elements of `array` to `value`, the bytes of one element as stored.
///
/// # Errors
/// As [`write()`]; `EINVAL` if `value` is not one element.
pub fn fill(blob: &dyn BlobMut, array: &Array, sel: &Selection, value: &[u8]) -> Result<()> {
    sel.check(&array.shape)?;
    let size = array.stored.kind.size();
    if value.len() != size {
        let what = format!("a fill value of {} bytes for elements of {size}", value.len());
        return Err(Error::new(Code::EINVAL, what));
    }
    let elements = sel.elements().ok_or_else(|| too_large(&array.shape))?;
    let conversion = Conversion::new(ConversionRules::Put, array.stored, array.stored)?;
    if let Some(chunks) = chunked(array, elements)? {
        let most = PIECE / size as u64;
        let all = value.repeat(most.min(elements) as usize);
        return sel.pieces(most).try_for_each(|(_, elements, piece)| {
            let elements = &all[..elements * size];
            chunks::write(blob, array, chunks, &piece, conversion, size, elements).map(drop)
        });
    }
    let Some(plan) = make_plan(blob, array, sel, elements, TILE)? else { return Ok(()) };
    let source = Source::Same(value.repeat(plan.largest()));
    Writer { blob, plan: &plan, conversion, source, size }.all().map(drop)
}

/// Returns the chunks of an array; `None` if it has another layout or no elements are to be written.
fn chunked(array: &Array, elements: u64) -> Result<Option<&Chunks>> {
    if array.decoder.is_some() {
        return Err(Error::new(
            Code::EPERM,
            "array is read-only: its elements have a decoder; write them as bytes",
        ));
    }
    match &array.layout {
        Layout::Chunked(chunks) if elements > 0 => Ok(Some(chunks)),
        _ => Ok(None),
    }
}

/// Writes dense memory of `size` bytes an element to the tiles of a plan.
pub(crate) fn dense(
    blob: &dyn BlobMut,
    plan: &TilePlan,
    conversion: Conversion,
    input: &[u8],
    size: usize,
) -> Result<bool> {
    Writer { blob, plan, conversion, source: Source::Dense(input), size }.all()
}

/// Plans the tiles of a selection to be written; `None` if it is empty or the array is chunked.
fn make_plan(
    blob: &dyn BlobMut,
    array: &Array,
    sel: &Selection,
    elements: u64,
    limit: u64,
) -> Result<Option<TilePlan>> {
    let (begin, strides) = match &array.layout {
        Layout::Strided { begin, strides } => (begin, strides),
        Layout::Chunked(_) => return Ok(None),
        _ => {
            return Err(Error::new(Code::EPERM, "array is read-only: its layout has no storage of its own"));
        }
    };
    check_rank(array, strides)?;
    if elements == 0 {
        return Ok(None);
    }
    TilePlan::new(&array.shape, array.stored, *begin, strides, sel, (limit, &blob.cost())).map(Some)
}

/// The source of the elements.
enum Source<'a> {
    /// Dense memory.
    Dense(&'a [u8]),
    /// Memory with a map.
    Mapped(MapWalk, &'a [u8]),
    /// The same elements for each tile; as many as the largest has.
    Same(Vec<u8>),
}

struct Writer<'a> {
    blob: &'a dyn BlobMut,
    plan: &'a TilePlan,
    conversion: Conversion,
    source: Source<'a>,
    /// Bytes of an element in the source.
    size: usize,
}

impl Writer<'_> {
    /// True if contiguous elements are written unconverted, straight from the caller's memory.
    fn is_as_is(&self) -> bool {
        self.conversion.is_copy() && self.plan.is_dense() && !matches!(self.source, Source::Mapped(..))
    }

    /// Writes all tiles, on all threads if tiles do not overlap and elements are converted. One thread writes unconverted tiles:
    /// kernels let one thread at a time write to a file.
    fn all(&self) -> Result<bool> {
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
            rayon::join(|| self.split(from, middle, together), || self.split(middle, to, together));
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
