//! Pending chunks: changed in memory, and not stored yet.
//!
//! A chunk of which a part is written is decoded, or made of the fill value, changed in memory, and kept here. It is
//! encoded and stored when as many elements were written as it has, when its memory is needed, and by
//! [`flush`](crate::flush). So an array that grows by one step at a time encodes each chunk once, as long as the chunks of
//! a step are within the budget.
//!
//! Pending chunks reserve their bytes of the budget of the cache, at most three quarters of it, so that a program that writes can
//! read as well. A thread that needs memory for a pending chunk stores older ones, also those of other arrays. The gate of an
//! array is a lock that keeps two threads from storing its chunks at once: the owner of the array locks it while it writes,
//! another thread only tries to. If another thread cannot store a chunk, the chunk stays pending and the next write of the owner
//! returns the error. A process made by `fork` has no pending chunks; see [`PerProcess`].

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use ferrocdf_bytes::{Error, Result};
use ferrocdf_store::BlobMut;

use super::cache;
use super::decoded::{Key, Shared};
use super::encode::ChunkWriter;
use crate::per_process::PerProcess;

/// The pending chunks of one array. They are dropped with it, unstored.
#[derive(Debug)]
pub(super) struct PendingChunks {
    owner: Arc<Owner>,
    /// True once a chunk was pending: arrays without pending chunks never take the lock.
    any: AtomicBool,
}

/// The array of some pending chunks.
#[derive(Debug)]
struct Owner {
    id: u64,
    writer: ChunkWriter,
    /// Lock of the thread that stores chunks of this array. The value is the error of another thread that could not store one:
    /// the next write of the owner returns it.
    gate: Mutex<Option<Error>>,
}

/// The guard of the thread that stores chunks of an array, with the error of another thread that could not store a chunk.
pub(super) type StorageGuard<'a> = MutexGuard<'a, Option<Error>>;

/// All pending chunks of the process.
#[derive(Default)]
struct Registry {
    arrays: HashMap<u64, HashMap<Key, PendingEntry>>,
    /// Array and coordinates of each chunk, in the order in which they were last written to.
    queue: BTreeMap<u64, (u64, Key)>,
    /// The next position at the end of the queue.
    turn: u64,
    bytes: usize,
}

struct PendingEntry {
    chunk: Shared,
    owner: Arc<Owner>,
    /// Its position in the queue.
    turn: u64,
}

/// Pending chunks of one array that are to be stored because their memory is needed.
struct Batch {
    owner: Arc<Owner>,
    chunks: Vec<(Key, Shared)>,
}

static REGISTRY: PerProcess<Mutex<Registry>> = PerProcess::new();

fn registry() -> Option<MutexGuard<'static, Registry>> {
    let registry = REGISTRY.get_or_init(Mutex::default)?;
    // No code panics in the middle of a change of the registry, so a poisoned lock guards a valid one.
    Some(registry.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Returns the maximum bytes of pending chunks.
fn most() -> usize {
    let budget = cache::budget();
    budget - budget / 4
}

/// True if a chunk of `len` bytes may be pending at all.
pub(super) fn can_be_pending(len: usize) -> bool {
    len <= most()
}

impl PendingChunks {
    /// Returns an empty set of pending chunks, which are stored through `writer`.
    pub(super) fn new(writer: ChunkWriter) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let owner = Owner { id: NEXT.fetch_add(1, Relaxed), writer, gate: Mutex::default() };
        PendingChunks { owner: Arc::new(owner), any: AtomicBool::new(false) }
    }

    /// Returns the writer that encodes and stores chunks of the array.
    pub(super) fn writer(&self) -> &ChunkWriter {
        &self.owner.writer
    }

    /// Waits for the gate of the array.
    pub(super) fn lock(&self) -> StorageGuard<'_> {
        self.owner.lock()
    }

    /// False if no chunk is pending.
    pub(super) fn may_have_any(&self) -> bool {
        self.any.load(Relaxed)
    }

    /// True if some chunk is pending.
    pub(super) fn has_any(&self) -> bool {
        let has_chunks = |registry: MutexGuard<'_, Registry>| {
            registry.arrays.get(&self.owner.id).is_some_and(|chunks| !chunks.is_empty())
        };
        self.registry().is_some_and(has_chunks)
    }

    /// Replaces older versions of chunks by pending ones. `found` has an entry for each key, or none at all.
    pub(super) fn overlay(&self, found: &mut Vec<Option<Shared>>, keys: impl Iterator<Item = Key>) {
        let Some(registry) = self.registry() else { return };
        let Some(chunks) = registry.arrays.get(&self.owner.id).filter(|chunks| !chunks.is_empty()) else {
            return;
        };
        for (number, key) in keys.enumerate() {
            if found.len() <= number {
                found.push(None);
            }
            if let Some(entry) = chunks.get(&key) {
                found[number] = Some(entry.chunk.clone());
            }
        }
    }

    /// Removes a chunk and returns it, if it is pending.
    pub(super) fn take(&self, key: &Key) -> Option<Shared> {
        self.registry()?.remove(self.owner.id, key)
    }

    /// Adds a chunk if there is room or if it `must` be pending. Else returns the chunk; so does a process without pending
    /// chunks.
    pub(super) fn add(&self, key: Key, chunk: Shared, must: bool) -> Option<(Key, Shared)> {
        let Some(mut registry) = registry() else { return Some((key, chunk)) };
        if !must && !registry.has_room(chunk.bytes.len()) {
            return Some((key, chunk));
        }
        self.any.store(true, Relaxed);
        registry.insert(&self.owner, key, chunk);
        None
    }

    /// Returns all pending chunks, in the order of their coordinates.
    pub(super) fn all(&self) -> Vec<(Key, Shared)> {
        let Some(registry) = self.registry() else { return Vec::new() };
        let chunks = registry.arrays.get(&self.owner.id).into_iter().flatten();
        let mut all: Vec<_> = chunks.map(|(key, entry)| (key.clone(), entry.chunk.clone())).collect();
        drop(registry);
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Removes chunks that were stored, unless they were written again meanwhile. Returns the removed ones.
    pub(super) fn remove_stored(&self, chunks: Vec<(Key, Shared)>) -> Vec<(Key, Shared)> {
        let Some(mut registry) = self.registry() else { return Vec::new() };
        let is_unchanged = |(key, chunk): &(Key, Shared)| registry.remove_stored(self.owner.id, key, chunk);
        chunks.into_iter().filter(is_unchanged).collect()
    }

    /// Removes those of some chunks whose changes the store has taken or refused. Returns them.
    pub(super) fn remove_settled<'c>(&self, chunks: &'c [(Key, Shared)]) -> Vec<&'c (Key, Shared)> {
        let Some(mut registry) = self.registry() else { return Vec::new() };
        let settled = chunks.iter().filter(|(_, chunk)| chunk.is_settled());
        settled.filter(|(key, chunk)| registry.remove_stored(self.owner.id, key, chunk)).collect()
    }

    /// Stores chunks, the least recently written ones first, until `len` more bytes can be pending. False if there is still no
    /// room because other threads have the gates of the arrays with pending chunks, or could not store them. The caller has
    /// locked the gate of this array.
    ///
    /// # Errors
    /// Those of storing chunks of this array.
    pub(super) fn make_room(&self, blob: &dyn BlobMut, len: usize) -> Result<bool> {
        let mut busy = Vec::new();
        while let Some(mut batch) = oldest(len, &busy) {
            batch.chunks.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            let owner = &batch.owner;
            if owner.id == self.owner.id {
                let done = owner.writer.write(blob, &batch.chunks);
                if done.is_err() {
                    self.remove_settled(&batch.chunks);
                }
                done?;
            } else {
                let gate = owner.try_lock().filter(|failed| failed.is_none());
                let Some(mut failed) = gate else {
                    busy.push(owner.id);
                    continue;
                };
                // The owner may have stored or changed some of the chunks before this thread locked the gate.
                let is_pending = |(key, chunk): &(Key, Shared)| {
                    registry().is_some_and(|registry| registry.has(owner.id, key, chunk))
                };
                batch.chunks.retain(is_pending);
                if let Err(error) = owner.writer.write(&*owner.writer.blob(), &batch.chunks) {
                    *failed = Some(error);
                    busy.push(owner.id);
                    batch.chunks.retain(|(_, chunk)| chunk.is_settled());
                }
            }
            if let Some(mut registry) = registry() {
                for (key, chunk) in &batch.chunks {
                    registry.remove_stored(owner.id, key, chunk);
                }
            }
        }
        Ok(registry().is_some_and(|registry| registry.has_room(len)))
    }

    /// Returns the registry, locked, if it may have chunks of the array.
    fn registry(&self) -> Option<MutexGuard<'static, Registry>> {
        if self.may_have_any() { registry() } else { None }
    }
}

impl Drop for PendingChunks {
    fn drop(&mut self) {
        if !*self.any.get_mut() || registry().is_none() {
            return;
        }
        // Waits for another thread that is storing chunks of the array.
        let _gate = self.lock();
        if let Some(mut registry) = registry() {
            let chunks = registry.arrays.remove(&self.owner.id).unwrap_or_default();
            chunks.into_values().for_each(|entry| registry.forget(&entry));
        }
    }
}

impl Owner {
    // A thread that panics while it has the gate leaves at worst a stored chunk pending, which is then stored again.
    fn lock(&self) -> StorageGuard<'_> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<StorageGuard<'_>> {
        match self.gate.try_lock() {
            Ok(gate) => Some(gate),
            Err(TryLockError::Poisoned(gate)) => Some(gate.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Returns the least recently written chunks of one array, to be stored so that `len` more bytes can be pending. `None` if there
/// is room, or if only the `busy` arrays have pending chunks.
fn oldest(len: usize, busy: &[u64]) -> Option<Batch> {
    let registry = registry()?;
    let most = most();
    let over = registry.bytes.saturating_add(len).checked_sub(most).filter(|&over| over > 0)?;
    // More than necessary, so that all threads have chunks to encode.
    let goal = over.max(most / 8);
    let mut batch: Option<Batch> = None;
    let mut bytes = 0;
    for (array, key) in registry.queue.values().filter(|(array, _)| !busy.contains(array)) {
        let Some(entry) = registry.arrays.get(array).and_then(|chunks| chunks.get(key)) else { continue };
        let batch = batch.get_or_insert_with(|| Batch { owner: entry.owner.clone(), chunks: Vec::new() });
        if batch.owner.id == *array {
            batch.chunks.push((key.clone(), entry.chunk.clone()));
            bytes += entry.chunk.bytes.len();
        }
        if bytes >= goal {
            break;
        }
    }
    batch
}

impl Registry {
    /// True if `len` more bytes can be pending.
    fn has_room(&self, len: usize) -> bool {
        self.bytes.saturating_add(len) <= most()
    }

    fn insert(&mut self, owner: &Arc<Owner>, key: Key, chunk: Shared) {
        let (turn, len) = (self.turn, chunk.bytes.len());
        self.turn += 1;
        self.bytes += len;
        cache::reserve(len);
        self.queue.insert(turn, (owner.id, key.clone()));
        let entry = PendingEntry { chunk, owner: owner.clone(), turn };
        if let Some(old) = self.arrays.entry(owner.id).or_default().insert(key, entry) {
            self.forget(&old);
        }
    }

    fn remove(&mut self, array: u64, key: &Key) -> Option<Shared> {
        let entry = self.arrays.get_mut(&array)?.remove(key)?;
        self.forget(&entry);
        Some(entry.chunk)
    }

    /// Removes a chunk that is no longer in `arrays` from the queue and from the counts of bytes.
    fn forget(&mut self, entry: &PendingEntry) {
        let len = entry.chunk.bytes.len();
        self.bytes -= len;
        cache::release(len);
        self.queue.remove(&entry.turn);
    }

    /// True if exactly this version of a chunk is pending.
    fn has(&self, array: u64, key: &Key, chunk: &Shared) -> bool {
        let entry = self.arrays.get(&array).and_then(|chunks| chunks.get(key));
        entry.is_some_and(|entry| Arc::ptr_eq(&entry.chunk, chunk))
    }

    /// Removes a chunk if exactly this version is pending. True if it was.
    fn remove_stored(&mut self, array: u64, key: &Key, chunk: &Shared) -> bool {
        let has = self.has(array, key, chunk);
        if has {
            self.remove(array, key);
        }
        has
    }
}
