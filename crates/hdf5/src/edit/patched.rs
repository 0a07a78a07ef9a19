//! The bytes of a file as a commit makes them, before it has written all of them to their places.
//!
//! Blocks that change where they stand may be half written when a request fails. Who reads metadata through this blob finds
//! the new bytes of such blocks at any time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use ferrocdf_bytes::{Result, ToUsize};
use ferrocdf_store::{Blob, BlobMut, ReadRequest, Suffix, forward};

/// A blob with some blocks in memory.
pub(super) struct Patched {
    under: Arc<dyn BlobMut>,
    /// Whether there are any.
    any: AtomicBool,
    /// Bytes by position; none overlaps another, and all lie within the blob.
    blocks: RwLock<BTreeMap<u64, Vec<u8>>>,
}

impl Patched {
    /// A blob without patches.
    pub fn new(under: Arc<dyn BlobMut>) -> Patched {
        Patched { under, any: AtomicBool::new(false), blocks: RwLock::default() }
    }

    // Nothing panics half-way through a change.
    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<u64, Vec<u8>>> {
        self.blocks.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lays blocks over the bytes, by their positions.
    pub fn lay(&self, blocks: BTreeMap<u64, Vec<u8>>) {
        let any = !blocks.is_empty();
        *self.write() = blocks;
        self.any.store(any, Ordering::Release);
    }
}

impl Patched {
    /// Lays the blocks over bytes that were read at a position.
    fn patch(&self, at: u64, into: &mut [u8]) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        let end = at + into.len() as u64;
        let before = blocks.range(..at).next_back();
        for (&start, bytes) in before.into_iter().chain(blocks.range(at..end)) {
            let (first, last) = (start.max(at), (start + bytes.len() as u64).min(end));
            if first < last {
                let from = &bytes[(first - start).saturate()..(last - start).saturate()];
                into[(first - at).saturate()..(last - at).saturate()].copy_from_slice(from);
            }
        }
    }
}

impl Blob for Patched {
    forward!([.under] size name forget expect_pages change_token cost is_nameless);

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let got = self.under.read_at(at, into)?;
        self.patch(at, &mut into[..got]);
        Ok(got)
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.under.read_many(requests)?;
        requests.iter_mut().for_each(|request| self.patch(request.at, &mut request.into[..request.len]));
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        let suffix = self.under.read_suffix(into)?;
        self.patch(suffix.size - suffix.len as u64, &mut into[..suffix.len]);
        Ok(suffix)
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_store::MemoryBlob;

    use super::*;

    #[test]
    fn patches_are_read_in_place_of_what_they_cover() {
        let blob = Patched::new(Arc::new(MemoryBlob::new((0..20).collect())));
        let read = |at: u64, len: usize| {
            let mut into = vec![99; len];
            let got = blob.read_at(at, &mut into).unwrap();
            into.truncate(got);
            let mut batch = vec![99; len];
            let mut requests = [ReadRequest::new(at, &mut batch)];
            blob.read_many(&mut requests).unwrap();
            assert_eq!(requests[0].bytes(), into, "a batch");
            into
        };
        assert_eq!(read(3, 4), [3, 4, 5, 6]);
        blob.lay(BTreeMap::from([(4, vec![100, 101]), (8, vec![102, 103, 104])]));
        assert_eq!(read(3, 8), [3, 100, 101, 6, 7, 102, 103, 104]);
        assert_eq!(read(5, 4), [101, 6, 7, 102]);
        assert_eq!(read(9, 2), [103, 104]);
        assert_eq!(read(11, 20), [11, 12, 13, 14, 15, 16, 17, 18, 19]);
        let mut last = [99; 11];
        assert_eq!(blob.read_suffix(&mut last).unwrap(), Suffix { len: 11, size: 20 });
        assert_eq!(last[..3], [103, 104, 11]);
        blob.lay(BTreeMap::new());
        assert_eq!(read(3, 4), [3, 4, 5, 6]);
    }

    #[test]
    fn every_method_is_passed_on() {
        ferrocdf_store::suite::forwards_reads(|probe| Patched::new(probe), &[]);
    }
}
