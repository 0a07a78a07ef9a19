//! Locating the chunks that a selection meets: a whole box with one call of the index, unless the selection meets few chunks
//! of the box.

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use smallvec::SmallVec;

use super::dim_chunks::DimChunks;
use super::index::{ChunkIndex, ChunkLocation};
use super::layout::Chunks;

/// A box of the chunks that a selection meets: for each dimension, a range of their numbers.
pub(super) type Ranges = SmallVec<[(usize, usize); 4]>;

/// Returns the numbers of each chunk in a box, last dimension fastest.
pub(super) fn combinations(ranges: &Ranges) -> impl Iterator<Item = SmallVec<[usize; 4]>> {
    let mut next: Option<SmallVec<[usize; 4]>> = Some(ranges.iter().map(|range| range.0).collect());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let mut following = current.clone();
        for dim in (0..ranges.len()).rev() {
            following[dim] += 1;
            if following[dim] < ranges[dim].1 {
                next = Some(following);
                break;
            }
            following[dim] = ranges[dim].0;
        }
        Some(current)
    })
}

impl Chunks {
    /// Returns the locations of the chunks in a box of those that a selection meets, last dimension fastest.
    pub(super) fn locate_selected(
        &self,
        index: &dyn ChunkIndex,
        by_dim: &[DimChunks],
        ranges: &Ranges,
    ) -> Result<Vec<ChunkLocation>> {
        let mut first = SmallVec::<[u64; 4]>::new();
        let mut span = SmallVec::<[u64; 4]>::new();
        for (chunks, &(from, to)) in by_dim.iter().zip(ranges) {
            let chunk = chunks.at(from).chunk;
            first.push(chunk);
            span.push(chunks.at(to - 1).chunk - chunk + 1);
        }
        let spanned = span.iter().try_fold(1u64, |all, &len| all.checked_mul(len));
        let wanted = ranges.iter().fold(1u64, |all, &(from, to)| all.saturating_mul((to - from) as u64));
        if spanned.is_some_and(|spanned| spanned <= wanted.saturating_mul(4)) {
            let found = self.locate(index, &first, &span)?;
            if spanned == Some(wanted) {
                return Ok(found);
            }
            let location = |at: SmallVec<[usize; 4]>| {
                let in_box = at.iter().enumerate().fold(0, |index, (dim, &number)| {
                    index * span[dim] + (by_dim[dim].at(number).chunk - first[dim])
                });
                found[in_box.saturate()]
            };
            return Ok(combinations(ranges).map(location).collect());
        }
        // A wide stride over many chunks: each chunk is located on its own.
        let one: SmallVec<[u64; 4]> = SmallVec::from_elem(1, ranges.len());
        combinations(ranges)
            .map(|at| {
                let chunk: SmallVec<[u64; 4]> =
                    at.iter().enumerate().map(|(dim, &number)| by_dim[dim].at(number).chunk).collect();
                Ok(self.locate(index, &chunk, &one)?[0])
            })
            .collect()
    }

    /// Returns the locations of all chunks in a box of the grid, which may have the dimension of
    /// [`as_bytes`](Chunks::as_bytes).
    pub(crate) fn locate(
        &self,
        index: &dyn ChunkIndex,
        first: &[u64],
        count: &[u64],
    ) -> Result<Vec<ChunkLocation>> {
        let rank = first.len().saturating_sub(self.inner);
        let locations = index.locate(&first[..rank], &count[..rank])?;
        let wanted: u64 = count.iter().product();
        if locations.len() as u64 != wanted {
            let what = format!("the chunk index returned {} locations for {wanted} chunks", locations.len());
            return Err(Error::new(Code::EINTERNAL, what));
        }
        Ok(locations)
    }
}
