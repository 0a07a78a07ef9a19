//! Reading: fetch, gather, convert.
//!
//! Elements that need no conversion are read straight into the caller's memory. Others pass through a buffer that stays in
//! the second-level cache: the caller's memory is then written once and not twice, which was measured to be faster.

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_store::{Blob, Cost, MemoryBlob};

use crate::array::{dense_strides, too_large};
use crate::convert::Conversion;
use crate::memory::{MapWalk, check_dense};
use crate::overlap::Overlap;
use crate::short_run::ShortRun;
use crate::tile_reader::TileReader;
use crate::tiling::{TILE, TilePlan, read_limit};
use crate::{
    Array, Chunks, ConversionRules, Kind, Layout, Out, RangeCheck, Selection, Stored, VirtualLayout, chunks,
};

/// Reads the selected elements of `array` into `out`.
///
/// Numbers that are out of range of the kind of `out` are converted all the same; the result reports them. `blob` is not
/// used if the array is inline.
///
/// # Errors
/// Those of [`Selection::check`]; `ECHAR` between text and numbers; `EINVAL` if `out` does not have exactly the size of the
/// selected elements, or its map leads outside; `EVARSIZE` for positions beyond 64 bits; those of the blob.
pub fn read(blob: &dyn Blob, array: &Array, sel: &Selection, out: Out<'_>) -> Result<RangeCheck> {
    if out.map.is_none()
        && let Some(run) = ShortRun::of(array, sel)
    {
        return run.read(blob, out.kind, out.rules, out.bytes);
    }
    sel.check(&array.shape)?;
    let conversion = Conversion::new(out.rules, array.stored, Stored::native(out.kind))?;
    let elements = sel.elements().ok_or_else(|| too_large(&array.shape))?;
    if out.map.is_none() {
        check_dense(out.bytes.len(), out.kind, elements)?;
    }
    if elements == 0 {
        return Ok(RangeCheck::InRange);
    }
    let walk = match out.map {
        Some(map) => MapWalk::new(map, &sel.count, out.bytes.len(), out.kind)?,
        None => None,
    };
    let reader = Reader { blob, array, conversion, size: out.kind.size() };
    let in_range = match walk {
        Some(walk) if conversion.keeps && !walk.is_injective() => {
            reader.mapped_singly(sel, &walk, out.bytes)?
        }
        Some(walk) => reader.mapped(sel, &walk, out.bytes)?,
        None => reader.dense(sel, out.bytes)?,
    };
    Ok(in_range.into())
}

/// Reads selections of one array into memory of one kind.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) blob: &'a dyn Blob,
    pub(crate) array: &'a Array,
    pub(crate) conversion: Conversion,
    /// Bytes of an element in memory.
    pub(crate) size: usize,
}

impl Reader<'_> {
    /// Reads a checked selection, which is not empty, into dense memory.
    pub(crate) fn dense(&self, sel: &Selection, out: &mut [u8]) -> Result<bool> {
        let Reader { blob, array, conversion, size } = *self;
        if array.decoder.is_some() && !matches!(array.layout, Layout::Virtual(_)) {
            return self.read_decoded(sel, out);
        }
        match &array.layout {
            Layout::Strided { begin, strides } => {
                check_rank(array, strides)?;
                self.strided(blob, (*begin, strides), sel, out)
            }
            Layout::Inline(bytes) => {
                let (inline, strides) = (Inline(bytes), dense_strides(&array.shape, array.stored)?);
                let plan =
                    TilePlan::new(&array.shape, array.stored, 0, &strides, sel, (TILE, &inline.cost()))?;
                TileReader::new(&inline, &plan, conversion, array.past_end, size).all(out)
            }
            Layout::Chunked(chunks) => chunks::read(blob, array, chunks, sel, conversion, size, out),
            Layout::Fill(fill) => {
                let chunks = Chunks::missing(&array.shape, fill);
                chunks::read(blob, array, &chunks, sel, conversion, size, out)
            }
            Layout::Virtual(virtual_layout) => {
                read_virtual(array, virtual_layout, sel, conversion, size, out)
            }
        }
    }

    /// Reads elements at fixed strides of a blob.
    fn strided(
        &self,
        blob: &dyn Blob,
        (begin, strides): (u64, &[u64]),
        sel: &Selection,
        out: &mut [u8],
    ) -> Result<bool> {
        let Reader { array, conversion, size, .. } = *self;
        let cost = blob.cost();
        let limit = (read_limit(&cost), &cost);
        let plan = TilePlan::new(&array.shape, array.stored, begin, strides, sel, limit)?;
        TileReader::new(blob, &plan, conversion, array.past_end, size).all(out)
    }

    /// Returns the number of elements that pass through a buffer at a time.
    fn piece(&self) -> u64 {
        let strided = matches!(self.array.layout, Layout::Strided { .. } | Layout::Inline(_));
        // A piece may cut chunks, and batches of requests to a slow source; fewer and larger pieces cut fewer.
        let bytes = if strided && self.blob.cost().is_near() { TILE } else { 16 << 20 };
        bytes / self.size.max(self.array.stored.kind.size()) as u64
    }

    /// Reads through a map, on this thread: if elements coincide, the order of writes matters.
    fn mapped(&self, sel: &Selection, walk: &MapWalk, memory: &mut [u8]) -> Result<bool> {
        let size = self.size;
        let mut buffer = Vec::new();
        sel.pieces(self.piece()).try_fold(true, |in_range, (first, elements, piece)| {
            buffer.resize(elements * size, 0);
            if self.conversion.keeps {
                walk.gather(memory, size, first, &mut buffer);
            }
            let all = self.dense(&piece, &mut buffer)?;
            walk.scatter(&buffer, size, first, memory);
            Ok(in_range & all)
        })
    }

    /// Reads through a map that makes elements coincide, with a conversion that keeps old values where numbers are out of
    /// range: one element at a time.
    fn mapped_singly(&self, sel: &Selection, walk: &MapWalk, memory: &mut [u8]) -> Result<bool> {
        let native = Stored::native(self.array.stored.kind);
        let (size, native_size) = (self.size, native.kind.size());
        let conversion = Conversion::new(ConversionRules::Get, self.array.stored, native)?;
        let whole = Reader { conversion, size: native_size, ..*self };
        let single = Conversion::new(ConversionRules::Get, native, self.conversion.to())?;
        let mut buffer = Vec::new();
        sel.pieces(self.piece()).try_fold(true, |in_range, (first, elements, piece)| {
            buffer.resize(elements * native_size, 0);
            let mut in_range = whole.dense(&piece, &mut buffer)? & in_range;
            for (number, from) in buffer.chunks_exact(native_size).enumerate() {
                let mut one = [0; 8];
                let to = &mut one[..size];
                walk.gather(memory, size, first + number, to);
                in_range &= single.run(from, to);
                walk.scatter(to, size, first + number, memory);
            }
            Ok(in_range)
        })
    }

    /// Reads elements as bytes and decodes them.
    fn read_decoded(&self, sel: &Selection, out: &mut [u8]) -> Result<bool> {
        let Some(decoder) = &self.array.decoder else { return self.dense(sel, out) };
        let (raw, made) = (decoder.size(), self.array.stored.kind.size());
        let bytes = self.array.as_bytes(raw);
        let stored = Stored::native(Kind::U8);
        let conversion = Conversion::new(ConversionRules::Get, stored, stored)?;
        let reader = Reader { blob: self.blob, array: &bytes, conversion, size: 1 };
        let (mut from, mut to) = (Vec::new(), Vec::new());
        // Stored elements may be much longer than decoded ones.
        let limit = (self.piece() * made as u64 / raw.max(made) as u64).max(1);
        sel.pieces(limit).try_fold(true, |in_range, (first, elements, mut piece)| {
            piece.start.push(0);
            piece.count.push(raw as u64);
            piece.stride.push(1);
            from.resize(elements * raw, 0);
            to.resize(elements * made, 0);
            reader.dense(&piece, &mut from)?;
            decoder.convert(&from, &mut to);
            let out = &mut out[first * self.size..][..elements * self.size];
            Ok(self.conversion.run(&to, out) & in_range)
        })
    }
}

/// Reads the selected elements, at least one, of a virtual layout into dense memory of `size` bytes an element.
///
/// Memory is filled with the fill value first; then the selected elements of each source are read over it, straight from the source
/// into their destination. Where a number is out of range and the rules keep the old value, that is the fill value.
fn read_virtual(
    array: &Array,
    virtual_layout: &VirtualLayout,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    out: &mut [u8],
) -> Result<bool> {
    let background = Chunks::missing(&array.shape, &virtual_layout.fill);
    let filled = chunks::read(&MemoryBlob::default(), array, &background, sel, conversion, size, out)?;
    let (mut in_range, mut covered) = (true, 0);
    for mapping in virtual_layout.mappings.iter() {
        let Some(overlap) = Overlap::of(sel, mapping)? else { continue };
        let Some((blob, source)) = mapping.source.open()? else { continue };
        if let Some(overlap) = overlap.within(&source.shape)? {
            let elements = overlap.source_selection.elements().map_or(usize::MAX, ToUsize::saturate);
            covered = elements.saturating_add(covered);
            let kind = conversion.to().kind;
            // The map may then turn out to be dense, which is faster.
            let memory = &mut out[overlap.memory(kind)];
            let memory = Out { rules: conversion.direction(), ..Out::raw(kind, memory) };
            let memory = memory.mapped(0, &overlap.strides);
            in_range &= read(&*blob, &source, &overlap.source_selection, memory)? == RangeCheck::InRange;
        }
    }
    // A fill value out of range counts only where it is visible. Mappings seldom overlap.
    Ok(in_range && (filled || covered >= out.len() / size))
}

/// Checks that a strided layout has a stride for each dimension.
pub(crate) fn check_rank(array: &Array, strides: &[u64]) -> Result<()> {
    if strides.len() == array.shape.len() {
        return Ok(());
    }
    let what = format!("strided layout: {} strides for {} dimensions", strides.len(), array.shape.len());
    Err(Error::new(Code::EINVAL, what))
}

/// The bytes of an inline array as a blob.
struct Inline<'a>(&'a [u8]);

impl Blob for Inline<'_> {
    fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let rest = usize::try_from(at).ok().and_then(|at| self.0.get(at..)).unwrap_or_default();
        let got = rest.len().min(into.len());
        into[..got].copy_from_slice(&rest[..got]);
        Ok(got)
    }

    fn name(&self) -> String {
        "inline data".to_string()
    }

    fn cost(&self) -> Cost {
        Cost::MEMORY
    }
}
