//! For tests: blobs that count requests, fail at the n-th write, remember all writes; and numbers that look random.

mod recording;
mod rng;

pub use recording::{Event, Log, Recording};
pub use rng::Rng;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrocdf_bytes::{Code, Error, Result};

use crate::{Blob, BlobMut};

/// Counts the requests that reach another blob.
#[derive(Debug, Default)]
pub struct Counting<B> {
    inner: B,
    reads: AtomicU64,
    read_bytes: AtomicU64,
    writes: AtomicU64,
    written_bytes: AtomicU64,
}

impl<B> Counting<B> {
    /// Counts from zero.
    pub fn new(inner: B) -> Self {
        let zero = AtomicU64::default;
        Counting { inner, reads: zero(), read_bytes: zero(), writes: zero(), written_bytes: zero() }
    }

    /// Requests to read, and the bytes they asked for.
    pub fn reads(&self) -> (u64, u64) {
        (self.reads.load(Relaxed), self.read_bytes.load(Relaxed))
    }

    /// Requests to write, and their bytes.
    pub fn writes(&self) -> (u64, u64) {
        (self.writes.load(Relaxed), self.written_bytes.load(Relaxed))
    }
}

impl<B: Blob> Blob for Counting<B> {
    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.reads.fetch_add(1, Relaxed);
        self.read_bytes.fetch_add(into.len() as u64, Relaxed);
        self.inner.read_at(at, into)
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

impl<B: BlobMut> BlobMut for Counting<B> {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.writes.fetch_add(1, Relaxed);
        self.written_bytes.fetch_add(from.len() as u64, Relaxed);
        self.inner.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.inner.set_size(size)
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }
}

/// Lets some writes through to another blob, then fails every further one, as a full disk does.
#[derive(Debug)]
pub struct Failing<B> {
    inner: B,
    writes_left: AtomicU64,
    /// What is left after a failure.
    then: u64,
}

impl<B> Failing<B> {
    /// Fails after `writes` calls that change the blob.
    pub fn after(inner: B, writes: u64) -> Self {
        Failing { inner, writes_left: AtomicU64::new(writes), then: 0 }
    }

    /// Fails one call, the one after `writes` calls that change the blob: who overlooks it has no second chance.
    pub fn once_after(inner: B, writes: u64) -> Self {
        Failing { then: u64::MAX, ..Self::after(inner, writes) }
    }

    fn spend(&self) -> Result<()> {
        let left = self
            .writes_left
            .fetch_update(Relaxed, Relaxed, |left| Some(left.checked_sub(1).unwrap_or(self.then)));
        match left {
            Ok(0) | Err(_) => Err(Error::new(Code(28), "the test's disk is full")),
            Ok(_) => Ok(()),
        }
    }
}

impl<B: Blob> Blob for Failing<B> {
    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.inner.read_at(at, into)
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

impl<B: BlobMut> BlobMut for Failing<B> {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.spend()?;
        self.inner.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.spend()?;
        self.inner.set_size(size)
    }

    fn sync(&self) -> Result<()> {
        self.spend()?;
        self.inner.sync()
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
        assert_eq!(blob.write_at(3, b"d").unwrap_err().code, Code(28));
        blob.read_exact_at(1, &mut [0; 2]).unwrap();
        assert_eq!((blob.writes(), blob.reads()), ((2, 4), (1, 2)));
        assert_eq!(blob.size().unwrap(), 3);
    }
}
