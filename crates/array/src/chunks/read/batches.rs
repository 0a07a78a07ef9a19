//! Fetching the bytes of a plan from a slow source, in batches of requests.
//!
//! Chunks whose bytes need no work are fetched first, straight into the memory to fill. A batch may have requests for whole chunks
//! and for parts of chunks, so that every batch but the last is full. Chunks in objects are fetched after those in the blob, in
//! batches of their own.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use ferrocdf_bytes::Result;

use super::ChunkReader;
use super::fetch::ChunkTask;
use super::plan::{Need, ReadPlan};
use crate::chunks::decoded::Key;
use crate::chunks::index::FetchedObject;
use crate::requests::{BatchLimit, Windows, read_placed, run_in_batches, share};
use crate::scratch::Scratch;
use crate::tile_job::TileJob;
use crate::tiling::TilePlan;

/// A request to the blob, and the chunks or the tile that it serves.
enum Job<'t, 'o> {
    /// A range of the blob with whole chunks.
    Chunks(Range<u64>, &'t mut [ChunkTask<'o>]),
    /// A tile of an unfiltered chunk of which a part is read.
    Tile(TileJob<'t>),
}

/// An unfiltered chunk of which a part is read, and the tiles of that part.
struct PartTask<'t, 'o> {
    task: &'t mut ChunkTask<'o>,
    plan: TilePlan,
    /// True if all numbers were in range.
    in_range: AtomicBool,
}

impl Job<'_, '_> {
    fn range(&self) -> Range<u64> {
        match self {
            Job::Chunks(range, _) => range.clone(),
            Job::Tile(tile) => tile.range(),
        }
    }

    /// Returns the range of a request for whole chunks.
    fn chunks(&self) -> Option<&Range<u64>> {
        match self {
            Job::Chunks(range, _) => Some(range),
            Job::Tile(_) => None,
        }
    }

    fn len(&self) -> u64 {
        match self {
            Job::Chunks(range, _) => range.end - range.start,
            Job::Tile(tile) => tile.len(),
        }
    }
}

impl ChunkReader<'_> {
    /// Fetches and fills all chunks of a plan. True if all numbers were in range.
    pub(super) fn fetch_in_batches<'o>(&self, plan: &ReadPlan, tasks: &mut [ChunkTask<'o>]) -> Result<bool> {
        let (mut placed, mut whole, mut parts) = (vec![], vec![], vec![]);
        let (mut objects, mut idle) = (vec![], vec![]);
        let mut rest = tasks;
        for fetch in &plan.fetches {
            let (tasks, more) = std::mem::take(&mut rest).split_at_mut(fetch.chunks);
            rest = more;
            if !fetch.range.is_empty() {
                if self.are_placed(tasks) {
                    let rows = tasks.iter_mut().flat_map(|task| &mut task.rows);
                    placed.extend(rows.map(|row| (fetch.range.clone(), &mut **row)));
                } else {
                    whole.push((fetch.range.clone(), tasks));
                }
                continue;
            }
            for task in tasks {
                match task.chunk.need {
                    Need::Part(position) => {
                        let plan = self.part_plan(&task.chunk.at, position, &self.cost)?;
                        parts.push(PartTask { task, plan, in_range: AtomicBool::new(true) });
                    }
                    Need::Object => objects.push(task),
                    // Chunks that need no request of this source; an encoded chunk of length 0 is among them.
                    Need::Whole(..) | Need::Decoded | Need::Nothing => idle.push(task),
                }
            }
        }
        let whole = whole.into_iter().map(|(range, tasks)| Job::Chunks(range, tasks));
        let tiles = parts.iter_mut().flat_map(|PartTask { task, plan, in_range }| {
            let rows = task.rows.iter_mut().map(|row| &mut **row);
            TileJob::split(plan, rows, self.size, Some(in_range))
        });
        let mut filled_tiles = Vec::new();
        for tile in tiles {
            match tile.into_placed(&self.conversion) {
                Ok(tile) => placed.push(tile),
                Err(tile) => filled_tiles.push(Job::Tile(tile)),
            }
        }
        let check = |range: Range<u64>| self.stored.check_inside(range.start, range.end);
        read_placed(self.stored.blob, self.stored.past_end, placed, check)?;
        let mut in_range = self.run_jobs(whole.chain(filled_tiles), plan.generation)?;
        for PartTask { task, in_range, .. } in &mut parts {
            self.record_elements(task, *in_range.get_mut());
        }
        in_range &= self.fetch_objects(objects, plan.generation)?;
        in_range &= share(self.shares, idle, |_, task| {
            let stored = matches!(task.chunk.need, Need::Whole(..)).then_some(&[][..]);
            Scratch::with(|scratch| self.task(task, stored, plan.generation, scratch))
        })?;
        Ok(in_range)
    }

    /// True if a request serves one chunk, and its encoded bytes are the bytes of its only row.
    fn are_placed(&self, tasks: &[ChunkTask<'_>]) -> bool {
        let [task] = tasks else { return false };
        let (Need::Whole(_, len), Some(mask)) = (task.chunk.need, task.chunk.location.mask()) else {
            return false;
        };
        len == self.stored.chunk_len
            && self.stored.chain.is_identity(mask)
            && self.conversion.is_copy()
            && task.attempts.is_none()
            && task.rows.len() == 1
            && self.selected.rows(&task.chunk.at).is_whole(len)
    }

    /// Fetches and fills chunks that are in objects. True if all numbers were in range.
    fn fetch_objects(&self, tasks: Vec<&mut ChunkTask<'_>>, generation: u64) -> Result<bool> {
        let tasks = tasks.into_iter().map(|task| (self.selected.key(&task.chunk.at), task));
        let len =
            |(_, task): &(Key, &mut ChunkTask<'_>)| task.chunk.location.expected_len(self.stored.chunk_len);
        let fetch = |tasks: &[(Key, &mut ChunkTask<'_>)], _is_first, _old| {
            let chunks: Vec<_> = tasks.iter().map(|(key, task)| (&key[..], task.chunk.location)).collect();
            self.stored.get_objects(&chunks)
        };
        run_in_batches(BatchLimit::of(&self.cost), tasks, len, fetch, |tasks, objects: &Vec<_>| {
            share(self.shares, tasks, |number, (_, task)| {
                let found: &Option<FetchedObject> = &objects[number];
                let stored = found.as_ref().map(|(_, bytes)| &bytes[..]);
                Scratch::with(|scratch| self.task(task, stored, generation, scratch))
            })
        })
    }

    fn run_jobs<'t, 'o: 't>(&self, jobs: impl Iterator<Item = Job<'t, 'o>>, generation: u64) -> Result<bool> {
        let limit = BatchLimit::of(&self.cost);
        let fetch = |jobs: &[Job<'_, '_>], is_first: bool, mut windows: Windows| {
            let chunks = jobs.iter().filter_map(Job::chunks);
            self.stored.check_before(chunks.cloned(), is_first)?;
            let check = |number: usize| {
                let mut chunks = jobs[number].chunks().into_iter();
                chunks.try_for_each(|range| self.stored.check_inside(range.start, range.end))
            };
            windows.read(self.stored.blob, self.stored.past_end, jobs.iter().map(Job::range), check)?;
            Ok(windows)
        };
        run_in_batches(limit, jobs, Job::len, fetch, |jobs, windows| {
            share(self.shares, jobs, |number, job| match job {
                Job::Chunks(range, tasks) => Scratch::with(|scratch| {
                    self.fill_from(range.start, windows.get(number), tasks, generation, scratch)
                }),
                Job::Tile(mut tile) => Ok(tile.fill(windows.get(number), &self.conversion)),
            })
        })
    }
}
