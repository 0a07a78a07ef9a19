//! A blob whose flush waits until the disk has all that was written, so that it survives a power failure.
//!
//! The decision that shaped it: formats order their writes by flushes, so one wrapper below them enforces that order on disk for
//! every format. `sync` is called only if something was written since the last one: closing a file that was just flushed cannot
//! fail because of it.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use ferrocdf_bytes::Result;

use crate::{Blob, BlobMut, Writes, forward};

/// A blob whose flushes are [`BlobMut::sync`].
#[derive(Debug)]
pub struct Durable<B> {
    inner: B,
    /// Number of attempted changes, and, in `synced`, the number of them that are on disk. The first change stands for those made
    /// before the file was opened, which may not be on disk.
    changes: AtomicU64,
    synced: AtomicU64,
}

impl<B> Durable<B> {
    /// Makes each flush of `inner` wait for the disk.
    pub fn new(inner: B) -> Self {
        Durable { inner, changes: AtomicU64::new(1), synced: AtomicU64::new(0) }
    }

    /// Counts an attempted change after it has ended, since a sync that runs at the same time may miss it.
    fn changed<T>(&self, done: Result<T>) -> Result<T> {
        self.changes.fetch_add(1, SeqCst);
        done
    }
}

impl<B: Blob> Blob for Durable<B> {
    forward!([.inner] size read_at read_many read_suffix name forget expect_pages change_token cost is_nameless);
}

impl<B: BlobMut> BlobMut for Durable<B> {
    forward!([.inner] keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.changed(self.inner.write_at(at, from))
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.changed(self.inner.set_size(size))
    }

    fn flush(&self) -> Result<()> {
        self.inner.flush()?;
        self.sync()
    }

    fn sync(&self) -> Result<()> {
        let changes = self.changes.load(SeqCst);
        if self.synced.load(SeqCst) < changes {
            self.inner.sync()?;
            self.synced.fetch_max(changes, SeqCst);
        }
        Ok(())
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        self.changed(self.inner.replace(write))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBlob;
    use crate::testing::{Failing, Faults};

    #[test]
    fn passes_the_suite() {
        crate::suite::blob(|_| Durable::new(MemoryBlob::default()));
    }

    #[test]
    fn a_flush_is_a_sync_of_what_was_written_since_the_last_one() {
        let blob = Durable::new(Failing::never(MemoryBlob::default()));
        // `Failing` counts writes, changes of size and syncs, but no flushes.
        let one_fails = |after| blob.inner.arm(Faults { after, times: 1, torn: false });
        one_fails(1);
        blob.write_at(0, b"abc").unwrap();
        assert!(blob.flush().is_err());
        assert!(blob.flush().is_ok());
        one_fails(0);
        assert!(blob.flush().is_ok() && blob.sync().is_ok());
        assert!(blob.set_size(1).is_err());
        one_fails(0);
        assert!(blob.flush().is_err());
        assert!(blob.sync().is_ok());
    }

    #[test]
    fn every_method_is_passed_on() {
        crate::suite::forwards_reads(Durable::new, &[]);
        crate::suite::forwards_writes(Durable::new, &[]);
    }
}
