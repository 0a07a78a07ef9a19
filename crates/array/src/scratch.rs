//! Buffers that each thread keeps for its next request.
//!
//! They are taken out of the thread's slot while in use, so that a request made from inside another one finds an empty
//! slot and not a locked one. Tiles are small; what a large block needed is given back.

use std::cell::Cell;

use ferrocdf_store::Buffer;

/// The most bytes of one buffer that are kept.
const KEPT: usize = 32 << 20;

/// The buffers of one tile or block.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The bytes of the blob that a tile covers.
    pub(crate) window: Buffer,
    /// The elements of a tile as stored, dense, or a block, decoded.
    pub(crate) stored: Buffer,
    /// The elements of a tile as memory has them, dense, or the stored bytes of a block that is packed anew.
    pub(crate) dense: Buffer,
}

thread_local! {
    static SCRATCH: Cell<Scratch> = const { Cell::new(Scratch::new()) };
}

impl Scratch {
    const fn new() -> Self {
        Scratch { window: Buffer::new(), stored: Buffer::new(), dense: Buffer::new() }
    }

    /// Lends this thread's buffers.
    pub(crate) fn with<R>(work: impl FnOnce(&mut Scratch) -> R) -> R {
        // A thread that is ending keeps nothing any more: functions that run at the end of a process read and write too.
        let mut scratch = SCRATCH.try_with(Cell::take).unwrap_or_default();
        let result = work(&mut scratch);
        for buffer in [&mut scratch.window, &mut scratch.stored, &mut scratch.dense] {
            buffer.trim(KEPT);
        }
        let _ = SCRATCH.try_with(|kept| kept.set(scratch));
        result
    }
}
