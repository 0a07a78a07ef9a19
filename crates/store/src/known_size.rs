//! The cached size of a blob: readers of many small structures ask for the size with each of them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Lower bound of the values that mark an unknown size; no blob is so large.
const UNKNOWN: u64 = 1 << 63;

/// The size of a blob in bytes; from [`UNKNOWN`] on, a marker unique to each call of [`forget`](KnownSize::forget).
#[derive(Debug)]
pub(crate) struct KnownSize(AtomicU64);

impl Default for KnownSize {
    fn default() -> Self {
        KnownSize(AtomicU64::new(UNKNOWN))
    }
}

impl KnownSize {
    /// Returns the size if it is known.
    pub(crate) fn get(&self) -> Option<u64> {
        Some(self.0.load(Relaxed)).filter(|&size| size < UNKNOWN)
    }

    /// Makes the size unknown. A request in flight does not store its answer, since the marker that it found has changed.
    pub(crate) fn forget(&self) {
        static TIMES: AtomicU64 = AtomicU64::new(1);
        self.0.store(UNKNOWN + TIMES.fetch_add(1, Relaxed), Relaxed);
    }

    /// Runs a request whose answer has the size, and caches the size unless [`forget`](KnownSize::forget) was called meanwhile.
    pub(crate) fn learn<T, E>(
        &self,
        request: impl FnOnce() -> Result<T, E>,
        size: impl FnOnce(&T) -> u64,
    ) -> Result<T, E> {
        let before = self.0.load(Relaxed);
        let answer = request()?;
        let size = size(&answer);
        if before >= UNKNOWN && size < UNKNOWN {
            let _ = self.0.compare_exchange(before, size, Relaxed, Relaxed);
        }
        Ok(answer)
    }
}
