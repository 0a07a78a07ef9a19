//! The fast path for a few contiguous elements, on the caller's thread through a buffer on its stack.
//!
//! Programs that read or write one value or a short row at a time make many calls; planning each, or checking its selection
//! twice, would cost more than the transfer.

use std::ops::Range;

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::Blob;

use crate::convert::{Conversion, swap_order};
use crate::memory::check_dense;
use crate::{Array, ConversionRules, Kind, Layout, PastEnd, RangeCheck, Selection, Stored};

/// Maximum stored bytes of a short run.
const SHORT: usize = 1 << 10;

/// A few contiguous elements of a blob.
#[derive(Clone, Copy, Debug)]
pub struct ShortRun {
    /// Position of its first byte.
    at: u64,
    /// Position of its first element in storage order.
    first: u64,
    /// Stored bytes.
    len: usize,
    stored: Stored,
    past_end: PastEnd,
}

impl ShortRun {
    /// Returns the run of selected elements, if they lie within the array, and are few and contiguous. `part` returns start, count
    /// and stride of a dimension. `None` for all other selections, also wrong ones: [`read`](crate::read()) and
    /// [`write()`](crate::write()) handle these and report errors.
    // Inlined always: returning the struct through memory stalls the processor.
    #[inline(always)]
    pub fn find(array: &Array, part: impl Fn(usize) -> (u64, u64, u64)) -> Option<ShortRun> {
        let (Layout::Strided { begin, strides }, None) = (&array.layout, &array.decoder) else { return None };
        if strides.len() != array.shape.len() {
            return None;
        }
        let (mut at, mut len) = (*begin, array.stored.kind.size() as u64);
        // Elements before the run, and elements of all inner dimensions. An array has less than 2^64 elements.
        let (mut first, mut inner) = (0u64, 1u64);
        for (dim, (&step, &size)) in strides.iter().zip(&array.shape).enumerate().rev() {
            let (start, count, stride) = part(dim);
            let reach = count.checked_sub(1)?.checked_mul(stride)?;
            if stride == 0 || start.checked_add(reach)? >= size {
                return None;
            }
            if count != 1 {
                if step.checked_mul(stride) != Some(len) {
                    return None;
                }
                len = len.checked_mul(count)?;
            }
            at = at.checked_add(start.checked_mul(step)?)?;
            first = first.wrapping_add(start.wrapping_mul(inner));
            inner = inner.wrapping_mul(size);
        }
        at.checked_add(len)?;
        let run = ShortRun { at, first, len: len.saturate(), stored: array.stored, past_end: array.past_end };
        (len <= SHORT as u64).then_some(run)
    }

    /// Returns the run of a selection.
    pub(crate) fn of(array: &Array, sel: &Selection) -> Option<ShortRun> {
        let (starts, counts, strides) = (&sel.start[..], &sel.count[..], &sel.stride[..]);
        let rank = array.shape.len();
        if [starts.len(), counts.len(), strides.len()] != [rank; 3] {
            return None;
        }
        Self::find(array, |dim| (starts[dim], counts[dim], strides[dim]))
    }

    /// Returns the number of its elements.
    #[inline]
    pub fn elements(&self) -> usize {
        self.len / self.stored.kind.size()
    }

    /// Returns the positions of its elements in storage order.
    #[inline]
    pub fn span(&self) -> Range<u64> {
        self.first..self.first + self.elements() as u64
    }

    /// Reads the run into dense memory of exactly its elements; `rules` are as in [`Out`](crate::Out).
    ///
    /// # Errors
    /// `ECHAR` between text and numbers; `EINVAL` for memory of another size; the blob's.
    pub fn read(
        &self,
        blob: &dyn Blob,
        kind: Kind,
        rules: ConversionRules,
        out: &mut [u8],
    ) -> Result<RangeCheck> {
        if kind == self.stored.kind && out.len() == self.len {
            self.past_end.fetch(blob, self.at, out)?;
            swap_order(self.stored, out);
            return Ok(RangeCheck::InRange);
        }
        let conversion = Conversion::new(rules, self.stored, Stored::native(kind))?;
        check_dense(out.len(), kind, self.elements() as u64)?;
        self.with_room(|stored| {
            self.past_end.fetch(blob, self.at, stored)?;
            Ok(conversion.run(stored, out).into())
        })
    }

    /// Writes the run from dense memory of exactly its elements, with a function that writes bytes at a position of the blob;
    /// `rules` are as in [`In`](crate::In).
    ///
    /// # Errors
    /// `ECHAR` between text and numbers; `EINVAL` for memory of another size; the blob's.
    #[inline]
    pub fn write(
        &self,
        write_at: impl FnOnce(u64, &[u8]) -> Result<()>,
        kind: Kind,
        rules: ConversionRules,
        input: &[u8],
    ) -> Result<RangeCheck> {
        if kind == self.stored.kind && input.len() == self.len {
            // Most runs are one number.
            match input.len() {
                4 => return self.write_word::<4>(write_at, input),
                8 => return self.write_word::<8>(write_at, input),
                _ => {}
            }
            return self.with_room(|stored| {
                stored.copy_from_slice(input);
                swap_order(self.stored, stored);
                write_at(self.at, stored)?;
                Ok(RangeCheck::InRange)
            });
        }
        let conversion = Conversion::new(rules, Stored::native(kind), self.stored)?;
        check_dense(input.len(), kind, self.elements() as u64)?;
        self.with_room(|stored| {
            let in_range = conversion.run(input, stored);
            write_at(self.at, stored)?;
            Ok(in_range.into())
        })
    }

    #[inline]
    fn write_word<const N: usize>(
        &self,
        write_at: impl FnOnce(u64, &[u8]) -> Result<()>,
        input: &[u8],
    ) -> Result<RangeCheck> {
        let mut stored = [0; N];
        stored.copy_from_slice(input);
        swap_order(self.stored, &mut stored);
        write_at(self.at, &stored)?;
        Ok(RangeCheck::InRange)
    }

    /// Calls `work` with a buffer for the stored bytes. Small runs get a small one, since it is cleared each time.
    fn with_room<R>(&self, work: impl FnOnce(&mut [u8]) -> R) -> R {
        match self.len {
            ..=16 => work(&mut [0; 16][..self.len]),
            17..=256 => work(&mut [0; 256][..self.len]),
            _ => work(&mut [0; SHORT][..self.len]),
        }
    }
}
