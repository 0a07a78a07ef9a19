//! A zip file that is made or changed: objects wait in a nameless file, and the zip file is written anew as a whole.
//!
//! The members of a zip file cannot be changed in place, and one that is added behind the others leaves a file without a directory if the
//! writer is killed. So [`Store::commit`] writes a new file, into which members that did not change are copied byte for byte, and gives it
//! the name: readers have the old file or the new one, also after a power failure.
//!
//! A writer holds the lock of the file from opening it on. The new file is locked before it takes the name, so no other writer comes between.
//! For writers that take no locks, a commit also holds a lock of the folder while it checks that the file is still the one that it knows,
//! and renames. All that can fail is done before the rename: a commit that failed has changed nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferrocdf_bytes::{Code, Error, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::nameless::{NewFile, folder_of};
use super::steps::step;
use super::zip_pending::{PendingFile, PendingObject};
use super::zip_write::{ZipWriter, name_len};
use super::{
    ByteRange, Expected, Fetched, Listing, Store, Version, ZipStore, check_folder, check_key, list_from,
};
use crate::{Blob, BlobMut, Cost, FileBlob, copy_access, resolve_links};

/// A zip file as a store that is written.
pub struct ZipDraft {
    /// The path as the caller gave it, for messages.
    shown: PathBuf,
    /// The absolute path, without a symbolic link as its last name.
    path: PathBuf,
    /// The folder of the file; `None` if it cannot be read.
    folder: Option<File>,
    /// True if no file may be replaced by the first commit.
    must_be_new: bool,
    is_durable: bool,
    state: Mutex<State>,
}

struct State {
    /// The file that the next commit replaces, locked; `None` if there must be none.
    replaced: Option<Arc<FileBlob>>,
    /// The objects in that file; `None` if they are not kept.
    committed: Option<Arc<ZipStore>>,
    /// What was done since the last commit, by key.
    changes: BTreeMap<String, Change>,
    /// Takes the bytes of the next objects; `None` after a commit.
    pending: Option<Arc<PendingFile>>,
    /// Number of puts, from which each put takes a version.
    puts: u64,
    /// True if the disk may not have the last rename.
    is_unsynced: bool,
}

/// A change since the last commit.
#[derive(Clone)]
enum Change {
    Put(Arc<PendingObject>),
    Deleted,
}

/// Mode of a new file, without the bits of the umask, and of one that takes the access rights of another when it is complete.
const MODE: u32 = 0o666;
const PRIVATE: u32 = 0o600;

/// Tries to open and lock a file that other writers keep replacing.
const MAX_TRIES: u32 = 100;
/// Waits for the lock of the folder, which others hold for the time of a rename.
const MAX_WAITS: u32 = 1000;
const WAIT: Duration = Duration::from_millis(10);

impl ZipDraft {
    /// Prepares to make a file, or to replace one that is there, which gets locked. The first commit does it.
    ///
    /// # Errors
    /// Those of [`ZipDraft::open`] for a file that is there, but for those of its content.
    pub fn create(path: &Path) -> Result<ZipDraft> {
        let target = target(path)?;
        let replaced = match target.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ => Some(locked(&target, path)?),
        };
        Self::new(path, target, (replaced, None))
    }

    /// Prepares to make a file where there is none. Each commit checks that.
    ///
    /// # Errors
    /// `NC_EEXIST` if there is a file; those of the system.
    pub fn create_new(path: &Path) -> Result<ZipDraft> {
        let target = target(path)?;
        if target.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let draft = Self::new(path, target, (None, None))?;
        Ok(ZipDraft { must_be_new: true, ..draft })
    }

    /// Opens a file that is there, to be changed, and locks it.
    ///
    /// # Errors
    /// Those of [`ZipStore::open`], of [`FileBlob::lock_for_writing`] and of the system. `NC_EINVAL` for what is no regular file; `EMLINK` for
    /// a file with several hard links, and `EPERM` for one whose owner and mode a new file cannot get: such a file cannot be replaced.
    pub fn open(path: &Path) -> Result<ZipDraft> {
        let target = target(path)?;
        let file = locked(&target, path)?;
        Self::edit(path, target, file)
    }

    fn edit(path: &Path, target: PathBuf, file: Arc<FileBlob>) -> Result<ZipDraft> {
        let committed = ZipStore::open_to_edit(file.clone()).map_err(|error| error.at(path.display()))?;
        Self::new(path, target, (Some(file), Some(Arc::new(committed))))
    }

    /// Makes each commit wait until the disk has the name of the new file too: the bytes are always on disk before.
    #[must_use]
    pub fn durable(self, is_durable: bool) -> ZipDraft {
        ZipDraft { is_durable, ..self }
    }

    fn new(
        path: &Path,
        target: PathBuf,
        (replaced, committed): (Option<Arc<FileBlob>>, Option<Arc<ZipStore>>),
    ) -> Result<ZipDraft> {
        let failed = |error: io::Error| Error::system(&error, path.display());
        let pending = PendingFile::new(&target, path).map_err(failed)?;
        if let Some(old) = &replaced {
            // What the commit will have to do is tried on another file.
            copy_access(old, pending.blob().file()).map_err(|error| {
                let what =
                    "a new file cannot get its owner, group, mode and attributes, so it cannot be replaced";
                Error::system(&error, format_args!("{}: {what}", path.display()))
            })?;
        }
        let state = State {
            replaced,
            committed,
            changes: BTreeMap::new(),
            pending: Some(pending),
            puts: 0,
            is_unsynced: false,
        };
        Ok(ZipDraft {
            shown: path.to_path_buf(),
            folder: File::open(folder_of(&target)).ok(),
            path: target,
            must_be_new: false,
            is_durable: false,
            state: Mutex::new(state),
        })
    }

    // No code panics in the middle of a change, so a poisoned lock guards a valid state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, doing: &str, error: &io::Error) -> Error {
        Error::system(error, format_args!("{}: {doing}", self.shown.display()))
    }

    /// Writes an object to the pending file, without the lock of the state.
    fn write(
        &self,
        key: &str,
        write: impl FnOnce(&Arc<PendingFile>, Version) -> Result<PendingObject>,
    ) -> Result<Arc<PendingObject>> {
        check_key(key)?;
        name_len(key)?;
        let (pending, version) = {
            let mut state = self.state();
            let pending = match &state.pending {
                Some(pending) => pending.clone(),
                None => {
                    let made = PendingFile::new(&self.path, &self.shown);
                    let made =
                        made.map_err(|error| self.failed("making a temporary file in its folder", &error))?;
                    state.pending.insert(made).clone()
                }
            };
            state.puts += 1;
            (pending, Version::new(state.puts.to_string()))
        };
        write(&pending, version).map(Arc::new)
    }

    fn put_object(&self, key: &str, object: Arc<PendingObject>) -> Version {
        let version = object.version();
        self.state().change(key, Change::Put(object));
        version
    }

    /// Checks that what is at the path is what the next commit may replace.
    fn check_replaced(&self, state: &State) -> Result<()> {
        let there = step().and_then(|()| self.path.symlink_metadata());
        let Some(replaced) = &state.replaced else {
            return match there {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                Err(error) => Err(self.failed("asking whether it exists", &error)),
                Ok(_) => Err(self.taken()),
            };
        };
        let there = there.map_err(|error| self.failed("the zip file was moved or removed", &error))?;
        let own =
            replaced.file().metadata().map_err(|error| self.failed("asking which file it is", &error))?;
        if (there.dev(), there.ino()) == (own.dev(), own.ino()) {
            return Ok(());
        }
        Err(self.failed("another writer replaced the zip file; open it again", &Errno::STALE.into()))
    }

    /// Returns the error of a file that another writer made.
    fn taken(&self) -> Error {
        if self.must_be_new {
            return exists(&self.shown);
        }
        self.failed("another writer made the zip file since; open it", &Errno::STALE.into())
    }

    /// Waits for the lock of the folder, which is held until the answer is dropped.
    fn lock_folder(&self) -> Result<Option<FolderLock<'_>>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        for _ in 0..MAX_WAITS {
            match flock(folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(FolderLock(folder))),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(WAIT),
                // No other process can lock on such a file system either.
                Err(_) => return Ok(None),
            }
        }
        Err(self.failed("another process holds the lock of its folder", &Errno::AGAIN.into()))
    }

    /// Writes all members to a new file, to the disk.
    fn write_members(&self, state: &State) -> Result<NewFile> {
        let mode = if state.replaced.is_some() { PRIVATE } else { MODE };
        let new = NewFile::new(&self.path, &self.shown, mode)
            .map_err(|error| self.failed("making a new file in its folder", &error))?;
        let mut zip = ZipWriter::new(&new.blob);
        if let Some(committed) = &state.committed {
            committed.write_kept(&mut zip, |key| !state.changes.contains_key(key))?;
        }
        for (key, change) in &state.changes {
            if let Change::Put(object) = change {
                let (mut pieces, at) = object.pieces();
                zip.add(key, object.crc, &mut pieces, at, object.size())?;
            }
        }
        zip.finish(state.committed.as_ref().map_or(&[], |committed| committed.comment()))?;
        if let Some(old) = &state.replaced {
            step()
                .and_then(|()| copy_access(old, new.blob.file()))
                .map_err(|error| self.failed("giving the new file its owner and mode", &error))?;
        }
        // The bytes must be on disk before the name is.
        step().map_err(|error| self.failed("flushing it to disk", &error))?;
        new.blob.sync()?;
        Ok(new)
    }

    fn sync_folder(&self, state: &mut State) -> Result<()> {
        if !state.is_unsynced {
            return Ok(());
        }
        step().map_err(|error| self.failed("flushing its folder to disk", &error))?;
        if let (Some(file), Some(folder)) = (&state.replaced, &self.folder) {
            file.sync_folder(folder)?;
        } else {
            return Err(
                self.failed("flushing its folder to disk, which cannot be read", &Errno::ACCESS.into())
            );
        }
        state.is_unsynced = false;
        Ok(())
    }
}

/// The lock of a folder.
struct FolderLock<'f>(&'f File);

impl Drop for FolderLock<'_> {
    fn drop(&mut self) {
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}

impl State {
    /// Notes a change. Disk space of an object that was put before is given back.
    fn change(&mut self, key: &str, change: Change) {
        if let Some(Change::Put(old)) = self.changes.insert(key.to_string(), change) {
            PendingObject::free(old);
        }
    }

    /// Returns the version of an object.
    fn version(&self, key: &str) -> Option<Version> {
        match self.changes.get(key) {
            Some(Change::Put(object)) => Some(object.version()),
            Some(Change::Deleted) => None,
            None => self.committed.as_ref().and_then(|committed| committed.version(key)),
        }
    }

    /// Returns the first key of an object within a bound.
    fn first_key<'s>(&'s self, from: Bound<&str>) -> Option<&'s str> {
        let is_put = |change: &Change| matches!(change, Change::Put(_));
        let mut changes = self.changes.range::<str, _>((from, Bound::Unbounded));
        let put = changes.find(|(_, change)| is_put(change)).map(|(key, _)| &**key);
        let committed = self.committed.as_ref();
        let mut kept = committed.and_then(|committed| committed.first_key(from));
        while let Some(key) = kept.filter(|key| self.changes.contains_key(*key)) {
            kept = committed.and_then(|committed| committed.first_key(Bound::Excluded(key)));
        }
        match (put, kept) {
            (Some(put), Some(kept)) => Some(put.min(kept)),
            (put, kept) => put.or(kept),
        }
    }
}

fn exists(path: &Path) -> Error {
    Error::new(Code::EEXIST, format!("{}: there is a file", path.display()))
}

/// Returns the absolute path of the file that a path leads to, which need not exist.
fn target(path: &Path) -> Result<PathBuf> {
    let failed = |error: io::Error| Error::system(&error, path.display());
    let Some(target) = resolve_links(path) else {
        let what = "its links lead in a circle, or to an open file of a process";
        return Err(Error::new(Code::EINVAL, format!("{}: {what}", path.display())));
    };
    let Some(name) = target.file_name() else { return Err(failed(Errno::ISDIR.into())) };
    let folder = folder_of(&target).canonicalize().map_err(failed)?;
    Ok(folder.join(name))
}

/// Opens a file that can be replaced, and locks it. The path leads to it then.
fn locked(target: &Path, shown: &Path) -> Result<Arc<FileBlob>> {
    let failed = |error: io::Error| Error::system(&error, shown.display());
    for _ in 0..MAX_TRIES {
        // Opening a pipe would wait for another process.
        if !target.symlink_metadata().map_err(failed)?.is_file() {
            return Err(Error::new(Code::EINVAL, format!("{}: it is not a regular file", shown.display())));
        }
        let file = File::options().read(true).write(true).open(target).map_err(failed)?;
        let file = FileBlob::of(file, shown);
        file.lock_for_writing().map_err(|error| error.at(shown.display()))?;
        let own = file.file().metadata().map_err(failed)?;
        match target.symlink_metadata() {
            Ok(there) if (there.dev(), there.ino()) == (own.dev(), own.ino()) => {}
            // Another writer replaced it before it was locked.
            _ => continue,
        }
        if own.nlink() > 1 {
            let what = "it has several hard links, and would be replaced under one of them only: remove or copy them";
            return Err(Error::system(&Errno::MLINK.into(), format_args!("{}: {what}", shown.display())));
        }
        return Ok(Arc::new(file));
    }
    let what = "other writers keep replacing it";
    Err(Error::system(&Errno::AGAIN.into(), format_args!("{}: {what}", shown.display())))
}

impl Store for ZipDraft {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.get_many(&[(key, range)]).pop().unwrap_or(Ok(None))
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        // Threads read without waiting for each other. A commit meanwhile takes nothing from what was found here.
        let (committed, changes): (_, Vec<Option<Change>>) = {
            let state = self.state();
            let changes = requests.iter().map(|(key, _)| state.changes.get(*key).cloned()).collect();
            (state.committed.clone(), changes)
        };
        let kept: Vec<_> = requests
            .iter()
            .zip(&changes)
            .filter(|(_, change)| change.is_none())
            .map(|(request, _)| *request)
            .collect();
        let mut kept = match committed {
            Some(committed) => committed.get_many(&kept),
            None => kept.iter().map(|(key, _)| check_key(key).map(|()| None)).collect(),
        }
        .into_iter();
        let answer = |((key, range), change): (&(&str, ByteRange), Option<Change>)| match change {
            Some(Change::Put(object)) => object.get(*range).map(Some).map_err(|error| error.at(key)),
            Some(Change::Deleted) => Ok(None),
            None => kept.next().unwrap_or(Ok(None)),
        };
        requests.iter().zip(changes).map(answer).collect()
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        let object = self.write(key, |pending, version| pending.put(bytes, version))?;
        Ok(self.put_object(key, object))
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        let object = self.write(key, |pending, version| pending.put(bytes, version))?;
        let version = object.version();
        let mut state = self.state();
        let found = state.version(key);
        let is_expected = match expected {
            Expected::Absent => found.is_none(),
            Expected::Version(version) => found.as_ref() == Some(version),
        };
        if !is_expected {
            PendingObject::free(object);
            return Ok(None);
        }
        state.change(key, Change::Put(object));
        Ok(Some(version))
    }

    fn put_blob(&self, key: &str, blob: &dyn Blob) -> Result<Version> {
        let object = self.write(key, |pending, version| pending.put_blob(blob, version))?;
        Ok(self.put_object(key, object))
    }

    fn delete(&self, key: &str) -> Result<()> {
        check_key(key)?;
        let mut state = self.state();
        let is_committed = state.committed.as_ref().is_some_and(|committed| committed.version(key).is_some());
        if is_committed {
            state.change(key, Change::Deleted);
        } else if let Some(Change::Put(object)) = state.changes.remove(key) {
            PendingObject::free(object);
        }
        Ok(())
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        let state = self.state();
        Ok(list_from(folder, |from| state.first_key(from)))
    }

    fn commit(&self) -> Result<()> {
        let mut state = self.state();
        if !state.changes.is_empty() || state.committed.is_none() {
            self.check_replaced(&state)?;
            let new = self.write_members(&state)?;
            let blob = new.blob.clone();
            step().map_err(|error| self.failed("reading it again", &error))?;
            let committed =
                ZipStore::open_to_edit(blob.clone()).map_err(|error| error.at(self.shown.display()))?;
            blob.lock_for_writing().map_err(|error| error.at(self.shown.display()))?;
            {
                let _lock = self.lock_folder()?;
                self.check_replaced(&state)?;
                new.take_name(&self.path, state.replaced.is_some()).map_err(|error| match error.kind() {
                    ErrorKind::AlreadyExists if state.replaced.is_none() => self.taken(),
                    _ => self.failed("putting its new content in place", &error),
                })?;
            }
            // From here on nothing fails. Who reads an object meanwhile has its file.
            state.replaced = Some(blob);
            state.committed = Some(Arc::new(committed));
            state.changes = BTreeMap::new();
            state.pending = None;
            state.is_unsynced = true;
        }
        if self.is_durable { self.sync_folder(&mut state) } else { Ok(()) }
    }

    fn sync(&self) -> Result<()> {
        self.sync_folder(&mut self.state())
    }

    fn cost(&self) -> Cost {
        Cost::LOCAL
    }

    fn name(&self) -> String {
        self.shown.display().to_string()
    }
}

impl fmt::Debug for ZipDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ZipDraft({})", self.shown.display())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::steps::fail_at;
    use super::*;
    use crate::suite;
    use crate::testing::Rng;

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
        Ok(Arc::new(ZipStore::open(Arc::new(FileBlob::open(path)?))?))
    }

    fn get(store: &dyn Store, key: &str) -> Option<Vec<u8>> {
        store.get(key, ByteRange::All).unwrap().map(|found| found.bytes)
    }

    /// Makes a zip file with one object, and returns its path.
    fn one(folder: &Path) -> PathBuf {
        let path = folder.join("a.zip");
        let draft = ZipDraft::create(&path).unwrap();
        draft.put("a", b"1").unwrap();
        draft.commit().unwrap();
        path
    }

    /// Opens a file as a writer does that takes no lock.
    fn without_lock(path: &Path) -> ZipDraft {
        ZipDraft::edit(path, target(path).unwrap(), Arc::new(FileBlob::open_mut(path).unwrap())).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_commit_replaces_the_file_and_keeps_what_did_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let draft = ZipDraft::create(&path).unwrap();
        for (key, bytes) in [("a", "1"), ("b/c", "22"), ("b/\u{e9}", "333"), ("d", "")] {
            draft.put(key, bytes.as_bytes()).unwrap();
        }
        assert_eq!(names(folder.path()), [""; 0], "nothing is there before the first commit");
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
        let check = |store: &dyn Store| {
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
        };
        check(&draft);
        check(&*opened(&path).unwrap());
        let about = std::fs::metadata(&path).unwrap();
        draft.commit().unwrap();
        draft.delete("never").unwrap();
        draft.commit().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().ino(), about.ino(), "nothing changed");
        drop(draft);
        check(&ZipDraft::open(&path).unwrap());
        assert_eq!(names(folder.path()), ["a.zip"]);
    }

    #[test]
    fn a_commit_that_fails_leaves_the_file_and_can_be_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("f")).unwrap();
        let path = one(&folder.path().join("f"));
        let moved = folder.path().join("moved");
        let draft = ZipDraft::open(&path).unwrap();
        draft.put("a", b"2").unwrap();
        std::fs::rename(&path, &moved).unwrap();
        assert_eq!(draft.commit().unwrap_err().code, Code(2));
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
    fn a_file_that_another_writer_replaced_or_made_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let [created, new] = [ZipDraft::create(&path).unwrap(), ZipDraft::create_new(&path).unwrap()];
        one(folder.path());
        let [first, second] = [without_lock(&path), without_lock(&path)];
        for draft in [&created, &new, &first, &second] {
            draft.put("b", b"lost").unwrap();
        }
        first.commit().unwrap();
        let errors = [&created, &new, &second].map(|draft| draft.commit().unwrap_err());
        assert_eq!(errors.each_ref().map(|error| error.code.0), [116, Code::EEXIST.0, 116], "{errors:?}");
        assert!(errors[2].what.contains("another writer replaced the zip file"), "{}", errors[2]);
        assert_eq!(ZipDraft::create_new(&path).unwrap_err().code, Code::EEXIST);
        let store = opened(&path).unwrap();
        assert_eq!([get(&*store, "a").unwrap(), get(&*store, "b").unwrap()], [&b"1"[..], b"lost"]);
        assert_eq!(names(folder.path()), ["a.zip"]);
    }

    #[test]
    fn a_writer_holds_the_lock_from_its_first_commit_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let is_refused = |second: Result<ZipDraft>| second.is_err_and(|error| error.code == Code(11));
        let is_locked = || [is_refused(ZipDraft::open(&path)), is_refused(ZipDraft::create(&path))];
        let draft = ZipDraft::create(&path).unwrap();
        for count in [b"1", b"2"] {
            draft.put("a", count).unwrap();
            draft.commit().unwrap();
            assert_eq!(is_locked(), [true; 2]);
        }
        drop(draft);
        let draft = ZipDraft::open(&path).unwrap();
        assert_eq!(is_locked(), [true; 2]);
        draft.put("a", b"3").unwrap();
        draft.commit().unwrap();
        assert_eq!(is_locked(), [true; 2]);
        drop(draft);
        assert_eq!(is_locked(), [false; 2]);
    }

    #[test]
    fn a_commit_holds_the_lock_of_the_folder_from_the_check_to_the_rename() {
        let folder = tempfile::tempdir().unwrap();
        let path = one(folder.path());
        let drafts = [without_lock(&path), without_lock(&path)];
        for (number, draft) in drafts.iter().enumerate() {
            draft.put(&number.to_string(), b"put").unwrap();
        }
        let lock = File::open(folder.path()).unwrap();
        flock(&lock, FlockOperation::LockExclusive).unwrap();
        let done = std::thread::scope(|scope| {
            let commits = drafts.each_ref().map(|draft| scope.spawn(|| draft.commit()));
            std::thread::sleep(Duration::from_millis(100));
            assert!(get(&*opened(&path).unwrap(), "0").or(get(&*opened(&path).unwrap(), "1")).is_none());
            flock(&lock, FlockOperation::Unlock).unwrap();
            commits.map(|commit| commit.join().unwrap())
        });
        let store = opened(&path).unwrap();
        for (number, done) in done.iter().enumerate() {
            assert_eq!(get(&*store, &number.to_string()).is_some(), done.is_ok(), "{done:?}");
        }
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1, "{done:?}");
    }

    #[test]
    fn each_step_of_a_commit_may_fail() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        for is_there in [false, true] {
            let mut failures = 0;
            for step in 0.. {
                let _ = std::fs::remove_file(&path);
                let mut draft = ZipDraft::create(&path).unwrap();
                if is_there {
                    drop(draft);
                    one(folder.path());
                    draft = ZipDraft::open(&path).unwrap();
                }
                let draft = draft.durable(true);
                draft.put("b", b"2").unwrap();
                fail_at(Some(step));
                let done = draft.commit();
                if fail_at(None) {
                    done.unwrap();
                    assert!(failures > 10, "{failures} steps");
                    break;
                }
                // A file system on which nameless files cannot get a name serves as well.
                if let Err(error) = done {
                    failures += 1;
                    assert_eq!(error.code, Code(5), "{error}");
                    assert!(error.what.starts_with(&*path.to_string_lossy()), "{error}");
                    // Only the folder may fail to be flushed behind the rename.
                    if !error.what.contains("flushing its folder") {
                        let found = opened(&path).ok();
                        assert_eq!(found.is_some(), is_there);
                        assert!(
                            found.is_none_or(|store| get(&*store, "b").is_none()),
                            "step {step}: {error}"
                        );
                    }
                }
                assert_eq!(get(&draft, "b").unwrap(), b"2");
                draft.commit().unwrap();
                let store = opened(&path).unwrap();
                assert_eq!(get(&*store, "b").unwrap(), b"2", "step {step}");
                assert_eq!(get(&*store, "a").is_some(), is_there);
                assert_eq!(names(folder.path()), ["a.zip"], "step {step}");
            }
        }
    }

    #[test]
    fn a_durable_commit_flushes_the_folder_until_that_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let path = one(folder.path());
        let mut draft = ZipDraft::open(&path).unwrap().durable(true);
        draft.put("b", b"2").unwrap();
        // The folder cannot be flushed.
        let own = draft.folder.take();
        assert_eq!(draft.commit().unwrap_err().code, Code(13));
        assert_eq!(get(&*opened(&path).unwrap(), "b").unwrap(), b"2");
        assert_eq!(draft.commit().unwrap_err().code, Code(13), "it is still to be flushed");
        draft.folder = own;
        draft.commit().unwrap();
        draft.folder = None;
        draft.sync().unwrap();
    }

    #[test]
    fn links_are_followed_and_paths_are_absolute() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = one(folder.path());
        let [link, dangling] = ["link.zip", "dangling.zip"].map(|name| other.path().join(name));
        symlink(&path, &link).unwrap();
        symlink("new.zip", &dangling).unwrap();
        for draft in [ZipDraft::open(&link), ZipDraft::create(&dangling)] {
            let draft = draft.unwrap();
            draft.put("b", b"2").unwrap();
            draft.commit().unwrap();
        }
        assert!(
            link.symlink_metadata().unwrap().is_symlink()
                && dangling.symlink_metadata().unwrap().is_symlink()
        );
        assert_eq!(get(&*opened(&path).unwrap(), "b").unwrap(), b"2");
        assert_eq!(names(other.path()), ["dangling.zip", "link.zip", "new.zip"]);
        symlink("circle.zip", other.path().join("circle.zip")).unwrap();
        assert_eq!(ZipDraft::create(&other.path().join("circle.zip")).unwrap_err().code, Code::EINVAL);
        // The folder of the process may change before the commit.
        let relative = ZipDraft::create(Path::new("relative.zip")).unwrap();
        assert_eq!(
            relative.path,
            std::env::current_dir().unwrap().canonicalize().unwrap().join("relative.zip")
        );
        assert_eq!(relative.name(), "relative.zip");
    }

    #[test]
    fn what_cannot_be_replaced_is_refused_when_it_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = one(folder.path());
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for path in [&pipe, Path::new("/dev/null"), folder.path()] {
            for refused in [ZipDraft::open(path), ZipDraft::create(path)] {
                let error = refused.unwrap_err();
                assert_eq!(error.code, Code::EINVAL, "{error}");
            }
        }
        std::fs::hard_link(&path, folder.path().join("other.zip")).unwrap();
        for refused in [ZipDraft::open(&path), ZipDraft::create(&path)] {
            assert_eq!(refused.unwrap_err().code, Code(31));
        }
        assert_eq!(ZipDraft::open(&folder.path().join("none/a.zip")).unwrap_err().code, Code(2));
    }

    #[test]
    fn mode_of_an_old_file_is_kept_and_that_of_a_new_one_is_as_usual() {
        let folder = tempfile::tempdir().unwrap();
        let path = one(folder.path());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
        let usual = folder.path().join("usual");
        std::fs::write(&usual, "").unwrap();
        assert_eq!(mode(&path), mode(&usual));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        for draft in [ZipDraft::open, ZipDraft::create] {
            let draft = draft(&path).unwrap();
            draft.put("b", b"2").unwrap();
            draft.commit().unwrap();
            assert_eq!(mode(&path), 0o640);
        }
    }

    /// Returns a member of a zip file, its entry in the directory of a file where the member begins at `at`, and the same entry for one where
    /// it begins at `moved`. Everything in it is unusual.
    fn unusual(
        name: &[u8],
        (flags, method): (u16, u16),
        behind: &[u8],
    ) -> (Vec<u8>, impl Fn(u32) -> Vec<u8> + use<>) {
        let bytes = b"stored bytes";
        let common = [
            &flags.to_le_bytes()[..],
            &method.to_le_bytes(),
            &[0x21, 0x42, 0x51, 0x52],
            &libdeflater::crc32(bytes).to_le_bytes(),
            &12u32.to_le_bytes(),
            &12u32.to_le_bytes(),
            &(name.len() as u16).to_le_bytes(),
        ]
        .concat();
        let member =
            [b"PK\x03\x04\x14\0", &common[..], &[5, 0], name, b"\xab\xcd\x01\0x", bytes, behind].concat();
        let name = name.to_vec();
        let entry = move |at: u32| {
            let before = [&b"PK\x01\x02\x17\x03\x14\0"[..], &common, &[9, 0, 7, 0, 0, 0, 1, 0]].concat();
            let behind =
                [&[0, 0, 0xed, 0x81][..], &at.to_le_bytes(), &name, b"\xab\xcd\x05\0extra", b"comment"];
            [before, behind.concat()].concat()
        };
        (member, entry)
    }

    /// Returns the directory and the end of a zip file.
    fn directory(entries: &[Vec<u8>], begin: usize) -> Vec<u8> {
        let (count, entries) = (entries.len() as u16, entries.concat());
        let numbers = [entries.len() as u32, begin as u32].map(u32::to_le_bytes).concat();
        let counts = [0, 0, count, count].map(u16::to_le_bytes).concat();
        [&entries[..], b"PK\x05\x06", &counts, &numbers, b"\x0b\0the comment"].concat()
    }

    #[test]
    fn all_that_an_edit_does_not_change_is_kept_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let descriptor = [
            &b"PK\x07\x08"[..],
            &libdeflater::crc32(b"stored bytes").to_le_bytes(),
            &[12, 0, 0, 0, 12, 0, 0, 0],
        ]
        .concat();
        let members = [
            unusual(b"v/0", (0, 0), b""),
            unusual(b"streamed", (1 << 3, 0), &descriptor),
            unusual(b"changed", (0, 0), b""),
            unusual(b"deleted", (1 << 3, 0), &descriptor),
            unusual(b"encrypted", (1, 0), b""),
            unusual(b"bzip2", (0, 12), b""),
            unusual(b"folder/", (0, 0), b""),
            unusual(b"../up", (0, 0), b""),
            unusual(b"\x82", (0, 0), b""),
        ];
        for (prefix, counts) in [(&b""[..], true), (b"#!/bin/sh\n", true), (b"#!/bin/sh\n", false)] {
            let pack = |kept: &[usize]| {
                let mut file = prefix.to_vec();
                let shift = if counts { 0 } else { prefix.len() };
                let mut entries = vec![];
                for (member, entry) in kept.iter().map(|&at| &members[at]) {
                    entries.push(entry((file.len() - shift) as u32));
                    file.extend(member);
                }
                let begin = file.len() - shift;
                (file, entries, begin)
            };
            let (mut file, entries, begin) = pack(&[0, 1, 2, 3, 4, 5, 6, 7, 8]);
            file.extend(directory(&entries, begin));
            std::fs::write(&path, &file).unwrap();
            let draft = ZipDraft::open(&path).unwrap();
            draft.put("changed", b"new").unwrap();
            draft.delete("deleted").unwrap();
            draft.commit().unwrap();
            let (mut wanted, mut entries, begin) = pack(&[0, 1, 4, 5, 6, 7, 8]);
            let found = std::fs::read(&path).unwrap();
            assert!(found.starts_with(&wanted), "{prefix:?} {counts}");
            let added = 30 + 7 + 3;
            wanted.extend(&found[wanted.len()..][..added]);
            entries.push(found[wanted.len() + entries.concat().len()..][..46 + 7].to_vec());
            wanted.extend(directory(&entries, begin + added));
            assert!(found == wanted, "{prefix:?} {counts}");
            assert_eq!(get(&draft, "changed").unwrap(), b"new");
            for key in ["v/0", "streamed"] {
                assert_eq!(get(&draft, key).unwrap(), b"stored bytes");
            }
            for key in ["encrypted", "bzip2"] {
                let error = draft.get(key, ByteRange::All).unwrap_err();
                assert!(error.code == Code::ENOTBUILT && error.what.starts_with(key), "{error}");
            }
        }
    }

    #[test]
    fn more_members_than_16_bits_can_count_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.zip");
        let draft = ZipDraft::create(&path).unwrap();
        let key = |number: u32| format!("v/{:x}/{number}", number % 64);
        for number in 0..66_000 {
            draft.put(&key(number), &number.to_le_bytes()).unwrap();
        }
        draft.commit().unwrap();
        drop(draft);
        // With something before the zip file, whose length its positions do not count.
        let file = [&b"#!/bin/sh\n"[..], &std::fs::read(&path).unwrap()].concat();
        std::fs::write(&path, file).unwrap();
        let draft = ZipDraft::open(&path).unwrap();
        draft.put("new", b"n").unwrap();
        draft.delete(&key(0)).unwrap();
        draft.commit().unwrap();
        let store = opened(&path).unwrap();
        assert_eq!(get(&*store, &key(0)), None);
        for number in [1, 65_534, 65_535, 65_536, 65_999] {
            assert_eq!(get(&*store, &key(number)).unwrap(), number.to_le_bytes());
        }
        assert_eq!(store.list("v").unwrap().folders.len(), 64);
        assert_eq!(get(&*store, "new").unwrap(), b"n");
        assert!(std::fs::read(&path).unwrap().starts_with(b"#!/bin/sh\nPK\x03\x04"));
    }

    #[test]
    fn objects_are_found_while_another_thread_commits() {
        let folder = tempfile::tempdir().unwrap();
        let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
        let keys: Vec<String> = (0..50).map(|number| format!("v/{number}")).collect();
        let put = || keys.iter().for_each(|key| drop(draft.put(key, b"bytes").unwrap()));
        put();
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_done.load(std::sync::atomic::Ordering::Relaxed) {
                        keys.iter().for_each(|key| assert_eq!(get(&draft, key).unwrap(), b"bytes", "{key}"));
                    }
                });
            }
            let committed = (0..20).try_for_each(|_| {
                put();
                draft.commit()
            });
            is_done.store(true, std::sync::atomic::Ordering::Relaxed);
            committed.unwrap();
        });
    }

    #[test]
    fn listings_are_those_of_all_keys() {
        let folder = tempfile::tempdir().unwrap();
        let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
        let model = crate::MemoryStore::default();
        let mut rng = Rng::new(7);
        let names = ["a", "a-b", "a0", "b", "\u{e9}"];
        for _ in 0..2000 {
            let depth = 1 + rng.below(3);
            let key = (0..depth).map(|_| names[rng.below(5) as usize]).collect::<Vec<_>>().join("/");
            match rng.below(10) {
                0..4 => drop((draft.put(&key, b"x").unwrap(), model.put(&key, b"x").unwrap())),
                4..7 => drop((draft.delete(&key).unwrap(), model.delete(&key).unwrap())),
                7 if rng.below(10) == 0 => draft.commit().unwrap(),
                _ => assert_eq!(draft.list(&key).unwrap(), model.list(&key).unwrap(), "{key}"),
            }
        }
        assert_eq!(draft.list("").unwrap(), model.list("").unwrap());
    }

    #[test]
    fn space_of_an_object_that_was_put_again_is_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
        let blob = crate::MemoryBlob::new(vec![7; 1 << 20]);
        for _ in 0..20 {
            draft.put("a", &[5; 1 << 20]).unwrap();
            draft.put_blob("b", &blob).unwrap();
        }
        let used = draft.state().pending.as_ref().unwrap().blob().file().metadata().unwrap().blocks() * 512;
        assert!(used < 8 << 20, "{used} bytes");
        draft.commit().unwrap();
        assert!(get(&draft, "a").unwrap() == [5; 1 << 20] && get(&draft, "b").unwrap() == [7; 1 << 20]);
    }

    #[test]
    fn a_key_that_no_member_can_have_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let draft = ZipDraft::create(&folder.path().join("a.zip")).unwrap();
        assert_eq!(draft.put(&"a".repeat(65_536), b"").unwrap_err().code, Code::EMAXNAME);
        draft.put(&"a".repeat(65_535), b"1").unwrap();
        draft.commit().unwrap();
        assert_eq!(get(&draft, &"a".repeat(65_535)).unwrap(), b"1");
    }
}
