//! How a selection of an array falls into chunks.

use ferrocdf_bytes::{Code, Error, Result};
use smallvec::SmallVec;

use super::decoded::Key;
use super::hits::{Hit, Hits};
use super::layout::Blocks;
use super::part::{Part, push};
use super::places::Ranges;
use crate::array::{dense_steps, too_large};
use crate::{Array, Selection};

/// The chunks that a selection meets: in each dimension some of them, in all every combination.
pub(super) struct SelectedChunks<'a> {
    pub(super) blocks: &'a Blocks,
    /// For each dimension, the part of the selection in each chunk.
    pub(super) hits: Vec<Hits>,
    /// For each dimension, the bytes of a decoded chunk from one selected element to the next, and from one element to the
    /// next.
    pub(super) steps: Vec<(u64, u64)>,
    /// Bytes of a decoded chunk.
    pub(super) block_len: u64,
    /// Bytes of an element in a decoded chunk.
    pub(super) element: usize,
    /// The shape of the array.
    shape: &'a [u64],
    /// Dimensions from here on lie in one chunk each: a row of memory spans them all.
    pub(super) inner: usize,
}

impl<'a> SelectedChunks<'a> {
    /// The chunks of a checked selection that is not empty.
    ///
    /// # Errors
    /// `EINVAL` if the shape of the chunks does not go with that of the array; `EVARSIZE` for chunks larger than memory.
    pub(super) fn new(array: &'a Array, blocks: &'a Blocks, sel: &Selection) -> Result<Self> {
        let rank = array.shape.len();
        if blocks.shape.len() != rank || blocks.shape.contains(&0) {
            let what = format!("blocks of shape {:?} of an array of {rank} dimensions", blocks.shape);
            return Err(Error::new(Code::EINVAL, what));
        }
        let dense = dense_steps(&blocks.shape, array.stored)?;
        let element = array.stored.kind.size();
        let block_len = match (dense.first(), blocks.shape.first()) {
            (Some(&step), Some(&len)) => step.checked_mul(len),
            _ => Some(element as u64),
        };
        let block_len =
            block_len.filter(|&len| usize::try_from(len).is_ok()).ok_or_else(|| too_large(&blocks.shape))?;
        let each = |dim: usize| Hits::new(sel.start[dim], sel.count[dim], sel.stride[dim], blocks.shape[dim]);
        let hits: Vec<Hits> = (0..rank).map(each).collect();
        let inner = hits.iter().rposition(|hits| hits.len() > 1).map_or(0, |last| last + 1);
        let steps = dense
            .iter()
            .zip(&sel.stride)
            .map(|(&step, &stride)| (step.saturating_mul(stride), step))
            .collect();
        Ok(SelectedChunks { blocks, hits, steps, block_len, element, shape: &array.shape, inner })
    }

    /// Returns the number of chunks.
    pub(super) fn len(&self) -> u64 {
        self.hits.iter().fold(1, |len, hits| len.saturating_mul(hits.len() as u64))
    }

    /// Returns the box of all chunks.
    pub(super) fn ranges(&self) -> Ranges {
        self.hits.iter().map(|hits| (0, hits.len())).collect()
    }

    /// Returns the number of elements that a range of chunks of one dimension selects.
    pub(super) fn count(&self, dim: usize, (from, to): (usize, usize)) -> usize {
        self.hits[dim].before(to) - self.hits[dim].before(from)
    }

    fn hit(&self, (dim, &number): (usize, &usize)) -> Hit {
        self.hits[dim].at(number)
    }

    /// Returns the selected part of a chunk.
    pub(super) fn part(&self, at: &[usize]) -> Part {
        let (mut outer, mut inner) = (SmallVec::new(), SmallVec::new());
        let mut base = 0;
        for (dim, &hit) in at.iter().enumerate() {
            let hit = self.hits[dim].at(hit);
            let (step, unit) = self.steps[dim];
            base += hit.offset * unit;
            let dims = if dim + 1 < self.inner { &mut outer } else { &mut inner };
            push(dims, hit.count as u64, step);
        }
        Part::end_in_a_run(&mut inner, self.element);
        // Within a chunk, whose length fits in memory.
        Part { base: base as usize, outer, inner, size: self.element }
    }

    /// Returns the selection of a chunk, in coordinates within the chunk.
    pub(super) fn selection(&self, at: &[usize]) -> Selection {
        Selection {
            start: at.iter().enumerate().map(|at| self.hit(at).offset).collect(),
            count: at.iter().enumerate().map(|at| self.hit(at).count as u64).collect(),
            stride: self.steps.iter().map(|&(step, unit)| (step / unit).max(1)).collect(),
        }
    }

    /// Returns the number of selected elements of a chunk.
    pub(super) fn elements(&self, at: &[usize]) -> u64 {
        at.iter().enumerate().map(|at| self.hit(at).count as u64).product()
    }

    /// True if the selection has all elements of a chunk that lie within the array.
    pub(super) fn takes_all(&self, at: &[usize]) -> bool {
        at.iter().enumerate().all(|(dim, &hit)| {
            let (hit, len) = (self.hits[dim].at(hit), self.blocks.shape[dim]);
            let first = hit.block * len;
            hit.count as u64 == len.min(self.shape[dim] - first)
        })
    }

    /// Returns the coordinates of a chunk in the grid of its index.
    pub(super) fn key(&self, at: &[usize]) -> Key {
        self.blocks.key(at.iter().enumerate().map(|at| self.hit(at).block))
    }
}
