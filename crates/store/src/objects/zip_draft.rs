//! A zip file that is made or changed: objects are gathered in a folder, and the file is written anew as a whole.
//!
//! The members of a zip file cannot be changed in place, and one that is added behind the others leaves a file without a directory if the
//! writer is killed. So [`Store::commit`] writes all members to a file beside, unchanged ones as they are stored, and renames it: readers
//! have the old file or the new one.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use rustix::fs::Access;

use super::directory::{TEMPORARY, named_temporary};
use super::zip_write::{MemberBytes, ZipWriter};
use super::{
    ByteRange, DirectoryStore, Expected, Fetched, Listing, Store, Version, ZipStore, check_folder, check_key,
    list_in,
};
use crate::{Cost, FileBlob, copy_access};

/// A zip file as a store that is written.
pub struct ZipDraft {
    path: PathBuf,
    /// Holds the objects that were put since the last commit.
    folder: tempfile::TempDir,
    changed: DirectoryStore,
    state: Mutex<State>,
}

struct State {
    /// The file as it was committed last; `None` if there is none yet.
    committed: Option<Committed>,
    /// Keys that were put (true) or deleted (false) since then.
    changes: BTreeMap<String, bool>,
}

/// A file that was read or written, and the numbers of its device and inode.
struct Committed {
    store: Arc<ZipStore>,
    identity: (u64, u64),
}

impl Committed {
    fn open(path: &Path) -> Result<Committed> {
        let identity = identity(path)?;
        let store = Arc::new(ZipStore::open(Arc::new(FileBlob::open(path)?))?);
        Ok(Committed { store, identity })
    }
}

impl ZipDraft {
    /// Prepares to make a file, or to replace one that is there.
    ///
    /// # Errors
    /// Those of the system.
    pub fn create(path: &Path) -> Result<ZipDraft> {
        Self::of(path, None)
    }

    /// Opens a file that is there, to be changed.
    ///
    /// # Errors
    /// Those of [`ZipStore::open`] and of the system.
    pub fn open(path: &Path) -> Result<ZipDraft> {
        Self::of(path, Some(Committed::open(path)?))
    }

    fn of(path: &Path, committed: Option<Committed>) -> Result<ZipDraft> {
        let failed = |error: io::Error| Error::system(&error, path.display());
        // Beside the file, where there is room for it.
        let beside = beside(path);
        // `tempfile` does not tell the number of the system's error.
        let is_writable = rustix::fs::access(beside, Access::WRITE_OK | Access::EXEC_OK);
        is_writable.map_err(|errno| failed(errno.into()))?;
        let folder = tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(beside).map_err(failed)?;
        let changed = DirectoryStore::open(folder.path())?;
        let state = Mutex::new(State { committed, changes: BTreeMap::new() });
        Ok(ZipDraft { path: path.to_path_buf(), folder, changed, state })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_in(&self, state: &mut State, key: &str, bytes: &[u8]) -> Result<Version> {
        let version = self.changed.put(key, bytes)?;
        state.changes.insert(key.to_string(), true);
        Ok(version)
    }

    /// Returns the version of an object.
    fn version_in(&self, state: &State, key: &str) -> Result<Option<Version>> {
        check_key(key)?;
        let none = ByteRange::Suffix(0);
        let found = match (state.changes.get(key), &state.committed) {
            (Some(true), _) => self.changed.get(key, none)?,
            (None, Some(committed)) => committed.store.get(key, none)?,
            (Some(false), _) | (None, None) => None,
        };
        Ok(found.map(|found| found.version))
    }

    /// Writes all members to a new file, which takes the place of the old one.
    fn write(&self, state: &State) -> Result<()> {
        let failed = |error: io::Error| Error::system(&error, self.path.display());
        if let Some(committed) = &state.committed
            && identity(&self.path)? != committed.identity
        {
            let what = "another program replaced the zip file: open it again";
            return Err(Error::new(Code::EPERM, what).at(self.path.display()));
        }
        let mut file = named_temporary(beside(&self.path)).map_err(failed)?;
        let mut zip = ZipWriter::new(BufWriter::with_capacity(1 << 20, &mut file));
        for key in self.keys(state) {
            if state.changes.contains_key(key) {
                let found = self.changed.get(key, ByteRange::All)?;
                let bytes = found.ok_or_else(|| Error::new(Code::ENOOBJECT, format!("{key} is gone")))?.bytes;
                zip.member(key, &MemberBytes::stored(&bytes)).map_err(failed)?;
            } else if let Some(committed) = &state.committed {
                zip.member(key, &committed.store.member_bytes(key)?).map_err(failed)?;
            }
        }
        zip.finish().and_then(|mut file| file.flush()).map_err(failed)?;
        if let Ok(old) = FileBlob::open(&self.path) {
            copy_access(&old, file.as_file()).map_err(failed)?;
        }
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Returns the keys of all objects.
    fn keys<'s>(&self, state: &'s State) -> Vec<&'s str> {
        let put = state.changes.iter().filter(|(_, is_put)| **is_put).map(|(key, _)| &**key);
        let kept = state
            .committed
            .iter()
            .flat_map(|committed| committed.store.keys())
            .filter(|key| !state.changes.contains_key(*key));
        let mut keys: Vec<&str> = kept.chain(put).collect();
        keys.sort_unstable();
        keys
    }
}

/// Returns the numbers of the device and the inode of a file.
fn identity(path: &Path) -> Result<(u64, u64)> {
    let about = std::fs::metadata(path).map_err(|error| Error::system(&error, path.display()))?;
    Ok((about.dev(), about.ino()))
}

/// Returns the folder that a file is in.
fn beside(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Store for ZipDraft {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.get_many(&[(key, range)]).pop().unwrap_or(Ok(None))
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        // Threads read without waiting for each other.
        let (committed, changes): (_, Vec<Option<bool>>) = {
            let state = self.state();
            let changes = requests.iter().map(|(key, _)| state.changes.get(*key).copied()).collect();
            (state.committed.as_ref().map(|committed| committed.store.clone()), changes)
        };
        let of_committed = |at: &usize| changes[*at].is_none();
        let kept: Vec<_> = (0..requests.len()).filter(of_committed).map(|at| requests[at]).collect();
        let mut kept = match committed {
            Some(committed) => committed.get_many(&kept),
            None => kept.iter().map(|(key, _)| check_key(key).map(|()| None)).collect(),
        }
        .into_iter();
        let answer = |(&(key, range), change)| match change {
            Some(true) => self.changed.get(key, range),
            Some(false) => Ok(None),
            None => kept.next().unwrap_or(Ok(None)),
        };
        requests.iter().zip(changes.clone()).map(answer).collect()
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        self.put_in(&mut self.state(), key, bytes)
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        let mut state = self.state();
        let found = self.version_in(&state, key)?;
        let is_expected = match expected {
            Expected::Absent => found.is_none(),
            Expected::Version(version) => found.as_ref() == Some(version),
        };
        if is_expected { self.put_in(&mut state, key, bytes).map(Some) } else { Ok(None) }
    }

    fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        let mut state = self.state();
        if state.changes.insert(key.to_string(), false) == Some(true) {
            self.changed.delete(key)?;
        }
        Ok(())
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        let state = self.state();
        let keys = self.keys(&state).into_iter().map(|key| (key.to_string(), ()));
        Ok(list_in(&keys.collect(), folder))
    }

    fn commit(&self) -> Result<()> {
        let mut state = self.state();
        if state.changes.is_empty() && state.committed.is_some() {
            return Ok(());
        }
        self.write(&state)?;
        state.committed = Some(Committed::open(&self.path)?);
        let done = std::mem::take(&mut state.changes);
        done.iter().filter(|(_, is_put)| **is_put).try_for_each(|(key, _)| self.changed.delete(key))
    }

    fn cost(&self) -> Cost {
        self.changed.cost()
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

impl fmt::Debug for ZipDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZipDraft({}, objects in {})", self.path.display(), self.folder.path().display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite;

    #[test]
    fn passes_the_suite() {
        let folder = tempfile::tempdir().unwrap();
        let mut number = 0;
        suite::store(|_| {
            number += 1;
            ZipDraft::create(&folder.path().join(format!("{number}.zip"))).unwrap()
        });
    }

    fn opened(path: &Path) -> Result<Arc<ZipStore>> {
        Ok(Committed::open(path)?.store)
    }

    fn get(store: &dyn Store, key: &str) -> Option<Vec<u8>> {
        store.get(key, ByteRange::All).unwrap().map(|found| found.bytes)
    }

    #[test]
    fn a_commit_replaces_the_file_and_keeps_what_did_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let draft = ZipDraft::create(&path).unwrap();
        for (key, bytes) in [("a", "1"), ("b/c", "22"), ("b/\u{e9}", "333"), ("d", "")] {
            draft.put(key, bytes.as_bytes()).unwrap();
        }
        assert!(!path.exists(), "nothing is there before the first commit");
        draft.commit().unwrap();
        let before = opened(&path).unwrap();
        draft.put("a", b"new").unwrap();
        draft.delete("d").unwrap();
        draft.delete("never").unwrap();
        draft.put("e", b"5").unwrap();
        draft.delete("e").unwrap();
        assert_eq!(get(&draft, "a").unwrap(), b"new");
        assert_eq!(get(&*opened(&path).unwrap(), "a").unwrap(), b"1");
        draft.commit().unwrap();
        // Who has the old file open goes on reading it.
        assert_eq!(get(&*before, "d").unwrap(), b"");
        for store in [&draft as &dyn Store, &*opened(&path).unwrap(), &ZipDraft::open(&path).unwrap()] {
            let wanted: [(&str, Option<&[u8]>); 5] = [
                ("a", Some(b"new")),
                ("b/c", Some(b"22")),
                ("b/\u{e9}", Some(b"333")),
                ("d", None),
                ("e", None),
            ];
            for (key, bytes) in wanted {
                assert_eq!(get(store, key).as_deref(), bytes, "{key}");
            }
            assert_eq!(store.list("").unwrap().objects, ["a"]);
            assert_eq!(store.list("b").unwrap().objects, ["c", "\u{e9}"]);
        }
        drop(draft);
        let left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["a.zip"]);
    }

    #[test]
    fn a_commit_that_fails_leaves_the_file_and_can_be_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("f/a.zip"), folder.path().join("moved"));
        std::fs::create_dir(folder.path().join("f")).unwrap();
        let draft = ZipDraft::create(&path).unwrap();
        draft.put("a", b"1").unwrap();
        draft.commit().unwrap();
        draft.put("a", b"2").unwrap();
        // A folder in the place of the file cannot be replaced by it.
        std::fs::rename(&path, &moved).unwrap();
        std::fs::create_dir(&path).unwrap();
        draft.commit().unwrap_err();
        assert_eq!(get(&*opened(&moved).unwrap(), "a").unwrap(), b"1");
        std::fs::remove_dir(&path).unwrap();
        std::fs::rename(&moved, &path).unwrap();
        assert_eq!(get(&draft, "a").unwrap(), b"2");
        draft.commit().unwrap();
        assert_eq!(get(&*opened(&path).unwrap(), "a").unwrap(), b"2");
    }

    #[test]
    fn a_file_that_another_program_replaced_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let (one, two) = (ZipDraft::create(&path).unwrap(), ZipDraft::create(&path).unwrap());
        one.put("a", b"1").unwrap();
        one.commit().unwrap();
        let late = ZipDraft::open(&path).unwrap();
        two.put("a", b"2").unwrap();
        two.commit().unwrap();
        late.put("b", b"3").unwrap();
        assert_eq!(late.commit().unwrap_err().code, Code::EPERM);
        assert_eq!(get(&*opened(&path).unwrap(), "a").unwrap(), b"2");
    }
}
