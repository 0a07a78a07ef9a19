//! One byte budget for the pages of all blobs.
//!
//! The least recently used pages of all blobs are evicted. Finding them takes a pass over all pages, so each pass frees an eighth
//! of the budget and serves many loads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError, Weak};

use super::Shared;

/// The budget of the process, in bytes: the metadata of a file with some 20,000 variables.
pub(crate) static PROCESS: Budget = Budget::new(64 << 20);

/// Bytes that the pages of several blobs may hold together.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: usize,
    /// Bytes that the pages hold now.
    bytes: AtomicUsize,
    /// Number of uses of pages so far: the time of a use.
    clock: AtomicU64,
    /// The pages of each blob. Locked before the pages of a blob, never while they are locked.
    blobs: Mutex<Vec<Weak<Shared>>>,
}

impl Budget {
    /// Makes a budget of `limit` bytes.
    pub(crate) const fn new(limit: usize) -> Budget {
        Budget { limit, bytes: AtomicUsize::new(0), clock: AtomicU64::new(0), blobs: Mutex::new(Vec::new()) }
    }

    /// Returns the maximum bytes of one load; its last range may exceed them.
    pub(super) fn one_load(&self) -> u64 {
        self.limit as u64 / 2
    }

    /// Returns the time of a use, later than all before.
    pub(super) fn now(&self) -> u64 {
        self.clock.fetch_add(1, Relaxed)
    }

    /// Lets the pages of a blob be evicted from now on.
    pub(super) fn register(&self, shared: Weak<Shared>) {
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        blobs.retain(|blob| blob.strong_count() > 0);
        blobs.push(shared);
    }

    /// Adds to the count of bytes in pages.
    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Subtracts from the count of bytes in pages.
    pub(super) fn release(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Evicts pages until an eighth of the budget is free, if the pages hold more than the budget. The caller has no pages
    /// locked.
    pub(super) fn trim(&self) {
        if self.bytes.load(Relaxed) <= self.limit {
            return;
        }
        let mut blobs = self.blobs.lock().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have evicted pages meanwhile.
        let bytes = self.bytes.load(Relaxed);
        if bytes <= self.limit {
            return;
        }
        blobs.retain(|blob| blob.strong_count() > 0);
        let shared: Vec<_> = blobs.iter().filter_map(Weak::upgrade).collect();
        let mut uses: Vec<(u64, usize)> = shared.iter().flat_map(|shared| shared.uses()).collect();
        uses.sort_unstable();
        let mut excess = bytes - (self.limit - self.limit / 8);
        let last = uses.into_iter().find(|&(_, bytes)| {
            excess = excess.saturating_sub(bytes);
            excess == 0
        });
        let last = last.map_or(u64::MAX, |(time, _)| time);
        shared.iter().for_each(|shared| shared.evict_to(last));
    }

    /// Returns the bytes that the pages hold now.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }
}
