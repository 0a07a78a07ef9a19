//! The selected part of one chunk, as rows of memory: gathered from the bytes of the chunk, or scattered into them.

use std::ops::Range;

use ferrocdf_bytes::ToUsize;
use smallvec::SmallVec;

use super::decoded::ChunkView;
use crate::convert::Conversion;
use crate::scatter;
use crate::tiling::{Dim, offset};
use ferrocdf_store::Buffer;

/// The selected elements of one chunk. Each row of them is contiguous in memory.
pub(crate) struct ChunkRows {
    /// Byte offset in the chunk of the first selected element.
    pub(crate) base: usize,
    /// The dimensions that count rows, with strides in bytes of the chunk.
    pub(crate) outer: SmallVec<[Dim; 4]>,
    /// The dimensions of one row in the chunk; the innermost is a run of contiguous elements.
    pub(crate) inner: SmallVec<[Dim; 4]>,
    /// Size of an element in the chunk in bytes.
    pub(crate) size: usize,
}

/// Length of a run of contiguous elements from which on unshuffling runs is about as fast as unshuffling whole chunks.
const LONG: u64 = 64;

/// Adds a dimension inside the others, merged with the last one if both together have one stride.
pub(crate) fn push(dims: &mut SmallVec<[Dim; 4]>, count: u64, step: u64) {
    if count == 1 {
        return;
    }
    match dims.last_mut() {
        // The product is at most the number of elements in memory.
        Some(outer) if outer.step == step.wrapping_mul(count) => {
            *outer = Dim { count: outer.count * count, step }
        }
        _ => dims.push(Dim { count, step }),
    }
}

impl ChunkRows {
    /// Adds a run of single elements if the innermost dimension is not a run.
    pub(crate) fn end_with_run(inner: &mut SmallVec<[Dim; 4]>, size: usize) {
        let size = size as u64;
        if inner.last().is_none_or(|last| last.step != size) {
            inner.push(Dim { count: 1, step: size });
        }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.outer.iter().map(|dim| dim.count.saturate()).product()
    }

    /// Returns the number of elements of one row.
    pub(crate) fn row_elements(&self) -> usize {
        self.inner.iter().map(|dim| dim.count.saturate()).product()
    }

    /// Returns the byte offset in the chunk where a row begins.
    pub(crate) fn row_at(&self, number: usize) -> usize {
        self.base + offset(&self.outer, number as u64).saturate()
    }

    /// Returns the range of the chunk in bytes from the first selected element to the last.
    pub(crate) fn span(&self) -> Range<usize> {
        let last = self
            .outer
            .iter()
            .chain(&self.inner)
            .map(|dim| dim.count.saturating_sub(1).saturate() * dim.step.saturate());
        self.base..self.base + last.sum::<usize>() + self.size
    }

    /// True if the only row is the whole chunk of `len` bytes, in its order.
    pub(crate) fn is_whole(&self, len: u64) -> bool {
        self.outer.is_empty()
            && matches!(&self.inner[..], [run] if run.count.saturating_mul(self.size as u64) == len)
    }

    /// Gathers and converts one row of a chunk into memory. True if all numbers were in range.
    pub(crate) fn row(
        &self,
        chunk: ChunkView<'_>,
        number: usize,
        conversion: &Conversion,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        if chunk.planes {
            return self.shuffled_row(chunk.bytes, number, conversion, dense, out);
        }
        let from = &chunk.bytes[self.row_at(number)..];
        if let [run] = &self.inner[..] {
            return conversion.run(&from[..run.count.saturate() * self.size], out);
        }
        if conversion.is_copy() {
            scatter::gather(from, &self.inner, self.size, out);
            return true;
        }
        let dense = dense.get(self.row_elements() * self.size);
        scatter::gather(from, &self.inner, self.size, dense);
        conversion.run(dense, out)
    }

    /// Converts and scatters one row of memory into a chunk, whose bytes from the start of the row on are `to`. True if all
    /// numbers were in range.
    pub(super) fn put_row(
        &self,
        row: &[u8],
        conversion: &Conversion,
        dense: &mut Buffer,
        to: &mut [u8],
    ) -> bool {
        if let [run] = &self.inner[..] {
            return conversion.run(row, &mut to[..run.count.saturate() * self.size]);
        }
        if conversion.is_copy() {
            scatter::scatter(row, &self.inner, self.size, to);
            return true;
        }
        let dense = dense.get(self.row_elements() * self.size);
        let in_range = conversion.run(row, dense);
        scatter::scatter(dense, &self.inner, self.size, to);
        in_range
    }

    /// Unshuffles and converts one row of a shuffled chunk into memory.
    fn shuffled_row(
        &self,
        planes: &[u8],
        number: usize,
        conversion: &Conversion,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        let first = self.row_at(number) / self.size;
        if conversion.is_in_place() {
            scatter::gather_planes(planes, first, &self.inner, self.size, out);
            conversion.run_in_place(out);
            return true;
        }
        let dense = dense.get(self.row_elements() * self.size);
        scatter::gather_planes(planes, first, &self.inner, self.size, dense);
        conversion.run(dense, out)
    }

    /// True if unshuffling the rows alone costs less than unshuffling the whole chunk of `len` bytes.
    pub(crate) fn unshuffles_rows(&self, len: usize) -> bool {
        let run = self.inner.last().map_or(1, |run| run.count);
        run >= LONG || self.rows() * self.row_elements() * self.size < len / 8
    }

    /// Converts one row of a missing chunk, whose elements are `fill`, repeated.
    pub(crate) fn fill_row(
        &self,
        fill: &[u8],
        number: usize,
        conversion: &Conversion,
        out: &mut [u8],
    ) -> bool {
        let elements = self.row_elements();
        if elements == 0 {
            return true;
        }
        let made = out.len() / elements;
        let zeros = [0; 16];
        let fill = if fill.is_empty() { &zeros[..self.size] } else { fill };
        let start = self.row_at(number);
        if fill.len() == self.size {
            let (first, rest) = out.split_at_mut(made);
            let mut in_range = conversion.run(fill, first);
            if conversion.keeps {
                rest.chunks_exact_mut(made).for_each(|to| in_range &= conversion.run(fill, to));
            } else {
                repeat(first, rest);
            }
            return in_range;
        }
        let mut in_range = true;
        for (index, to) in out.chunks_exact_mut(made).enumerate() {
            let from = (start + offset(&self.inner, index as u64).saturate()) % fill.len();
            in_range &= conversion.run(&fill[from..from + self.size], to);
        }
        in_range
    }
}

/// Fills `rest` with copies of `first`; each copy is as long as all before it.
fn repeat(first: &[u8], rest: &mut [u8]) {
    let unit = first.len();
    if rest.is_empty() {
        return;
    }
    rest[..unit].copy_from_slice(first);
    let mut done = unit;
    while done < rest.len() {
        let more = done.min(rest.len() - done).min(64 << 10);
        let more = more / unit * unit;
        rest.copy_within(..more, done);
        done += more;
    }
}
