//! Fetching the bytes of a plan. For a near source, the thread that sends a request also fills the chunks that it serves.

use std::ops::Range;

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::Buffer;
use smallvec::SmallVec;

use super::ChunkReader;
use super::memory::Rows;
use super::plan::{Need, PlannedChunk, ReadPlan};
use crate::chunks::optimistic::{Attempts, ChunkAttempts};
use crate::pool;
use crate::scratch::Scratch;

/// A chunk of the plan and the memory that it fills.
pub(super) struct ChunkTask<'o> {
    pub(super) chunk: &'o PlannedChunk,
    pub(super) rows: Rows<'o>,
    /// The record of the attempts at reading the chunk, if checksums are recorded.
    pub(super) attempts: Option<&'o mut ChunkAttempts>,
}

/// A request and the chunks that it serves.
struct FetchJob<'t, 'o> {
    range: Range<u64>,
    tasks: &'t mut [ChunkTask<'o>],
}

impl ChunkReader<'_> {
    /// Fetches and fills all chunks of a plan, on all threads if there is enough to do. `rows` has the memory of each chunk of
    /// the box, by its number. True if all numbers were in range.
    pub(super) fn fetch<'o>(
        &self,
        plan: &'o ReadPlan,
        mut rows: SmallVec<[Rows<'o>; 1]>,
        attempts: &'o mut Attempts,
    ) -> Result<bool> {
        let mut attempts: Vec<Option<&mut ChunkAttempts>> = attempts.chunks().iter_mut().map(Some).collect();
        let task = |chunk: &'o PlannedChunk| {
            let rows = std::mem::take(&mut rows[chunk.number]);
            let attempts = attempts.get_mut(chunk.number).and_then(Option::take);
            ChunkTask { chunk, rows, attempts }
        };
        let mut tasks: SmallVec<[ChunkTask<'o>; 1]> = plan.chunks.iter().map(task).collect();
        if !self.cost.is_near() {
            return self.fetch_in_batches(plan, &mut tasks);
        }
        let mut rest = &mut tasks[..];
        let jobs = plan.fetches.iter().map(|fetch| {
            let (tasks, more) = std::mem::take(&mut rest).split_at_mut(fetch.chunks);
            rest = more;
            FetchJob { range: fetch.range.clone(), tasks }
        });
        let generation = plan.generation;
        let pool = if self.shares && plan.fetches.len() > 1 { pool::get() } else { None };
        match pool {
            Some(pool) => pool.try_all(jobs.collect(), |(_, job)| self.job(job, generation)),
            None => {
                jobs.into_iter().try_fold(true, |in_range, job| Ok(in_range & self.job(job, generation)?))
            }
        }
    }

    /// Fetches the bytes of a job and fills its chunks.
    fn job(&self, FetchJob { range, tasks }: FetchJob<'_, '_>, generation: u64) -> Result<bool> {
        if range.is_empty() {
            let fill =
                |task| with_window(|window, scratch| self.fetch_apart(task, generation, (window, scratch)));
            return all_in_range(tasks.iter_mut().map(fill));
        }
        self.stored.check_inside(range.start, range.end)?;
        with_window(|window, scratch| self.fetch_range(range, tasks, generation, (window, scratch)))
    }

    /// Fetches the bytes of a chunk that no range of the blob has, if it has any, and fills its rows.
    fn fetch_apart(
        &self,
        task: &mut ChunkTask<'_>,
        generation: u64,
        (window, scratch): (&mut Buffer, &mut Scratch),
    ) -> Result<bool> {
        let stored = match task.chunk.need {
            Need::Object => {
                let key = self.selected.key(&task.chunk.at);
                let found = self.stored.get_object(&key, task.chunk.location, window)?;
                found.map(|(_, bytes)| bytes)
            }
            // An encoded chunk of length 0, whose range is empty too.
            Need::Whole(..) => Some(&[][..]),
            Need::Part(_) | Need::Decoded | Need::Nothing => None,
        };
        self.task(task, stored, generation, scratch)
    }

    fn fetch_range(
        &self,
        range: Range<u64>,
        tasks: &mut [ChunkTask<'_>],
        generation: u64,
        (window, scratch): (&mut Buffer, &mut Scratch),
    ) -> Result<bool> {
        // `check_inside` bounds the length by the size of the blob.
        let bytes = window.at(range.start, (range.end - range.start).to_usize("bytes of chunks")?);
        self.stored.fetch(range.start, bytes)?;
        self.fill_from(range.start, bytes, tasks, generation, scratch)
    }

    /// Fills the chunks that a request serves from its `bytes`; the first one is at position `start` of the blob.
    pub(super) fn fill_from(
        &self,
        start: u64,
        bytes: &[u8],
        tasks: &mut [ChunkTask<'_>],
        generation: u64,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        all_in_range(tasks.iter_mut().map(|task| {
            let stored = match task.chunk.need {
                Need::Whole(at, len) => Some(&bytes[(at - start).saturate()..][..len.saturate()]),
                Need::Part(_) | Need::Object | Need::Decoded | Need::Nothing => None,
            };
            self.task(task, stored, generation, scratch)
        }))
    }
}

/// Calls `work` with the window of the buffers of this thread, and the others.
fn with_window<R>(work: impl FnOnce(&mut Buffer, &mut Scratch) -> R) -> R {
    Scratch::with(|scratch| {
        let mut window = std::mem::take(&mut scratch.window);
        let result = work(&mut window, scratch);
        scratch.window = window;
        result
    })
}

/// Returns true if all results are true; stops at the first error.
fn all_in_range(mut results: impl Iterator<Item = Result<bool>>) -> Result<bool> {
    results.try_fold(true, |all, in_range| Ok(all & in_range?))
}
