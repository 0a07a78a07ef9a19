//! The file that a tool makes: written beside its target and renamed at the end.
//!
//! A tool that fails, or is stopped by a signal, leaves nothing behind, and what stood at the target stays as it was. The
//! new file takes over mode, owner, group and extended attributes (access lists) of the file that it replaces. Where no file
//! can be renamed to the target (devices, pipes, folders that take no new file, objects behind URLs), the new file is made in the
//! folder for temporary files and its bytes are copied to the target at the end. Other hard links keep the old content.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use ferrocdf::store::{
    BlobMut, FileBlob, ReadAhead, SkipZeros, copy_access, exchange, folder_of, resolve_links,
};
use ferrocdf::{Code, CreateOptions, Error, FileMut, Location, Result};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::input::location;
use crate::kinds::is_zarr;
use crate::progress::RemoteProgress;
use crate::temporary::{self, remove_at, remove_leftovers_once};

/// The target of a tool, and the file that is written for it.
pub struct Target {
    /// The path as the user gave it.
    given: PathBuf,
    /// The temporary file.
    temporary: PathBuf,
    way: Way,
    /// Holds the writer's lock of the file that is replaced.
    lock: Option<FileBlob>,
    /// True if the disk has the bytes before they get the name, and both before the tool ends: with `FERROCDF_SYNC=disk`, and for the only
    /// copy of a dataset.
    is_durable: bool,
}

/// How the temporary file becomes the target.
enum Way {
    /// It is renamed to this path.
    Rename(PathBuf),
    /// Its bytes are copied to the given path.
    Copy,
    /// Its bytes are put as this object of a store.
    Put(Location),
    /// It is a folder, which takes the place of this path.
    Folder(PathBuf),
    /// There is none: the objects of a Zarr store are put under this key of a store. What stood there is removed first, and does not come
    /// back if the tool fails.
    Direct(Location),
}

/// The temporary files of this process, to be removed when a signal ends it.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

impl Target {
    fn of(given: PathBuf, temporary: PathBuf, way: Way, lock: Option<FileBlob>) -> Target {
        Target { given, temporary, way, lock, is_durable: CreateOptions::default().durable }
    }

    /// Prepares to write `given`: makes an empty temporary file.
    ///
    /// Fails if there is a file that may not be written, or that another process writes.
    fn new(given: &Path) -> Result<Target> {
        let location = location(given)?;
        let given = given.to_path_buf();
        if let Location::Url(_) = location {
            let object = location.resolved()?.into_owned();
            return Ok(Target::of(given, far_temporary()?, Way::Put(object), None));
        }
        let failed = |error: io::Error| Error::system(error, given.display());
        let Some(target) = resolve_links(&given) else { return Self::copied(given, None) };
        let lock = match fs::metadata(&target) {
            Ok(meta) if meta.is_file() => Some(locked(&target, &given)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ => return Self::copied(given, None),
        };
        match make_temporary(&target, lock.as_ref()) {
            Ok(temporary) => Ok(Target::of(given, temporary, Way::Rename(target), lock)),
            // The file that is there may be writable where its folder is not.
            Err(error) if is_refused(&error) && lock.is_some() => Self::copied(given, lock),
            Err(error) => Err(failed(error)),
        }
    }

    /// Prepares to make a dataset at `given`, and says in `options` what follows from its name.
    ///
    /// # Errors
    /// Those of [`Target::new`] and [`Target::new_store`].
    pub fn new_dataset(given: &Path, options: &mut CreateOptions) -> Result<Target> {
        if !is_zarr(options.format) {
            return Self::new(given);
        }
        let place = location(given)?;
        options.zarr = place.zarr_options(options.zarr);
        match &*place.resolved()? {
            _ if !options.zarr.zip => Self::new_store(given),
            Location::Path(path) => Self::new(path),
            _ => Self::new(given),
        }
    }

    /// Prepares to make a Zarr store at `given`. A folder is written beside it; objects of a store that is not a folder are put at their
    /// final keys.
    ///
    /// # Errors
    /// `ENOTEMPTY` for a folder with other files than those of a Zarr store.
    pub fn new_store(given: &Path) -> Result<Target> {
        let location = location(given)?.resolved()?.into_owned();
        let given = given.to_path_buf();
        let Location::Path(path) = &location else {
            return Ok(Target::of(given.clone(), given, Way::Direct(location), None));
        };
        let failed = |error: io::Error| Error::system(error, given.display());
        let path = path.components().as_path().to_path_buf();
        let path = resolve_links(&path).unwrap_or(path);
        let has_others = match fs::read_dir(&path) {
            Ok(mut entries) => entries.next().is_some() && !ferrocdf::is_zarr_store(&path),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => false,
            Err(error) => return Err(failed(error)),
        };
        if has_others {
            return Err(ferrocdf::no_store_to_replace().at(given.display()));
        }
        let temporary = make_temporary(&path, None).map_err(failed)?;
        Ok(Target::of(given, temporary, Way::Folder(path), None))
    }

    /// Returns where the store is to be written that becomes the target.
    pub fn location(&self) -> Location {
        match &self.way {
            Way::Direct(location) => location.clone(),
            _ => Location::Path(self.temporary.clone()),
        }
    }

    /// Makes the dataset that is to become the target.
    pub fn create(&self, options: &CreateOptions) -> Result<FileMut> {
        self.named(match &self.way {
            Way::Direct(location) => FileMut::create_at(location, options),
            _ => FileMut::create(&self.temporary, options),
        })
    }

    /// Opens the dataset that was made, before it becomes the target.
    pub fn open(&self) -> Result<ferrocdf::File> {
        match &self.way {
            Way::Direct(location) => {
                ferrocdf::File::open_location(location, &ferrocdf::OpenOptions::default())
            }
            // Files that it refers to are beside the target.
            Way::Copy => {
                let blob = Arc::new(ReadAhead::new(FileBlob::open(&self.temporary)?));
                let beside = Location::Path(self.given.clone());
                ferrocdf::File::from_blob(blob, &ferrocdf::OpenOptions::default().beside(beside))
            }
            _ => ferrocdf::open(&self.temporary),
        }
    }

    /// Prepares to replace the only copy of a dataset: the new one takes its name when the disk has it.
    ///
    /// # Errors
    /// `NC_EPERM` where the old file could only be overwritten piece by piece, since its folder takes no new file.
    pub fn replacing_only_copy(mut self) -> Result<Target> {
        if !matches!(self.way, Way::Rename(_)) {
            let what = "its folder takes no new file, so it can only be overwritten, and would be lost if that failed";
            return Err(Error::new(Code::EPERM, what).at(self.given.display()));
        }
        self.is_durable = true;
        Ok(self)
    }

    /// A target whose temporary file lies in another folder.
    fn copied(given: PathBuf, lock: Option<FileBlob>) -> Result<Target> {
        // Found before the work, not after it.
        let opened = OpenOptions::new().write(true).open(&given);
        opened.map_err(|error| Error::system(error, given.display()))?;
        Ok(Target::of(given, far_temporary()?, Way::Copy, lock))
    }

    /// Writes the file as a whole. Zeros become holes of the file, in pieces of 64 KiB.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        let file = FileBlob::open_mut(&self.temporary)?;
        SkipZeros(&file).write_at(0, bytes)?;
        // Zeros at the end were left out as well.
        file.set_size(bytes.len() as u64)
    }

    /// A result whose error names the target, not the temporary file.
    pub fn named<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| {
            let [written, given] = [&self.temporary, &self.given].map(|path| path.display().to_string());
            let words = error.what.replace(&written, &given);
            error.with_words(words)
        })
    }

    /// Puts the complete file in the place of the target.
    pub fn replace(self) -> Result<()> {
        let failed = |error: io::Error| Error::system(error, self.given.display());
        let is_durable = self.is_durable;
        if is_durable && self.temporary.is_file() {
            self.named(FileBlob::open_mut(&self.temporary)?.sync())?;
        }
        let target = match &self.way {
            Way::Rename(target) => target,
            Way::Copy => return copy_to(&self.temporary, &self.given, is_durable).map_err(failed),
            Way::Put(location) => {
                let _shown = RemoteProgress::of(location, "sending");
                return location.put(&FileBlob::open(&self.temporary)?);
            }
            Way::Folder(target) => return replace_folder(&self.temporary, target).map_err(failed),
            Way::Direct(_) => return Ok(()),
        };
        // Another process may have made a file of that name meanwhile, and may be writing it.
        let is_new = self.lock.is_none() && target.is_file();
        let _lock = is_new.then(|| locked(target, &self.given)).transpose()?;
        fs::rename(&self.temporary, target).map_err(failed)?;
        if is_durable { FileBlob::open(target)?.sync_name() } else { Ok(()) }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !matches!(self.way, Way::Direct(_)) {
            remove(&self.temporary);
        }
    }
}

/// Puts a folder in the place of what is at a path, which becomes the temporary one, to be removed.
fn replace_folder(temporary: &Path, target: &Path) -> io::Result<()> {
    // A signal waits: it removes the temporary folder, which must not be the only one.
    let _files = temporary_files();
    if let Err(error) = fs::symlink_metadata(target) {
        return if error.kind() == ErrorKind::NotFound { fs::rename(temporary, target) } else { Err(error) };
    }
    match exchange(temporary, target) {
        Err(error) if error.kind() == ErrorKind::Unsupported => rename_aside(temporary, target),
        done => done,
    }
}

/// Does what [`replace_folder`] does where names cannot be exchanged: what stood at the path gets another name first, which nobody removes if
/// the process is killed then.
fn rename_aside(temporary: &Path, target: &Path) -> io::Result<()> {
    let old = temporary.with_extension("old");
    fs::rename(target, &old)?;
    let done = fs::rename(temporary, target);
    match &done {
        Ok(()) => remove_at(&old),
        // What stood there comes back.
        Err(_) => drop(fs::rename(&old, target)),
    }
    done
}

/// Copies the bytes of a file to a device, a pipe, or another file. What is longer than the other file comes first: if there
/// is no room for that, the other file keeps its content.
fn copy_to(temporary: &Path, path: &Path, is_durable: bool) -> io::Result<()> {
    let mut from = File::open(temporary)?;
    let mut to = OpenOptions::new().write(true).open(path)?;
    let (old, new) = (to.metadata()?, from.metadata()?.len());
    if !old.is_file() {
        return io::copy(&mut from, &mut to).map(drop);
    }
    if new > old.len() {
        let mut copy_rest = || {
            from.seek(SeekFrom::Start(old.len()))?;
            to.seek(SeekFrom::Start(old.len()))?;
            io::copy(&mut from, &mut to)
        };
        if let Err(error) = copy_rest() {
            to.set_len(old.len())?;
            return Err(error);
        }
        from.rewind()?;
        to.rewind()?;
    }
    io::copy(&mut from.take(old.len()), &mut to)?;
    to.set_len(new)?;
    if is_durable { to.sync_all() } else { Ok(()) }
}

/// Arranges that the temporary files of this process are removed when a signal ends it. Signals that the process ignores,
/// as under `nohup`, are left alone.
pub fn remove_on_signals() {
    let ignored = ignored_signals();
    let ending = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU];
    let wanted = ending.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // With a handler for this signal, a write beyond the limit of the process is an error like any other.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // Without handlers a signal leaves a temporary file, and no other harm.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Kept to the end, so that no other temporary file is made.
            let files = temporary_files();
            for path in files.iter() {
                remove_at(path);
            }
            let _ = emulate_default_handler(signal);
            process::exit(128 + signal);
        }
    });
}

/// The set of signals that this process ignores, as Linux tells it; on other systems none.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a temporary file, unless it has become the target.
fn remove(temporary: &Path) {
    let mut files = temporary_files();
    remove_at(temporary);
    files.retain(|path| path != temporary);
}

/// Opens an existing file and takes the writer's lock, as [`ferrocdf::FileMut::create`] does.
fn locked(path: &Path, given: &Path) -> Result<FileBlob> {
    let file = FileBlob::open_mut(path).map_err(|error| error.with_words(given.display().to_string()))?;
    file.lock_for_writing().map_err(|error| error.at(given.display()))?;
    Ok(file)
}

/// Makes an empty file in the folder for temporary files.
fn far_temporary() -> Result<PathBuf> {
    let folder = std::env::temp_dir();
    make_temporary(&folder.join("target"), None).map_err(|error| Error::system(error, folder.display()))
}

/// Makes an empty file beside `target`, with the owner and the access rights of the file that is there now, and removes those of processes
/// that were killed. The process uses each name once: a name that is free again after a rename may still be removed by the thread that
/// renamed it.
fn make_temporary(target: &Path, present: Option<&FileBlob>) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    remove_leftovers_once(folder_of(target));
    let mut files = temporary_files();
    loop {
        let number = NEXT.fetch_add(1, Relaxed);
        let path = target.with_file_name(temporary::name(number));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(made) => {
                if let Err(error) = present.map_or(Ok(()), |present| copy_access(present, &made)) {
                    let _ = fs::remove_file(&path);
                    return Err(error);
                }
                files.push(path.clone());
                return Ok(path);
            }
        }
    }
}

/// True if the error says that a folder takes no new file.
fn is_refused(error: &io::Error) -> bool {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory | Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_temporary_files_are_used_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = Target::new(&folder.path().join("first")).unwrap();
        let name = first.temporary.clone();
        first.replace().unwrap();
        let second = Target::new(&folder.path().join("second")).unwrap();
        assert_ne!(second.temporary, name);
    }

    #[test]
    fn the_only_copy_is_renamed_over_and_never_written_into() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        assert!(Target::new(&path).unwrap().replacing_only_copy().unwrap().is_durable);
        let Err(error) = Target::copied(path.clone(), None).unwrap().replacing_only_copy() else { panic!() };
        assert!(error.what.contains("its folder takes no new file"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn virtual_file_that_is_made_in_another_folder_finds_its_sources_beside_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let [source, path] = ["a.nc", "all.nc"].map(|name| folder.path().join(name));
        let file = ferrocdf::create(&source).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_variable::<i32>("heat", &["time"]).unwrap().put_values(&[7, 8], ..).unwrap();
        file.close().unwrap();
        fs::write(&path, "old").unwrap();
        let target = Target::copied(path, None).unwrap();
        let made = target.create(&CreateOptions::default()).unwrap();
        let inputs = [Location::Path(source)];
        let options = ferrocdf::join::JoinOptions::default();
        ferrocdf::join::join_virtual(&inputs, &made, folder.path(), &options, &mut |_| ()).unwrap();
        made.close().unwrap();
        let heat = target.open().unwrap().variable("heat").unwrap().get_values::<i32, _>(..).unwrap();
        assert_eq!(heat, [7, 8]);
    }

    #[test]
    fn folder_replaces_another_one_also_where_names_cannot_be_exchanged() {
        for replace in [replace_folder, rename_aside] {
            let folder = tempfile::tempdir().unwrap();
            let [new, target] = ["new.tmp", "a.zarr"].map(|name| folder.path().join(name));
            for (path, text) in [(&new, "new"), (&target, "old")] {
                fs::create_dir(path).unwrap();
                fs::write(path.join("zarr.json"), text).unwrap();
            }
            replace(&new, &target).unwrap();
            assert_eq!(fs::read(target.join("zarr.json")).unwrap(), b"new");
            remove_at(&new);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
            assert!(replace(&new, &target).is_err());
            assert_eq!(fs::read(target.join("zarr.json")).unwrap(), b"new", "it comes back");
        }
    }

    #[test]
    fn threads_replace_targets_in_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let replace_many = &|thread: u64| {
            for number in 0..1000 {
                let path = folder.path().join(format!("{thread}-{number}"));
                let target = Target::new(&path).unwrap();
                target.write(b"complete").unwrap();
                target.replace().unwrap();
                assert_eq!(fs::read(&path).unwrap(), b"complete");
            }
        };
        thread::scope(|scope| (0..2).for_each(|thread| drop(scope.spawn(move || replace_many(thread)))));
    }

    #[test]
    fn bytes_are_copied_to_a_file_only_when_they_are_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for (old, new) in
            [("a long text that stands there", "short"), ("short", "a long text"), ("same", "size")]
        {
            fs::write(&path, old).unwrap();
            let failed = Target::copied(path.clone(), None).unwrap();
            failed.write(b"half").unwrap();
            let temporary = failed.temporary.clone();
            drop(failed);
            assert_eq!((fs::read(&path).unwrap(), temporary.exists()), (old.into(), false));
            let done = Target::copied(path.clone(), None).unwrap();
            done.write(new.as_bytes()).unwrap();
            done.replace().unwrap();
            assert_eq!(fs::read(&path).unwrap(), new.as_bytes());
        }
    }
}
