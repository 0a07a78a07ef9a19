//! Chunks with many tiny rows: all threads decode some at a time, and one thread copies them out.

use ferrocdf_bytes::Result;
use ferrocdf_store::Buffer;
use rayon::prelude::*;
use smallvec::SmallVec;

use super::ChunkReader;
use super::plan::{PlannedChunk, ReadPlan};
use crate::chunks::cache;
use crate::chunks::decoded::{ChunkView, Decoded, Shared};
use crate::chunks::locate::Ranges;
use crate::chunks::optimistic::{Attempts, checksum};
use crate::pool;
use crate::scratch::Scratch;
use crate::tiling::{Dim, offset};

impl ChunkReader<'_> {
    /// Reads the chunks of a plan into the memory of their box.
    pub(super) fn by_tiny_rows(
        &self,
        ranges: &Ranges,
        plan: &ReadPlan,
        attempts: &mut Attempts,
        out: &mut [u8],
    ) -> Result<bool> {
        let most = (cache::budget() / 4) as u64 / self.stored.chunk_len.max(1);
        let mut in_range = true;
        for some in plan.chunks.chunks(most.clamp(1, 64) as usize) {
            let decode = |chunk: &PlannedChunk| match &chunk.kept {
                Some(kept) => Ok(Some(kept.clone())),
                None => Ok(self
                    .stored
                    .read(&self.selected.key(&chunk.at), chunk.location)?
                    .map(|bytes| Decoded::written(bytes, 0))),
            };
            let decoded: Vec<Option<Shared>> = match pool::get().filter(|_| self.shares) {
                Some(pool) => pool.install(|| some.par_iter().map(decode).collect::<Result<_>>())?,
                None => some.iter().map(decode).collect::<Result<_>>()?,
            };
            Scratch::with(|scratch| {
                for (chunk, decoded) in some.iter().zip(&decoded) {
                    let view = decoded.as_deref().map(Decoded::view);
                    let fit = self.copy_out(ranges, &chunk.at, view, &mut scratch.dense, out);
                    in_range &= fit;
                    match (attempts.chunk(chunk.number), view) {
                        (Some(attempts), Some(view)) if chunk.kept.is_none() => {
                            attempts.record(chunk.location, checksum(std::iter::once(view.bytes)), fit);
                        }
                        (Some(attempts), None) => attempts.record_missing(fit),
                        _ => {}
                    }
                }
            });
        }
        Ok(in_range)
    }

    /// Scatters the selected part of one chunk into the memory of a box.
    fn copy_out(
        &self,
        ranges: &Ranges,
        at: &[usize],
        chunk: Option<ChunkView<'_>>,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        let selected = &self.selected;
        let part = selected.rows(at);
        // The byte offset of the chunk in memory, and the strides of memory.
        let mut step = self.size;
        let mut first = 0;
        let mut outer: SmallVec<[Dim; 4]> = SmallVec::new();
        for dim in (0..ranges.len()).rev() {
            first += selected.count(dim, (ranges[dim].0, at[dim])) * step;
            if dim + 1 < selected.inner {
                outer.insert(
                    0,
                    Dim { count: selected.by_dim[dim].at(at[dim]).count as u64, step: step as u64 },
                );
            }
            step *= selected.count(dim, ranges[dim]);
        }
        let row_len = part.row_elements() * self.size;
        (0..part.rows()).fold(true, |in_range, number| {
            let to = first + offset(&outer, number as u64) as usize;
            let row = &mut out[to..][..row_len];
            in_range
                & match chunk {
                    Some(chunk) => part.row(chunk, number, &self.conversion, dense, row),
                    None => part.fill_row(&selected.chunks.fill, number, &self.conversion, row),
                }
        })
    }
}
