//! The cache of decoded chunks: one for the process, within one budget of bytes.
//!
//! `settings` has the budget in bytes. A chunk that is read in part is
//! cached once some chunk of its array was requested twice. When the budget is spent, chunks are evicted in the order of their
//! insertion; a chunk that was used since it was last considered gets a second round (the CLOCK algorithm). Cached chunks have no
//! changes, so eviction loses nothing. Pending chunks [`reserve`] their bytes of the budget, and cached chunks are evicted for
//! them. A process made by `fork` has no cache; see [`PerProcess`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::decoded::{Key, Shared};
use crate::per_process::PerProcess;
pub(super) use crate::settings::cache_budget as budget;

/// Maximum number of buffers of evicted chunks that are kept for new chunks.
const MAX_SPARE: usize = 64;

/// Maximum number of chunks whose coordinates an [`AccessHistory`] remembers.
const MAX_REMEMBERED: usize = 4096;

/// The cached chunks of one array. They are dropped with it.
#[derive(Debug)]
pub(super) struct CachedChunks {
    id: u64,
    /// True once a chunk was cached: an array without cached chunks never takes the lock of the cache.
    any: AtomicBool,
    history: AccessHistory,
}

/// Detects whether chunks of an array are read repeatedly in parts. Caching a chunk that is never requested again takes memory,
/// and nearly as much time as decoding it, for nothing; so at first only the coordinates of requested chunks are recorded.
#[derive(Debug, Default)]
struct AccessHistory {
    is_repeated: AtomicBool,
    /// Locked with `try_lock` only: no request waits to record a chunk, a later request does so.
    seen: Mutex<HashSet<Key>>,
}

impl AccessHistory {
    /// Records a request for a chunk. True if some chunk of the array was requested twice.
    fn record(&self, chunk: &Key) -> bool {
        if self.is_repeated.load(Relaxed) {
            return true;
        }
        let Ok(mut seen) = self.seen.try_lock() else { return false };
        if seen.len() >= MAX_REMEMBERED {
            seen.clear();
        }
        let is_repeated = !seen.insert(chunk.clone());
        if is_repeated {
            self.is_repeated.store(true, Relaxed);
            *seen = HashSet::new();
        }
        is_repeated
    }
}

struct Cache {
    arrays: HashMap<u64, HashMap<Key, CacheEntry>>,
    /// Array and coordinates of each chunk, in the order in which chunks are considered for eviction.
    queue: BTreeMap<u64, (u64, Key)>,
    /// The next position at the end of the queue.
    turn: u64,
    /// Bytes of all chunks and of spare buffers.
    bytes: usize,
    budget: usize,
    /// Buffers of evicted chunks, for new chunks.
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

struct CacheEntry {
    chunk: Shared,
    /// True if the chunk was used since its eviction was last considered.
    used: bool,
    /// Its position in the queue.
    turn: u64,
}

static CACHE: PerProcess<Mutex<Cache>> = PerProcess::new();

/// Bytes of the budget that pending chunks have reserved.
static RESERVED: AtomicUsize = AtomicUsize::new(0);

/// Reserved bytes for which cached chunks were evicted already: a reservation up to here takes no lock. This is for a pending
/// chunk that is written repeatedly, since each write releases and reserves its bytes.
static GRANTED: AtomicUsize = AtomicUsize::new(0);

fn cache() -> Option<MutexGuard<'static, Cache>> {
    let cache = CACHE.get_or_init(|| Mutex::new(Cache::new(budget())))?;
    // No code panics in the middle of a change of the cache, so a poisoned lock guards a valid cache.
    Some(cache.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Reserves `len` bytes of the budget for pending chunks, and evicts cached chunks to make room. The caller bounds the sum of its
/// reservations.
pub(super) fn reserve(len: usize) {
    let reserved = RESERVED.fetch_add(len, Relaxed) + len;
    if reserved > GRANTED.load(Relaxed)
        && let Some(mut cache) = cache()
    {
        cache.make_room(0);
        GRANTED.store(reserved, Relaxed);
    }
}

/// Releases `len` reserved bytes.
pub(super) fn release(len: usize) {
    RESERVED.fetch_sub(len, Relaxed);
}

/// Returns a buffer of `len` bytes with any content: that of an evicted chunk if there is one, since the first access to new
/// memory costs as much as decoding.
pub(super) fn buffer(len: usize) -> Vec<u8> {
    let fits = |old: &Vec<u8>| old.len() >= len && old.len() / 2 <= len;
    let old = cache().and_then(|mut cache| match cache.spare.iter().rposition(fits) {
        Some(at) => {
            let old = cache.spare.swap_remove(at);
            cache.bytes -= old.len();
            cache.spare_bytes -= old.len();
            Some(old)
        }
        None => cache.make_room(len),
    });
    match old.filter(fits) {
        Some(mut old) => {
            old.truncate(len);
            old
        }
        None => vec![0; len],
    }
}

/// Keeps buffers for new chunks, up to a quarter of the budget.
pub(super) fn recycle(buffers: impl Iterator<Item = Vec<u8>>) {
    let Some(mut cache) = cache() else { return };
    for buffer in buffers {
        let len = buffer.len();
        if cache.spare.len() < MAX_SPARE && cache.spare_bytes + len <= cache.budget / 4 && cache.has_room(len)
        {
            cache.grow(len);
            cache.spare_bytes += len;
            cache.spare.push(buffer);
        }
    }
}

impl CachedChunks {
    /// Makes an empty set of cached chunks for one array.
    pub(super) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Relaxed);
        CachedChunks { id, any: AtomicBool::new(false), history: AccessHistory::default() }
    }

    /// False if no chunk of the array is cached.
    pub(super) fn may_have_any(&self) -> bool {
        self.any.load(Relaxed)
    }

    /// Returns the chunks with these keys, as far as they are cached; an empty list if no chunk of the array is.
    pub(super) fn get(&self, keys: impl Iterator<Item = Key>) -> Vec<Option<Shared>> {
        let Some(mut cache) = self.cache() else { return Vec::new() };
        let Some(chunks) = cache.arrays.get_mut(&self.id) else { return Vec::new() };
        let found = keys.map(|key| {
            let found = chunks.get_mut(&key)?;
            found.used = true;
            Some(found.chunk.clone())
        });
        found.collect()
    }

    /// Records a request for a part of a chunk. True if the chunk is to be cached; see [`AccessHistory`].
    pub(super) fn wants(&self, key: &Key) -> bool {
        self.history.record(key)
    }

    /// Caches chunks in place of their older versions, as far as there is room.
    pub(super) fn keep(&self, chunks: impl Iterator<Item = (Key, Shared)>) {
        let Some(mut cache) = cache() else { return };
        for (key, chunk) in chunks {
            let len = chunk.bytes.len();
            if let Some(old) = cache.arrays.get(&self.id).and_then(|chunks| chunks.get(&key)) {
                if chunk.generation.is_some() && old.chunk.generation == chunk.generation {
                    continue;
                }
                cache.remove(self.id, &key);
            }
            cache.make_room(len);
            if cache.has_room(len) {
                self.any.store(true, Relaxed);
                cache.insert(self.id, key, chunk);
            }
        }
    }

    /// Removes a chunk from the cache and returns it, if it is cached.
    pub(super) fn take(&self, key: &Key) -> Option<Shared> {
        Some(self.cache()?.remove(self.id, key)?.chunk)
    }

    /// Returns the cache, locked, if it may have chunks of the array.
    fn cache(&self) -> Option<MutexGuard<'static, Cache>> {
        if self.may_have_any() { cache() } else { None }
    }
}

impl Drop for CachedChunks {
    fn drop(&mut self) {
        let Some(mut cache) = self.cache() else { return };
        let Some(chunks) = cache.arrays.remove(&self.id) else { return };
        for chunk in chunks.into_values() {
            cache.forget(&chunk);
        }
    }
}

impl Cache {
    fn new(budget: usize) -> Cache {
        Cache {
            arrays: HashMap::new(),
            queue: BTreeMap::new(),
            turn: 0,
            bytes: 0,
            budget,
            spare: Vec::new(),
            spare_bytes: 0,
        }
    }

    /// True if `len` more bytes are within the budget.
    fn has_room(&self, len: usize) -> bool {
        let used = self.bytes.saturating_add(RESERVED.load(Relaxed));
        used.saturating_add(len) <= self.budget
    }

    /// Counts `len` more bytes. They may use evicted bytes that are not reserved at the moment, so [`GRANTED`] is lowered to the
    /// reserved bytes.
    fn grow(&mut self, len: usize) {
        self.bytes += len;
        GRANTED.store(RESERVED.load(Relaxed), Relaxed);
    }

    fn insert(&mut self, array: u64, key: Key, chunk: Shared) {
        let turn = self.turn;
        self.turn += 1;
        self.grow(chunk.bytes.len());
        self.queue.insert(turn, (array, key.clone()));
        let entry = CacheEntry { chunk, used: false, turn };
        if let Some(old) = self.arrays.entry(array).or_default().insert(key, entry) {
            self.forget(&old);
        }
    }

    fn remove(&mut self, array: u64, key: &Key) -> Option<CacheEntry> {
        let entry = self.arrays.get_mut(&array)?.remove(key)?;
        self.forget(&entry);
        Some(entry)
    }

    /// Removes a chunk that is no longer in `arrays` from the queue and from the count of bytes.
    fn forget(&mut self, entry: &CacheEntry) {
        self.bytes -= entry.chunk.bytes.len();
        self.queue.remove(&entry.turn);
    }

    /// Drops spare buffers and evicts chunks until `len` more bytes are within the budget, or nothing is left. Returns the buffer
    /// of one of them.
    fn make_room(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut buffer = None;
        while !self.has_room(len) {
            if let Some(spare) = self.spare.pop() {
                self.bytes -= spare.len();
                self.spare_bytes -= spare.len();
                buffer = Some(spare);
                continue;
            }
            let Some((_, (array, key))) = self.queue.pop_first() else { return buffer };
            let Some(chunks) = self.arrays.get_mut(&array) else { continue };
            let Some(entry) = chunks.get_mut(&key) else { continue };
            if std::mem::take(&mut entry.used) {
                entry.turn = self.turn;
                self.queue.insert(self.turn, (array, key));
                self.turn += 1;
                continue;
            }
            if let Some(entry) = chunks.remove(&key) {
                self.forget(&entry);
                buffer = Arc::try_unwrap(entry.chunk).ok().map(|chunk| chunk.bytes).or(buffer);
            }
        }
        buffer
    }
}

#[cfg(test)]
mod tests {
    use super::super::decoded::Decoded;
    use super::*;

    fn key(number: u64) -> Key {
        Key::from_slice(&[number])
    }

    #[test]
    fn used_chunks_outlive_unused_ones() {
        let mut cache = Cache::new(30);
        for number in 0..3 {
            cache.make_room(10);
            cache.insert(0, key(number), Decoded::written(vec![0; 10], 0, None));
        }
        cache.arrays.get_mut(&0).unwrap().get_mut(&key(0)).unwrap().used = true;
        assert_eq!(cache.make_room(10).map(|buffer| buffer.len()), Some(10));
        let mut left: Vec<u64> = cache.arrays[&0].keys().map(|key| key[0]).collect();
        left.sort_unstable();
        assert_eq!((left, cache.bytes, cache.queue.len()), (vec![0, 2], 20, 2));
        assert!(cache.make_room(100).is_some());
        assert_eq!((cache.bytes, cache.queue.len(), cache.arrays[&0].len()), (0, 0, 0));
    }

    #[test]
    fn chunks_of_a_dropped_array_are_dropped() {
        let array = CachedChunks::new();
        let chunk = Decoded::written(vec![1, 2, 3], 0, None);
        array.keep([(key(7), chunk.clone())].into_iter());
        assert_eq!(array.get([key(7), key(8)].into_iter()), [Some(chunk), None]);
        let id = array.id;
        drop(array);
        let cache = cache().unwrap();
        assert!(!cache.arrays.contains_key(&id));
        assert!(cache.queue.values().all(|(array, _)| *array != id));
    }
}
