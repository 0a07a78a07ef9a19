//! A new object that is written piece by piece: stores take objects whole.
//!
//! The bytes are kept in a temporary file, which has no name where the system can do that, so that nothing is left of it when the
//! process ends. [`BlobMut::sync`] puts them as the object. Until then, readers of the store see what was there before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ferrocdf_bytes::{Error, Result, errno};

use super::{ByteRange, Store};
use crate::{Blob, BlobMut, FileBlob, forward};

/// The bytes of an object that is to be put.
#[derive(Debug)]
pub struct ObjectDraft {
    store: Arc<dyn Store>,
    key: String,
    bytes: FileBlob,
    /// Number of changes so far.
    changes: AtomicU64,
    /// Number of changes that the object has. `NEVER` before the first put.
    put: AtomicU64,
    /// True if the first put must find no object of that name.
    must_be_new: bool,
}

/// The number of changes in an object that was never put.
const NEVER: u64 = u64::MAX;

impl ObjectDraft {
    /// Makes an empty draft. If `must_be_new`, the store is asked whether there is an object of that name; otherwise no request is
    /// sent, and an object of that name stays until the first sync.
    ///
    /// # Errors
    /// `EEXIST` if there must be no such object, and there is one. Those of the store, and of the system for the temporary file.
    pub fn new(store: Arc<dyn Store>, key: impl Into<String>, must_be_new: bool) -> Result<ObjectDraft> {
        let (key, folder) = (key.into(), std::env::temp_dir());
        let name = format!("{}/{key} (its temporary file in {})", store.name(), folder.display());
        let file = tempfile::tempfile_in(&folder).map_err(|error| Error::system(error, &name))?;
        let draft = ObjectDraft {
            store,
            key,
            bytes: FileBlob::of(file, name.as_ref()),
            changes: AtomicU64::new(0),
            put: AtomicU64::new(NEVER),
            must_be_new,
        };
        draft.check_absent()?;
        Ok(draft)
    }

    /// True if there are changes that the object does not have.
    pub fn is_changed(&self) -> bool {
        self.put.load(Ordering::Acquire) != self.changes.load(Ordering::Acquire)
    }

    /// Fails if there must be no object of this name, and there is one.
    fn check_absent(&self) -> Result<()> {
        let first = ByteRange::Bounded { start: 0, len: 1 };
        if self.must_be_new && self.store.get(&self.key, first)?.is_some() {
            let what = format!("{}: there is an object of that name", self.name());
            return Err(Error::new(errno::EXIST, what));
        }
        Ok(())
    }

    /// Runs a change of the bytes. It counts as one even if it fails, since it may have been made in part.
    fn change(&self, change: impl FnOnce(&FileBlob) -> Result<()>) -> Result<()> {
        let done = change(&self.bytes);
        self.changes.fetch_add(1, Ordering::AcqRel);
        done
    }
}

impl Blob for ObjectDraft {
    forward!([.bytes] size read_at read_many read_suffix cost);

    fn name(&self) -> String {
        format!("{}/{}", self.store.name(), self.key)
    }
}

impl BlobMut for ObjectDraft {
    forward!([.bytes] keeps_holes);

    fn write_at(&self, at: u64, from: &[u8]) -> Result<()> {
        self.change(|bytes| bytes.write_at(at, from))
    }

    fn set_size(&self, size: u64) -> Result<()> {
        self.change(|bytes| bytes.set_size(size))
    }

    /// Puts the object, unless it has all changes.
    ///
    /// # Errors
    /// Those of the store. The object is as it was then, and another call tries again.
    fn sync(&self) -> Result<()> {
        // Changes by other threads during the put may be missing in it, so they count as later ones.
        let changes = self.changes.load(Ordering::Acquire);
        let put = self.put.load(Ordering::Acquire);
        if put == changes {
            return Ok(());
        }
        if put == NEVER {
            self.check_absent()?;
        }
        self.store.put_blob(&self.key, &self.bytes)?;
        self.put.store(changes, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fault, Simulated, Traffic};
    use crate::{Cost, MemoryStore};

    fn store() -> Arc<Simulated<MemoryStore>> {
        Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, std::time::Duration::ZERO))
    }

    fn content(store: &Simulated<MemoryStore>) -> Option<Vec<u8>> {
        store.get("a/b", ByteRange::All).unwrap().map(|found| found.bytes)
    }

    #[test]
    fn object_changes_with_each_sync_and_only_then() {
        let store = store();
        store.put("a/b", b"before").unwrap();
        let draft = ObjectDraft::new(store.clone(), "a/b", false).unwrap();
        draft.write_at(2, b"xy").unwrap();
        assert_eq!(content(&store).unwrap(), b"before");
        draft.sync().unwrap();
        assert_eq!(content(&store).unwrap(), b"\0\0xy");
        draft.set_size(3).unwrap();
        assert_eq!(content(&store).unwrap().len(), 4);
        draft.sync().unwrap();
        assert_eq!(content(&store).unwrap(), b"\0\0x");
        store.take_traffic();
        assert!(!draft.is_changed());
        draft.sync().unwrap();
        assert_eq!(store.take_traffic(), Traffic::default(), "nothing changed");
    }

    #[test]
    fn empty_object_is_put() {
        let store = store();
        ObjectDraft::new(store.clone(), "a/b", false).unwrap().sync().unwrap();
        assert_eq!(content(&store).unwrap(), b"");
    }

    #[test]
    fn failed_put_is_tried_again_by_the_next_sync() {
        let store = store();
        let draft = ObjectDraft::new(store.clone(), "a/b", false).unwrap();
        draft.write_at(0, b"xy").unwrap();
        store.fail(0, Fault::Refused);
        assert!(draft.sync().is_err());
        assert_eq!(content(&store), None);
        draft.sync().unwrap();
        assert_eq!(content(&store).unwrap(), b"xy");
    }

    #[test]
    fn object_that_must_be_new_replaces_none() {
        let store = store();
        let draft = ObjectDraft::new(store.clone(), "a/b", true).unwrap();
        // Another writer is faster.
        store.put("a/b", b"other").unwrap();
        let errors = [draft.sync().unwrap_err(), ObjectDraft::new(store.clone(), "a/b", true).unwrap_err()];
        for error in errors {
            assert_eq!(error.code, errno::EXIST, "{error}");
            assert!(error.what.starts_with("memory/a/b: there is an object"), "{error}");
        }
        assert_eq!(content(&store).unwrap(), b"other");

        store.delete("a/b").unwrap();
        let draft = ObjectDraft::new(store.clone(), "a/b", true).unwrap();
        draft.sync().unwrap();
        draft.write_at(0, b"own").unwrap();
        draft.sync().unwrap();
        assert_eq!(content(&store).unwrap(), b"own", "its own object is replaced");
    }
}
