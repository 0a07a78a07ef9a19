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
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ferrocdf_bytes::{Code, Error, Result, errno};

use super::nameless::{NamelessFile, folder_of};
use super::steps::step;
use super::zip_pending::{PendingFile, PendingObject};
use super::zip_write::{ZipWriter, name_len};
use super::{
    ByteRange, Expected, Fetched, Listing, Store, Version, ZipStore, check_folder, check_key, list_from,
};
use crate::os::{copy_access, identity, locks, sync};
use crate::{Blob, BlobMut, Cost, FileBlob, resolve_links};

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
    state: Mutex<ZipDraftState>,
}

struct ZipDraftState {
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
        let failed = |error: io::Error| Error::system(error, path.display());
        let pending = PendingFile::new(&target, path).map_err(failed)?;
        if let Some(old) = &replaced {
            // What the commit will have to do is tried on another file.
            copy_access(old, pending.blob().file()).map_err(|error| {
                let what =
                    "a new file cannot get its owner, group, mode and attributes, so it cannot be replaced";
                Error::system(error, format_args!("{}: {what}", path.display()))
            })?;
        }
        let state = ZipDraftState {
            replaced,
            committed,
            changes: BTreeMap::new(),
            pending: Some(pending),
            puts: 0,
            is_unsynced: false,
        };
        Ok(ZipDraft {
            shown: path.to_path_buf(),
            folder: sync::open_folder(folder_of(&target)).ok(),
            path: target,
            must_be_new: false,
            is_durable: false,
            state: Mutex::new(state),
        })
    }

    // No code panics in the middle of a change, so a poisoned lock guards a valid state.
    fn state(&self) -> MutexGuard<'_, ZipDraftState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refused(&self, code: Code, why: &str) -> Error {
        Error::new(code, format!("{}: {why}", self.shown.display()))
    }

    fn failed(&self, doing: &str, error: io::Error) -> Error {
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
                        made.map_err(|error| self.failed("making a temporary file in its folder", error))?;
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
    fn check_replaced(&self, state: &ZipDraftState) -> Result<()> {
        let there = step().and_then(|()| self.path.symlink_metadata());
        let Some(replaced) = &state.replaced else {
            return match there {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                Err(error) => Err(self.failed("asking whether it exists", error)),
                Ok(_) => Err(self.taken()),
            };
        };
        let there = there.map_err(|error| self.failed("the zip file was moved or removed", error))?;
        let own =
            replaced.file().metadata().map_err(|error| self.failed("asking which file it is", error))?;
        if identity::is_same_file(&there, &own) {
            return Ok(());
        }
        Err(self.refused(errno::STALE, "another writer replaced the zip file; open it again"))
    }

    /// Returns the error of a file that another writer made.
    fn taken(&self) -> Error {
        if self.must_be_new {
            return exists(&self.shown);
        }
        self.refused(errno::STALE, "another writer made the zip file since; open it")
    }

    /// Waits for the lock of the folder, which is held until the answer is dropped.
    fn lock_folder(&self) -> Result<Option<FolderLock<'_>>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        for _ in 0..MAX_WAITS {
            match locks::try_lock(folder) {
                Ok(true) => return Ok(Some(FolderLock(folder))),
                Ok(false) => std::thread::sleep(WAIT),
                // No other process can lock on such a file system either.
                Err(_) => return Ok(None),
            }
        }
        Err(self.refused(errno::AGAIN, "another process holds the lock of its folder"))
    }

    /// Writes all members to a new file, to the disk.
    fn write_members(&self, state: &ZipDraftState) -> Result<NamelessFile> {
        let mode = if state.replaced.is_some() { PRIVATE } else { MODE };
        let new = NamelessFile::new(&self.path, &self.shown, mode)
            .map_err(|error| self.failed("making a new file in its folder", error))?;
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
                .map_err(|error| self.failed("giving the new file its owner and mode", error))?;
        }
        // The bytes must be on disk before the name is.
        step().map_err(|error| self.failed("flushing it to disk", error))?;
        new.blob.sync()?;
        Ok(new)
    }

    fn sync_folder(&self, state: &mut ZipDraftState) -> Result<()> {
        if !state.is_unsynced {
            return Ok(());
        }
        step().map_err(|error| self.failed("flushing its folder to disk", error))?;
        if let (Some(file), Some(folder)) = (&state.replaced, &self.folder) {
            file.sync_folder(folder)?;
        } else {
            return Err(self.refused(errno::ACCES, "flushing its folder to disk, which cannot be read"));
        }
        state.is_unsynced = false;
        Ok(())
    }
}

/// The lock of a folder.
struct FolderLock<'f>(&'f File);

impl Drop for FolderLock<'_> {
    fn drop(&mut self) {
        locks::unlock(self.0);
    }
}

impl ZipDraftState {
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
    let failed = |error: io::Error| Error::system(error, path.display());
    let Some(target) = resolve_links(path) else {
        let what = "its links lead in a circle, or to an open file of a process";
        return Err(Error::new(Code::EINVAL, format!("{}: {what}", path.display())));
    };
    let Some(name) = target.file_name() else {
        return Err(Error::new(errno::ISDIR, path.display().to_string()));
    };
    let folder = folder_of(&target).canonicalize().map_err(failed)?;
    Ok(folder.join(name))
}

/// Opens a file that can be replaced, and locks it. The path leads to it then.
fn locked(target: &Path, shown: &Path) -> Result<Arc<FileBlob>> {
    let failed = |error: io::Error| Error::system(error, shown.display());
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
            Ok(there) if identity::is_same_file(&there, &own) => {}
            // Another writer replaced it before it was locked.
            _ => continue,
        }
        if identity::names(&own) > 1 {
            let what = "it has several hard links, and would be replaced under one of them only: remove or copy them";
            return Err(Error::new(errno::MLINK, format!("{}: {what}", shown.display())));
        }
        return Ok(Arc::new(file));
    }
    let what = "other writers keep replacing it";
    Err(Error::new(errno::AGAIN, format!("{}: {what}", shown.display())))
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
            step().map_err(|error| self.failed("reading it again", error))?;
            let committed =
                ZipStore::open_to_edit(blob.clone()).map_err(|error| error.at(self.shown.display()))?;
            blob.lock_for_writing().map_err(|error| error.at(self.shown.display()))?;
            {
                let _lock = self.lock_folder()?;
                self.check_replaced(&state)?;
                new.take_name(&self.path, state.replaced.is_some()).map_err(|error| match error.kind() {
                    ErrorKind::AlreadyExists if state.replaced.is_none() => self.taken(),
                    _ => self.failed("putting its new content in place", error),
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
mod tests;
