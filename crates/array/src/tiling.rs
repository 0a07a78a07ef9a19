//! Cutting a selection of a strided array into tiles.
//!
//! A tile is one range of the blob, read or written with one request, and one contiguous part of the dense elements. The
//! selected box is first reduced to as few dimensions as possible; the innermost is then a run of contiguous bytes. From the
//! inside out, a dimension becomes part of a tile as long as reading the gaps between its rows costs less than requests
//! of their own. The dimension at which a tile would grow past the limit is cut; the dimensions outside it are iterated
//! index by index.

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::Cost;
use smallvec::SmallVec;

use crate::array::too_large;
use crate::pool::{self, Workers};
use crate::requests::largest;
use crate::{Selection, Stored};

/// Default of the maximum bytes of a tile, which stays in the second-level cache until its elements are converted.
pub(crate) const TILE: u64 = 256 << 10;

/// Work in bytes below which the thread of the caller does everything: waking other threads would cost more.
pub(crate) const PARALLEL_BYTES: u64 = 3 << 19;

/// Work in bytes that a thread takes at a time.
const TASK: u64 = 1 << 20;

/// Returns the maximum bytes of a tile that is read: [`TILE`], or for a slow source the largest request.
pub(crate) fn read_limit(cost: &Cost) -> u64 {
    if cost.is_near() { TILE } else { largest(cost) }
}

/// One dimension of a box: number of rows, and their stride in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) count: u64,
    pub(crate) step: u64,
}

/// Returns the byte offset of the row with this number in a box, last dimension fastest.
pub(crate) fn offset(dims: &[Dim], number: u64) -> u64 {
    let (mut rest, mut at) = (number, 0);
    for dim in dims.iter().rev() {
        at += rest % dim.count * dim.step;
        rest /= dim.count;
    }
    at
}

/// A selection of a strided array, cut into tiles.
#[derive(Debug)]
pub(crate) struct TilePlan {
    begin: u64,
    dims: SmallVec<[Dim; 6]>,
    size: u64,
    /// The dimension that is cut; dimensions after it are complete in each tile.
    cut: usize,
    /// Number of indices of the cut dimension in one tile; the last tile may have fewer.
    piece: u64,
    /// Number of tiles along the cut dimension.
    pieces: u64,
    /// Elements, and bytes spanned, at one index of the cut dimension.
    row_elements: u64,
    row_span: u64,
    tiles: u64,
    /// True if no two tiles overlap in the blob.
    pub(crate) disjoint: bool,
    /// The cost of requests to the source.
    pub(crate) cost: Cost,
}

/// One request and the elements it serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// Position and length of its range of the blob, in bytes.
    pub(crate) at: u64,
    pub(crate) span: usize,
    /// Its first element in dense order, and the number of its elements.
    pub(crate) first: usize,
    pub(crate) elements: usize,
    /// Number of indices of the cut dimension.
    rows: u64,
}

impl TilePlan {
    /// Plans the tiles of a checked, non-empty selection of an array of `shape` at position `begin` with `strides`. Tiles have at
    /// most `limit` bytes; `cost` is that of requests to the source.
    pub(crate) fn new(
        shape: &[u64],
        stored: Stored,
        begin: u64,
        strides: &[u64],
        sel: &Selection,
        (limit, cost): (u64, &Cost),
    ) -> Result<TilePlan> {
        let size = stored.kind.size() as u64;
        let mut dims: SmallVec<[Dim; 6]> = SmallVec::new();
        let mut at = Some(begin);
        let mut reach = Some(size);
        for (dim, &step) in strides.iter().enumerate() {
            at = at.and_then(|at| sel.start[dim].checked_mul(step)?.checked_add(at));
            let count = sel.count[dim];
            if count == 1 {
                continue;
            }
            let step = sel.stride[dim].checked_mul(step).ok_or_else(|| too_large(shape))?;
            reach = reach.and_then(|reach| (count - 1).checked_mul(step)?.checked_add(reach));
            match dims.last_mut() {
                Some(outer) if step.checked_mul(count) == Some(outer.step) => {
                    // The product is at most the number of elements, which is checked below.
                    outer.count = outer.count.saturating_mul(count);
                    outer.step = step;
                }
                _ => dims.push(Dim { count, step }),
            }
        }
        let begin = at.ok_or_else(|| too_large(shape))?;
        reach.and_then(|reach| reach.checked_add(begin)).ok_or_else(|| too_large(shape))?;
        sel.elements().and_then(|n| n.checked_mul(8)).ok_or_else(|| too_large(shape))?;
        if dims.last().is_none_or(|last| last.step != size) {
            dims.push(Dim { count: 1, step: size });
        }
        Ok(TilePlan::of(begin, dims, size, (limit, cost)))
    }

    /// Chooses the tiles of a box whose innermost dimension is a run of contiguous elements.
    fn of(begin: u64, dims: SmallVec<[Dim; 6]>, size: u64, (limit, cost): (u64, &Cost)) -> TilePlan {
        let mut cut = dims.len() - 1;
        let (mut row_span, mut row_elements) = (size, 1);
        let mut disjoint = true;
        let mut growing = true;
        let (mut span, mut elements) = (size, 1);
        for (at, dim) in dims.iter().enumerate().rev() {
            disjoint &= dim.count == 1 || dim.step >= span;
            let between = dim.step.saturating_sub(span);
            // Contiguous rows need no gathering if they are read alone; in a larger tile they do.
            let copy = if elements * size == span { 3 * span } else { 0 };
            let joins = between == 0 || between + copy <= cost.gap;
            growing = growing && (at + 1 == dims.len() || (joins && span.max(elements * size) <= limit));
            if growing {
                (cut, row_span, row_elements) = (at, span, elements);
            }
            span += (dim.count - 1) * dim.step;
            elements *= dim.count;
        }
        let Dim { count, step } = dims[cut];
        // Elements may coincide, so the bytes of the elements are bounded too.
        let by_span = limit.saturating_sub(row_span).checked_div(step).map_or(count, |more| more + 1);
        let by_elements = (limit / (row_elements * size)).max(1);
        let piece = count.min(by_span).min(by_elements);
        let pieces = count.div_ceil(piece);
        let outer: u64 = dims[..cut].iter().map(|dim| dim.count).product();
        TilePlan {
            begin,
            dims,
            size,
            cut,
            piece,
            pieces,
            row_elements,
            row_span,
            tiles: outer * pieces,
            disjoint,
            cost: *cost,
        }
    }

    /// Returns the number of tiles.
    pub(crate) fn tiles(&self) -> u64 {
        self.tiles
    }

    /// Returns the tile of this number; tiles are contiguous in dense order.
    pub(crate) fn tile(&self, number: u64) -> Tile {
        let (outer, piece) = (number / self.pieces, number % self.pieces);
        let Dim { count, step } = self.dims[self.cut];
        let rows = self.piece.min(count - piece * self.piece);
        let at = self.begin + piece * self.piece * step + offset(&self.dims[..self.cut], outer);
        let first = (outer * count + piece * self.piece) * self.row_elements;
        Tile {
            at,
            span: (self.row_span + (rows - 1) * step).saturate(),
            first: first.saturate(),
            elements: (rows * self.row_elements).saturate(),
            rows,
        }
    }

    /// Returns the largest number of elements of a tile.
    pub(crate) fn largest(&self) -> usize {
        (self.piece * self.row_elements).saturate()
    }

    /// Returns the pool, and the number of tiles that a thread takes at a time; `None` if the thread of the caller alone is as
    /// fast.
    pub(crate) fn shared(&self) -> Option<(Workers, u64)> {
        let price = self.row_span + (self.piece - 1) * self.dims[self.cut].step + self.cost.gap;
        if self.tiles < 2 || self.tiles.saturating_mul(price) < PARALLEL_BYTES {
            return None;
        }
        Some((pool::get()?, (TASK / price).max(1)))
    }

    /// True if the elements of each tile are contiguous in the blob.
    pub(crate) fn is_dense(&self) -> bool {
        self.cut + 1 == self.dims.len()
    }

    /// Returns the dimensions of a tile, the innermost a run of contiguous elements.
    pub(crate) fn window(&self, tile: &Tile) -> SmallVec<[Dim; 6]> {
        let mut dims: SmallVec<[Dim; 6]> = SmallVec::from_slice(&self.dims[self.cut..]);
        dims[0].count = tile.rows;
        dims
    }

    /// Returns the size of a stored element in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size.saturate()
    }
}
