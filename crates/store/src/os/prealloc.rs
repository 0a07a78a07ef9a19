//! Disk space of ranges of a file: preallocation for large writes behind its end, and space that is given back.
//!
//! Without preallocation, ext4 reserves space for each page that is written behind the end, which takes a third of the time of a large
//! write. Other file systems are not asked: tmpfs would fill the pages twice, and file systems that compress or copy on write
//! would keep preallocated space apart from the data.

use std::fs::File;
use std::sync::OnceLock;

/// Minimum bytes of a write for which preallocation pays.
const LEAST: usize = 256 << 10;

/// Preallocation for one file; remembers whether its file system profits.
#[derive(Debug, Default)]
pub(crate) struct Preallocation {
    is_useful: OnceLock<bool>,
}

impl Preallocation {
    /// Preallocates space for `len` bytes from `at` on, as far as they are behind the end of the file. The size of the file stays
    /// the same. Errors are ignored: the write itself reports a full disk.
    pub fn reserve(&self, file: &File, at: u64, len: usize) {
        if len < LEAST || !*self.is_useful.get_or_init(|| is_useful(file)) {
            return;
        }
        let Ok(meta) = file.metadata() else { return };
        let (at, end) = (at.max(meta.len()), at.saturating_add(len as u64));
        if at < end {
            reserve(file, at, end - at);
        }
    }
}

#[cfg(target_os = "linux")]
fn is_useful(file: &File) -> bool {
    // The magic number of ext4.
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type == 0xef53)
}

#[cfg(target_os = "linux")]
fn reserve(file: &File, at: u64, len: u64) {
    let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, at, len);
}

/// Gives the disk space of a range back, which reads as zeros then. Errors are ignored: only space is lost.
#[cfg(target_os = "linux")]
pub(crate) fn free(file: &File, at: u64, len: u64) {
    use rustix::fs::FallocateFlags;
    if len > 0 {
        let _ = rustix::fs::fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, at, len);
    }
}

#[cfg(not(target_os = "linux"))]
fn is_useful(_file: &File) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn reserve(_file: &File, _at: u64, _len: u64) {}

/// Does nothing: the space is free when the file is removed.
#[cfg(not(target_os = "linux"))]
pub(crate) fn free(_file: &File, _at: u64, _len: u64) {}
