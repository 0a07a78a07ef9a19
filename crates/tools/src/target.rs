//! The file that a tool makes: written beside its target and renamed at the end.
//!
//! A tool that fails, or is stopped by a signal, leaves nothing behind, and what stood at the target stays as it was. The
//! new file takes over mode, owner and group of the file that it replaces. Targets that are no regular files (devices,
//! pipes), and files in folders where no other file can be made, are written in place. Extended attributes are not taken
//! over, and other hard links keep the old content.

use std::fs::{self, Metadata, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use ferrocdf::store::{BlobMut, FileBlob, write_file};
use ferrocdf::{Code, Error, Result};
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

/// The most symbolic links that are followed, as in Linux.
const MOST_LINKS: usize = 40;

impl Target {
    /// Prepares to write `given`: makes an empty temporary file beside it, or chooses to write in place.
    ///
    /// Fails if there is a file that may not be written, or that another process writes.
    pub fn new(given: &Path) -> Result<Target> {
        let given = given.to_path_buf();
        let Some(target) = resolve(&given) else { return Ok(Target { given, beside: None }) };
        let present = match fs::metadata(&target) {
            Ok(meta) if meta.is_file() => Some(meta),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            _ => return Ok(Target { given, beside: None }),
        };
        let lock = match present {
            Some(_) => Some(locked(&target, &given)?),
            None => None,
        };
        let beside = match make_temporary(&target, present.as_ref()) {
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

/// The path behind all symbolic links, which need not exist. `None` for descriptors of a process, such as `/dev/stdout`.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if path.starts_with("/dev/fd") || path.starts_with("/proc") {
            return None;
        }
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Some(path),
        }
    }
    None
}

/// Opens an existing file and takes the writer's lock, as [`ferrocdf::FileMut::create`] does.
fn locked(path: &Path, given: &Path) -> Result<FileBlob> {
    let file = FileBlob::open_mut(path).map_err(|error| error.with_words(given.display().to_string()))?;
    let wanted = std::env::var_os("HDF5_USE_FILE_LOCKING");
    if wanted.is_some_and(|word| word.eq_ignore_ascii_case("FALSE") || word == "0") || file.lock()? {
        return Ok(file);
    }
    let what = "another process writes it, or reads it with the HDF5 library, and holds its lock (no lock is taken with \
                HDF5_USE_FILE_LOCKING=FALSE)";
    Err(Error::new(Code(EAGAIN), what).at(given.display()))
}

/// `EAGAIN` of the operating system.
const EAGAIN: i32 = 11;

/// Makes an empty file beside `target`, with mode, owner and group of the file that is there now.
fn make_temporary(target: &Path, present: Option<&Metadata>) -> std::io::Result<PathBuf> {
    let mut files = temporary_files();
    for number in 0.. {
        let path = target.with_file_name(format!(".ferrocdf-{}-{number}.tmp", process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(_) => {
                if let Err(error) = present.map_or(Ok(()), |present| take_over(&path, present)) {
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
    use ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | NotFound | NotADirectory)
}

fn take_over(path: &Path, present: &Metadata) -> std::io::Result<()> {
    let made = fs::metadata(path)?;
    if (made.uid(), made.gid()) != (present.uid(), present.gid()) {
        chown(path, Some(present.uid()), Some(present.gid()))?;
    }
    fs::set_permissions(path, present.permissions())
}
