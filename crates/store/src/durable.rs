//! A blob for those who fear power failures: each flush waits until the disk has what was written.
//!
//! The decision that shaped it: formats order their writes by flushes, so one wrapper below them makes every such order hold
//! on the disk too, whatever the format.

use ferrocdf_bytes::Result;

use crate::{Blob, BlobMut, Change, Writes};

/// A blob whose flushes are [`BlobMut::sync`].
#[derive(Debug)]
pub struct Durable<B> {
    inner: B,
}

impl<B> Durable<B> {
    /// Makes each flush of `inner` wait for the disk.
    pub fn new(inner: B) -> Self {
        Durable { inner }
    }
}

impl<B: Blob> Blob for Durable<B> {
    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        self.inner.read_at(at, into)
    }

    fn name(&self) -> String {
        self.inner.name()
    }

    fn forget(&self) {
        self.inner.forget();
    }

    fn last_change(&self) -> Option<Change> {
        self.inner.last_change()
    }

    fn is_quick(&self) -> bool {
        self.inner.is_quick()
    }

    fn is_nameless(&self) -> bool {
        self.inner.is_nameless()
    }
}

impl<B: BlobMut> BlobMut for Durable<B> {
    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.inner.write_at(at, from)
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.inner.set_size(size)
    }

    fn flush(&self) -> Result<()> {
        self.inner.flush()?;
        self.inner.sync()
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn replace(&self, write: &mut Writes<'_>) -> Result<bool> {
        self.inner.replace(write)
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
    fn a_flush_is_a_sync() {
        let blob = Durable::new(Failing::never(MemoryBlob::default()));
        blob.inner.arm(Faults { after: 0, times: 1, torn: false });
        // The test's disk counts writes, sizes and syncs, and no flushes.
        assert!(blob.flush().is_err());
        assert!(blob.flush().is_ok());
    }
}
