//! Counts of the requests of this process.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{MutexGuard, PoisonError};

/// What this process sent and received, all stores together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Times that a request was sent while no other was in flight. Where requests follow from answers to others, this is how many
    /// times the latency was waited for.
    pub rounds: u64,
    /// Requests, each retry counted.
    pub requests: u64,
    /// Bytes of bodies that arrived.
    pub received: u64,
    /// Bytes of bodies that were sent.
    pub sent: u64,
}

/// Rounds and requests, and how many of the latter are in flight.
#[derive(Debug, Default)]
struct Counts {
    in_flight: u64,
    rounds: u64,
    requests: u64,
}

static COUNTS: Mutex<Counts> = Mutex::new(Counts { in_flight: 0, rounds: 0, requests: 0 });
static RECEIVED: AtomicU64 = AtomicU64::new(0);
static SENT: AtomicU64 = AtomicU64::new(0);

/// Returns the traffic of this process so far.
pub fn traffic() -> Traffic {
    let Counts { rounds, requests, .. } = *counts();
    Traffic { rounds, requests, received: RECEIVED.load(Relaxed), sent: SENT.load(Relaxed) }
}

// No code panics in the middle of a change.
fn counts() -> MutexGuard<'static, Counts> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request in flight, until it is dropped.
pub(super) struct InFlight;

impl InFlight {
    /// Counts a request that is about to be sent.
    pub(super) fn begin() -> InFlight {
        let mut counts = counts();
        counts.rounds += u64::from(counts.in_flight == 0);
        counts.in_flight += 1;
        counts.requests += 1;
        InFlight
    }

    /// Counts the bytes of the bodies.
    pub(super) fn end(self, sent: u64, received: u64) {
        SENT.fetch_add(sent, Relaxed);
        RECEIVED.fetch_add(received, Relaxed);
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        counts().in_flight -= 1;
    }
}
