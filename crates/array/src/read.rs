//! Reading: fetch, collect, convert.
//!
//! Only elements that need no conversion are read straight into the caller's memory. Others pass through a buffer that
//! stays in the second-level cache: that was measured to be faster than to convert them in the caller's memory, which
//! is then written once and not twice.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, Cost, reads_slowly};

use crate::array::{dense_steps, too_large};
use crate::convert::Conversion;
use crate::cost::cost_of;
use crate::memory::{Walk, check_dense};
use crate::plan::{Plan, Tile, WINDOW};
use crate::scratch::Scratch;
use crate::short::ShortRun;
use crate::{
    Array, Blocks, Direction, Fit, Kind, Layout, Out, PastEnd, Selection, Stored, blocks, mosaic, pick,
    uncached,
};

/// Reads the selected elements of `array` into `out`.
///
/// Elements that are out of range of the kind of `out` are converted all the same; the result says so. `blob` is not
/// looked at if the array is inline.
///
/// # Errors
/// Those of [`Selection::check`]; `ECHAR` between text and numbers; `EINVAL` if `out` has not room for exactly the
/// selected elements, or its map leads outside; `EVARSIZE` for positions beyond 64 bits; the blob's.
pub fn read(blob: &dyn Blob, array: &Array, sel: &Selection, out: Out<'_>) -> Result<Fit> {
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
        return Ok(Fit::Exact);
    }
    let walk = match out.map {
        Some(map) => Walk::new(map, &sel.count, out.bytes.len(), out.kind)?,
        None => None,
    };
    let reader = Reader { blob, array, conversion, size: out.kind.size() };
    let fits = match walk {
        Some(walk) if conversion.keeps && !walk.is_injective() => {
            reader.mapped_singly(sel, &walk, out.bytes)?
        }
        Some(walk) => reader.mapped(sel, &walk, out.bytes)?,
        None => reader.dense(sel, out.bytes)?,
    };
    Ok(fits.into())
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
        if array.unusual.is_some() && !matches!(array.layout, Layout::Mosaic(_)) {
            return self.unusual(sel, out);
        }
        match &array.layout {
            Layout::Strided { begin, steps } => {
                check_rank(array, steps)?;
                let plan =
                    Plan::new(&array.shape, array.stored, *begin, steps, sel, (WINDOW, &cost_of(blob)))?;
                Windows::new(blob, &plan, conversion, array.past_end, size).all(out)
            }
            Layout::Inline(bytes) => {
                let (inline, steps) = (Inline(bytes), dense_steps(&array.shape, array.stored)?);
                let plan =
                    Plan::new(&array.shape, array.stored, 0, &steps, sel, (WINDOW, &cost_of(&inline)))?;
                Windows::new(&inline, &plan, conversion, array.past_end, size).all(out)
            }
            Layout::Blocks(blocks) => blocks::read(blob, array, blocks, sel, conversion, size, out),
            Layout::Fill(fill) => {
                let blocks = Blocks::nowhere(&array.shape, fill);
                blocks::read(blob, array, &blocks, sel, conversion, size, out)
            }
            Layout::Mosaic(mosaic) => mosaic::read(array, mosaic, sel, conversion, size, out),
        }
    }

    /// The elements that pass through a buffer at a time.
    fn piece(&self) -> u64 {
        let strided = matches!(self.array.layout, Layout::Strided { .. } | Layout::Inline(_));
        // Where a piece may cut blocks, fewer and larger ones cut fewer.
        let bytes = if strided { WINDOW } else { 16 << 20 };
        bytes / self.size.max(self.array.stored.kind.size()) as u64
    }

    /// Reads through a map, on this thread: the map may make elements coincide, and then their order counts.
    fn mapped(&self, sel: &Selection, walk: &Walk, memory: &mut [u8]) -> Result<bool> {
        let size = self.size;
        let mut buffer = Vec::new();
        sel.pieces(self.piece()).try_fold(true, |fits, (first, elements, piece)| {
            buffer.resize(elements * size, 0);
            if self.conversion.keeps {
                walk.gather(memory, size, first, &mut buffer);
            }
            let all = self.dense(&piece, &mut buffer)?;
            walk.scatter(&buffer, size, first, memory);
            Ok(fits & all)
        })
    }

    /// Reads through a map that makes elements coincide, with a conversion that may leave one as the last left it.
    fn mapped_singly(&self, sel: &Selection, walk: &Walk, memory: &mut [u8]) -> Result<bool> {
        let native = Stored::native(self.array.stored.kind);
        let (size, native_size) = (self.size, native.kind.size());
        let conversion = Conversion::new(Direction::Get, self.array.stored, native)?;
        let whole = Reader { conversion, size: native_size, ..*self };
        let single = Conversion::new(Direction::Get, native, self.conversion.to())?;
        let mut buffer = Vec::new();
        sel.pieces(self.piece()).try_fold(true, |fits, (first, elements, piece)| {
            buffer.resize(elements * native_size, 0);
            let mut fits = whole.dense(&piece, &mut buffer)? & fits;
            for (number, from) in buffer.chunks_exact(native_size).enumerate() {
                let mut one = [0; 8];
                let to = &mut one[..size];
                walk.gather(memory, size, first + number, to);
                fits &= single.run(from, to);
                walk.scatter(to, size, first + number, memory);
            }
            Ok(fits)
        })
    }

    /// Reads elements that no kind describes: as bytes, which are turned into elements that one does.
    fn unusual(&self, sel: &Selection, out: &mut [u8]) -> Result<bool> {
        let Some(unusual) = &self.array.unusual else { return self.dense(sel, out) };
        let (raw, made) = (unusual.size(), self.array.stored.kind.size());
        let bytes = self.array.as_bytes(raw);
        let stored = Stored::native(Kind::U8);
        let conversion = Conversion::new(Direction::Get, stored, stored)?;
        let reader = Reader { blob: self.blob, array: &bytes, conversion, size: 1 };
        let (mut from, mut to) = (Vec::new(), Vec::new());
        // Elements as stored may be much longer than what they are turned into.
        let limit = (self.piece() * made as u64 / raw.max(made) as u64).max(1);
        sel.pieces(limit).try_fold(true, |fits, (first, elements, mut piece)| {
            piece.start.push(0);
            piece.count.push(raw as u64);
            piece.stride.push(1);
            from.resize(elements * raw, 0);
            to.resize(elements * made, 0);
            reader.dense(&piece, &mut from)?;
            unusual.convert(&from, &mut to);
            let out = &mut out[first * self.size..][..elements * self.size];
            Ok(self.conversion.run(&to, out) & fits)
        })
    }
}

/// Checks that a strided layout has a step for each dimension.
pub(crate) fn check_rank(array: &Array, steps: &[u64]) -> Result<()> {
    if steps.len() == array.shape.len() {
        return Ok(());
    }
    let what = format!("a layout of {} steps for {} dimensions", steps.len(), array.shape.len());
    Err(Error::new(Code::EINVAL, what))
}

/// Reads the tiles of a plan.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'a> {
    blob: &'a dyn Blob,
    plan: &'a Plan,
    conversion: Conversion,
    past_end: PastEnd,
    /// Bytes of an element in memory.
    size: usize,
    /// Whether the result is too large to stay in the caches.
    uncached: bool,
}

impl<'a> Windows<'a> {
    pub(crate) fn new(
        blob: &'a dyn Blob,
        plan: &'a Plan,
        conversion: Conversion,
        past_end: PastEnd,
        size: usize,
    ) -> Self {
        Windows { blob, plan, conversion, past_end, size, uncached: false }
    }

    /// Reads all tiles into dense memory, shared among threads if that pays.
    pub(crate) fn all(&self, out: &mut [u8]) -> Result<bool> {
        let windows = Windows { uncached: out.len() as u64 >= uncached::LARGE, ..*self };
        let tiles = self.plan.tiles();
        match self.plan.shared() {
            Some((pool, together)) => pool.install(|| windows.split(0, tiles, together, out)),
            None => windows.range(0, tiles, out),
        }
    }

    /// Reads tiles `from..to`, whose elements are `out`, in pieces of at most `together` that any thread may take.
    fn split(&self, from: u64, to: u64, together: u64, out: &mut [u8]) -> Result<bool> {
        if to - from <= together {
            return self.range(from, to, out);
        }
        let middle = from + (to - from) / 2;
        let here = (self.plan.tile(middle).first - self.plan.tile(from).first) * self.size;
        let (left, right) = out.split_at_mut(here);
        let (left, right) = rayon::join(
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
            if dense && conversion.is_copy() && self.uncached {
                uncached::copy_rows(std::iter::once((&*window, out)));
                return Ok(true);
            }
            if dense {
                return Ok(conversion.run(window, out));
            }
            let (dims, size) = (self.plan.window(tile), self.plan.size());
            if conversion.is_copy() {
                pick::gather(window, &dims, size, out);
                return Ok(true);
            }
            let stored = scratch.stored.get(tile.elements * size);
            pick::gather(window, &dims, size, stored);
            Ok(conversion.run(stored, out))
        })
    }

    fn fetch(&self, at: u64, into: &mut [u8]) -> Result<()> {
        self.past_end.fetch(self.blob, at, into)
    }
}

impl PastEnd {
    /// Fills `into` from position `at` of a blob.
    pub(crate) fn fetch(self, blob: &dyn Blob, at: u64, into: &mut [u8]) -> Result<()> {
        match self {
            PastEnd::Zero => blob.read_zero_filled_at(at, into),
            PastEnd::Error => blob.read_exact_at(at, into),
        }
    }
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
