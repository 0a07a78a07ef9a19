//! Writing behind for callers who write little at a time.
//!
//! Small consecutive writes are collected in one pending run of bytes. The run is written to the blob when a write is not
//! adjacent to it, when its bytes are read, and when the blob is flushed. Large writes are passed through. Pending bytes are
//! visible through this wrapper at once, for others after [`BlobMut::flush`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Result, ToUsize};

use crate::{Blob, BlobMut, Buffer, ReadRequest, Suffix, Writes, forward};

/// Writes from this size on are passed through.
const SMALL: usize = 32 << 10;
/// Maximum bytes of the pending run.
const MAX_PENDING: usize = 256 << 10;

/// A blob that collects small writes.
#[derive(Debug)]
pub struct WriteBehind<B: BlobMut> {
    inner: B,
    run: Mutex<PendingRun>,
}

/// The pending run: consecutive bytes that are not written yet.
#[derive(Debug, Default)]
struct PendingRun {
    at: u64,
    len: usize,
    bytes: Buffer,
}

impl PendingRun {
    fn end(&self) -> u64 {
        self.at + self.len as u64
    }

    fn meets(&self, at: u64, len: usize) -> bool {
        self.len > 0 && at < self.end() && self.at < at.saturating_add(len as u64)
    }

    /// Appends a write to the run, or overwrites part of it. False if the write is not adjacent or the run is full.
    #[inline]
    fn take(&mut self, at: u64, from: &[u8]) -> bool {
        let Some(skip) = at.checked_sub(self.at).map(ToUsize::saturate).filter(|&skip| skip <= self.len)
        else {
            return false;
        };
        let end = skip + from.len();
        if self.len == 0 || end > MAX_PENDING {
            return false;
        }
        self.bytes.at(self.at, MAX_PENDING)[skip..end].copy_from_slice(from);
        self.len = self.len.max(end);
        true
    }

    /// Copies a range from the run. False if the run lacks a byte.
    fn give(&self, at: u64, into: &mut [u8]) -> bool {
        self.bytes.give(self.at, self.len, at, into)
    }

    /// Copies the run over bytes that were read from the blob at position `at`, of which `got` were there. Returns the number of
    /// valid bytes.
    fn over(&mut self, at: u64, got: usize, into: &mut [u8]) -> Result<usize> {
        let behind = self.end().saturating_sub(at).at_most(into.len());
        let len = got.max(behind);
        // Bytes between the end of the blob and the run read as zero.
        into[got..len].fill(0);
        let (first, last) = (self.at.max(at), self.end().min(at + len as u64));
        if first < last {
            let run = self.bytes.again(self.at, self.len);
            let from = &run[(first - self.at).saturate()..(last - self.at).saturate()];
            into[(first - at).saturate()..(last - at).saturate()].copy_from_slice(from);
        }
        Ok(len)
    }

    fn start(&mut self, at: u64, from: &[u8]) {
        self.bytes.at(at, MAX_PENDING)[..from.len()].copy_from_slice(from);
        (self.at, self.len) = (at, from.len());
    }
}

/// Writes the pending run to the blob. After an error the run stays pending, so it can be tried again.
fn flush_run(inner: &impl BlobMut, run: &mut PendingRun) -> Result<()> {
    if run.len > 0 {
        inner.write_at(run.at, run.bytes.again(run.at, run.len))?;
        run.len = 0;
    }
    Ok(())
}

/// Adds a small write to the pending run, or starts a new run with it.
fn add_to_run(inner: &impl BlobMut, run: &mut PendingRun, at: u64, from: &[u8]) -> Result<()> {
    if !run.take(at, from) {
        flush_run(inner, run)?;
        run.start(at, from);
    }
    Ok(())
}

impl<B: BlobMut> WriteBehind<B> {
    /// Collects small writes to `inner`.
    pub fn new(inner: B) -> Self {
        WriteBehind { inner, run: Mutex::default() }
    }

    // No code panics in the middle of a change of the run, so a poisoned lock guards a valid run.
    fn lock(&self) -> MutexGuard<'_, PendingRun> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the pending run to the blob. False if that fails: the run is still pending, and reads have to copy it over the
    /// bytes of the blob.
    fn flush_for_reading(&self) -> bool {
        flush_run(&self.inner, &mut self.lock()).is_ok()
    }

    /// Writes the pending run to the blob if it overlaps a range.
    fn flush_overlap(&self, at: u64, len: usize) -> Result<()> {
        let mut run = self.lock();
        if run.meets(at, len) { flush_run(&self.inner, &mut run) } else { Ok(()) }
    }
}

impl<B: BlobMut> Blob for WriteBehind<B> {
    forward!([.inner] name forget expect_pages cost is_nameless);

    fn size(&self) -> Result<u64> {
        let run = self.lock();
        let end = if run.len > 0 { run.end() } else { 0 };
        Ok(self.inner.size()?.max(end))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let mut run = self.lock();
        if run.give(at, into) {
            return Ok(into.len());
        }
        if run.len > 0 && run.end() > at && flush_run(&self.inner, &mut run).is_err() {
            // A run that cannot be written can still be read.
            return run.over(at, self.inner.read_at(at, into)?, into);
        }
        drop(run);
        self.inner.read_at(at, into)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        if self.flush_for_reading() {
            return self.inner.read_many(requests);
        }
        for request in requests {
            request.len = self.read_at(request.at, request.into)?;
        }
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        if self.flush_for_reading() {
            return self.inner.read_suffix(into);
        }
        let size = self.size()?;
        let at = size.saturating_sub(into.len() as u64);
        Ok(Suffix { len: self.read_at(at, into)?, size })
    }
}

impl<B: BlobMut> BlobMut for WriteBehind<B> {
    forward!([.inner] keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        if from.len() >= SMALL {
            self.flush_overlap(at, from.len())?;
            return self.inner.write_at(at, from);
        }
        add_to_run(&self.inner, &mut self.lock(), at, from)
    }

    fn write_alone_at(&mut self, at: u64, from: &[u8]) -> Result<()> {
        if from.len() >= SMALL {
            return self.write_at(at, from);
        }
        add_to_run(&self.inner, self.run.get_mut().unwrap_or_else(PoisonError::into_inner), at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        flush_run(&self.inner, &mut self.lock())?;
        self.inner.set_size(size)
    }

    fn flush(&self) -> Result<()> {
        flush_run(&self.inner, &mut self.lock())?;
        self.inner.flush()
    }

    fn sync(&self) -> Result<()> {
        self.flush()?;
        self.inner.sync()
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        flush_run(&self.inner, &mut self.lock())?;
        self.inner.replace(write)
    }
}

impl<B: BlobMut> Drop for WriteBehind<B> {
    fn drop(&mut self) {
        // `drop` cannot return an error; callers who need it call `flush` first.
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlob;
    use crate::testing::{Counting, Failing, Rng};
    use std::sync::Arc;

    #[test]
    fn passes_the_suite() {
        crate::suite::blob(|_| WriteBehind::new(MemoryBlob::default()));
    }

    #[test]
    fn small_steps_cost_few_requests() {
        let inner = Arc::new(Counting::new(MemoryBlob::default()));
        let blob = WriteBehind::new(inner.clone());
        for step in 0..10_000u64 {
            blob.write_at(step * 100, &[step as u8; 100]).unwrap();
        }
        assert_eq!(inner.writes().0, 1_000_000 / MAX_PENDING as u64);
        blob.flush().unwrap();
        assert_eq!(inner.writes().1, 1_000_000);
        assert_eq!(blob.size().unwrap(), 1_000_000);
    }

    #[test]
    fn random_writes_and_reads_are_those_of_a_plain_blob() {
        let mut rng = Rng::new(7);
        let (plain, mut behind) = (MemoryBlob::default(), WriteBehind::new(MemoryBlob::default()));
        for _ in 0..20_000 {
            let at = rng.below(100_000);
            let len = if rng.once_in(50) { 40_000 } else { rng.index(300) };
            let at = if rng.once_in(3) { plain.size().unwrap() } else { at };
            match rng.below(10) {
                0..7 => {
                    let bytes: Vec<u8> = (0..len).map(|_| rng.number() as u8).collect();
                    plain.write_at(at, &bytes).unwrap();
                    let done = if rng.once_in(2) {
                        behind.write_at(at, &bytes)
                    } else {
                        behind.write_alone_at(at, &bytes)
                    };
                    done.unwrap();
                }
                7 if rng.once_in(20) => {
                    plain.set_size(at).unwrap();
                    behind.set_size(at).unwrap();
                }
                _ => {
                    let (mut a, mut b) = (vec![1; len], vec![2; len]);
                    let got = plain.read_at(at, &mut a).unwrap();
                    assert_eq!(behind.read_at(at, &mut b).unwrap(), got);
                    assert_eq!(a[..got], b[..got]);
                }
            }
            assert_eq!(plain.size().unwrap(), behind.size().unwrap());
        }
    }

    #[test]
    fn what_cannot_be_written_can_be_read() {
        let blob = WriteBehind::new(Failing::after(MemoryBlob::new(b"abcdef".to_vec()), 0));
        blob.write_at(4, b"XYZ").unwrap();
        let mut into = [b'-'; 10];
        assert_eq!(blob.read_at(0, &mut into).unwrap(), 7);
        assert_eq!(&into, b"abcdXYZ---");
        let blob = WriteBehind::new(Failing::after(MemoryBlob::new(b"ab".to_vec()), 0));
        blob.write_at(4, b"X").unwrap();
        assert_eq!(blob.read_at(1, &mut into).unwrap(), 4);
        assert_eq!(&into[..4], b"b\0\0X");
        assert_eq!(blob.read_at(1, &mut into[..2]).unwrap(), 2);
        assert!(blob.flush().is_err());
    }

    #[test]
    fn a_failed_write_is_reported_and_kept() {
        let blob = WriteBehind::new(Failing::after(MemoryBlob::default(), 0));
        blob.write_at(0, b"abc").unwrap();
        assert!(blob.flush().is_err());
        assert_eq!(blob.size().unwrap(), 3);
        assert!(blob.flush().is_err());
    }

    #[test]
    fn every_method_is_passed_on() {
        // The bytes have changes that the blob does not have yet, so its token says nothing of them.
        crate::suite::forwards_reads(WriteBehind::new, &["change_token"]);
        crate::suite::forwards_writes(WriteBehind::new, &[]);
    }
}
