//! Buffers with the same offset in their memory page as the file range that they hold.
//!
//! The reason was measured: on several processors the copy instruction that kernels use runs at a fifth of its speed
//! where the destination lies up to 31 bytes further in its page than the source (2 GB/s and not 11). Large blocks of
//! `malloc` start 16 bytes into a page and much data of files starts at 0, so a caller's buffer meets this often; see
//! [`reads_slowly`].

use ferrocdf_bytes::ToUsize;

/// Bytes that only grow.
#[derive(Debug, Default)]
pub struct Buffer(Vec<u8>);

/// The size of a memory page; larger ones are multiples.
const PAGE: usize = 4096;

/// Up to this size allocations end the process if there is no memory. Larger ones return `None`, and cost more: each page is written once.
const ALWAYS_THERE: usize = 32 << 20;

/// True if the kernel copies `len` bytes slowly to a destination that lies `ahead` bytes further in its page than the source.
fn slow(len: usize, ahead: usize) -> bool {
    len >= PAGE / 2 && (1..32).contains(&(ahead % PAGE))
}

/// Returns the bytes of a page of a file that lie before a position.
fn in_page(at: u64) -> usize {
    (at % PAGE as u64).saturate()
}

/// True if reading from file position `at` straight into `memory` is slow, so that a buffer in between pays.
pub fn reads_slowly(at: u64, memory: &[u8]) -> bool {
    slow(memory.len(), memory.as_ptr().addr().wrapping_sub(in_page(at)))
}

/// True if writing `memory` straight to file position `at` is slow, so that a buffer in between pays.
pub fn writes_slowly(at: u64, memory: &[u8]) -> bool {
    slow(memory.len(), in_page(at).wrapping_sub(memory.as_ptr().addr()))
}

/// Returns the file position whose page offset a buffer should have, so that both reading into it from `from` and writing it at
/// `to` are fast.
pub fn meeting_point(from: u64, to: u64) -> u64 {
    if slow(PAGE, in_page(to).wrapping_sub(in_page(from))) { to.wrapping_add(64) } else { from }
}

impl Buffer {
    /// Makes a buffer without memory.
    pub const fn new() -> Self {
        Buffer(Vec::new())
    }

    /// Returns `len` bytes with any content, whose offset in their memory page is that of position `at` in its page of the file.
    pub fn at(&mut self, at: u64, len: usize) -> &mut [u8] {
        let all = self.get(len + PAGE);
        let skip = in_page(at).wrapping_sub(all.as_ptr().addr()) % PAGE;
        &mut all[skip..skip + len]
    }

    /// Returns bytes as [`Buffer::at`] does; `None` if there is no memory for them. For lengths that nothing has bounded.
    pub fn try_at(&mut self, at: u64, len: usize) -> Option<&mut [u8]> {
        let all = len.checked_add(PAGE)?;
        if all > ALWAYS_THERE && self.0.len() < all {
            self.0 = Vec::new();
            self.0.try_reserve_exact(all).ok()?;
            self.0.resize(all, 0);
        }
        Some(self.at(at, len))
    }

    /// Returns the first `len` of the bytes that the last call of [`Buffer::at`] returned; `at` must be the same.
    pub fn again(&self, at: u64, len: usize) -> &[u8] {
        let skip = in_page(at).wrapping_sub(self.0.as_ptr().addr()) % PAGE;
        &self.0[skip..skip + len]
    }

    /// Copies the bytes at position `wanted` to `into` if they all are among the `len` bytes that [`Buffer::at`] returned for
    /// position `at`; else returns `false`.
    pub(crate) fn give(&self, at: u64, len: usize, wanted: u64, into: &mut [u8]) -> bool {
        let Some(skip) = wanted.checked_sub(at).and_then(|skip| usize::try_from(skip).ok()) else {
            return false;
        };
        if skip > len || into.len() > len - skip {
            return false;
        }
        if into.is_empty() {
            return true;
        }
        into.copy_from_slice(&self.again(at, len)[skip..][..into.len()]);
        true
    }

    /// Makes the buffer hold these bytes, and returns them.
    pub fn replace(&mut self, bytes: Vec<u8>) -> &[u8] {
        self.0 = bytes;
        &self.0
    }

    /// Frees the memory if it has more than `most` bytes.
    pub fn trim(&mut self, most: usize) {
        if self.0.len() > most {
            self.0 = Vec::new();
        }
    }

    /// Returns `len` bytes with any content.
    pub fn get(&mut self, len: usize) -> &mut [u8] {
        let has = self.0.len();
        if has < len {
            // The old content need not be kept, so it is not copied; the system gives zeroed pages, which are not written here.
            self.0 = Vec::new();
            self.0 = vec![0; len.max(has.saturating_add(has / 2))];
        }
        &mut self.0[..len]
    }
}
