//! Counts of the requests of this process.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

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

// No lock: a child made by `fork` while another thread held it would wait for ever.
static IN_FLIGHT: AtomicU64 = AtomicU64::new(0);
static ROUNDS: AtomicU64 = AtomicU64::new(0);
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static RECEIVED: AtomicU64 = AtomicU64::new(0);
static SENT: AtomicU64 = AtomicU64::new(0);

/// Returns the traffic of this process so far.
pub fn traffic() -> Traffic {
    let [rounds, requests, received, sent] =
        [&ROUNDS, &REQUESTS, &RECEIVED, &SENT].map(|count| count.load(Relaxed));
    Traffic { rounds, requests, received, sent }
}

/// A request in flight, until it is dropped.
pub(super) struct InFlight;

impl InFlight {
    /// Counts a request that is about to be sent.
    pub(super) fn begin() -> InFlight {
        let is_first = IN_FLIGHT.fetch_add(1, Relaxed) == 0;
        ROUNDS.fetch_add(u64::from(is_first), Relaxed);
        REQUESTS.fetch_add(1, Relaxed);
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
        IN_FLIGHT.fetch_sub(1, Relaxed);
    }
}
