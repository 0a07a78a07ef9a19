//! Sizes of requests to a source of bytes, and batches of requests for slow sources.
//!
//! A slow source takes milliseconds for a request, whatever its size. So requests are sent in batches of as many as are worth
//! having in flight at once ([`Cost::in_flight`]): a batch is one round. While the pool decodes and converts the bytes of one
//! batch, an extra thread fetches the next batch; a thread of the pool would decode nothing while it waits. At most two batches
//! are in memory, whatever the size of the selection.

use std::ops::Range;
use std::sync::Mutex;

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, Cost, ReadRequest};

use crate::{PastEnd, pool};

/// Maximum bytes that one request fetches, unless the window of the source is larger. So many bytes stay in the second-level
/// cache of a core until they are decoded, and a large selection has enough requests of that size for all threads.
pub(crate) const MERGED_BYTES: u64 = 1 << 20;

/// Lower bound of [`BatchLimit::bytes`], for chunks that are larger than the requests that the source suggests: 32 chunks of 2
/// MiB are in flight, and two batches take 128 MiB of memory.
const BATCH_BYTES: u64 = 64 << 20;

/// Returns the number of bytes that one request to a source fetches at most.
pub(crate) fn largest(cost: &Cost) -> u64 {
    MERGED_BYTES.max(cost.window as u64)
}

/// Maximum requests and bytes of a batch. A request of more bytes is a batch of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchLimit {
    pub(crate) requests: usize,
    pub(crate) bytes: u64,
}

impl BatchLimit {
    /// Returns the limit for a source of this cost.
    pub(crate) fn of(cost: &Cost) -> BatchLimit {
        let requests = cost.in_flight.max(1);
        BatchLimit { requests, bytes: largest(cost).saturating_mul(requests as u64).max(BATCH_BYTES) }
    }

    /// Takes the jobs of the next batch; `len` returns the number of bytes that a job fetches.
    fn take<J>(
        self,
        jobs: &mut std::iter::Peekable<impl Iterator<Item = J>>,
        len: impl Fn(&J) -> u64,
    ) -> Vec<J> {
        let (mut batch, mut bytes) = (Vec::new(), 0u64);
        while batch.len() < self.requests {
            let more = |job: &J| batch.is_empty() || bytes.saturating_add(len(job)) <= self.bytes;
            let Some(job) = jobs.next_if(more) else { break };
            bytes = bytes.saturating_add(len(&job));
            batch.push(job);
        }
        batch
    }
}

/// Runs jobs in batches: `fetch` fetches the bytes of a batch while `work` processes the batch before it. The arguments of
/// `fetch` are the jobs, whether the batch is the first one, and an earlier answer whose memory it may reuse. Returns true if all
/// calls of `work` do: all numbers were in range.
///
/// # Errors
/// That of `fetch` or `work`; of both, that of `work`. No other batch begins after an error.
pub(crate) fn run_in_batches<J: Send + Sync, A: Default + Send + Sync>(
    limit: BatchLimit,
    jobs: impl Iterator<Item = J>,
    len: impl Fn(&J) -> u64,
    fetch: impl Fn(&[J], bool, A) -> Result<A> + Sync,
    mut work: impl FnMut(Vec<J>, &A) -> Result<bool>,
) -> Result<bool> {
    let mut jobs = jobs.peekable();
    let mut batch = limit.take(&mut jobs, &len);
    if batch.is_empty() {
        return Ok(true);
    }
    let (mut answer, mut spare) = (fetch(&batch, true, A::default())?, A::default());
    let mut in_range = true;
    loop {
        let next = limit.take(&mut jobs, &len);
        if next.is_empty() {
            return Ok(in_range & work(batch, &answer)?);
        }
        let (fetched, done) = pool::overlap(|| fetch(&next, false, spare), || work(batch, &answer));
        in_range &= done?;
        spare = std::mem::replace(&mut answer, fetched?);
        batch = next;
    }
}

/// Calls `work` with each job of a batch and its number, in parallel if `shares`. Returns true if all calls do: all numbers were
/// in range.
pub(crate) fn share<J: Send>(
    shares: bool,
    jobs: Vec<J>,
    work: impl Fn(usize, J) -> Result<bool> + Sync + Send,
) -> Result<bool> {
    let pool = if shares && jobs.len() > 1 { pool::get() } else { None };
    match pool {
        Some(pool) => pool.try_all(jobs, |(number, job)| work(number, job)),
        None => {
            let mut jobs = jobs.into_iter().enumerate();
            jobs.try_fold(true, |all, (number, job)| Ok(all & work(number, job)?))
        }
    }
}

/// A range of the blob whose bytes are the bytes to return, and the memory for them.
pub(crate) type Placed<'t> = (Range<u64>, &'t mut [u8]);

/// Reads ranges straight into the memory of the caller. No buffer bounds the number of requests, so all are passed on at once, and
/// a slow answer delays no other request. `check` is called with a range in which the blob ends; see [`read_all`].
pub(crate) fn read_placed(
    blob: &dyn Blob,
    past_end: PastEnd,
    placed: Vec<Placed<'_>>,
    check: impl Fn(Range<u64>) -> Result<()>,
) -> Result<()> {
    if placed.is_empty() {
        return Ok(());
    }
    let ranges: Vec<Range<u64>> = placed.iter().map(|(range, _)| range.clone()).collect();
    let requests = placed.into_iter().map(|(range, into)| ReadRequest::new(range.start, into));
    let mut requests: Vec<ReadRequest<'_>> = requests.collect();
    read_all(blob, past_end, &mut requests, |number| check(ranges[number].clone()))
}

/// Runs requests with one [`Blob::read_many`]. If the blob ends within a request, `check` is called with its number and may return
/// an error; if it returns none, `past_end` applies.
fn read_all(
    blob: &dyn Blob,
    past_end: PastEnd,
    requests: &mut [ReadRequest<'_>],
    check: impl Fn(usize) -> Result<()>,
) -> Result<()> {
    blob.read_many(requests)?;
    for (number, request) in requests.iter_mut().enumerate() {
        if request.len == request.into.len() {
            continue;
        }
        check(number)?;
        match past_end {
            PastEnd::Zero => request.into[request.len..].fill(0),
            // Reads again, so that the error names the blob and its size.
            PastEnd::Error => blob.read_exact_at(request.at, request.into)?,
        }
    }
    Ok(())
}

/// Largest buffer that is kept for the next selection: a batch of requests of a megabyte.
const MAX_SPARE: usize = 32 << 20;

/// Buffers of selections that are done, one for the batch that is fetched and one for the batch that is decoded: memory that is
/// touched for the first time costs as much as fetching it from a fast network.
static SPARE: Mutex<[Vec<u8>; 2]> = Mutex::new([Vec::new(), Vec::new()]);

/// Takes a spare buffer, or an empty one if another thread is looking for one at this moment.
fn spare() -> Vec<u8> {
    let Ok(mut spare) = SPARE.try_lock() else { return Vec::new() };
    let [first, second] = &mut *spare;
    std::mem::take(if first.len() >= second.len() { first } else { second })
}

/// The bytes of the ranges of a blob that one batch fetched.
#[derive(Default)]
pub(crate) struct Windows {
    buffer: Vec<u8>,
    /// For each range, the offset in the buffer behind its last byte.
    ends: Vec<usize>,
}

impl Windows {
    /// Replaces the content by these ranges, with one [`read_all`]. The caller bounds the sum of their lengths.
    pub(crate) fn read(
        &mut self,
        blob: &dyn Blob,
        past_end: PastEnd,
        ranges: impl Iterator<Item = Range<u64>>,
        check: impl Fn(usize) -> Result<()>,
    ) -> Result<()> {
        self.ends.clear();
        let (mut all, mut starts) = (0, Vec::new());
        for range in ranges {
            all += (range.end - range.start).to_usize("bytes of ranges")?;
            starts.push(range.start);
            self.ends.push(all);
        }
        if self.buffer.is_empty() {
            self.buffer = spare();
        }
        if self.buffer.len() < all {
            self.buffer = Vec::new();
            self.buffer = vec![0; all];
        }
        let (mut rest, mut begin) = (&mut self.buffer[..], 0);
        let mut requests: Vec<ReadRequest<'_>> = Vec::with_capacity(starts.len());
        for (&at, &end) in starts.iter().zip(&self.ends) {
            let (window, more) = std::mem::take(&mut rest).split_at_mut(end - begin);
            requests.push(ReadRequest::new(at, window));
            (rest, begin) = (more, end);
        }
        read_all(blob, past_end, &mut requests, check)
    }

    /// Returns the bytes of a range.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.buffer[begin..self.ends[number]]
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        if self.buffer.len() > MAX_SPARE {
            return;
        }
        if let Ok(mut spare) = SPARE.try_lock() {
            let [first, second] = &mut *spare;
            let smaller = if first.len() <= second.len() { first } else { second };
            if smaller.len() < self.buffer.len() {
                *smaller = std::mem::take(&mut self.buffer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use ferrocdf_bytes::{Code, Error};

    use super::*;

    const LIMIT: BatchLimit = BatchLimit { requests: 4, bytes: 100 };

    fn failed() -> Error {
        Error::new(Code::EIO, "failed")
    }

    #[test]
    fn batches_are_full_and_within_the_limit() {
        let lens = [10, 10, 10, 10, 10, 60, 30, 1, 500, 1, 100, 1];
        let mut batches = Vec::new();
        let done = run_in_batches(
            LIMIT,
            lens.into_iter(),
            |&len| len,
            |batch, is_first, _| Ok((batch.len(), is_first)),
            |batch, &(len, is_first)| {
                assert_eq!((len, is_first), (batch.len(), batches.is_empty()));
                batches.push(batch);
                Ok(batches.len() != 2)
            },
        );
        assert_eq!(done, Ok(false));
        let wanted: [&[u64]; 6] = [&[10, 10, 10, 10], &[10, 60, 30], &[1], &[500], &[1], &[100]];
        assert_eq!((&batches[..6], &batches[6..]), (&wanted.map(<[u64]>::to_vec)[..], &[vec![1]][..]));
    }

    #[test]
    fn no_batch_is_fetched_after_an_error() {
        for (bad_fetch, bad_work, fetches) in [(2, 9, 3), (9, 1, 3), (0, 9, 1), (2, 1, 3)] {
            let (fetched, mut worked) = (AtomicU64::new(0), 0);
            let done = run_in_batches(
                LIMIT,
                0..40,
                |_| 1,
                |_, _, _: ()| if fetched.fetch_add(1, Relaxed) == bad_fetch { Err(failed()) } else { Ok(()) },
                |_, ()| {
                    worked += 1;
                    if worked > bad_work { Err(failed()) } else { Ok(true) }
                },
            );
            assert_eq!((done, fetched.into_inner()), (Err(failed()), fetches));
        }
    }

    #[test]
    fn a_panic_of_either_side_reaches_the_caller() {
        for (bad_fetch, bad_work) in [(1, 9), (9, 0), (9, 2)] {
            let (fetched, mut worked) = (AtomicU64::new(0), 0);
            let run = || {
                run_in_batches(
                    LIMIT,
                    0..40,
                    |_| 1,
                    |_, _, _: ()| {
                        assert_ne!(fetched.fetch_add(1, Relaxed), bad_fetch, "expected");
                        Ok(())
                    },
                    |_, ()| {
                        worked += 1;
                        assert!(worked <= bad_work, "expected");
                        Ok(true)
                    },
                )
            };
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        }
    }
}
