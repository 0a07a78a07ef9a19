//! Blocks that are held back until more of them was written.
//!
//! A block of which a part is written is decoded, or made of the fill value, changed in memory, and held in the cache of
//! decoded blocks. It is packed when as many elements were written as it has, when its room is needed, and by [`flush`].
//! So an array that grows by one step at a time packs each block once, as long as the blocks of a step are within the
//! budget.
//!
//! Whoever needs the room of a held block stores it, also for another array. The gate of an array keeps two threads from
//! doing that at once: its owner has it while writing, another thread only tries it. An error that another thread met
//! waits for the owner; the block stays held.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use ferrocdf_bytes::{Error, Result};
use ferrocdf_codec::Chain;
use ferrocdf_store::BlobMut;

use super::cache::{self, Bytes, Cached, Key};
use super::{BlockStore, pack};
use crate::{Array, Layout};

/// Where the blocks of one array go.
#[derive(Debug)]
pub(crate) struct Home {
    pub(super) store: Arc<dyn BlockStore>,
    pub(super) chain: Arc<Chain>,
    /// Locked by who stores blocks. Holds the error that a thread met which was not the owner.
    gate: Mutex<Option<Error>>,
}

impl Home {
    pub(super) fn new(store: Arc<dyn BlockStore>, chain: Arc<Chain>) -> Self {
        Home { store, chain, gate: Mutex::default() }
    }

    // What a panic leaves behind is at worst a block that is stored again.
    pub(super) fn lock(&self) -> MutexGuard<'_, Option<Error>> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Option<Error>>> {
        match self.gate.try_lock() {
            Ok(gate) => Some(gate),
            Err(TryLockError::Poisoned(gate)) => Some(gate.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Packs and stores blocks, all of the same length.
    pub(super) fn store(&self, blob: &dyn BlobMut, blocks: &[(Key, Bytes)]) -> Result<()> {
        let len = blocks.first().map_or(0, |(_, block)| block.bytes.len());
        pack::store(self, blob, len, blocks)
    }
}

/// Packs and stores all blocks of an array that are held back, and keeps them for reading. Arrays of other layouts have
/// none.
///
/// Who writes to an array calls this before its blob or its index is used without it, and before the last clone of its
/// [`Blocks`](crate::Blocks) is dropped, which forgets them.
///
/// # Errors
/// The filters', the store's and the blob's. Blocks that could not be stored are still held back, for another try.
pub fn flush(blob: &dyn BlobMut, array: &Array) -> Result<()> {
    let Layout::Blocks(blocks) = &array.layout else { return Ok(()) };
    let Some(home) = blocks.cached.home() else { return Ok(()) };
    let mut failed = home.lock();
    // What failed then is tried again now.
    *failed = None;
    let held = blocks.cached.held();
    home.store(blob, &held)?;
    blocks.cached.stored(&held);
    Ok(())
}

/// Stores blocks, those first that were written to longest ago, until `len` more bytes can be held. `false` if that could
/// not be. The caller has the gate of `own`.
///
/// # Errors
/// Those of storing blocks of `own`.
pub(super) fn make_room(blob: &dyn BlobMut, own: &Cached, len: usize) -> Result<bool> {
    let mut busy = Vec::new();
    while let Some(mut leaving) = cache::leaving(len, &busy) {
        leaving.blocks.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        if leaving.array == own.id() {
            leaving.home.store(blob, &leaving.blocks)?;
        } else {
            let failed = leaving.home.try_lock().filter(|failed| failed.is_none());
            let Some(mut failed) = failed else {
                busy.push(leaving.array);
                continue;
            };
            // The owner may have been there before the gate was closed.
            leaving.blocks.retain(|(key, bytes)| cache::is_held_as(leaving.array, key, bytes));
            if let Err(error) = leaving.home.store(&*leaving.home.store.blob(), &leaving.blocks) {
                *failed = Some(error);
                busy.push(leaving.array);
                continue;
            }
        }
        for (key, bytes) in &leaving.blocks {
            cache::left(leaving.array, key, bytes);
        }
    }
    Ok(cache::can_hold(len))
}
