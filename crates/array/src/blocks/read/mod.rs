//! Reading chunks: plan, fetch, fill.
//!
//! - [`plan`] locates the chunks that a selection meets and says which bytes of the blob are fetched together: a value, made
//!   before anything is fetched.
//! - The memory to fill is split at the borders of chunks into rows, and each chunk gets its rows ([`memory`]): chunks are
//!   then done in any order by any thread. Where rows would be many and tiny, some chunks are decoded at a time and copied
//!   out by one thread ([`tiny_rows`]).
//! - [`fetch`] reads what was planned and hands the bytes of each chunk to [`fill`], which decodes and converts them. Local
//!   bytes cost little, so the thread that fetched them decodes them too, while they are in its cache.
//!
//! A chunk of which all is wanted is decoded into a buffer of its thread; one of which a part is wanted is kept decoded in
//! the cache, since the next request often wants another part. Chunks without filters are read in part.

mod fetch;
mod fill;
mod memory;
mod plan;
mod tiny_rows;

use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, Cost};

use super::fetch_plan::largest;
use super::layout::Blocks;
use super::places::{Attempt, Ranges};
use super::selected::SelectedChunks;
use super::stored::StoredChunks;
use super::tries::Tries;
use crate::convert::Conversion;
use crate::cost::cost_of;
use crate::plan::SHARED;
use crate::{Array, Selection, uncached};
use memory::Lines;

/// Maximum number of rows that memory is split into at a time.
const ROWS: usize = 1 << 18;

/// Maximum number of chunks that are located at a time.
const BLOCKS: usize = 1 << 16;

/// Bytes of a row below which, if there are many rows, a slice for each costs more than copying by one thread.
const TINY: usize = 32;

/// Reads the selected elements, at least one, into dense memory of `size` bytes an element. True if all numbers were in
/// range.
pub(crate) fn read(
    blob: &dyn Blob,
    array: &Array,
    blocks: &Blocks,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    out: &mut [u8],
) -> Result<bool> {
    let chunks = SelectedChunks::new(array, blocks, sel)?;
    let block_len = chunks.block_len;
    let stored = StoredChunks { blob, past_end: array.past_end, chain: &blocks.chain, block_len };
    let cost = cost_of(blob);
    let (elements, met) = (sel.elements().unwrap_or(u64::MAX), chunks.len());
    let work = if blocks.chain.is_empty() {
        elements.saturating_mul(chunks.element as u64)
    } else {
        met.saturating_mul(block_len)
    };
    let reader = Reader {
        array,
        shares: met > 1 && work.saturating_add(met.saturating_mul(cost.gap)) >= SHARED,
        uncached: elements.saturating_mul(size as u64) >= uncached::LARGE,
        chunks,
        stored,
        cost,
        conversion,
        size,
    };
    reader.region(&reader.chunks.ranges(), out)
}

/// Reads one selection.
struct Reader<'a> {
    array: &'a Array,
    chunks: SelectedChunks<'a>,
    stored: StoredChunks<'a>,
    /// The cost of requests to the blob.
    cost: Cost,
    conversion: Conversion,
    /// Bytes of an element in memory.
    size: usize,
    /// True if there is enough to do for several threads.
    shares: bool,
    /// True if the memory to fill is too large to stay in the caches of the processor.
    uncached: bool,
}

impl Reader<'_> {
    /// Reads the chunks in a box, whose elements are `out`.
    fn region(&self, ranges: &Ranges, out: &mut [u8]) -> Result<bool> {
        let chunks = &self.chunks;
        let product = |product: usize, len: usize| product.saturating_mul(len);
        let count = ranges.iter().map(|&(from, to)| to - from).fold(1, product);
        let lines = Lines::of(chunks, ranges);
        if count > BLOCKS || lines.rows() > ROWS {
            // Cut where both halves are gapless in memory: at the first dimension of more than one index.
            let cut = (0..ranges.len()).find(|&dim| chunks.count(dim, ranges[dim]) > 1);
            if let Some(dim) = cut
                && ranges[dim].1 - ranges[dim].0 > 1
            {
                let (from, to) = ranges[dim];
                let middle = from + (to - from) / 2;
                let (mut left, mut right) = (ranges.clone(), ranges.clone());
                (left[dim], right[dim]) = ((from, middle), (middle, to));
                let share = out.len() / chunks.count(dim, ranges[dim]) * chunks.count(dim, left[dim]);
                let (first, second) = out.split_at_mut(share);
                return Ok(self.region(&left, first)? & self.region(&right, second)?);
            }
        }
        let tiny = lines.rows() > BLOCKS && out.len() / lines.rows() < TINY;
        // Much is not read twice for what may have been read ahead.
        let is_much = out.len() as u64 >= largest(&self.cost);
        let mut tries = Tries::default();
        let mut fits = true;
        chunks.blocks.settled(|Attempt { index, is_watched, is_marked, is_again }| {
            tries.begin(is_marked, count);
            let plan = self.plan(ranges, index, is_again, &tries)?;
            if is_again || (is_watched && is_much) {
                self.stored.blob.forget();
            }
            fits = if tiny {
                self.by_tiny_rows(ranges, plan, &mut tries, out)?
            } else {
                let rows = self.split(ranges, &lines, out);
                self.fetch(plan, rows, &mut tries)?
            };
            fits &= tries.fit();
            Ok(tries.are_settled())
        })?;
        Ok(fits)
    }
}
