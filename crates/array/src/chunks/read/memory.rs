//! Splitting the memory that a read fills into the rows of chunks.

use smallvec::SmallVec;

use super::ChunkReader;
use crate::chunks::locate::Ranges;
use crate::chunks::selected::SelectedChunks;

/// The rows of one chunk, in their order.
pub(super) type Rows<'o> = SmallVec<[&'o mut [u8]; 1]>;

/// Numbers of lines and segments in the memory of a box of chunks. A line has one segment for each chunk along the last dimension
/// with several chunks; a segment is a row of its chunk.
pub(super) struct Lines {
    lines: usize,
    segments: usize,
}

impl Lines {
    pub(super) fn of(selected: &SelectedChunks<'_>, ranges: &Ranges) -> Lines {
        // Dimension `inner - 1` is cut into segments; the dimensions before it count lines.
        let outer = selected.inner.saturating_sub(1);
        let lines = (0..outer).map(|dim| selected.count(dim, ranges[dim])).fold(1, usize::saturating_mul);
        let segments = ranges.get(outer).map_or(1, |&(from, to)| to - from);
        Lines { lines, segments }
    }

    /// Returns the number of rows of all chunks together.
    pub(super) fn rows(&self) -> usize {
        self.lines.saturating_mul(self.segments)
    }
}

impl ChunkReader<'_> {
    /// Splits the memory of a box of chunks; returns the rows of each chunk, last dimension fastest.
    pub(super) fn split<'o>(
        &self,
        ranges: &Ranges,
        lines: &Lines,
        out: &'o mut [u8],
    ) -> SmallVec<[Rows<'o>; 1]> {
        let selected = &self.selected;
        let count: usize = ranges.iter().map(|&(from, to)| to - from).product();
        if count == 1 {
            return SmallVec::from_buf([Rows::from_buf([out])]);
        }
        let mut rows: SmallVec<[Rows<'o>; 1]> = SmallVec::with_capacity(count);
        rows.resize_with(count, Rows::new);
        let outer = selected.inner - 1;
        // For each dimension up to the one that is cut, the number of selected elements in each chunk.
        let counts = |dim: usize| -> Vec<usize> {
            (ranges[dim].0..ranges[dim].1).map(|chunk| selected.by_dim[dim].at(chunk).count).collect()
        };
        let counts: SmallVec<[Vec<usize>; 4]> = (0..=outer).map(counts).collect();
        let within: usize =
            (selected.inner..ranges.len()).map(|dim| selected.count(dim, ranges[dim])).product();
        // For each dimension that counts lines: the number of the chunk, and the index of the selected element in the chunk.
        let mut odometer: SmallVec<[(usize, usize); 4]> = SmallVec::from_elem((0, 0), outer);
        let mut rest = out;
        for _ in 0..lines.lines {
            let first = odometer
                .iter()
                .zip(ranges)
                .fold(0, |first, (&(chunk, _), &(from, to))| first * (to - from) + chunk);
            for (segment, count) in counts[outer].iter().enumerate() {
                let (row, more) = std::mem::take(&mut rest).split_at_mut(count * within * self.size);
                rest = more;
                rows[first * lines.segments + segment].push(row);
            }
            for dim in (0..outer).rev() {
                let (chunk, index) = &mut odometer[dim];
                *index += 1;
                if *index < counts[dim][*chunk] {
                    break;
                }
                (*chunk, *index) = (*chunk + 1, 0);
                if *chunk < ranges[dim].1 - ranges[dim].0 {
                    break;
                }
                *chunk = 0;
            }
        }
        rows
    }
}
