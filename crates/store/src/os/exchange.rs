//! Exchanging the names of two files or folders.

use std::io;
use std::path::Path;

/// Exchanges what two names of one file system stand for, at once: nobody finds either of them missing.
///
/// # Errors
/// Those of the system; [`Unsupported`](io::ErrorKind::Unsupported) where the system or the file system cannot do that.
#[cfg(target_os = "linux")]
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        done => Ok(done?),
    }
}

/// Exchanges what two names stand for, where the system can do that.
///
/// # Errors
/// [`Unsupported`](io::ErrorKind::Unsupported), always.
#[cfg(not(target_os = "linux"))]
pub fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
