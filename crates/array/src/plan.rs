//! From a selection to tiles.
//!
//! A tile is one window of the blob, read or written in one request, and one gapless piece of the dense elements. The
//! selected box is first brought to as few dimensions as possible; the innermost is then a run of bytes side by side.
//! From the inside out, dimensions join a window as long as the gaps between their rows cost less than requests of
//! their own would. The dimension at which a window would grow past the limit is cut into pieces; those outside are
//! walked through index by index.

use ferrocdf_bytes::Result;
use ferrocdf_store::Cost;
use smallvec::SmallVec;

use crate::array::too_large;
use crate::pool::{self, Workers};
use crate::{Selection, Stored};

/// The largest window in bytes, unless asked otherwise: it stays in the second-level cache until it is converted.
pub(crate) const WINDOW: u64 = 256 << 10;

/// Requests that cost less than this, in bytes, stay on the caller's thread.
pub(crate) const SHARED: u64 = 3 << 19;

/// What a thread does before another may take over, in bytes.
const BLOCK: u64 = 1 << 20;

/// One dimension of the box: how many rows, and the bytes from one to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dim {
    pub(crate) count: u64,
    pub(crate) step: u64,
}

/// The bytes from the first row of a box to the one with this number, where the last dimension is the fastest.
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
pub(crate) struct Plan {
    begin: u64,
    dims: SmallVec<[Dim; 6]>,
    size: u64,
    /// The dimension that is cut; those after it are whole in each tile.
    cut: usize,
    /// Indices of the cut dimension in one tile; the last one may have fewer.
    piece: u64,
    /// Tiles that the cut dimension makes.
    pieces: u64,
    /// Elements and bytes covered at one index of the cut dimension.
    row_elements: u64,
    row_span: u64,
    tiles: u64,
    /// Whether no two tiles' windows overlap.
    pub(crate) disjoint: bool,
    /// Bytes that are read in the time of one more request.
    gap: u64,
}

/// One request and the elements it serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// The byte position of the window, and its length.
    pub(crate) at: u64,
    pub(crate) span: usize,
    /// The first element in dense order, and how many.
    pub(crate) first: usize,
    pub(crate) elements: usize,
    /// How many indices of the cut dimension.
    rows: u64,
}

impl Plan {
    /// The plan for a checked, non-empty selection of an array of `shape` at `begin` with `steps`, with windows of at
    /// most `limit` bytes, for a source of this cost.
    pub(crate) fn new(
        shape: &[u64],
        stored: Stored,
        begin: u64,
        steps: &[u64],
        sel: &Selection,
        (limit, cost): (u64, &Cost),
    ) -> Result<Plan> {
        let size = stored.kind.size() as u64;
        let mut dims: SmallVec<[Dim; 6]> = SmallVec::new();
        let mut at = Some(begin);
        let mut reach = Some(size);
        for (dim, &step) in steps.iter().enumerate() {
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
        Ok(Plan::of(begin, dims, size, (limit, cost.gap)))
    }

    /// Chooses the tiles of a box whose innermost dimension is a run.
    fn of(begin: u64, dims: SmallVec<[Dim; 6]>, size: u64, (limit, gap): (u64, u64)) -> Plan {
        let mut cut = dims.len() - 1;
        let (mut row_span, mut row_elements) = (size, 1);
        let mut disjoint = true;
        let mut growing = true;
        let (mut span, mut elements) = (size, 1);
        for (at, dim) in dims.iter().enumerate().rev() {
            disjoint &= dim.count == 1 || dim.step >= span;
            let between = dim.step.saturating_sub(span);
            // Rows without gaps inside need no copying on their own; that is part of the price of a window.
            let copy = if elements * size == span { 3 * span } else { 0 };
            let joins = between == 0 || between + copy <= gap;
            growing = growing && (at + 1 == dims.len() || (joins && span.max(elements * size) <= limit));
            if growing {
                (cut, row_span, row_elements) = (at, span, elements);
            }
            span += (dim.count - 1) * dim.step;
            elements *= dim.count;
        }
        let Dim { count, step } = dims[cut];
        // A window holds more elements than fit side by side only if some coincide.
        let by_span = limit.saturating_sub(row_span).checked_div(step).map_or(count, |more| more + 1);
        let by_elements = (limit / (row_elements * size)).max(1);
        let piece = count.min(by_span).min(by_elements);
        let pieces = count.div_ceil(piece);
        let outer: u64 = dims[..cut].iter().map(|dim| dim.count).product();
        Plan {
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
            gap,
        }
    }

    /// The number of tiles.
    pub(crate) fn tiles(&self) -> u64 {
        self.tiles
    }

    /// The tile of this number; they follow each other without gaps in dense order.
    pub(crate) fn tile(&self, number: u64) -> Tile {
        let (outer, piece) = (number / self.pieces, number % self.pieces);
        let Dim { count, step } = self.dims[self.cut];
        let rows = self.piece.min(count - piece * self.piece);
        let at = self.begin + piece * self.piece * step + offset(&self.dims[..self.cut], outer);
        let first = (outer * count + piece * self.piece) * self.row_elements;
        Tile {
            at,
            span: (self.row_span + (rows - 1) * step) as usize,
            first: first as usize,
            elements: (rows * self.row_elements) as usize,
            rows,
        }
    }

    /// The most elements a tile has.
    pub(crate) fn largest(&self) -> usize {
        (self.piece * self.row_elements) as usize
    }

    /// The pool to share the tiles among, and how many tiles to do together; none if the caller's thread is as fast.
    pub(crate) fn shared(&self) -> Option<(Workers, u64)> {
        let price = self.row_span + (self.piece - 1) * self.dims[self.cut].step + self.gap;
        if self.tiles < 2 || self.tiles.saturating_mul(price) < SHARED {
            return None;
        }
        Some((pool::get()?, (BLOCK / price).max(1)))
    }

    /// Whether the windows of all tiles are single runs: their elements and nothing else, in order.
    pub(crate) fn is_dense(&self) -> bool {
        self.cut + 1 == self.dims.len()
    }

    /// The dimensions of a tile's window, the innermost a run.
    pub(crate) fn window(&self, tile: &Tile) -> SmallVec<[Dim; 6]> {
        let mut dims: SmallVec<[Dim; 6]> = SmallVec::from_slice(&self.dims[self.cut..]);
        dims[0].count = tile.rows;
        dims
    }

    /// Bytes of an element as stored.
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }
}
