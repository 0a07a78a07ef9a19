//! Reading in rounds: tasks that each follow pointers through a slow blob, a header to its heap and the heap to its blocks, wait
//! together.
//!
//! A task runs until it asks for bytes that are not there yet. The request is noted, and answered with an error. When all tasks
//! have stopped, one round of requests brings the bytes that are missing, and they run again from the start. So the number of
//! rounds is the longest chain of pointers, not the number of tasks, and a parser reads as if all bytes were at hand: it is not
//! written in two halves, and no other thread is needed. The cost is processor time, small beside the latency of a request.
//!
//! Tasks within tasks run in the rounds of the outer ones: what is missing is noted by all of them before any runs again.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};

use crate::{Blob, ReadRequest, forward};

/// Maximum number of bytes that tasks hold and wait for. Requests beyond are answered at once, one by one.
const MOST_BYTES: usize = 32 << 20;

/// Rounds after which the tasks that are left read one by one. Each round runs them from the start: a damaged file with one
/// long chain of pointers would take time by the square of its length.
const MOST_ROUNDS: usize = 64;

thread_local! {
    static ROUND: RefCell<Option<Round>> = const { RefCell::new(None) };
}

/// The tasks that this thread runs in rounds.
#[derive(Default)]
struct Round {
    /// The bytes that earlier rounds brought, by the address of the blob in memory: `wanted` or a task holds it.
    known: HashMap<usize, KnownBlob>,
    /// Bytes of the requests that were noted, each range once.
    bytes: usize,
    /// Number of requests that could not be answered.
    misses: u64,
}

/// What is known of one blob, and what is to be read from it next.
struct KnownBlob {
    blob: Arc<dyn Blob>,
    /// Bytes by their positions.
    ranges: BTreeMap<u64, KnownRange>,
    wanted: BTreeSet<(u64, Reverse<usize>)>,
}

/// Bytes that a round brought.
struct KnownRange {
    bytes: Vec<u8>,
    /// True if the blob ends behind them.
    is_end: bool,
}

impl KnownBlob {
    /// Copies bytes to `into`; their number, which is smaller only where the blob ends. `None` if they are not known.
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

    /// Reads what is wanted, in one round. Ranges within other ones are left out; joining the others is the matter of the blob,
    /// whose pages hold small requests and not large ones.
    fn load(&mut self) -> Result<()> {
        let mut end = 0;
        let mut wanted = Vec::new();
        for (at, Reverse(len)) in std::mem::take(&mut self.wanted) {
            if at + len as u64 > end {
                end = at + len as u64;
                wanted.push((at, len));
            }
        }
        // At most `MOST_BYTES` in all.
        let mut buffers: Vec<Vec<u8>> = wanted.iter().map(|&(_, len)| vec![0; len]).collect();
        let mut requests: Vec<ReadRequest<'_>> =
            wanted.iter().zip(&mut buffers).map(|(&(at, _), into)| ReadRequest::new(at, into)).collect();
        self.blob.read_many(&mut requests)?;
        let lens: Vec<usize> = requests.iter().map(|request| request.len).collect();
        for (((at, asked), mut bytes), len) in wanted.into_iter().zip(buffers).zip(lens) {
            bytes.truncate(len);
            self.ranges.insert(at, KnownRange { bytes, is_end: len < asked });
        }
        Ok(())
    }
}

impl Round {
    /// Answers a request, or notes it for the next round. `None` if the request is too large to wait.
    fn answer(&mut self, blob: &Arc<dyn Blob>, at: u64, into: &mut [u8]) -> Option<Result<usize>> {
        let key = Arc::as_ptr(blob).addr();
        let new = || KnownBlob { blob: blob.clone(), ranges: BTreeMap::new(), wanted: BTreeSet::new() };
        let known = self.known.entry(key).or_insert_with(new);
        if let Some(len) = known.copy(at, into) {
            return Some(Ok(len));
        }
        if !known.wanted.contains(&(at, Reverse(into.len()))) {
            if self.bytes.saturating_add(into.len()) > MOST_BYTES
                || at.checked_add(into.len() as u64).is_none()
            {
                return None;
            }
            self.bytes += into.len();
            known.wanted.insert((at, Reverse(into.len())));
        }
        self.misses += 1;
        let what = format!("{}: {} bytes at byte {at} come with the next round", blob.name(), into.len());
        Some(Err(Error::new(Code::EIO, what)))
    }
}

/// Runs code with the round of this thread; `None` if there is none.
fn with_round<R>(work: impl FnOnce(&mut Round) -> R) -> Option<R> {
    // A thread that is ending runs no tasks.
    ROUND.try_with(|round| round.try_borrow_mut().ok()?.as_mut().map(work)).ok().flatten()
}

/// The round of this thread; dropping it ends the round.
struct Running;

impl Running {
    /// Begins a round; `None` within another one.
    fn begin() -> Option<Running> {
        let begin = |round: &RefCell<Option<Round>>| {
            let mut round = round.try_borrow_mut().ok()?;
            round.is_none().then(|| *round = Some(Round::default()))
        };
        ROUND.try_with(begin).ok().flatten().map(|()| Running)
    }

    /// Reads what the tasks wait for, one round for each blob.
    fn load(&self) -> Result<()> {
        let Some(mut known) = with_round(|round| std::mem::take(&mut round.known)) else { return Ok(()) };
        let done = known.values_mut().filter(|blob| !blob.wanted.is_empty()).try_for_each(KnownBlob::load);
        with_round(|round| round.known = known);
        done
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = ROUND.try_with(|round| drop(round.take()));
    }
}

/// Runs a task for each item, and returns what they return, in order. The requests of all tasks to blobs wrapped in [`InRounds`]
/// are made in rounds: a task may run several times, and what it returns counts only once it found all bytes.
///
/// A task keeps nothing of a run that failed: what it changes beyond its own return value must be right whether it ran to its end
/// or not.
pub fn read_in_rounds<T, R>(items: &[T], mut task: impl FnMut(&T) -> R) -> Vec<R> {
    let Some(running) = Running::begin() else { return items.iter().map(task).collect() };
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let mut waiting: Vec<usize> = (0..items.len()).collect();
    for _ in 0..MOST_ROUNDS {
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
        // After an error each task reads for itself, and meets its own.
        if waiting.is_empty() || running.load().is_err() {
            break;
        }
    }
    drop(running);
    let results = results.into_iter().zip(items);
    results.map(|(result, item)| result.unwrap_or_else(|| task(item))).collect()
}

/// A blob whose requests wait for each other within [`read_in_rounds`]. Elsewhere they are passed on.
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
    /// Reads `inner` in rounds.
    pub fn new(inner: Arc<dyn Blob>) -> InRounds {
        InRounds { inner }
    }
}

impl Blob for InRounds {
    forward!([.inner] size read_suffix name forget change_token cost is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        match with_round(|round| round.answer(&self.inner, at, into)).flatten() {
            Some(answer) => answer,
            None => self.inner.read_at(at, into),
        }
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        let len = requests.iter().fold(0usize, |len, request| len.saturating_add(request.into.len()));
        let answer = |round: &mut Round| {
            // A batch waits as a whole or not at all.
            if round.bytes.saturating_add(len) > MOST_BYTES {
                return None;
            }
            let mut done = Ok(());
            for request in &mut *requests {
                match round.answer(&self.inner, request.at, request.into)? {
                    Ok(len) => request.len = len,
                    Err(error) => done = Err(error),
                }
            }
            Some(done)
        };
        match with_round(answer).flatten() {
            Some(done) => done,
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

    /// An object of `count` chains of `len` pointers, of 8 bytes each: the pointers of one chain lie `count` apart. Returns the
    /// first pointers.
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
            // The size is not known before the first answer.
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
        assert_eq!((found, runs.get()), (vec![100], MOST_ROUNDS + 1));
        assert_eq!(store.take_traffic().requests, MOST_ROUNDS as u64 + 100);
    }

    #[test]
    fn large_requests_do_not_wait() {
        let store = MemoryStore::default();
        store.put("k", &vec![7; MOST_BYTES + 1]).unwrap();
        let store = Arc::new(Simulated::new(store, COST, Duration::ZERO));
        let blob = InRounds::new(Arc::new(ObjectBlob::new(store.clone(), "k")));
        let runs = Cell::new(0);
        let found = read_in_rounds(&[()], |()| {
            runs.set(runs.get() + 1);
            let mut into = vec![0; MOST_BYTES + 1];
            blob.read_at(0, &mut into).map(|len| (len, into[MOST_BYTES]))
        });
        assert_eq!((found[0].as_ref().unwrap(), runs.get()), (&(MOST_BYTES + 1, 7), 1));
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
