//! Selections: hyperslabs with strides.

use std::fmt;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use smallvec::SmallVec;

/// One number for each dimension; short lists need no allocation.
pub type Index = SmallVec<[u64; 4]>;

/// A hyperslab: for each dimension, `count` indices from `start` on, `stride` apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The first index.
    pub start: Index,
    /// The number of indices; 0 selects nothing.
    pub count: Index,
    /// The distance from one index to the next, at least 1.
    pub stride: Index,
}

impl Selection {
    /// Selects all elements of an array of this shape.
    pub fn all(shape: &[u64]) -> Self {
        Selection {
            start: SmallVec::from_elem(0, shape.len()),
            count: Index::from_slice(shape),
            stride: ones(shape),
        }
    }

    /// Selects `count` indices from `start` on, in each dimension.
    pub fn slab(start: &[u64], count: &[u64]) -> Self {
        Selection { start: Index::from_slice(start), count: Index::from_slice(count), stride: ones(start) }
    }

    /// Selects `count` indices from `start` on, `stride` apart, in each dimension.
    pub fn strided(start: &[u64], count: &[u64], stride: &[u64]) -> Self {
        Selection {
            start: Index::from_slice(start),
            count: Index::from_slice(count),
            stride: Index::from_slice(stride),
        }
    }

    /// Returns the number of selected elements; `None` if it is 2^64 or more.
    pub fn elements(&self) -> Option<u64> {
        if self.count.contains(&0) {
            return Some(0);
        }
        self.count.iter().try_fold(1u64, |product, &count| product.checked_mul(count))
    }

    /// Checks the selection against the shape of an array, in the order of netCDF-C: starts past the end of a dimension, then
    /// strides, then the rest from the first dimension to the last.
    ///
    /// # Errors
    /// `EINVAL` for another number of dimensions, `ESTRIDE` for a stride of 0, `EINVALCOORDS` for a start outside the
    /// dimension (its length is a valid start if the count is 0), `EEDGE` for a last index outside.
    pub fn check(&self, shape: &[u64]) -> Result<()> {
        self.check_named(shape, |dim| dim)
    }

    /// Checks the selection as [`Selection::check`] does; errors call each dimension by its name.
    ///
    /// # Errors
    /// Those of [`Selection::check`].
    pub fn check_named<N: fmt::Display>(&self, shape: &[u64], name: impl Fn(usize) -> N) -> Result<()> {
        let rank = shape.len();
        if self.start.len() != rank || self.count.len() != rank || self.stride.len() != rank {
            let what = format!(
                "selection: {} starts, {} counts and {} strides for {rank} dimensions",
                self.start.len(),
                self.count.len(),
                self.stride.len()
            );
            return Err(Error::new(Code::EINVAL, what));
        }
        for (dim, &len) in shape.iter().enumerate() {
            if self.start[dim] > len {
                return Err(self.outside(dim, name(dim), len));
            }
        }
        if let Some(dim) = self.stride.iter().position(|&stride| stride == 0) {
            return Err(Error::new(Code::ESTRIDE, format!("dimension {}: the stride is 0", name(dim))));
        }
        for (dim, &len) in shape.iter().enumerate() {
            let (start, count, stride) = (self.start[dim], self.count[dim], self.stride[dim]);
            if count == 0 {
                continue;
            }
            if start == len {
                return Err(self.outside(dim, name(dim), len));
            }
            let last = (count - 1).checked_mul(stride).and_then(|reach| reach.checked_add(start));
            if last.is_none_or(|last| last >= len) {
                let what = format!(
                    "dimension {}: start {start}, count {count} and stride {stride} reach beyond its length {len}",
                    name(dim)
                );
                return Err(Error::new(Code::EEDGE, what));
            }
        }
        Ok(())
    }

    /// Cuts a checked, non-empty selection into pieces of at most `limit` elements, each contiguous in dense order. Returns
    /// the first element of each piece in that order, the number of its elements, and its selection.
    pub fn pieces(&self, limit: u64) -> impl Iterator<Item = (usize, usize, Selection)> + use<'_> {
        // Dimensions from `cut + 1` on are whole in each piece; of `cut` itself, `rows` indices are.
        let (mut cut, mut within) = (self.count.len(), 1u64);
        while cut > 0 && within.saturating_mul(self.count[cut - 1]) <= limit {
            cut -= 1;
            within = within.saturating_mul(self.count[cut]);
        }
        let whole = cut == 0;
        let cut = cut.saturating_sub(1);
        let along = self.count.get(cut).copied().unwrap_or(1);
        let rows = if whole { along } else { (limit / within).clamp(1, along) };
        let (per_row, outer) = if whole {
            (within / along, 1)
        } else {
            (within, self.count[..cut].iter().fold(1u64, |all, &count| all.saturating_mul(count)))
        };
        let pieces = along.div_ceil(rows);
        (0..outer.saturating_mul(pieces)).map(move |number| {
            let (mut rest, row) = (number / pieces, number % pieces * rows);
            let count = rows.min(along - row);
            let first = (rest * along + row) * per_row;
            let mut piece = self.clone();
            if let Some(start) = piece.start.get_mut(cut) {
                *start += row * self.stride[cut];
                piece.count[cut] = count;
            }
            for dim in (0..cut).rev() {
                piece.start[dim] += rest % self.count[dim] * self.stride[dim];
                piece.count[dim] = 1;
                rest /= self.count[dim];
            }
            (first.saturate(), (count * per_row).saturate(), piece)
        })
    }

    /// Returns the index of the element with this number in dense order, which is less than [`elements`](Selection::elements).
    pub fn nth(&self, number: u64) -> Index {
        let (mut rest, mut index) = (number, self.start.clone());
        for dim in (0..index.len()).rev() {
            index[dim] += rest % self.count[dim] * self.stride[dim];
            rest /= self.count[dim];
        }
        index
    }

    fn outside(&self, dim: usize, name: impl fmt::Display, len: u64) -> Error {
        let what = format!("dimension {name}: start {} is outside its length {len}", self.start[dim]);
        Error::new(Code::EINVALCOORDS, what)
    }
}

fn ones(like: &[u64]) -> Index {
    SmallVec::from_elem(1, like.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_selection_without_gaps() {
        let sel = Selection::strided(&[1, 0, 2], &[3, 4, 5], &[2, 1, 3]);
        assert_eq!(sel.nth(38)[..], [1 + 2, 3, 2 + 3 * 3]);
        for limit in [1, 2, 5, 7, 19, 20, 21, 40, 59, 60, 100] {
            let mut next = 0;
            for (first, elements, piece) in sel.pieces(limit) {
                assert_eq!(first, next, "{limit}");
                assert_eq!(piece.elements(), Some(elements as u64));
                assert!(elements as u64 <= limit);
                let (x, y, z) = (first / 20, first / 5 % 4, first % 5);
                assert_eq!(piece.start[..], [1 + 2 * x as u64, y as u64, 2 + 3 * z as u64], "{limit}");
                next += elements;
            }
            assert_eq!(next, 60, "{limit}");
        }
        assert_eq!(Selection::all(&[]).pieces(9).count(), 1);
    }
}
