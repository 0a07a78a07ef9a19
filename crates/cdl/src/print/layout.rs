//! Rows of a variable, and the blocks in which they are read.
//!
//! A row holds the values along the fastest dimension. The position in the line at the start of a row is known, so a
//! block of whole rows is formatted independently of the text before it. A row longer than one block is split into
//! parts, which are broken into lines after all text before them is written.

use super::escape::{self, NameEscapes};
use super::float::unsigned;
use super::line::Line;
use super::{Indices, PrintFailure, PrintOptions};

/// Shape of a variable and the text around its values.
pub(super) struct Layout<'a> {
    /// Dimension lengths, slowest first.
    pub(super) dims: Vec<u64>,
    /// True for each unlimited dimension; the records of all but the first one are put in braces.
    pub(super) braced: Vec<bool>,
    /// Name of the variable with escapes.
    pub(super) name: Vec<u8>,
    /// State of the line at the start of the first row.
    pub(super) first: Line,
    /// Options of the dump.
    pub(super) options: &'a PrintOptions,
}

/// Box of values: whole rows, or a part of one row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) start: Vec<u64>,
    pub(super) count: Vec<u64>,
    /// True if the block is a part of a row.
    pub(super) part: bool,
}

/// Blocks of a variable, in order.
pub(super) struct Blocks {
    dims: Vec<u64>,
    axis: usize,
    step: u64,
    steps: u64,
    part: bool,
}

impl Blocks {
    /// Splits a variable into blocks of about `target` values. No dimension may have length zero.
    pub(super) fn new(dims: &[u64], target: u64) -> Self {
        let (mut inner, mut axis) = (1u64, dims.len().saturating_sub(1));
        while axis > 0 && inner.saturating_mul(dims[axis]) <= target {
            inner *= dims[axis];
            axis -= 1;
        }
        let length = dims.get(axis).copied().unwrap_or(1);
        let step = (target / inner).clamp(1, length);
        let part = axis + 1 == dims.len() && step < length;
        Blocks { dims: dims.to_vec(), axis, step, steps: length.div_ceil(step), part }
    }

    /// Returns the number of blocks.
    pub(super) fn len(&self) -> u64 {
        self.dims.iter().take(self.axis).fold(self.steps, |product, &length| product.saturating_mul(length))
    }

    /// Returns the block at a position.
    pub(super) fn get(&self, position: u64) -> Block {
        let mut block = Block { start: vec![0; self.dims.len()], count: self.dims.clone(), part: self.part };
        if self.dims.is_empty() {
            return block;
        }
        let mut rest = position / self.steps;
        for axis in (0..self.axis).rev() {
            block.start[axis] = rest % self.dims[axis];
            block.count[axis] = 1;
            rest /= self.dims[axis];
        }
        let start = position % self.steps * self.step;
        block.start[self.axis] = start;
        block.count[self.axis] = self.step.min(self.dims[self.axis] - start);
        block
    }
}

impl Block {
    /// Returns the number of values in the block.
    pub(super) fn len(&self) -> usize {
        self.count.iter().product::<u64>() as usize
    }

    /// Returns the number of values of each row in the block.
    pub(super) fn columns(&self) -> usize {
        self.count.last().map_or(1, |&columns| columns as usize)
    }

    /// Moves to the next row of this block; `false` after the last.
    fn next_row(&self, at: &mut [u64]) -> bool {
        for axis in (0..at.len()).rev() {
            at[axis] += 1;
            if at[axis] < self.start[axis] + self.count[axis] {
                return true;
            }
            at[axis] = self.start[axis];
        }
        false
    }

    /// Calls `row` for each row with its number in the block and its indices, without the index of the fastest
    /// dimension.
    pub(super) fn each_row(&self, mut row: impl FnMut(usize, &[u64])) {
        let mut at = self.start[..self.start.len().saturating_sub(1)].to_vec();
        let mut number = 0;
        loop {
            row(number, &at);
            number += 1;
            if !self.next_row(&mut at) {
                return;
            }
        }
    }
}

impl Layout<'_> {
    /// Returns the length of a row.
    pub(super) fn columns(&self) -> u64 {
        self.dims.last().copied().unwrap_or(1)
    }

    /// Returns the state of the line at the start of this row.
    pub(super) fn line(&self, row: &[u64]) -> Line {
        let mut line = self.first;
        if row.iter().any(|&index| index > 0) {
            line.position = line.indent + 2;
        }
        line
    }

    /// Returns the number of braces that open before a row, or close after it; `edge` is true if the index of a
    /// dimension is the first, or the last, one.
    fn braces(&self, row: &[u64], edge: impl Fn(usize, u64) -> bool) -> usize {
        let mut count = 0;
        for axis in (1..self.dims.len()).rev() {
            if row.get(axis).is_some_and(|&index| !edge(axis, index)) {
                break;
            }
            count += usize::from(self.braced[axis]);
        }
        count
    }

    /// Appends the text before the values of a row.
    pub(super) fn row_start(&self, row: &[u64], line: &mut Line, out: &mut Vec<u8>) {
        for _ in 0..self.braces(row, |_, index| index == 0) {
            line.put(b"{", out);
        }
        if self.options.brief_comments && self.dims.len() > 1 {
            self.brief_comment(row, out);
            out.resize(out.len() + line.indent + 4, b' ');
            line.position = line.indent + 4;
        }
    }

    /// Appends the closing braces after the last value of a row.
    pub(super) fn close(&self, row: &[u64], out: &mut Vec<u8>) {
        let count = self.braces(row, |axis, index| index + 1 == self.dims[axis]);
        out.resize(out.len() + count, b'}');
    }

    /// Appends the text after the values of a row.
    pub(super) fn row_end(&self, row: &[u64], line: &mut Line, out: &mut Vec<u8>) {
        let last = row.iter().zip(&self.dims).all(|(index, length)| index + 1 == *length);
        if self.options.full_comments {
            out.push(if last { b';' } else { b',' });
            self.full_comment(row, self.columns() - 1, out);
        } else if last {
            line.put(b" ;", out);
            line.put(b"\n", out);
        } else {
            line.put(b",\n", out);
            line.put(b"  ", out);
        }
    }

    fn brief_comment(&self, row: &[u64], out: &mut Vec<u8>) {
        out.extend_from_slice(b"// ");
        out.extend_from_slice(&self.name);
        out.push(b'(');
        let columns = self.columns();
        match (self.options.indices, columns) {
            (Indices::C, _) => {
                for &index in row {
                    unsigned(index, out);
                    out.push(b',');
                }
                if columns == 1 {
                    out.push(b'0');
                } else {
                    out.extend_from_slice(b" 0-");
                    unsigned(columns - 1, out);
                }
            }
            (Indices::Fortran, _) => {
                out.push(b'1');
                if columns > 1 {
                    out.push(b'-');
                    unsigned(columns, out);
                    out.push(b' ');
                }
                for &index in row.iter().rev() {
                    out.push(b',');
                    unsigned(index + 1, out);
                }
            }
        }
        out.extend_from_slice(b")\n");
    }

    /// Appends the comment after one value.
    pub(super) fn full_comment(&self, row: &[u64], column: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"  // ");
        out.extend_from_slice(&self.name);
        out.push(b'(');
        match self.options.indices {
            Indices::C => {
                for &index in row {
                    unsigned(index, out);
                    out.push(b',');
                }
                unsigned(column, out);
            }
            Indices::Fortran => {
                unsigned(column + 1, out);
                for &index in row.iter().rev() {
                    out.push(b',');
                    unsigned(index + 1, out);
                }
            }
        }
        out.extend_from_slice(b")\n    ");
    }

    /// Returns the name with escapes.
    pub(super) fn printed_name(name: &[u8], names: NameEscapes) -> Result<Vec<u8>, PrintFailure> {
        let mut out = vec![];
        escape::name(name, names, &mut out)?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_a_variable_in_order() {
        for dims in [vec![], vec![1], vec![10], vec![7, 3], vec![3, 2, 5], vec![2, 3, 1, 4], vec![1, 1, 9]] {
            for target in [1, 2, 3, 4, 6, 10, 1000] {
                let blocks = Blocks::new(&dims, target);
                let mut seen = vec![];
                for at in 0..blocks.len() {
                    let block = blocks.get(at);
                    assert!(block.len() as u64 <= target.max(1));
                    let whole = block.columns() as u64 == dims.last().copied().unwrap_or(1);
                    assert_eq!(block.part, !whole, "{dims:?} {target}");
                    block.each_row(|_, row| {
                        for column in 0..block.columns() as u64 {
                            let mut index = row.to_vec();
                            if let Some(&first) = block.start.last() {
                                index.push(first + column);
                            }
                            seen.push(index);
                        }
                    });
                }
                let mut sorted = seen.clone();
                sorted.sort();
                sorted.dedup();
                assert_eq!(seen, sorted, "{dims:?} {target}");
                assert_eq!(seen.len() as u64, dims.iter().product::<u64>());
            }
        }
    }
}
