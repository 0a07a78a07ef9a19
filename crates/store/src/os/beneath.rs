//! Opening a file beneath a folder, which no symbolic link leads out of.

use std::fs::File;
use std::io;

/// What is found beneath a folder.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "other systems cannot tell"))]
pub(crate) enum Beneath {
    /// The file or folder, open for reading.
    Opened(File),
    /// Nothing has this name.
    Absent,
    /// A symbolic link leads out of the folder.
    LeadsOut,
    /// A symbolic link is on the way, and none was to be followed.
    Link,
    /// The system cannot tell: the caller must look at each symbolic link.
    Unknown,
}

/// Opens a path beneath an open folder.
#[cfg(target_os = "linux")]
pub(crate) fn open(folder: &File, path: &str, follows_links: bool) -> io::Result<Beneath> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::Errno;

    // A pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let links = if follows_links { ResolveFlags::empty() } else { ResolveFlags::NO_SYMLINKS };
    match openat2(folder, path, flags, Mode::empty(), ResolveFlags::BENEATH | links) {
        Ok(file) => Ok(Beneath::Opened(File::from(file))),
        Err(Errno::LOOP) if !follows_links => Ok(Beneath::Link),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Beneath::Absent),
        Err(Errno::XDEV) => Ok(Beneath::LeadsOut),
        // Kernels before 5.6 and some sandboxes do not have `openat2`.
        Err(Errno::NOSYS | Errno::PERM) => Ok(Beneath::Unknown),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens nothing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open(_folder: &File, _path: &str, _follows_links: bool) -> io::Result<Beneath> {
    Ok(Beneath::Unknown)
}
