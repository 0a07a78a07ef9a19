//! Files that have no name until they are linked to one.

use std::fs::File;
use std::io;
use std::path::Path;

/// Makes a file without a name; `None` where the system cannot do that, or cannot make any file.
#[cfg(target_os = "linux")]
pub(crate) fn make(folder: &Path, mode: u32) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    open(folder, flags, Mode::from_raw_mode(mode)).map(File::from).ok()
}

/// Makes no file.
#[cfg(not(target_os = "linux"))]
pub(crate) fn make(_folder: &Path, _mode: u32) -> Option<File> {
    None
}

/// Gives a file that [`make`] made a name.
#[cfg(target_os = "linux")]
pub(crate) fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let from = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, from, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Fails.
#[cfg(not(target_os = "linux"))]
pub(crate) fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
