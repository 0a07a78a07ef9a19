//! Reading chunks: plan, fetch, fill.
//!
//! - [`plan`] locates the chunks that a selection meets and groups their ranges of the blob into requests. The plan is complete
//!   before anything is fetched.
//! - [`memory`] splits the destination into rows at the borders of chunks, and each chunk gets its rows: any thread may then fill
//!   any chunk. If there would be many tiny rows, [`tiny_rows`] decodes a group of chunks in parallel and one thread scatters
//!   their elements.
//! - [`fetch`] sends the requests of the plan and passes the bytes of each chunk to [`fill`], which decodes and converts them.
//!   From a near source, the thread that fetched bytes decodes them too, while they are in its CPU cache. Requests to a slow
//!   source are sent in [`batches`], and the pool decodes one batch while the next is fetched.
//!
//! A chunk that is selected as a whole is decoded into a buffer of the thread, or straight into the destination. A decoded chunk
//! that is selected in part is cached if its array is read repeatedly, since the next request often selects another part. Of a
//! large chunk without filters only the selected elements are read, and of one that is too large to be decoded as a whole only the bytes
//! up to them are decoded.

mod batches;
mod fetch;
mod fill;
mod memory;
mod plan;
mod tiny_rows;

use ferrocdf_bytes::Result;
use ferrocdf_store::{Blob, Cost};

use super::layout::Chunks;
use super::locate::Ranges;
use super::optimistic::{Attempt, Attempts};
use super::selected::SelectedChunks;
use super::stored::StoredChunks;
use crate::convert::Conversion;
use crate::requests::largest;
use crate::tiling::PARALLEL_BYTES;
use crate::{Array, Selection, non_temporal};
use memory::Lines;

/// Maximum number of rows that memory is split into at a time.
const ROWS: usize = 1 << 18;

/// Maximum number of chunks that are located at a time.
const MAX_LOCATED: usize = 1 << 16;

/// Bytes of a row below which, if there are more than [`MAX_LOCATED`] rows, one slice per row costs more than scattering on one
/// thread.
const TINY_ROW: usize = 32;

/// Reads the selected elements, at least one, into dense memory of `size` bytes an element. True if all numbers were in
/// range.
pub(crate) fn read(
    blob: &dyn Blob,
    array: &Array,
    chunks: &Chunks,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    out: &mut [u8],
) -> Result<bool> {
    let selected = SelectedChunks::new(array, chunks, sel)?;
    let chunk_len = selected.chunk_len;
    let (past_end, chain, objects) = (array.past_end, &chunks.chain, chunks.index.objects());
    let stored = StoredChunks { blob, past_end, chain, chunk_len, objects };
    let cost = stored.cost();
    let (elements, met) = (sel.elements().unwrap_or(u64::MAX), selected.len());
    let work = if chunks.chain.is_empty() {
        elements.saturating_mul(selected.element as u64)
    } else {
        met.saturating_mul(chunk_len)
    };
    let reader = ChunkReader {
        array,
        shares: met > 1 && work.saturating_add(met.saturating_mul(cost.gap)) >= PARALLEL_BYTES,
        non_temporal: elements.saturating_mul(size as u64) >= non_temporal::LARGE,
        selected,
        stored,
        cost,
        conversion,
        size,
    };
    reader.region(&reader.selected.ranges(), out)
}

/// Reads one selection.
struct ChunkReader<'a> {
    array: &'a Array,
    selected: SelectedChunks<'a>,
    stored: StoredChunks<'a>,
    /// The cost of requests to the source of the chunks.
    cost: Cost,
    conversion: Conversion,
    /// Bytes of an element in memory.
    size: usize,
    /// True if there is enough to do for several threads.
    shares: bool,
    /// True if the memory to fill is too large to stay in the caches of the processor.
    non_temporal: bool,
}

impl ChunkReader<'_> {
    /// Reads the selected elements of the chunks in a box into `out`.
    fn region(&self, ranges: &Ranges, out: &mut [u8]) -> Result<bool> {
        let selected = &self.selected;
        let product = |product: usize, len: usize| product.saturating_mul(len);
        let count = ranges.iter().map(|&(from, to)| to - from).fold(1, product);
        let lines = Lines::of(selected, ranges);
        if count > MAX_LOCATED || lines.rows() > ROWS {
            // Both halves are contiguous in memory only if the cut is at the first dimension with more than one selected index.
            let cut = (0..ranges.len()).find(|&dim| selected.count(dim, ranges[dim]) > 1);
            if let Some(dim) = cut
                && ranges[dim].1 - ranges[dim].0 > 1
            {
                let (from, to) = ranges[dim];
                let middle = from + (to - from) / 2;
                let (mut left, mut right) = (ranges.clone(), ranges.clone());
                (left[dim], right[dim]) = ((from, middle), (middle, to));
                let left_bytes =
                    out.len() / selected.count(dim, ranges[dim]) * selected.count(dim, left[dim]);
                let (first, second) = out.split_at_mut(left_bytes);
                return Ok(self.region(&left, first)? & self.region(&right, second)?);
            }
        }
        let tiny = lines.rows() > MAX_LOCATED && out.len() / lines.rows() < TINY_ROW;
        // Bytes that were read ahead may be older than the snapshot and cause a second attempt, so a large read from a near
        // source drops them first. From a slow source, fetching them again costs more than a second attempt.
        let is_much = out.len() as u64 >= largest(&self.cost) && self.cost.is_near();
        let mut attempts = Attempts::default();
        let mut in_range = true;
        selected.chunks.read_consistently(|Attempt { index, is_watched, is_verifying, is_again }| {
            attempts.begin(is_verifying, count);
            let plan = self.plan(ranges, index, is_again, &attempts)?;
            if is_again || (is_watched && is_much) {
                self.stored.blob.forget();
            }
            in_range = if tiny && !plan.has_decoded() {
                self.by_tiny_rows(ranges, &plan, &mut attempts, out)?
            } else {
                let rows = self.split(ranges, &lines, out);
                self.fetch(&plan, rows, &mut attempts)?
            };
            in_range &= attempts.are_in_range();
            Ok(attempts.are_verified())
        })?;
        Ok(in_range)
    }
}
