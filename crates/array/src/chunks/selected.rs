//! Splitting a selection of an array into its parts in chunks.

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use smallvec::SmallVec;

use super::decoded::Key;
use super::dim_chunks::{DimChunk, DimChunks};
use super::layout::Chunks;
use super::locate::Ranges;
use super::rows::{ChunkRows, push};
use crate::array::{dense_strides, too_large};
use crate::{Array, Selection};

/// The chunks that a selection meets: every combination of the chunks that it meets along each dimension.
pub(super) struct SelectedChunks<'a> {
    pub(super) chunks: &'a Chunks,
    /// For each dimension, the part of the selection in each chunk.
    pub(super) by_dim: Vec<DimChunks>,
    /// For each dimension, the bytes of a decoded chunk from one selected element to the next, and from one element to the
    /// next.
    pub(super) strides: Vec<(u64, u64)>,
    /// Bytes of a decoded chunk.
    pub(super) chunk_len: u64,
    /// Bytes of an element in a decoded chunk.
    pub(super) element: usize,
    /// The shape of the array.
    shape: &'a [u64],
    /// Dimensions from here on lie in one chunk each: a row of memory spans them all.
    pub(super) inner: usize,
}

impl<'a> SelectedChunks<'a> {
    /// Splits a checked selection that is not empty.
    ///
    /// # Errors
    /// `EINVAL` if the shape of the chunks does not go with that of the array; `EVARSIZE` for chunks larger than memory.
    pub(super) fn new(array: &'a Array, chunks: &'a Chunks, sel: &Selection) -> Result<Self> {
        let rank = array.shape.len();
        if chunks.shape.len() != rank || chunks.shape.contains(&0) {
            let what =
                format!("chunk shape {:?}: does not go with an array of {rank} dimensions", chunks.shape);
            return Err(Error::new(Code::EINVAL, what));
        }
        let dense = dense_strides(&chunks.shape, array.stored)?;
        let element = array.stored.kind.size();
        let chunk_len = match (dense.first(), chunks.shape.first()) {
            (Some(&step), Some(&len)) => step.checked_mul(len),
            _ => Some(element as u64),
        };
        let chunk_len =
            chunk_len.filter(|&len| usize::try_from(len).is_ok()).ok_or_else(|| too_large(&chunks.shape))?;
        let each =
            |dim: usize| DimChunks::new(sel.start[dim], sel.count[dim], sel.stride[dim], chunks.shape[dim]);
        let by_dim: Vec<DimChunks> = (0..rank).map(each).collect();
        let inner = by_dim.iter().rposition(|by_dim| by_dim.len() > 1).map_or(0, |last| last + 1);
        let strides = dense
            .iter()
            .zip(&sel.stride)
            .map(|(&step, &stride)| (step.saturating_mul(stride), step))
            .collect();
        Ok(SelectedChunks { chunks, by_dim, strides, chunk_len, element, shape: &array.shape, inner })
    }

    /// Returns the number of chunks.
    pub(super) fn len(&self) -> u64 {
        self.by_dim.iter().fold(1, |len, by_dim| len.saturating_mul(by_dim.len() as u64))
    }

    /// Returns the box of all chunks.
    pub(super) fn ranges(&self) -> Ranges {
        self.by_dim.iter().map(|by_dim| (0, by_dim.len())).collect()
    }

    /// Returns the number of elements that a range of chunks of one dimension selects.
    pub(super) fn count(&self, dim: usize, (from, to): (usize, usize)) -> usize {
        self.by_dim[dim].before(to) - self.by_dim[dim].before(from)
    }

    fn part_along(&self, (dim, &number): (usize, &usize)) -> DimChunk {
        self.by_dim[dim].at(number)
    }

    /// Returns the selected part of a chunk.
    pub(super) fn rows(&self, at: &[usize]) -> ChunkRows {
        let (mut outer, mut inner) = (SmallVec::new(), SmallVec::new());
        let mut base = 0;
        for (dim, &number) in at.iter().enumerate() {
            let part = self.by_dim[dim].at(number);
            let (step, unit) = self.strides[dim];
            base += part.offset * unit;
            let dims = if dim + 1 < self.inner { &mut outer } else { &mut inner };
            push(dims, part.count as u64, step);
        }
        ChunkRows::end_with_run(&mut inner, self.element);
        // Within a chunk, whose length fits in memory.
        ChunkRows { base: base.saturate(), outer, inner, size: self.element }
    }

    /// Returns the selection of a chunk, in coordinates within the chunk.
    pub(super) fn selection(&self, at: &[usize]) -> Selection {
        Selection {
            start: at.iter().enumerate().map(|at| self.part_along(at).offset).collect(),
            count: at.iter().enumerate().map(|at| self.part_along(at).count as u64).collect(),
            stride: self.strides.iter().map(|&(step, unit)| (step / unit).max(1)).collect(),
        }
    }

    /// Returns the number of selected elements of a chunk.
    pub(super) fn elements(&self, at: &[usize]) -> u64 {
        at.iter().enumerate().map(|at| self.part_along(at).count as u64).product()
    }

    /// True if the selection has all elements of a chunk that lie within the array.
    pub(super) fn takes_all(&self, at: &[usize]) -> bool {
        at.iter().enumerate().all(|(dim, &number)| {
            let (part, len) = (self.by_dim[dim].at(number), self.chunks.shape[dim]);
            let first = part.chunk * len;
            part.count as u64 == len.min(self.shape[dim] - first)
        })
    }

    /// Returns the coordinates of a chunk in the grid of its index.
    pub(super) fn key(&self, at: &[usize]) -> Key {
        self.chunks.key(at.iter().enumerate().map(|at| self.part_along(at).chunk))
    }
}
