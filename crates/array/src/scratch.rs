//! Buffers that each thread keeps for its next request.
//!
//! They are taken out of the thread's slot while in use, so that a request made from inside another one finds an empty
//! slot and not a locked one. Tiles are bounded, so the buffers stay below a few MiB for each thread.
//!
//! A buffer for transfers lies in its memory page as the bytes lie in the file's pages. The reason was measured: on
//! several processors the copy instruction that kernels use runs at a fifth of its speed where the destination lies up
//! to 31 bytes further in its page than the source (2 GB/s and not 11). Large blocks of `malloc` start 16 bytes into a
//! page and much data of files starts at 0, so a caller's buffer meets this often; see [`reads_slowly`].

use std::cell::Cell;

/// The buffers of one tile.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The bytes of the blob that a tile covers.
    pub(crate) window: Buffer,
    /// The elements of a tile as stored, dense.
    pub(crate) stored: Buffer,
    /// The elements of a tile as memory has them, dense.
    pub(crate) dense: Buffer,
}

/// Bytes that only grow.
#[derive(Default)]
pub(crate) struct Buffer(Vec<u8>);

/// The size of a memory page; larger ones are multiples.
const PAGE: usize = 4096;

/// Whether the kernel copies `len` bytes slowly to a destination `ahead` bytes further in its page than the source.
fn slow(len: usize, ahead: usize) -> bool {
    len >= PAGE / 2 && (1..32).contains(&(ahead % PAGE))
}

/// Whether reading from file position `at` straight into `memory` is slow, so that a buffer in between pays.
pub(crate) fn reads_slowly(at: u64, memory: &[u8]) -> bool {
    slow(memory.len(), memory.as_ptr().addr().wrapping_sub(at as usize))
}

/// Whether writing `memory` straight to file position `at` is slow, so that a buffer in between pays.
pub(crate) fn writes_slowly(at: u64, memory: &[u8]) -> bool {
    slow(memory.len(), (at as usize).wrapping_sub(memory.as_ptr().addr()))
}

impl Buffer {
    /// `len` bytes, with any content, that lie in their page as position `at` lies in the file's.
    pub(crate) fn at(&mut self, at: u64, len: usize) -> &mut [u8] {
        let all = self.get(len + PAGE);
        let skip = (at as usize).wrapping_sub(all.as_ptr().addr()) % PAGE;
        &mut all[skip..skip + len]
    }

    /// The first `len` bytes, with any content.
    pub(crate) fn get(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            self.0.resize(len, 0);
        }
        &mut self.0[..len]
    }
}

thread_local! {
    static SCRATCH: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

impl Scratch {
    const fn new() -> Self {
        Scratch { window: Buffer(Vec::new()), stored: Buffer(Vec::new()), dense: Buffer(Vec::new()) }
    }

    /// Lends this thread's buffers.
    pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
        let mut scratch = SCRATCH.take();
        let result = work(&mut scratch);
        SCRATCH.set(scratch);
        result
    }
}
