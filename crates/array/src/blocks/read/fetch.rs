//! Fetching what was planned: each request and the chunks that it serves are the work of one thread.

use std::ops::Range;

use ferrocdf_bytes::Result;
use ferrocdf_store::Buffer;
use rayon::prelude::*;

use super::Reader;
use super::memory::Rows;
use super::plan::{Need, Plan, Planned};
use crate::blocks::tries::{Tries, Try};
use crate::pool;
use crate::scratch::Scratch;

/// A chunk and the memory that it fills.
pub(super) struct Item<'o> {
    pub(super) chunk: Planned,
    pub(super) rows: Rows<'o>,
    /// Where it is noted that it was read, if marks are taken.
    pub(super) tried: Option<&'o mut Try>,
}

/// A request and the chunks that it serves.
struct Job<'i, 'o> {
    range: Range<u64>,
    items: &'i mut [Item<'o>],
}

impl Reader<'_> {
    /// Fetches and fills all chunks of a plan, shared among threads if that pays. `rows` has those of each chunk.
    pub(super) fn fetch<'o>(
        &self,
        plan: Plan,
        mut rows: Vec<Rows<'o>>,
        tries: &'o mut Tries,
    ) -> Result<bool> {
        let mut tries: Vec<Option<&mut Try>> = tries.blocks().iter_mut().map(Some).collect();
        let item = |chunk: Planned| {
            let rows = std::mem::take(&mut rows[chunk.number]);
            let tried = tries.get_mut(chunk.number).and_then(Option::take);
            Item { chunk, rows, tried }
        };
        let mut items: Vec<Item<'o>> = plan.chunks.into_iter().map(item).collect();
        let mut rest = &mut items[..];
        let jobs = plan.fetches.into_iter().map(|fetch| {
            let (items, more) = std::mem::take(&mut rest).split_at_mut(fetch.chunks);
            rest = more;
            Job { range: fetch.range, items }
        });
        match pool::get().filter(|_| self.shares) {
            Some(pool) => {
                let jobs: Vec<Job<'_, 'o>> = jobs.collect();
                if let [_] = jobs[..] {
                    return jobs.into_iter().try_fold(true, |fits, job| Ok(fits & self.job(job)?));
                }
                pool.install(|| {
                    let jobs = jobs.into_par_iter().with_max_len(1);
                    jobs.map(|job| self.job(job)).try_reduce(|| true, |left, right| Ok(left & right))
                })
            }
            None => jobs.into_iter().try_fold(true, |fits, job| Ok(fits & self.job(job)?)),
        }
    }

    /// Fetches the bytes of a job and fills its chunks.
    fn job(&self, Job { range, items }: Job<'_, '_>) -> Result<bool> {
        if range.is_empty() {
            return Scratch::with(|scratch| {
                items.iter_mut().try_fold(true, |fits, item| Ok(fits & self.item(item, &[], scratch)?))
            });
        }
        self.stored.check_inside(range.start, range.end)?;
        Scratch::with(|scratch| {
            let mut window = std::mem::take(&mut scratch.window);
            let done = self.fetch_range(range, items, &mut window, scratch);
            scratch.window = window;
            done
        })
    }

    fn fetch_range(
        &self,
        range: Range<u64>,
        items: &mut [Item<'_>],
        window: &mut Buffer,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        // Not more than the blob holds.
        let bytes = window.at(range.start, (range.end - range.start) as usize);
        self.stored.fetch(range.start, bytes)?;
        items.iter_mut().try_fold(true, |fits, item| {
            let stored = match item.chunk.need {
                Need::Whole(at, len) => &bytes[(at - range.start) as usize..][..len as usize],
                Need::Part(_) | Need::Nothing => &[],
            };
            Ok(fits & self.item(item, stored, scratch)?)
        })
    }
}
