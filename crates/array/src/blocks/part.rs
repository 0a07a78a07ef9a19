//! The part of one block that a request takes: from the bytes of a block to rows of memory.

use smallvec::SmallVec;

use super::decoded::Block;
use crate::convert::Conversion;
use crate::pick;
use crate::plan::{Dim, offset};
use ferrocdf_store::Buffer;

/// The selected elements of one block, as rows that lie side by side in memory each.
pub(crate) struct Part {
    /// The byte in the block of the first selected element.
    pub(crate) base: usize,
    /// The outer dimensions, which count rows: how many, and the bytes of the block from one to the next.
    pub(crate) outer: SmallVec<[Dim; 4]>,
    /// The dimensions of one row in the block, the innermost a run of elements side by side.
    pub(crate) inner: SmallVec<[Dim; 4]>,
    /// Bytes of an element in the block.
    pub(crate) size: usize,
}

/// Elements side by side that are put together about as fast as those of whole blocks.
const LONG: u64 = 64;

/// Adds a dimension inside the others, joined with the last one where they step alike.
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

impl Part {
    /// Makes the innermost dimension of the rows a run of single elements where it is none.
    pub(crate) fn end_in_a_run(inner: &mut SmallVec<[Dim; 4]>, size: usize) {
        let size = size as u64;
        if inner.last().is_none_or(|last| last.step != size) {
            inner.push(Dim { count: 1, step: size });
        }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.outer.iter().map(|dim| dim.count as usize).product()
    }

    /// The elements of one row.
    pub(crate) fn row_elements(&self) -> usize {
        self.inner.iter().map(|dim| dim.count as usize).product()
    }

    /// The byte in the block where a row begins.
    pub(crate) fn row_at(&self, number: usize) -> usize {
        self.base + offset(&self.outer, number as u64) as usize
    }

    /// Converts one row of a block into memory.
    pub(crate) fn row(
        &self,
        block: Block<'_>,
        number: usize,
        conversion: &Conversion,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        if block.planes {
            return self.row_of_planes(block.bytes, number, conversion, dense, out);
        }
        let from = &block.bytes[self.row_at(number)..];
        if let [run] = &self.inner[..] {
            return conversion.run(&from[..run.count as usize * self.size], out);
        }
        if conversion.is_copy() {
            pick::gather(from, &self.inner, self.size, out);
            return true;
        }
        let dense = dense.get(self.row_elements() * self.size);
        pick::gather(from, &self.inner, self.size, dense);
        conversion.run(dense, out)
    }

    /// Converts one row of memory into a block, whose bytes from where the row begins are `to`.
    pub(super) fn put_row(
        &self,
        row: &[u8],
        conversion: &Conversion,
        dense: &mut Buffer,
        to: &mut [u8],
    ) -> bool {
        if let [run] = &self.inner[..] {
            return conversion.run(row, &mut to[..run.count as usize * self.size]);
        }
        if conversion.is_copy() {
            pick::scatter(row, &self.inner, self.size, to);
            return true;
        }
        let dense = dense.get(self.row_elements() * self.size);
        let fits = conversion.run(row, dense);
        pick::scatter(dense, &self.inner, self.size, to);
        fits
    }

    /// Puts one row of a block together that is still taken apart, and converts it into memory.
    fn row_of_planes(
        &self,
        planes: &[u8],
        number: usize,
        conversion: &Conversion,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        let first = self.row_at(number) / self.size;
        if conversion.is_in_place() {
            pick::gather_planes(planes, first, &self.inner, self.size, out);
            conversion.run_in_place(out);
            return true;
        }
        let dense = dense.get(self.row_elements() * self.size);
        pick::gather_planes(planes, first, &self.inner, self.size, dense);
        conversion.run(dense, out)
    }

    /// Whether putting single rows together costs less than doing so with a whole block of `len` bytes.
    pub(crate) fn pays_apart(&self, len: usize) -> bool {
        let run = self.inner.last().map_or(1, |run| run.count);
        run >= LONG || self.rows() * self.row_elements() * self.size < len / 8
    }

    /// Converts one row of a block that is made of `fill`, repeated.
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
            let mut fits = conversion.run(fill, first);
            if conversion.keeps {
                rest.chunks_exact_mut(made).for_each(|to| fits &= conversion.run(fill, to));
            } else {
                repeat(first, rest);
            }
            return fits;
        }
        let mut fits = true;
        for (index, to) in out.chunks_exact_mut(made).enumerate() {
            let from = (start + offset(&self.inner, index as u64) as usize) % fill.len();
            fits &= conversion.run(&fill[from..from + self.size], to);
        }
        fits
    }
}

/// Fills `rest` with copies of `first`, doubling what is copied.
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
