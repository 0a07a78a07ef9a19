//! Chunks with many tiny rows: all threads decode some at a time, and one thread copies them out.

use ferrocdf_bytes::Result;
use ferrocdf_store::Buffer;
use rayon::prelude::*;
use smallvec::SmallVec;

use super::Reader;
use super::plan::{Plan, Planned};
use crate::blocks::cache;
use crate::blocks::decoded::{Block, Decoded, Shared};
use crate::blocks::places::Ranges;
use crate::blocks::tries::{Tries, mark};
use crate::plan::{Dim, offset};
use crate::pool;
use crate::scratch::Scratch;

impl Reader<'_> {
    /// Reads the chunks of a plan into the memory of their box.
    pub(super) fn by_tiny_rows(
        &self,
        ranges: &Ranges,
        plan: Plan,
        tries: &mut Tries,
        out: &mut [u8],
    ) -> Result<bool> {
        let most = (cache::budget() / 4) as u64 / self.stored.block_len.max(1);
        let mut fits = true;
        for some in plan.chunks.chunks(most.clamp(1, 64) as usize) {
            let decode = |chunk: &Planned| match &chunk.kept {
                Some(kept) => Ok(Some(kept.clone())),
                None => Ok(self.stored.read(chunk.place)?.map(|bytes| Decoded::written(bytes, 0))),
            };
            let decoded: Vec<Option<Shared>> = match pool::get().filter(|_| self.shares) {
                Some(pool) => pool.install(|| some.par_iter().map(decode).collect::<Result<_>>())?,
                None => some.iter().map(decode).collect::<Result<_>>()?,
            };
            Scratch::with(|scratch| {
                for (chunk, decoded) in some.iter().zip(&decoded) {
                    let view = decoded.as_deref().map(Decoded::view);
                    let fit = self.copy_out(ranges, &chunk.at, view, &mut scratch.dense, out);
                    fits &= fit;
                    match (tries.block(chunk.number), view) {
                        (Some(tried), Some(view)) if chunk.kept.is_none() => {
                            tried.note(chunk.place, mark(std::iter::once(view.bytes)), fit);
                        }
                        (Some(tried), None) => tried.note_missing(fit),
                        _ => {}
                    }
                }
            });
        }
        Ok(fits)
    }

    /// Copies the selected part of one chunk to its places in the memory of a box.
    fn copy_out(
        &self,
        ranges: &Ranges,
        at: &[usize],
        block: Option<Block<'_>>,
        dense: &mut Buffer,
        out: &mut [u8],
    ) -> bool {
        let chunks = &self.chunks;
        let part = chunks.part(at);
        // For each dimension, where in memory the chunk begins and the bytes from one index to the next.
        let mut step = self.size;
        let mut first = 0;
        let mut outer: SmallVec<[Dim; 4]> = SmallVec::new();
        for dim in (0..ranges.len()).rev() {
            first += chunks.count(dim, (ranges[dim].0, at[dim])) * step;
            if dim + 1 < chunks.inner {
                outer.insert(0, Dim { count: chunks.hits[dim].at(at[dim]).count as u64, step: step as u64 });
            }
            step *= chunks.count(dim, ranges[dim]);
        }
        let row_len = part.row_elements() * self.size;
        (0..part.rows()).fold(true, |fits, number| {
            let to = first + offset(&outer, number as u64) as usize;
            let row = &mut out[to..][..row_len];
            fits & match block {
                Some(block) => part.row(block, number, &self.conversion, dense, row),
                None => part.fill_row(&chunks.blocks.fill, number, &self.conversion, row),
            }
        })
    }
}
