//! Reading in rounds: several tasks, each of which follows a chain of pointers through a slow blob (a header to its heap, the
//! heap to its blocks), share their requests.
//!
//! A task runs until it requests bytes that no round has fetched yet. The blob records such a request and returns an error. When
//! all tasks have returned, one round fetches the bytes of all recorded requests, and the incomplete tasks run again from the
//! start. So the number of rounds is the length of the longest chain of pointers, not the number of tasks. A parser is written as
//! if all bytes were in memory, and needs no thread of its own. The cost is processor time for the repeated runs, small beside
//! the latency of a request.
//!
//! A call of [`read_in_rounds`] from within a task starts no rounds of its own: its tasks record their requests in the round of
//! the outer call.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};

use crate::{Blob, ReadRequest, forward};

/// Maximum number of bytes that all rounds of one [`read_in_rounds`] fetch together. Further requests are passed on to the blob
/// at once, one by one.
const MAX_BYTES: usize = 32 << 20;

/// Number of rounds after which each incomplete task reads on its own. Each round runs a task from the start, so the time for a
/// damaged file with one long chain of pointers would grow with the square of its length.
const MAX_ROUNDS: usize = 64;

thread_local! {
    static ROUND: RefCell<Option<Round>> = const { RefCell::new(None) };
}

/// The requests of the tasks that this thread runs in rounds.
#[derive(Default)]
struct Round {
    /// Fetched ranges and recorded requests of each blob. The key is the address of the blob in memory, which stays valid because
    /// [`KnownBlob`] owns a reference.
    known: HashMap<usize, KnownBlob>,
    /// Bytes of all requests recorded so far, equal requests once.
    bytes: usize,
    /// Number of requests answered with an error because their bytes were not fetched yet.
    misses: u64,
}

/// The ranges of one blob that earlier rounds fetched, and the requests for the next round.
struct KnownBlob {
    blob: Arc<dyn Blob>,
    /// Fetched ranges by the position of their first byte.
    ranges: BTreeMap<u64, KnownRange>,
    requested: BTreeSet<(u64, Reverse<usize>)>,
}

/// A range that a round fetched.
struct KnownRange {
    bytes: Vec<u8>,
    /// True if the blob ends behind these bytes.
    is_end: bool,
}

impl KnownBlob {
    /// Copies the bytes from position `at` on to `into`. Returns their number, fewer than `into` holds only where the blob ends;
    /// `None` if no round fetched all of them.
    fn copy(&self, at: u64, into: &mut [u8]) -> Option<usize> {
        let (start, range) = self.ranges.range(..=at).next_back()?;
        let skip = usize::try_from(at - start).ok()?;
        let bytes = range.bytes.get(skip..).or(range.is_end.then_some(&[]))?;
        if bytes.len() < into.len() && !range.is_end {
            return None;
        }
        let len = bytes.len().min(into.len());
        into[..len].copy_from_slice(&bytes[..len]);
        Some(len)
    }

    /// Fetches the recorded requests in one round, without those whose range lies within others. Adjacent requests are not joined
    /// here: the blob may do so, and its page cache keeps small requests only.
    fn load(&mut self) -> Result<()> {
        let mut end = 0;
        let mut requested = Vec::new();
        for (at, Reverse(len)) in std::mem::take(&mut self.requested) {
            if at + len as u64 > end {
                end = at + len as u64;
                requested.push((at, len));
            }
        }
        // `Round::answer` bounds the sum by `MAX_BYTES`.
        let mut buffers: Vec<Vec<u8>> = requested.iter().map(|&(_, len)| vec![0; len]).collect();
        let mut requests: Vec<ReadRequest<'_>> =
            requested.iter().zip(&mut buffers).map(|(&(at, _), into)| ReadRequest::new(at, into)).collect();
        self.blob.read_many(&mut requests)?;
        let lens: Vec<usize> = requests.iter().map(|request| request.len).collect();
        for (((at, asked), mut bytes), len) in requested.into_iter().zip(buffers).zip(lens) {
            bytes.truncate(len);
            self.ranges.insert(at, KnownRange { bytes, is_end: len < asked });
        }
        Ok(())
    }
}

impl Round {
    /// Returns what is known of a blob.
    fn of_blob(&mut self, blob: &Arc<dyn Blob>) -> &mut KnownBlob {
        let new = || KnownBlob { blob: blob.clone(), ranges: BTreeMap::new(), requested: BTreeSet::new() };
        self.known.entry(Arc::as_ptr(blob).addr()).or_insert_with(new)
    }

    /// Answers requests from the fetched bytes, or records all that are missing for the next round and answers with an error. `None`
    /// if the missing ones exceed [`MAX_BYTES`] together: the requests are to be passed on to the blob.
    fn answer(&mut self, blob: &Arc<dyn Blob>, requests: &mut [ReadRequest<'_>]) -> Option<Result<()>> {
        let known = self.of_blob(blob);
        let (mut is_complete, mut missing, mut bytes) = (true, Vec::new(), 0usize);
        for request in requests {
            let (at, len) = (request.at, request.into.len());
            match known.copy(at, request.into) {
                Some(len) => request.len = len,
                None => {
                    is_complete = false;
                    at.checked_add(len as u64)?;
                    if !known.requested.contains(&(at, Reverse(len))) {
                        bytes = bytes.saturating_add(len);
                        missing.push((at, Reverse(len)));
                    }
                }
            }
        }
        if is_complete {
            return Some(Ok(()));
        }
        let all = self.bytes.saturating_add(bytes);
        if all > MAX_BYTES {
            return None;
        }
        self.bytes = all;
        self.misses += 1;
        self.of_blob(blob).requested.extend(missing);
        Some(Err(Error::new(Code::EIO, format!("{}: bytes that come with the next round", blob.name()))))
    }
}

/// Runs code with the round of this thread; `None` if there is none.
fn with_round<R>(work: impl FnOnce(&mut Round) -> R) -> Option<R> {
    // `try_with` fails only while the thread ends, when it runs no tasks.
    ROUND.try_with(|round| round.try_borrow_mut().ok()?.as_mut().map(work)).ok().flatten()
}

/// Guard of the rounds of this thread; dropping it discards the fetched bytes.
struct RoundsGuard;

impl RoundsGuard {
    /// Begins rounds on this thread; `None` if they have begun already.
    fn begin() -> Option<RoundsGuard> {
        let begin = |round: &RefCell<Option<Round>>| {
            let mut round = round.try_borrow_mut().ok()?;
            round.is_none().then(|| *round = Some(Round::default()))
        };
        ROUND.try_with(begin).ok().flatten().map(|()| RoundsGuard)
    }

    /// Fetches the recorded requests, in one round for each blob.
    fn load(&self) -> Result<()> {
        let Some(mut known) = with_round(|round| std::mem::take(&mut round.known)) else { return Ok(()) };
        let done = known.values_mut().filter(|blob| !blob.requested.is_empty()).try_for_each(KnownBlob::load);
        with_round(|round| round.known = known);
        done
    }
}

impl Drop for RoundsGuard {
    fn drop(&mut self) {
        let _ = ROUND.try_with(|round| drop(round.take()));
    }
}

/// Runs a task for each item, and returns the results in the order of the items. Requests of the tasks to blobs wrapped in
/// [`InRounds`] are sent in rounds: a task may run several times, and only the result of the run that found all its bytes is
/// returned.
///
/// A run of a task may end early with an error for bytes that are not fetched yet. So a task must not keep that error, and any
/// other state that it changes (a cache, a counter) must be valid after an incomplete run.
pub fn read_in_rounds<T, R>(items: &[T], mut task: impl FnMut(&T) -> R) -> Vec<R> {
    let Some(running) = RoundsGuard::begin() else { return items.iter().map(task).collect() };
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let mut waiting: Vec<usize> = (0..items.len()).collect();
    for _ in 0..MAX_ROUNDS {
        let misses = || with_round(|round| round.misses).unwrap_or_default();
        waiting.retain(|&number| {
            let before = misses();
            let result = task(&items[number]);
            let is_complete = misses() == before;
            if is_complete {
                results[number] = Some(result);
            }
            !is_complete
        });
        // After a failed round each task reads on its own, and gets the errors of its own requests only.
        if waiting.is_empty() || running.load().is_err() {
            break;
        }
    }
    drop(running);
    let results = results.into_iter().zip(items);
    results.map(|(result, item)| result.unwrap_or_else(|| task(item))).collect()
}

/// A blob whose requests are collected and sent in rounds within [`read_in_rounds`]. Outside of it, requests are passed on.
#[derive(Clone)]
pub struct InRounds {
    inner: Arc<dyn Blob>,
}

impl std::fmt::Debug for InRounds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "InRounds({})", self.inner.name())
    }
}

impl InRounds {
    /// Wraps `inner`.
    pub fn new(inner: Arc<dyn Blob>) -> InRounds {
        InRounds { inner }
    }
}

impl Blob for InRounds {
    forward!([.inner] size read_suffix name forget expect_pages change_token cost is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut requests = [ReadRequest::new(at, into)];
        match with_round(|round| round.answer(&self.inner, &mut requests)).flatten() {
            Some(answer) => answer.map(|()| requests[0].len),
            None => self.inner.read_at(at, requests[0].into),
        }
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        match with_round(|round| round.answer(&self.inner, requests)).flatten() {
            Some(answer) => answer,
            None => self.inner.read_many(requests),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;
    use crate::testing::{Fault, Simulated, Traffic};
    use crate::{Cost, MemoryStore, ObjectBlob, Store};

    const COST: Cost = Cost { in_flight: 1000, ..Cost::REMOTE };

    /// Returns a store, a blob of its object "k", and the indices of the first pointers. The object holds `count` chains of `len`
    /// pointers of 8 bytes; the pointers of one chain lie `count` pointers apart.
    fn chains(count: u64, len: u64) -> (Arc<Simulated<MemoryStore>>, InRounds, Vec<u64>) {
        let store = MemoryStore::default();
        let all = count * len;
        let next = |at: u64| if at + count < all { at + count } else { u64::MAX };
        let bytes: Vec<u8> = (0..all).flat_map(|at| next(at).to_le_bytes()).collect();
        store.put("k", &bytes).unwrap();
        let store = Arc::new(Simulated::new(store, COST, Duration::ZERO));
        (store.clone(), InRounds::new(Arc::new(ObjectBlob::new(store, "k"))), (0..count).collect())
    }

    fn pointer(blob: &InRounds, at: u64) -> Result<u64> {
        let mut bytes = [0; 8];
        blob.read_exact_at(at * 8, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Follows a chain. Returns the number of its pointers.
    fn follow(blob: &InRounds, mut at: u64) -> Result<u64> {
        let mut len = 0;
        while at != u64::MAX {
            at = pointer(blob, at)?;
            len += 1;
        }
        Ok(len)
    }

    #[test]
    fn the_number_of_rounds_is_the_length_of_a_chain() {
        let (store, blob, starts) = chains(50, 4);
        let found = read_in_rounds(&starts, |&start| follow(&blob, start).unwrap_or(0));
        assert_eq!(found, [4; 50]);
        assert_eq!(store.take_traffic(), Traffic { rounds: 4, requests: 200, bytes: 1600 });
        assert_eq!(follow(&blob, 7).unwrap(), 4);
        assert_eq!(store.take_traffic().rounds, 4, "one by one without tasks");
    }

    #[test]
    fn tasks_within_tasks_share_the_rounds() {
        let (store, blob, _) = chains(40, 3);
        let outer = [0, 10, 20, 30];
        let found = read_in_rounds(&outer, |&first| {
            let starts: Vec<u64> = (first..first + 10).collect();
            read_in_rounds(&starts, |&start| follow(&blob, start)).into_iter().collect::<Result<Vec<u64>>>()
        });
        assert!(found.into_iter().all(|lens| lens.unwrap() == [3; 10]));
        assert_eq!(store.take_traffic().rounds, 3);
    }

    #[test]
    fn requests_of_a_batch_wait_together() {
        let (store, blob, _) = chains(10, 1);
        let found = read_in_rounds(&[()], |()| {
            let mut buffers = [[0; 8]; 2];
            let [first, second] = &mut buffers;
            blob.read_many(&mut [ReadRequest::new(0, first), ReadRequest::new(40, second)]).map(|()| buffers)
        });
        assert_eq!(*found[0].as_ref().unwrap(), [[255; 8]; 2]);
        assert_eq!(store.take_traffic(), Traffic { rounds: 1, requests: 2, bytes: 16 });
    }

    #[test]
    fn ranges_within_others_are_not_asked_for() {
        let (store, blob, _) = chains(10, 1);
        let found = read_in_rounds(&[(0, 40), (8, 8), (0, 16), (32, 16)], |&(at, len)| {
            let mut into = vec![0; len];
            blob.read_exact_at(at, &mut into).map(|()| into)
        });
        assert!(found.into_iter().zip([40, 8, 16, 16]).all(|(bytes, len)| bytes.unwrap() == vec![255; len]));
        assert_eq!(store.take_traffic(), Traffic { rounds: 1, requests: 2, bytes: 56 });
    }

    #[test]
    fn reads_at_the_end_of_the_blob_are_short() {
        let (_, blob, _) = chains(2, 1);
        let found = read_in_rounds(&[8, 16, 24], |&at| {
            // The first run of each task gets an error, since nothing is fetched yet.
            blob.read_at(at, &mut [0; 16]).unwrap_or(usize::MAX)
        });
        assert_eq!(found, [8, 0, 0]);
    }

    #[test]
    fn failed_round_gives_each_task_its_own_answer() {
        let (store, blob, starts) = chains(3, 2);
        store.fail(4, Fault::Refused);
        let runs = Cell::new(0);
        let found = read_in_rounds(&starts, |&start| {
            runs.set(runs.get() + 1);
            follow(&blob, start)
        });
        assert!(found.into_iter().all(|len| len.unwrap() == 2));
        assert_eq!(runs.get(), 9, "twice in rounds, then once alone");
    }

    #[test]
    fn long_chain_ends_one_by_one() {
        let (store, blob, starts) = chains(1, 100);
        let runs = Cell::new(0);
        let found = read_in_rounds(&starts, |&start| {
            runs.set(runs.get() + 1);
            follow(&blob, start).unwrap_or(0)
        });
        assert_eq!((found, runs.get()), (vec![100], MAX_ROUNDS + 1));
        assert_eq!(store.take_traffic().requests, MAX_ROUNDS as u64 + 100);
    }

    #[test]
    fn too_large_requests_are_passed_on() {
        let store = MemoryStore::default();
        store.put("k", &vec![7; MAX_BYTES + 1]).unwrap();
        let store = Arc::new(Simulated::new(store, COST, Duration::ZERO));
        let blob = InRounds::new(Arc::new(ObjectBlob::new(store.clone(), "k")));
        let runs = Cell::new(0);
        let found = read_in_rounds(&[()], |()| {
            runs.set(runs.get() + 1);
            let mut into = vec![0; MAX_BYTES + 1];
            blob.read_at(0, &mut into).map(|len| (len, into[MAX_BYTES]))
        });
        assert_eq!((found[0].as_ref().unwrap(), runs.get()), (&(MAX_BYTES + 1, 7), 1));
    }

    #[test]
    fn batch_that_was_fetched_is_not_passed_on() {
        let store = MemoryStore::default();
        store.put("k", &vec![7; MAX_BYTES]).unwrap();
        let store = Arc::new(Simulated::new(store, COST, Duration::ZERO));
        let blob = InRounds::new(Arc::new(ObjectBlob::new(store.clone(), "k")));
        let half = MAX_BYTES / 2;
        let found = read_in_rounds(&[()], |()| {
            let (mut one, mut two) = (vec![0; half], vec![0; half]);
            let mut requests = [ReadRequest::new(0, &mut one), ReadRequest::new(half as u64, &mut two)];
            blob.read_many(&mut requests)
        });
        assert!(found[0].is_ok());
        assert_eq!(store.take_traffic(), Traffic { rounds: 1, requests: 2, bytes: MAX_BYTES as u64 });
    }

    #[test]
    fn panic_of_a_task_ends_the_round() {
        let (_, blob, starts) = chains(2, 1);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            read_in_rounds(&starts, |_| panic!("a task"));
        }));
        assert!(panicked.is_err());
        assert_eq!(follow(&blob, 0).unwrap(), 1);
    }

    #[test]
    fn every_method_is_passed_on() {
        crate::suite::forwards_reads(|probe: Arc<crate::suite::Probe>| InRounds::new(probe), &[]);
    }
}
