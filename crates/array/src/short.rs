//! The short way: a few elements side by side, moved on the caller's thread through memory on its stack.
//!
//! Programs that read or write a value or a short row at a time call often; for them planning would cost more than the
//! data, and so would looking at the selection twice.

use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, BlobMut};

use crate::convert::Conversion;
use crate::{Array, Kind, Layout, PastEnd, Selection};

/// The most bytes, as stored, that go the short way.
const SHORT: usize = 1 << 10;

/// Where a short run lies.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// The position of its first byte.
    at: u64,
    /// Bytes as stored.
    len: usize,
}

impl Run {
    /// The run of the selected elements, if the selection is right and memory of `bytes` bytes holds just them. What is
    /// wrong or long or scattered is for the long way, which also has the errors.
    pub(crate) fn find(array: &Array, sel: &Selection, memory: Kind, bytes: usize) -> Option<Run> {
        let Layout::Strided { begin, steps } = &array.layout else { return None };
        let (size, rank) = (array.stored.kind.size(), array.shape.len());
        let (starts, counts, strides) = (&sel.start[..], &sel.count[..], &sel.stride[..]);
        let ranks = [steps.len(), starts.len(), counts.len(), strides.len()];
        if bytes == 0 || bytes > SHORT * 8 || ranks != [rank; 4] {
            return None;
        }
        let (mut at, mut run) = (*begin, size as u64);
        for dim in (0..rank).rev() {
            let (start, count, stride) = (starts[dim], counts[dim], strides[dim]);
            let reach = count.checked_sub(1)?.checked_mul(stride)?;
            if stride == 0 || start.checked_add(reach)? >= array.shape[dim] {
                return None;
            }
            if count != 1 {
                if steps[dim].checked_mul(stride) != Some(run) {
                    return None;
                }
                run = run.checked_mul(count)?;
            }
            at = at.checked_add(start.checked_mul(steps[dim])?)?;
        }
        at.checked_add(run)?;
        let fits = run <= SHORT as u64 && run as usize / size * memory.size() == bytes;
        fits.then_some(Run { at, len: run as usize })
    }

    /// Reads it; says whether all numbers were in range.
    pub(crate) fn read(
        self,
        blob: &dyn Blob,
        past_end: PastEnd,
        conversion: Conversion,
        out: &mut [u8],
    ) -> Result<bool> {
        if conversion.is_in_place() {
            past_end.fetch(blob, self.at, out)?;
            conversion.run_in_place(out);
            return Ok(true);
        }
        self.with_room(|stored| {
            past_end.fetch(blob, self.at, stored)?;
            Ok(conversion.run(stored, out))
        })
    }

    /// Writes it; says whether all numbers were in range.
    pub(crate) fn write(self, blob: &dyn BlobMut, conversion: Conversion, input: &[u8]) -> Result<bool> {
        self.with_room(|stored| {
            let fits = conversion.run(input, stored);
            blob.write_at(self.at, stored)?;
            Ok(fits)
        })
    }

    /// Gives memory for the stored bytes; little of it where little is needed, since it is cleared each time.
    fn with_room<R>(self, work: impl FnOnce(&mut [u8]) -> R) -> R {
        match self.len {
            ..=16 => work(&mut [0; 16][..self.len]),
            17..=256 => work(&mut [0; 256][..self.len]),
            _ => work(&mut [0; SHORT][..self.len]),
        }
    }
}
