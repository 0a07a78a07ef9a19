//! Reading: fetch, collect, convert.
//!
//! Only elements that need no conversion are read straight into the caller's memory. Others pass through a buffer that
//! stays in the second-level cache: that was measured to be faster than to convert them in the caller's memory, which
//! is then written once and not twice.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, reads_slowly};

use crate::array::{dense_steps, too_large};
use crate::convert::Conversion;
use crate::memory::{Walk, check_dense};
use crate::plan::{Plan, Tile, WINDOW};
use crate::scratch::Scratch;
use crate::short::ShortRun;
use crate::{Array, Direction, Fit, Layout, Out, PastEnd, Selection, Stored, pick};

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
        return run.read(blob, out.kind, out.bytes);
    }
    sel.check(&array.shape)?;
    let conversion = Conversion::new(Direction::Get, array.stored, Stored::native(out.kind))?;
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
    let inline;
    let (blob, plan) = match &array.layout {
        Layout::Strided { begin, steps } => {
            check_rank(array, steps)?;
            (blob, Plan::new(&array.shape, array.stored, *begin, steps, sel, WINDOW)?)
        }
        Layout::Inline(bytes) => {
            inline = Inline(bytes);
            let steps = dense_steps(&array.shape, array.stored)?;
            (&inline as &dyn Blob, Plan::new(&array.shape, array.stored, 0, &steps, sel, WINDOW)?)
        }
        Layout::Blocks(_) | Layout::Mosaic(_) | Layout::Fill(_) => todo!("next commit"),
    };
    let reader = Reader { blob, plan: &plan, conversion, past_end: array.past_end, size: out.kind.size() };
    let fits = match walk {
        Some(walk) if conversion.keeps && !walk.is_injective() => {
            reader.mapped_singly(&walk, array.stored, out.bytes)?
        }
        Some(walk) => reader.mapped(&walk, out.bytes)?,
        None => reader.dense(out.bytes)?,
    };
    Ok(fits.into())
}

/// Checks that a strided layout has a step for each dimension.
pub(crate) fn check_rank(array: &Array, steps: &[u64]) -> Result<()> {
    if steps.len() == array.shape.len() {
        return Ok(());
    }
    let what = format!("a layout of {} steps for {} dimensions", steps.len(), array.shape.len());
    Err(Error::new(Code::EINVAL, what))
}

struct Reader<'a> {
    blob: &'a dyn Blob,
    plan: &'a Plan,
    conversion: Conversion,
    past_end: PastEnd,
    /// Bytes of an element in memory.
    size: usize,
}

impl Reader<'_> {
    /// Reads all tiles into dense memory, shared among threads if that pays.
    fn dense(&self, out: &mut [u8]) -> Result<bool> {
        let tiles = self.plan.tiles();
        match self.plan.shared() {
            Some((pool, together)) => pool.install(|| self.split(0, tiles, together, out)),
            None => self.range(0, tiles, out),
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

    /// Reads all tiles through a map, on this thread: the map may make elements coincide, and then their order counts.
    fn mapped(&self, walk: &Walk, memory: &mut [u8]) -> Result<bool> {
        let size = self.size;
        let mut buffer = vec![0; self.plan.largest() * size];
        let mut all = true;
        for number in 0..self.plan.tiles() {
            let tile = self.plan.tile(number);
            let dense = &mut buffer[..tile.elements * size];
            if self.conversion.keeps {
                walk.gather(memory, size, tile.first, dense);
            }
            all &= self.tile(&tile, dense)?;
            walk.scatter(dense, size, tile.first, memory);
        }
        Ok(all)
    }

    /// Reads through a map that makes elements coincide, with a conversion that may leave one as the last left it.
    fn mapped_singly(&self, walk: &Walk, stored: Stored, memory: &mut [u8]) -> Result<bool> {
        let (size, stored_size) = (self.size, stored.kind.size());
        let raw = Reader {
            conversion: Conversion::new(Direction::Get, stored, stored)?,
            size: stored_size,
            ..*self
        };
        let mut buffer = vec![0; self.plan.largest() * stored_size];
        let mut all = true;
        for number in 0..self.plan.tiles() {
            let tile = self.plan.tile(number);
            let dense = &mut buffer[..tile.elements * stored_size];
            raw.tile(&tile, dense)?;
            for (number, from) in dense.chunks_exact(stored_size).enumerate() {
                let mut one = [0; 8];
                let to = &mut one[..size];
                walk.gather(memory, size, tile.first + number, to);
                all &= self.conversion.run(from, to);
                walk.scatter(to, size, tile.first + number, memory);
            }
        }
        Ok(all)
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
}
