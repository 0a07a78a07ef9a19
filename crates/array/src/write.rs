//! Writing: convert, scatter, store. `tile_writer` writes strided elements, `chunks::write` chunks.

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_store::BlobMut;

use crate::array::too_large;
use crate::convert::Conversion;
use crate::memory::{MapWalk, check_dense};
use crate::overlap::Overlap;
use crate::read::check_rank;
use crate::short_run::ShortRun;
use crate::tile_writer::{Source, TILE, TileWriter};
use crate::tiling::{self, TilePlan};
use crate::{
    Array, Chunks, ConversionRules, In, Layout, RangeCheck, Selection, Stored, VirtualLayout, chunks,
};

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
            let of_sources = sources
                .map(|layout| write_virtual(blob, layout, sel, In { bytes: elements, map: None, ..input }));
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
    let writer = TileWriter { blob, plan: &plan, conversion, source, size: input.kind.size() };
    let larger = match writer.is_as_is() && plan.tiles() > 1 {
        true => make_plan(blob, array, sel, elements, AS_IS)?.filter(TilePlan::is_dense),
        false => None,
    };
    TileWriter { plan: larger.as_ref().unwrap_or(&plan), ..writer }.all().map(RangeCheck::from)
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
        let all = value.repeat(most.min(elements).saturate());
        return sel.pieces(most).try_for_each(|(_, elements, piece)| {
            let elements = &all[..elements * size];
            chunks::write(blob, array, chunks, &piece, conversion, size, elements).map(drop)
        });
    }
    let Some(plan) = make_plan(blob, array, sel, elements, TILE)? else { return Ok(()) };
    let source = Source::Same(value.repeat(plan.largest()));
    TileWriter { blob, plan: &plan, conversion, source, size }.all().map(drop)
}

/// Writes dense elements to the selected ones, at least one, of a virtual layout. True if all numbers were in range.
///
/// # Errors
/// `NC_EPERM` for sources that are only read, and those of [`write()`].
fn write_virtual(
    blob: &dyn BlobMut,
    virtual_layout: &VirtualLayout,
    sel: &Selection,
    input: In<'_>,
) -> Result<bool> {
    let mappings = &virtual_layout.mappings;
    let sources: Option<Vec<&Array>> = mappings.iter().map(|mapping| mapping.source.writable()).collect();
    let Some(sources) = sources.filter(|sources| !sources.is_empty()) else {
        let what = "array is read-only: its elements are selections of other arrays";
        return Err(Error::new(Code::EPERM, what));
    };
    let (mut overlaps, mut covered) = (vec![], 0u64);
    for (mapping, source) in mappings.iter().zip(sources) {
        let Some(overlap) = Overlap::of(sel, mapping)? else { continue };
        covered = covered.saturating_add(overlap.source_selection.elements().unwrap_or(u64::MAX));
        overlaps.push((overlap, source));
    }
    if Some(covered) != sel.elements() {
        let what = "elements that are in no source cannot be written: the array does not grow";
        return Err(Error::new(Code::EPERM, what));
    }
    let mut in_range = true;
    for (overlap, source) in overlaps {
        let memory = In { bytes: &input.bytes[overlap.memory(input.kind)], ..input };
        let memory = memory.mapped(0, &overlap.strides);
        in_range &= write(blob, source, &overlap.source_selection, memory)? == RangeCheck::InRange;
    }
    Ok(in_range)
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
