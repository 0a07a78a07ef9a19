//! Reads and writes at positions. None of them is repeated: callers decide how often a request may be interrupted.

use std::fs::File;
use std::io;

/// Reads bytes from position `at` on. Returns how many, 0 at the end of the file.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

/// Writes bytes at position `at`. Returns how many.
#[cfg(unix)]
pub(crate) fn write_at(file: &File, from: &[u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, from, at)
}

/// Cuts a file to `size` bytes, or extends it with zeros.
#[cfg(unix)]
pub(crate) fn set_size(file: &File, size: u64) -> io::Result<()> {
    // Not `File::set_len`: it repeats an interrupted call for ever.
    Ok(rustix::fs::ftruncate(file, size)?)
}

/// Reads bytes from position `at` on. Returns how many, 0 at the end of the file. It moves the cursor, which nobody uses.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

/// Writes bytes at position `at`. Returns how many. It moves the cursor, which nobody uses.
#[cfg(windows)]
pub(crate) fn write_at(file: &File, from: &[u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, from, at)
}

/// Cuts a file to `size` bytes, or extends it with zeros.
#[cfg(not(unix))]
pub(crate) fn set_size(file: &File, size: u64) -> io::Result<()> {
    file.set_len(size)
}

/// Reads nothing: the system has no files.
#[cfg(not(any(unix, windows)))]
pub(crate) fn read_at(_file: &File, _into: &mut [u8], _at: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes nothing: the system has no files.
#[cfg(not(any(unix, windows)))]
pub(crate) fn write_at(_file: &File, _from: &[u8], _at: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
