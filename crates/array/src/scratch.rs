//! Buffers that each thread keeps for its next request.
//!
//! Buffers are taken out of the slot of the thread while in use, so that a request from within another request finds an empty
//! slot and not a locked one. Tiles are small; a buffer that grew for a large chunk is freed.

use std::cell::Cell;

use ferrocdf_store::Buffer;

/// Maximum bytes of a buffer that a thread keeps.
const KEPT: usize = 32 << 20;

/// The buffers of one tile or chunk.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Fetched bytes of the blob.
    pub(crate) window: Buffer,
    /// Stored elements of a tile, dense, or a decoded chunk.
    pub(crate) stored: Buffer,
    /// Elements of a tile as memory has them, dense, or the encoded bytes of a chunk that is to be reencoded.
    pub(crate) dense: Buffer,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

impl Scratch {
    const fn new() -> Self {
        Scratch { window: Buffer::new(), stored: Buffer::new(), dense: Buffer::new() }
    }

    /// Calls `work` with the buffers of this thread.
    pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
        // There are no buffers in a thread that is ending; exit handlers of a process read and write too.
        let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let result = work(&mut scratch);
        for buffer in [&mut scratch.window, &mut scratch.stored, &mut scratch.dense] {
            buffer.trim(KEPT);
        }
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
        result
    }
}
