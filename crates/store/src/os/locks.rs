//! Locks of open files and folders (`flock`), through the standard library, which has them for all systems.

use std::fs::{File, TryLockError};
use std::io;

/// What a lock lets others do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Others may have the lock too, if they share it.
    Shared,
    /// Nobody else has the lock.
    Exclusive,
}

/// Takes a lock for the holder alone, without waiting. False if another opening of the file has it; errors are those of file systems
/// without locks.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => return Ok(false),
            // A signal came; nothing is known about the lock.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Waits for a lock. False where the file system has none.
pub(crate) fn lock(file: &File, sharing: Sharing) -> io::Result<bool> {
    let done = match sharing {
        Sharing::Shared => file.lock_shared(),
        Sharing::Exclusive => file.lock(),
    };
    match done {
        Ok(()) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives a lock back. A file that is closed gives it back in any case.
pub(crate) fn unlock(file: &File) {
    let _ = file.unlock();
}

/// True if an error says that the file system has no locks, as some network file systems.
#[cfg(unix)]
fn is_missing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::BADF, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOLCK];
    Errno::from_io_error(error).is_some_and(|errno| missing.contains(&errno))
        || error.kind() == io::ErrorKind::Unsupported
}

/// True if an error says that the system has no locks.
#[cfg(not(unix))]
fn is_missing(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}
