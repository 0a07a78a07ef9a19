//! The file that a tool makes: written beside its target and renamed at the end.
//!
//! A tool that fails, or is stopped by a signal, leaves nothing behind, and what stood at the target stays as it was. The
//! new file takes over mode, owner, group and extended attributes (access lists) of the file that it replaces. Targets that
//! are no regular files (devices, pipes), and files in folders where no other file can be made, are written in place. Other
//! hard links keep the old content.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use ferrocdf::store::{BlobMut, FileBlob, copy_access, resolve_links, write_file};
use ferrocdf::{Error, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// The target of a tool, and the file that is written for it.
pub struct Target {
    /// The path as the user gave it.
    given: PathBuf,
    /// The temporary file; `None` if the target is written in place.
    beside: Option<Beside>,
}

/// A temporary file in the folder of the file that it will replace.
struct Beside {
    temporary: PathBuf,
    target: PathBuf,
    /// Holds the writer's lock of the file that is replaced.
    lock: Option<FileBlob>,
}

/// The temporary files of this process, to be removed when a signal ends it.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

impl Target {
    /// Prepares to write `given`: makes an empty temporary file beside it, or chooses to write in place.
    ///
    /// Fails if there is a file that may not be written, or that another process writes.
    pub fn new(given: &Path) -> Result<Target> {
        let given = given.to_path_buf();
        let Some(target) = resolve_links(&given) else { return Ok(Target { given, beside: None }) };
        let lock = match fs::metadata(&target) {
            Ok(meta) if meta.is_file() => Some(locked(&target, &given)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ => return Ok(Target { given, beside: None }),
        };
        let beside = match make_temporary(&target, lock.as_ref()) {
            Ok(temporary) => Some(Beside { temporary, target, lock }),
            Err(error) if is_refused(&error) => None,
            Err(error) => return Err(Error::system(&error, given.display())),
        };
        Ok(Target { given, beside })
    }

    /// The path to write to.
    pub fn path(&self) -> &Path {
        self.beside.as_ref().map_or(&self.given, |beside| &beside.temporary)
    }

    /// Writes the file as a whole.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        match &self.beside {
            Some(beside) => FileBlob::open_mut(&beside.temporary)?.write_at(0, bytes),
            None => write_file(&self.given, bytes),
        }
    }

    /// A result whose error names the target, not the temporary file.
    pub fn named<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| {
            let [written, given] = [self.path(), &self.given].map(|path| path.display().to_string());
            let words = error.what.replace(&written, &given);
            error.with_words(words)
        })
    }

    /// Puts the complete file in the place of the target.
    pub fn replace(mut self) -> Result<()> {
        let Some(Beside { temporary, target, lock }) = self.beside.take() else { return Ok(()) };
        let done = match lock {
            // Another process may have made a file of that name meanwhile, and may be writing it.
            None if target.is_file() => locked(&target, &self.given).map(Some),
            lock => Ok(lock),
        };
        let done = done.and_then(|_lock| {
            fs::rename(&temporary, &target).map_err(|error| Error::system(&error, self.given.display()))
        });
        remove(&temporary);
        done
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            remove(&beside.temporary);
        }
    }
}

/// Arranges that the temporary files of this process are removed when a signal ends it. Signals that the process ignores,
/// as under `nohup`, are left alone.
pub fn remove_on_signals() {
    let ignored = ignored_signals();
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    // Without handlers a signal leaves a temporary file, and no other harm.
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Kept to the end, so that no other temporary file is made.
            let files = temporary_files();
            for path in files.iter() {
                let _ = fs::remove_file(path);
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
    // It is not there any more if it was renamed.
    let _ = fs::remove_file(temporary);
    files.retain(|path| path != temporary);
}

/// Opens an existing file and takes the writer's lock, as [`ferrocdf::FileMut::create`] does.
fn locked(path: &Path, given: &Path) -> Result<FileBlob> {
    let file = FileBlob::open_mut(path).map_err(|error| error.with_words(given.display().to_string()))?;
    file.lock_for_writing().map_err(|error| error.at(given.display()))?;
    Ok(file)
}

/// Makes an empty file beside `target`, with the owner and the access rights of the file that is there now.
fn make_temporary(target: &Path, present: Option<&FileBlob>) -> std::io::Result<PathBuf> {
    let mut files = temporary_files();
    for number in 0.. {
        let path = target.with_file_name(format!(".ferrocdf-{}-{number}.tmp", process::id()));
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
    unreachable!("the loop ends with a file or an error")
}

/// Whether a folder takes no new files. Writing in place may succeed then, and if it does not, its error names the target.
fn is_refused(error: &std::io::Error) -> bool {
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory | Unsupported)
}
