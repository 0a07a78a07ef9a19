//! A store that behaves like a remote one: with latency, failing requests and truncated bodies. It counts requests and rounds.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ferrocdf_bytes::{Code, Error, Result, errno};

use crate::{ByteRange, Cost, Expected, Fetched, Listing, Store, Version};

/// Requests to a store, as a test counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of times that a request began while no other was in flight: a lower bound of the latencies that add up. A batch
    /// takes one round for each [`Cost::in_flight`] of its requests.
    pub rounds: u64,
    /// Requests of any kind.
    pub requests: u64,
    /// Bytes of objects that were read or written.
    pub bytes: u64,
}

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request fails, and nothing is done.
    Refused,
    /// The request fails with the system's `ESTALE`, as on a network file system, and nothing is done.
    Stale,
    /// The object is written, and the request fails all the same; a read fails.
    AnswerLost,
    /// The first half of the bytes arrives; a write fails.
    BodyCut,
}

/// A store over another one, for tests.
#[derive(Debug)]
pub struct Simulated<S> {
    inner: S,
    cost: Cost,
    latency: Duration,
    state: Mutex<SimulatedState>,
    requests: AtomicU64,
}

#[derive(Debug, Default)]
struct SimulatedState {
    traffic: Traffic,
    in_flight: u64,
    /// Faults by the number of the request, counted from 0.
    faults: Vec<(u64, Fault)>,
}

impl<S: Store> Simulated<S> {
    /// Wraps a store: the new one has this cost, and its requests take `latency`.
    pub fn new(inner: S, cost: Cost, latency: Duration) -> Simulated<S> {
        Simulated { inner, cost, latency, state: Mutex::default(), requests: AtomicU64::new(0) }
    }

    /// Lets a request fail; requests are counted from 0 since the store was made.
    pub fn fail(&self, request: u64, fault: Fault) {
        self.state().faults.push((request, fault));
    }

    /// Returns the store that is wrapped, whose requests are neither counted nor fail.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// Returns the traffic so far.
    pub fn traffic(&self) -> Traffic {
        self.state().traffic
    }

    /// Returns the traffic so far, and resets the counts.
    pub fn take_traffic(&self) -> Traffic {
        std::mem::take(&mut self.state().traffic)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, SimulatedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs one request, which moves as many bytes as it says, alone or as one of a batch whose rounds were counted.
    fn request<T>(
        &self,
        key: &str,
        in_batch: bool,
        run: impl FnOnce(Option<Fault>) -> Result<(T, u64)>,
    ) -> Result<T> {
        let fault = {
            let mut state = self.state();
            state.traffic.requests += 1;
            if !in_batch {
                state.traffic.rounds += u64::from(state.in_flight == 0);
                state.in_flight += 1;
            }
            let number = self.requests.fetch_add(1, SeqCst);
            state.faults.iter().find(|fault| fault.0 == number).map(|fault| fault.1)
        };
        if !in_batch {
            std::thread::sleep(self.latency);
        }
        let refused = || Error::new(Code::EIO, format!("{key}: the test refuses this request"));
        let done = match fault {
            Some(Fault::Refused) => Err(refused()),
            Some(Fault::Stale) => Err(refused().with_code(errno::STALE)),
            Some(Fault::AnswerLost) => run(fault).and(Err(refused())),
            Some(Fault::BodyCut) | None => run(fault),
        };
        let mut state = self.state();
        if !in_batch {
            state.in_flight -= 1;
        }
        let (value, bytes) = done?;
        state.traffic.bytes += bytes;
        Ok(value)
    }

    fn get_one(&self, key: &str, range: ByteRange, in_batch: bool) -> Result<Option<Fetched>> {
        self.request(key, in_batch, |fault| {
            let mut found = self.inner.get(key, range)?;
            if let (Some(found), Some(Fault::BodyCut)) = (&mut found, fault) {
                found.bytes.truncate(found.bytes.len() / 2);
            }
            let bytes = found.as_ref().map_or(0, |found| found.bytes.len() as u64);
            Ok((found, bytes))
        })
    }

    fn list_one(&self, folder: &str, in_batch: bool) -> Result<Listing> {
        self.request(folder, in_batch, |_| self.inner.list(folder).map(|listing| (listing, 0)))
    }

    /// Answers requests in batches of as many as are in flight at once, each of which is a round.
    fn in_batches<R, T>(&self, requests: &[R], answer: impl Fn(&R) -> T) -> Vec<T> {
        let mut answers = Vec::with_capacity(requests.len());
        for batch in requests.chunks(self.cost.in_flight.max(1)) {
            self.state().traffic.rounds += 1;
            std::thread::sleep(self.latency);
            answers.extend(batch.iter().map(&answer));
        }
        answers
    }

    /// A write whose body is cut fails before anything is done.
    fn put_one<T>(&self, key: &str, bytes: &[u8], put: impl FnOnce() -> Result<T>) -> Result<T> {
        self.request(key, false, |fault| match fault {
            Some(Fault::BodyCut) => Err(Error::new(Code::EIO, format!("{key}: the test cuts this body"))),
            _ => put().map(|done| (done, bytes.len() as u64)),
        })
    }
}

impl<S: Store> Store for Simulated<S> {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.get_one(key, range, false)
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        self.in_batches(requests, |&(key, range)| self.get_one(key, range, true))
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        self.put_one(key, bytes, || self.inner.put(key, bytes))
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        self.put_one(key, bytes, || self.inner.put_if(key, bytes, expected))
    }

    fn delete(&self, key: &str) -> Result<()> {
        self.request(key, false, |_| self.inner.delete(key).map(|()| ((), 0)))
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        self.list_one(folder, false)
    }

    fn list_many(&self, folders: &[&str]) -> Vec<Result<Listing>> {
        self.in_batches(folders, |folder| self.list_one(folder, true))
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryStore, suite};

    fn simulated(latency: Duration) -> Simulated<MemoryStore> {
        Simulated::new(MemoryStore::default(), Cost { in_flight: 4, ..Cost::REMOTE }, latency)
    }

    #[test]
    fn simulated_store_behaves_as_a_store() {
        suite::store(|_| simulated(Duration::ZERO));
    }

    #[test]
    fn batches_and_requests_side_by_side_are_counted_as_rounds() {
        let store = simulated(Duration::ZERO);
        store.put("k", b"0123456789").unwrap();
        store.get("k", ByteRange::Suffix(3)).unwrap();
        assert_eq!(store.take_traffic(), Traffic { rounds: 2, requests: 2, bytes: 13 });
        let requests = [("k", ByteRange::Suffix(1)); 9];
        assert!(store.get_many(&requests).iter().all(Result::is_ok));
        assert_eq!(store.take_traffic(), Traffic { rounds: 3, requests: 9, bytes: 9 });
        // Requests that overlap are one round.
        let store = simulated(Duration::from_millis(200));
        let barrier = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    barrier.wait();
                    store.get("k", ByteRange::All).unwrap();
                });
            }
        });
        assert_eq!(store.take_traffic(), Traffic { rounds: 1, requests: 3, bytes: 0 });
    }

    #[test]
    fn faults_hit_the_requests_they_name() {
        let store = simulated(Duration::ZERO);
        for (request, fault) in
            [(0, Fault::AnswerLost), (1, Fault::Refused), (3, Fault::BodyCut), (4, Fault::BodyCut)]
        {
            store.fail(request, fault);
        }
        assert!(store.put("k", b"0123").is_err());
        assert!(store.put("k", b"4567").is_err());
        let range = ByteRange::All;
        assert_eq!(store.get("k", range).unwrap().unwrap().bytes, b"0123", "the first put was done");
        let cut = store.get("k", range).unwrap().unwrap();
        assert_eq!(cut.bytes, b"01");
        assert_eq!(cut.check("k", range).unwrap_err().code, Code::ETRUNC);
        assert!(store.put("k", b"89").is_err());
        assert_eq!(store.get("k", range).unwrap().unwrap().bytes, b"0123");
    }
}
