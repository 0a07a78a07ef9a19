//! Blocks kept decoded, for the next request that needs them.
//!
//! One cache for the process, within one budget of bytes: the environment variable `FERROCDF_CACHE`, else 256 MiB. Kept
//! are blocks of which a request took a part, once some block of the array was asked for twice, and blocks that were
//! written and are not stored yet ("held", see `pending`). The former go when there is no room, the one that was not asked
//! for longest first, roughly: each that was used since it was last looked at gets a second round. The latter go only once
//! they are stored, and take at most three quarters of the budget, so that a program that writes can read as well. A
//! process made by `fork` has no cache, since another thread may have held its lock.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use ferrocdf_codec::unshuffle_part;

use super::part::Block;
use super::pending::Home;
use crate::Index;

/// The budget in bytes if `FERROCDF_CACHE` does not say.
const BUDGET: usize = 256 << 20;

/// The most blocks whose memory is kept for others.
const SPARE: usize = 64;

/// The blocks of one array among all that are cached. When the last handle is dropped its blocks are forgotten.
#[derive(Debug)]
pub(crate) struct Cached {
    id: u64,
    /// Whether a block of it was ever kept.
    any: AtomicBool,
    /// Where its blocks go, if they are written.
    home: Option<Arc<Home>>,
    seen: Seen,
}

/// Whether an array is read a part of a block at a time, again and again: its first blocks are only remembered by their
/// coordinates, since keeping what is never asked for again costs as much memory, and nearly as much time, as decoding it.
#[derive(Debug, Default)]
struct Seen {
    again: AtomicBool,
    /// Never waited for: a block that is not noted is noted the next time.
    blocks: Mutex<HashSet<Key>>,
}

/// The most blocks that are remembered by their coordinates.
const REMEMBERED: usize = 4096;

impl Seen {
    /// Whether a block was asked for twice, this one or another; notes that this one was asked for.
    fn again(&self, block: &Key) -> bool {
        if self.again.load(Relaxed) {
            return true;
        }
        let Ok(mut blocks) = self.blocks.try_lock() else { return false };
        if blocks.len() >= REMEMBERED {
            blocks.clear();
        }
        let again = !blocks.insert(block.clone());
        if again {
            self.again.store(true, Relaxed);
            *blocks = HashSet::new();
        }
        again
    }
}

/// The coordinates of a block among those of its array.
pub(super) type Key = Index;

/// A decoded block, maybe still taken apart; see [`Block`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) bytes: Vec<u8>,
    /// The bytes of an element, if they are taken apart.
    pub(super) planes: Option<usize>,
    /// The look at the index that told where it lies, if it was read; see [`BlockIndex::look`](super::BlockIndex::look).
    pub(super) look: Option<u64>,
}

impl Kept {
    pub(super) fn plain(bytes: Vec<u8>) -> Kept {
        Kept { bytes, planes: None, look: None }
    }

    /// Whether it is what an index finds: what was written is, wherever it lies.
    pub(super) fn is_of(&self, look: u64) -> bool {
        self.look.is_none_or(|own| own == look)
    }

    pub(super) fn view(&self) -> Block<'_> {
        Block { bytes: &self.bytes, planes: self.planes.is_some() }
    }

    /// Its bytes, put together.
    fn put_together(&self) -> Vec<u8> {
        let Some(size) = self.planes else { return self.bytes.clone() };
        let mut bytes = vec![0; self.bytes.len()];
        unshuffle_part(size, &self.bytes, 0, &mut bytes);
        bytes
    }

    /// The same block for elements of this size, which may be seen as bytes and taken apart as others.
    pub(super) fn for_elements(self: Arc<Self>, size: usize) -> Arc<Self> {
        if self.planes.is_none_or(|of| of == size) {
            self
        } else {
            Arc::new(Kept { look: self.look, ..Kept::plain(self.put_together()) })
        }
    }
}

/// A block that is shared with the cache.
pub(super) type Bytes = Arc<Kept>;

/// The bytes of a block, which are not copied if it is not shared.
pub(super) fn owned(block: Bytes) -> Vec<u8> {
    match Arc::try_unwrap(block) {
        Ok(Kept { bytes, planes: None, .. }) => bytes,
        Ok(apart) => apart.put_together(),
        Err(shared) => shared.put_together(),
    }
}

struct Cache {
    arrays: HashMap<u64, HashMap<Key, Entry>>,
    /// The blocks that may go at any time, in the order in which they are looked at for that.
    kept: BTreeMap<u64, (u64, Key)>,
    /// The blocks that are not stored yet, in the order in which they were last written to.
    held: BTreeMap<u64, (u64, Key)>,
    /// The number of the next place in either.
    turn: u64,
    /// Bytes of all blocks and spare memory, and of the blocks held.
    bytes: usize,
    held_bytes: usize,
    budget: usize,
    /// Memory of blocks that went, for the next ones; its bytes are among all.
    spare: Vec<Vec<u8>>,
    spare_bytes: usize,
}

struct Entry {
    block: Bytes,
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
    static WISHED: OnceLock<usize> = OnceLock::new();
    *WISHED.get_or_init(|| {
        let wished = std::env::var("FERROCDF_CACHE").ok().and_then(|text| text.trim().parse().ok());
        wished.unwrap_or(BUDGET)
    })
}

/// The bytes that blocks which are not stored may take of a budget.
fn most_held(budget: usize) -> usize {
    budget - budget / 4
}

/// Whether blocks of `len` bytes are ever held.
pub(super) fn may_hold(len: usize) -> bool {
    len <= most_held(budget())
}

/// Whether there is room for `len` more bytes of blocks that are not stored.
pub(super) fn can_hold(len: usize) -> bool {
    cache().is_some_and(|cache| cache.can_hold(len))
}

/// `len` bytes with any content, from a block that went or has to go if there is one: fresh memory costs as much as
/// decoding.
pub(crate) fn buffer(len: usize) -> Vec<u8> {
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

/// Takes the memory of blocks that are no longer needed, if there is room and little of it.
pub(super) fn recycle(blocks: impl Iterator<Item = Vec<u8>>) {
    let Some(mut cache) = cache() else { return };
    for block in blocks {
        let len = block.len();
        if cache.spare.len() < SPARE
            && cache.spare_bytes + len <= cache.budget / 4
            && cache.bytes + len <= cache.budget
        {
            cache.bytes += len;
            cache.spare_bytes += len;
            cache.spare.push(block);
        }
    }
}

/// Blocks of one array, those written to longest ago, that have to be stored before `len` more bytes can be held; nothing
/// if there is room. Those of the arrays in `busy` are passed over; no blocks if all are.
pub(super) fn leaving(len: usize, busy: &[u64]) -> Option<Leaving> {
    let cache = cache()?;
    let most = most_held(cache.budget);
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
            leaving.blocks.push((key.clone(), block.block.clone()));
            bytes += block.block.bytes.len();
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
        Cached { id: NEXT.fetch_add(1, Relaxed), any: AtomicBool::new(false), home, seen: Seen::default() }
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

    /// These blocks, as far as they are there; nothing if none of the array is.
    pub(super) fn get(&self, keys: impl Iterator<Item = Key>) -> Vec<Option<Bytes>> {
        if !self.any() {
            return Vec::new();
        }
        let Some(mut cache) = cache() else { return Vec::new() };
        let Some(blocks) = cache.arrays.get_mut(&self.id) else { return Vec::new() };
        let found = keys.map(|key| {
            let found = blocks.get_mut(&key)?;
            found.used = true;
            Some(found.block.clone())
        });
        found.collect()
    }

    /// Whether a block that a request wants a part of is worth keeping; see [`Seen`].
    pub(super) fn wants(&self, key: &Key) -> bool {
        self.seen.again(key)
    }

    /// Keeps a block that is as it is stored, if there is room.
    pub(super) fn keep(&self, key: Key, block: &Bytes) {
        let len = block.bytes.len();
        let Some(mut cache) = cache() else { return };
        if let Some(there) = cache.arrays.get(&self.id).and_then(|blocks| blocks.get(&key)) {
            if there.held.is_some() || there.block.look == block.look {
                return;
            }
            cache.remove(self.id, &key);
        }
        cache.make_room(len);
        if cache.bytes + len <= cache.budget {
            self.any.store(true, Relaxed);
            cache.insert(self.id, key, block.clone(), (0, None));
        }
    }

    /// Takes a block out, if it is there.
    pub(super) fn take(&self, key: &Key) -> Option<Taken> {
        if !self.any() {
            return None;
        }
        let block = cache()?.remove(self.id, key)?;
        let bytes = owned(block.block);
        Some(Taken { bytes, written: block.written, held: block.held.is_some() })
    }

    /// Holds a block of which so many elements were written, if there is room or it must be. Else gives it back, as always
    /// in a process without a cache.
    pub(super) fn hold(&self, key: Key, bytes: Vec<u8>, written: u64, must: bool) -> Option<(Key, Vec<u8>)> {
        let (Some(mut cache), Some(home)) = (cache(), &self.home) else { return Some((key, bytes)) };
        if !must && !cache.can_hold(bytes.len()) {
            return Some((key, bytes));
        }
        self.any.store(true, Relaxed);
        cache.make_room(bytes.len());
        cache.insert(self.id, key, Arc::new(Kept::plain(bytes)), (written, Some(home.clone())));
        None
    }

    /// Whether some of its blocks are held.
    pub(super) fn holds(&self) -> bool {
        let cache = cache().filter(|_| self.any());
        let held = |blocks: &HashMap<Key, Entry>| blocks.values().any(|block| block.held.is_some());
        cache.is_some_and(|cache| cache.arrays.get(&self.id).is_some_and(held))
    }

    /// All held blocks in their order.
    pub(super) fn held(&self) -> Vec<(Key, Bytes)> {
        let Some(cache) = cache().filter(|_| self.any()) else { return Vec::new() };
        let blocks = cache.arrays.get(&self.id).into_iter().flatten();
        let mut held: Vec<(Key, Bytes)> = blocks
            .filter(|(_, block)| block.held.is_some())
            .map(|(key, block)| (key.clone(), block.block.clone()))
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
                cache.insert(self.id, key.clone(), block.block, (block.written, None));
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
        Cache {
            arrays: HashMap::new(),
            kept: BTreeMap::new(),
            held: BTreeMap::new(),
            turn: 0,
            bytes: 0,
            held_bytes: 0,
            budget: budget(),
            spare: Vec::new(),
            spare_bytes: 0,
        }
    }

    /// Whether `len` more bytes can be held.
    fn can_hold(&self, len: usize) -> bool {
        self.held_bytes.saturating_add(len) <= most_held(self.budget)
    }

    fn insert(&mut self, array: u64, key: Key, block: Bytes, (written, held): (u64, Option<Arc<Home>>)) {
        let turn = self.turn;
        self.turn += 1;
        let len = block.bytes.len();
        self.bytes += len;
        let queue = if held.is_some() { &mut self.held } else { &mut self.kept };
        queue.insert(turn, (array, key.clone()));
        if held.is_some() {
            self.held_bytes += len;
        }
        let entry = Entry { block, used: false, turn, written, held };
        if let Some(old) = self.arrays.entry(array).or_default().insert(key, entry) {
            self.forget(&old);
        }
    }

    fn remove(&mut self, array: u64, key: &Key) -> Option<Entry> {
        let block = self.arrays.get_mut(&array)?.remove(key)?;
        self.forget(&block);
        Some(block)
    }

    /// Takes a block that is no longer there out of the counts.
    fn forget(&mut self, block: &Entry) {
        self.bytes -= block.block.bytes.len();
        if block.held.is_some() {
            self.held_bytes -= block.block.bytes.len();
            self.held.remove(&block.turn);
        } else {
            self.kept.remove(&block.turn);
        }
    }

    fn is_held_as(&self, array: u64, key: &Key, bytes: &Bytes) -> bool {
        let block = self.arrays.get(&array).and_then(|blocks| blocks.get(key));
        block.is_some_and(|block| block.held.is_some() && Arc::ptr_eq(&block.block, bytes))
    }

    /// Lets spare memory and blocks that are stored go until `len` more bytes are within the budget, or none is left; gives
    /// the memory of one of them.
    fn make_room(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut memory = None;
        while self.bytes.saturating_add(len) > self.budget {
            if let Some(spare) = self.spare.pop() {
                self.bytes -= spare.len();
                self.spare_bytes -= spare.len();
                memory = Some(spare);
                continue;
            }
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
                memory = Arc::try_unwrap(block.block).ok().map(|block| block.bytes).or(memory);
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
            cache.insert(0, key(block), Arc::new(Kept::plain(vec![0; 10])), (0, None));
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
        let block = Arc::new(Kept::plain(vec![1, 2, 3]));
        array.keep(key(7), &block);
        assert_eq!(array.get([key(7), key(8)].into_iter()), [Some(block), None]);
        let id = array.id;
        drop(array);
        let cache = cache().unwrap();
        assert!(!cache.arrays.contains_key(&id));
        assert!(cache.kept.values().all(|(array, _)| *array != id));
    }
}
