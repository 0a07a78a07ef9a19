//! Which file something is, whatever its name, and what the system knows of its space.

use std::fs::Metadata;

/// True if both describe one file.
#[cfg(unix)]
pub(crate) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// True if both may describe one file: it was made and changed at the same times, and has the same size.
#[cfg(not(unix))]
pub(crate) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    let known = |about: &Metadata| (about.created().ok(), about.modified().ok(), about.len());
    known(one) == known(other)
}

/// Returns the number of names that a file has.
#[cfg(unix)]
pub(crate) fn names(about: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(about)
}

/// Returns 1: the system does not tell.
#[cfg(not(unix))]
pub(crate) fn names(_about: &Metadata) -> u64 {
    1
}

/// Returns the bytes that a file takes on disk.
#[cfg(unix)]
pub(crate) fn disk_bytes(about: &Metadata) -> u64 {
    /// Bytes of a block in which systems count.
    const BLOCK: u64 = 512;
    std::os::unix::fs::MetadataExt::blocks(about) * BLOCK
}

/// Returns the size of a file: the system does not tell what it takes on disk.
#[cfg(not(unix))]
pub(crate) fn disk_bytes(about: &Metadata) -> u64 {
    about.len()
}

/// Returns text that differs between a file and any file that took its name later.
#[cfg(unix)]
pub(crate) fn version(about: &Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    let (inode, size) = (about.ino(), about.len());
    format!("{inode:x}-{size:x}-{:x}.{:09}", about.mtime(), about.mtime_nsec())
}

/// Returns text that differs between a file and one that took its name later, but for files of one size and time of the clock.
#[cfg(not(unix))]
pub(crate) fn version(about: &Metadata) -> String {
    format!("{:x}-{:?}-{:?}", about.len(), about.created().ok(), about.modified().ok())
}
