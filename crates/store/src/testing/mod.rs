//! For tests: blobs that count requests, fail at the n-th write, or record all writes; a store that behaves like a remote one;
//! and pseudorandom numbers.

mod recording;
mod rng;
mod simulated;

pub use recording::{Event, Log, Recording};
pub use rng::Rng;
pub use simulated::{Fault, Simulated, Traffic};

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Error, Result, errno};

use crate::{Blob, BlobMut, Cost, ReadRequest, Suffix, Writes, forward};

/// Counts the requests that reach another blob.
#[derive(Debug, Default)]
pub struct Counting<B> {
    inner: B,
    /// The cost that the wrapper returns, if it is not that of the inner blob.
    cost: Option<Cost>,
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
}

impl<B> Counting<B> {
    /// Counts from zero.
    pub fn new(inner: B) -> Self {
        let zero = AtomicU64::default;
        Counting {
            inner,
            cost: None,
            reads: zero(),
            read_bytes: zero(),
            writes: zero(),
            written_bytes: zero(),
        }
    }

    /// Counts the requests of readers that plan for this cost.
    #[must_use]
    pub fn with_cost(self, cost: Cost) -> Self {
        Counting { cost: Some(cost), ..self }
    }

    fn count_read(&self, len: usize) {
        self.reads.fetch_add(1, Relaxed);
        self.read_bytes.fetch_add(len as u64, Relaxed);
    }

    /// Returns the number of requests to read, and the bytes that they requested.
    pub fn reads(&self) -> (u64, u64) {
        (self.reads.load(Relaxed), self.read_bytes.load(Relaxed))
    }

    /// Returns the number of requests to write, and their bytes.
    pub fn writes(&self) -> (u64, u64) {
        (self.writes.load(Relaxed), self.written_bytes.load(Relaxed))
    }
}

impl<B: Blob> Blob for Counting<B> {
    forward!([.inner] size name forget expect_pages change_token is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.count_read(into.len());
        self.inner.read_at(at, into)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        requests.iter().for_each(|request| self.count_read(request.into.len()));
        self.inner.read_many(requests)
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        self.count_read(into.len());
        self.inner.read_suffix(into)
    }

    fn cost(&self) -> Cost {
        self.cost.unwrap_or_else(|| self.inner.cost())
    }
}

impl<B: BlobMut> BlobMut for Counting<B> {
    forward!([.inner] set_size flush sync keeps_holes replace);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.writes.fetch_add(1, Relaxed);
        self.written_bytes.fetch_add(from.len() as u64, Relaxed);
        self.inner.write_at(at, from)
    }
}

/// Fails some of the calls that change another blob.
#[derive(Debug)]
pub struct Failing<B> {
    inner: B,
    faults: Arc<Mutex<Faults>>,
}

/// The calls that fail.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Number of calls that succeed first.
    pub after: u64,
    /// Number of calls that fail then; later calls succeed.
    pub times: u64,
    /// True if a write that fails writes its first half, unless it is as short as a superblock: disks write that whole or not at
    /// all.
    pub torn: bool,
}

impl<B> Failing<B> {
    /// Fails every call after `writes` calls that change the blob, as a full disk does.
    pub fn after(inner: B, writes: u64) -> Self {
        let faults = Faults { after: writes, times: u64::MAX, torn: false };
        Failing { inner, faults: Arc::new(Mutex::new(faults)) }
    }

    /// Fails one call, the one after `writes` calls that change the blob. Later calls succeed, so a caller that ignores the error
    /// is detected.
    pub fn once_after(inner: B, writes: u64) -> Self {
        let faults = Faults { after: writes, times: 1, torn: false };
        Failing { inner, faults: Arc::new(Mutex::new(faults)) }
    }

    /// Fails no call before [`arm`](Failing::arm).
    pub fn never(inner: B) -> Self {
        Failing { inner, faults: Arc::default() }
    }

    /// Replaces the calls that fail, counted from now on.
    pub fn arm(&self, faults: Faults) {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner) = faults;
    }

    /// Returns an error if this call is to fail, and whether the first half of a write is written.
    fn spend(&self) -> std::result::Result<(), (Error, bool)> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(left) = faults.after.checked_sub(1) {
            faults.after = left;
            return Ok(());
        }
        if faults.times == 0 {
            return Ok(());
        }
        faults.times -= 1;
        Err((Error::new(errno::NOSPC, "the test's disk is full"), faults.torn))
    }
}

impl<B: Blob> Blob for Failing<B> {
    forward!([.inner] size read_at read_many read_suffix name forget expect_pages change_token cost is_nameless);
}

impl<B: BlobMut> BlobMut for Failing<B> {
    forward!([.inner] flush keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        match self.spend() {
            Ok(()) => self.inner.write_at(at, from),
            Err((error, torn)) => {
                if torn && from.len() > 48 {
                    self.inner.write_at(at, &from[..from.len() / 2])?;
                }
                Err(error)
            }
        }
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.spend().map_err(|(error, _)| error)?;
        self.inner.set_size(size)
    }

    fn sync(&self) -> Result<()> {
        self.spend().map_err(|(error, _)| error)?;
        self.inner.sync()
    }

    /// Counts the changes of the new bytes too.
    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        self.inner.replace(&mut |new| write(&Failing { inner: new, faults: self.faults.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlob;

    #[test]
    fn wrappers_are_blobs_too() {
        crate::suite::blob(|_| Counting::new(MemoryBlob::default()));
        crate::suite::blob(|_| Failing::after(MemoryBlob::default(), u64::MAX));
    }

    #[test]
    fn counts_and_fails() {
        let blob = Counting::new(Failing::after(MemoryBlob::default(), 1));
        blob.write_at(0, b"abc").unwrap();
        assert_eq!(blob.write_at(3, b"d").unwrap_err().code, errno::NOSPC);
        blob.read_exact_at(1, &mut [0; 2]).unwrap();
        assert_eq!((blob.writes(), blob.reads()), ((2, 4), (1, 2)));
        assert_eq!(blob.size().unwrap(), 3);
    }

    #[test]
    fn every_method_is_passed_on() {
        crate::suite::forwards_reads(Counting::new, &[]);
        crate::suite::forwards_writes(Counting::new, &[]);
    }

    #[test]
    fn failing_passes_every_method_on() {
        crate::suite::forwards_reads(Failing::never, &[]);
        crate::suite::forwards_writes(Failing::never, &[]);
    }
}
