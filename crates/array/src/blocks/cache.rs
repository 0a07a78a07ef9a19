//! Blocks kept decoded, for the next request that needs them.
//!
//! One cache for the process, within one budget of bytes: the environment variable `FERROCDF_CACHE`, else 256 MiB. Kept
//! are blocks of which a request took a part, and blocks that were written and are not stored yet ("held", see
//! `pending`). The former go when there is no room, the one that was not asked for longest first, roughly: each that was
//! used since it was last looked at gets a second round. The latter go only once they are stored, and take at most three
//! quarters of the budget, so that a program that writes can read as well. A process made by `fork` has no cache, since
//! another thread may have held its lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::pending::Home;
use crate::Index;

/// The budget in bytes if `FERROCDF_CACHE` does not say.
const BUDGET: usize = 256 << 20;

/// The blocks of one array among all that are cached. When the last handle is dropped its blocks are forgotten.
#[derive(Debug)]
pub(crate) struct Cached {
    id: u64,
    /// Whether a block of it was ever kept.
    any: AtomicBool,
    /// Where its blocks go, if they are written.
    home: Option<Arc<Home>>,
}

/// The coordinates of a block among those of its array.
pub(super) type Key = Index;

/// The bytes of a decoded block.
pub(super) type Bytes = Arc<Vec<u8>>;

struct Cache {
    arrays: HashMap<u64, HashMap<Key, Block>>,
    /// The blocks that may go at any time, in the order in which they are looked at for that.
    kept: BTreeMap<u64, (u64, Key)>,
    /// The blocks that are not stored yet, in the order in which they were last written to.
    held: BTreeMap<u64, (u64, Key)>,
    /// The number of the next place in either.
    turn: u64,
    /// Bytes of all blocks, and of those held.
    bytes: usize,
    held_bytes: usize,
    budget: usize,
}

struct Block {
    bytes: Bytes,
    used: bool,
    turn: u64,
    /// Elements that were written, counted each time.
    written: u64,
    /// Where it goes, if it is not stored as it is here.
    held: Option<Arc<Home>>,
}

/// A block that was taken out to be changed.
pub(super) struct Taken {
    pub(super) bytes: Vec<u8>,
    /// Elements that were written.
    pub(super) written: u64,
    /// Whether it is not stored as it is here.
    pub(super) held: bool,
}

/// Blocks of one array that have to be stored before their room is free.
pub(super) struct Leaving {
    pub(super) array: u64,
    pub(super) home: Arc<Home>,
    pub(super) blocks: Vec<(Key, Bytes)>,
}

static CACHE: OnceLock<(u32, Mutex<Cache>)> = OnceLock::new();

fn cache() -> Option<MutexGuard<'static, Cache>> {
    let process = std::process::id();
    let (owner, cache) = CACHE.get_or_init(|| (process, Mutex::new(Cache::new())));
    // Nothing panics half-way through a change.
    (*owner == process).then(|| cache.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The bytes that decoded blocks may take.
pub(crate) fn budget() -> usize {
    cache().map_or(0, |cache| cache.budget)
}

/// Whether blocks of `len` bytes can be held at all.
pub(super) fn may_hold(len: usize) -> bool {
    cache().is_some_and(|cache| len <= cache.most_held())
}

/// Whether there is room for `len` more bytes of blocks that are not stored.
pub(super) fn can_hold(len: usize) -> bool {
    cache().is_some_and(|cache| cache.held_bytes.saturating_add(len) <= cache.most_held())
}

/// `len` bytes with any content, from a block that has to go if there is one: fresh memory costs as much as decoding.
pub(crate) fn buffer(len: usize) -> Vec<u8> {
    let old = cache().and_then(|mut cache| cache.make_room(len));
    match old.filter(|old| old.len() >= len && old.len() / 2 <= len) {
        Some(mut old) => {
            old.truncate(len);
            old
        }
        None => vec![0; len],
    }
}

/// Blocks of one array, those written to longest ago, that have to be stored before `len` more bytes can be held; nothing
/// if there is room. Those of the arrays in `busy` are passed over; no blocks if all are.
pub(super) fn leaving(len: usize, busy: &[u64]) -> Option<Leaving> {
    let cache = cache()?;
    let most = cache.most_held();
    let over = cache.held_bytes.saturating_add(len).checked_sub(most).filter(|&over| over > 0)?;
    // Some more than has to go: they are packed by all threads at once.
    let goal = over.max(most / 8);
    let mut found: Option<Leaving> = None;
    let mut bytes = 0;
    for (array, key) in cache.held.values().filter(|(array, _)| !busy.contains(array)) {
        let Some(block) = cache.arrays.get(array).and_then(|blocks| blocks.get(key)) else { continue };
        let Some(home) = &block.held else { continue };
        let leaving =
            found.get_or_insert_with(|| Leaving { array: *array, home: home.clone(), blocks: Vec::new() });
        if leaving.array == *array {
            leaving.blocks.push((key.clone(), block.bytes.clone()));
            bytes += block.bytes.len();
        }
        if bytes >= goal {
            break;
        }
    }
    found
}

/// Notes that a held block was stored as it is in `bytes`: it need not be kept.
pub(super) fn left(array: u64, key: &Key, bytes: &Bytes) {
    let Some(mut cache) = cache() else { return };
    if cache.is_held_as(array, key, bytes) {
        cache.remove(array, key);
    }
}

/// Whether a held block is still the one in `bytes`.
pub(super) fn is_held_as(array: u64, key: &Key, bytes: &Bytes) -> bool {
    cache().is_some_and(|cache| cache.is_held_as(array, key, bytes))
}

impl Cached {
    /// An array none of whose blocks is cached, which is written if it has a home.
    pub(crate) fn new(home: Option<Arc<Home>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Cached { id: NEXT.fetch_add(1, Relaxed), any: AtomicBool::new(false), home }
    }

    /// Where its blocks go, if they are written.
    pub(super) fn home(&self) -> Option<&Arc<Home>> {
        self.home.as_ref()
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Whether some of its blocks may be kept.
    pub(crate) fn any(&self) -> bool {
        self.any.load(Relaxed)
    }

    /// A block, if it is there.
    pub(crate) fn get(&self, key: &Key) -> Option<Bytes> {
        if !self.any() {
            return None;
        }
        let mut cache = cache()?;
        let found = cache.arrays.get_mut(&self.id)?.get_mut(key)?;
        found.used = true;
        Some(found.bytes.clone())
    }

    /// Keeps a block that is as it is stored, if there is room.
    pub(crate) fn keep(&self, key: Key, bytes: &Bytes) {
        let Some(mut cache) = cache() else { return };
        if cache.arrays.get(&self.id).is_some_and(|blocks| blocks.contains_key(&key)) {
            return;
        }
        cache.make_room(bytes.len());
        if cache.bytes + bytes.len() <= cache.budget {
            self.any.store(true, Relaxed);
            cache.insert(self.id, key, bytes.clone(), (0, None));
        }
    }

    /// Takes a block out, if it is there.
    pub(super) fn take(&self, key: &Key) -> Option<Taken> {
        if !self.any() {
            return None;
        }
        let block = cache()?.remove(self.id, key)?;
        let bytes = Arc::try_unwrap(block.bytes).unwrap_or_else(|shared| shared.to_vec());
        Some(Taken { bytes, written: block.written, held: block.held.is_some() })
    }

    /// Holds a block of which so many elements were written. There should be room, see [`leaving`]; it is held all the
    /// same, except that a process without a cache gives it back.
    pub(super) fn hold(&self, key: Key, bytes: Vec<u8>, written: u64) -> Option<Vec<u8>> {
        let (Some(mut cache), Some(home)) = (cache(), &self.home) else { return Some(bytes) };
        self.any.store(true, Relaxed);
        cache.make_room(bytes.len());
        cache.insert(self.id, key, Arc::new(bytes), (written, Some(home.clone())));
        None
    }

    /// Whether some of its blocks are held.
    pub(super) fn holds(&self) -> bool {
        let cache = cache().filter(|_| self.any());
        let held = |blocks: &HashMap<Key, Block>| blocks.values().any(|block| block.held.is_some());
        cache.is_some_and(|cache| cache.arrays.get(&self.id).is_some_and(held))
    }

    /// All held blocks in their order.
    pub(super) fn held(&self) -> Vec<(Key, Bytes)> {
        let Some(cache) = cache().filter(|_| self.any()) else { return Vec::new() };
        let blocks = cache.arrays.get(&self.id).into_iter().flatten();
        let mut held: Vec<(Key, Bytes)> = blocks
            .filter(|(_, block)| block.held.is_some())
            .map(|(key, block)| (key.clone(), block.bytes.clone()))
            .collect();
        drop(cache);
        held.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        held
    }

    /// Notes that held blocks were stored as they are: they are kept as others are.
    pub(super) fn stored(&self, blocks: &[(Key, Bytes)]) {
        let Some(mut cache) = cache() else { return };
        for (key, bytes) in blocks {
            if cache.is_held_as(self.id, key, bytes)
                && let Some(block) = cache.remove(self.id, key)
            {
                cache.insert(self.id, key.clone(), block.bytes, (block.written, None));
            }
        }
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        if !*self.any.get_mut() || cache().is_none() {
            return;
        }
        // Another thread may be storing a block.
        let _gate = self.home.as_ref().map(|home| home.lock());
        let Some(mut cache) = cache() else { return };
        let Some(blocks) = cache.arrays.remove(&self.id) else { return };
        for block in blocks.into_values() {
            cache.forget(&block);
        }
    }
}

impl Cache {
    fn new() -> Cache {
        let wished = std::env::var("FERROCDF_CACHE").ok().and_then(|text| text.trim().parse().ok());
        Cache {
            arrays: HashMap::new(),
            kept: BTreeMap::new(),
            held: BTreeMap::new(),
            turn: 0,
            bytes: 0,
            held_bytes: 0,
            budget: wished.unwrap_or(BUDGET),
        }
    }

    fn most_held(&self) -> usize {
        self.budget - self.budget / 4
    }

    fn insert(&mut self, array: u64, key: Key, bytes: Bytes, (written, held): (u64, Option<Arc<Home>>)) {
        let turn = self.turn;
        self.turn += 1;
        self.bytes += bytes.len();
        let queue = if held.is_some() { &mut self.held } else { &mut self.kept };
        queue.insert(turn, (array, key.clone()));
        if held.is_some() {
            self.held_bytes += bytes.len();
        }
        let block = Block { bytes, used: false, turn, written, held };
        if let Some(old) = self.arrays.entry(array).or_default().insert(key, block) {
            self.forget(&old);
        }
    }

    fn remove(&mut self, array: u64, key: &Key) -> Option<Block> {
        let block = self.arrays.get_mut(&array)?.remove(key)?;
        self.forget(&block);
        Some(block)
    }

    /// Takes a block that is no longer there out of the counts.
    fn forget(&mut self, block: &Block) {
        self.bytes -= block.bytes.len();
        if block.held.is_some() {
            self.held_bytes -= block.bytes.len();
            self.held.remove(&block.turn);
        } else {
            self.kept.remove(&block.turn);
        }
    }

    fn is_held_as(&self, array: u64, key: &Key, bytes: &Bytes) -> bool {
        let block = self.arrays.get(&array).and_then(|blocks| blocks.get(key));
        block.is_some_and(|block| block.held.is_some() && Arc::ptr_eq(&block.bytes, bytes))
    }

    /// Lets blocks go that are stored until `len` more bytes are within the budget, or none is left; gives the memory of
    /// one of them.
    fn make_room(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut memory = None;
        while self.bytes.saturating_add(len) > self.budget {
            let Some((_, (array, key))) = self.kept.pop_first() else { return memory };
            let Some(blocks) = self.arrays.get_mut(&array) else { continue };
            let Some(block) = blocks.get_mut(&key) else { continue };
            if std::mem::take(&mut block.used) {
                block.turn = self.turn;
                self.kept.insert(self.turn, (array, key));
                self.turn += 1;
                continue;
            }
            if let Some(block) = blocks.remove(&key) {
                self.forget(&block);
                memory = Arc::try_unwrap(block.bytes).ok().or(memory);
            }
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> Key {
        Key::from_slice(&[number])
    }

    #[test]
    fn what_is_used_stays_and_what_is_not_goes() {
        let mut cache = Cache { budget: 30, ..Cache::new() };
        for block in 0..3 {
            cache.make_room(10);
            cache.insert(0, key(block), Arc::new(vec![0; 10]), (0, None));
        }
        cache.arrays.get_mut(&0).unwrap().get_mut(&key(0)).unwrap().used = true;
        assert_eq!(cache.make_room(10).map(|memory| memory.len()), Some(10));
        let mut left: Vec<u64> = cache.arrays[&0].keys().map(|key| key[0]).collect();
        left.sort_unstable();
        assert_eq!((left, cache.bytes, cache.kept.len()), (vec![0, 2], 20, 2));
        assert!(cache.make_room(100).is_some());
        assert_eq!((cache.bytes, cache.kept.len(), cache.arrays[&0].len()), (0, 0, 0));
    }

    #[test]
    fn blocks_of_a_dropped_array_are_forgotten() {
        let array = Cached::new(None);
        array.keep(key(7), &Arc::new(vec![1, 2, 3]));
        assert_eq!(array.get(&key(7)).as_deref(), Some(&vec![1, 2, 3]));
        assert_eq!(array.get(&key(8)), None);
        let id = array.id;
        drop(array);
        let cache = cache().unwrap();
        assert!(!cache.arrays.contains_key(&id));
        assert!(cache.kept.values().all(|(array, _)| *array != id));
    }
}
