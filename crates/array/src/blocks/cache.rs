//! Blocks kept decoded, for the next request that needs them.
//!
//! One cache for the process, within one budget of bytes: the environment variable `FERROCDF_CACHE`, else 256 MiB. Only
//! blocks of which a request took a part are kept, and those only once some block of the array was asked for twice. The block that was not asked for longest goes first, roughly: each
//! that was used since it was last looked at gets a second round. A process made by `fork` has no cache, since another
//! thread may have held its lock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::part::Block;

/// The budget in bytes if `FERROCDF_CACHE` does not say.
const BUDGET: usize = 256 << 20;

/// Memory of evicted blocks that is kept for the next ones, in blocks: fresh memory costs as much as decoding.
const SPARE: usize = 4;

/// The blocks of one array among all that are cached. When the last handle is dropped its blocks are forgotten.
#[derive(Debug)]
pub(crate) struct Cached {
    id: u64,
    /// Whether a block of it was ever kept.
    any: AtomicBool,
    seen: Seen,
}

/// Whether an array is read a part of a block at a time, again and again: its first blocks are only remembered by their
/// numbers, since keeping what is never asked for again costs as much memory, and nearly as much time, as decoding it.
#[derive(Debug, Default)]
struct Seen {
    again: AtomicBool,
    /// Never waited for: a number that is not noted is noted the next time.
    blocks: Mutex<HashSet<u64>>,
}

/// The most blocks that are remembered by their numbers.
const REMEMBERED: usize = 4096;

impl Seen {
    /// Whether a block was asked for twice, this one or another; notes that this one was asked for.
    fn again(&self, block: u64) -> bool {
        if self.again.load(Relaxed) {
            return true;
        }
        let Ok(mut blocks) = self.blocks.try_lock() else { return false };
        if blocks.len() >= REMEMBERED {
            blocks.clear();
        }
        let again = !blocks.insert(block);
        if again {
            self.again.store(true, Relaxed);
            *blocks = HashSet::new();
        }
        again
    }
}

struct Cache {
    blocks: HashMap<(u64, u64), Entry>,
    /// All keys in the order in which they are looked at for eviction.
    queue: VecDeque<(u64, u64)>,
    bytes: usize,
    budget: usize,
    spare: Vec<Vec<u8>>,
}

/// A decoded block, maybe still taken apart; see [`Block`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) bytes: Vec<u8>,
    pub(crate) planes: bool,
}

impl Kept {
    pub(crate) fn view(&self) -> Block<'_> {
        Block { bytes: &self.bytes, planes: self.planes }
    }
}

struct Entry {
    block: Arc<Kept>,
    used: bool,
}

static CACHE: OnceLock<(u32, Mutex<Cache>)> = OnceLock::new();

fn cache() -> Option<MutexGuard<'static, Cache>> {
    let process = std::process::id();
    let (owner, cache) = CACHE.get_or_init(|| (process, Mutex::new(Cache::new())));
    // What a panic leaves behind is at worst a block less.
    (*owner == process).then(|| cache.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The bytes that decoded blocks may take.
pub(crate) fn budget() -> usize {
    cache().map_or(0, |cache| cache.budget)
}

/// `len` bytes with any content, from a block that is no longer needed if there is one.
pub(crate) fn buffer(len: usize) -> Vec<u8> {
    let spare = cache().and_then(|mut cache| {
        let at = cache.spare.iter().position(|spare| spare.len() >= len && spare.len() / 2 <= len)?;
        Some(cache.spare.swap_remove(at))
    });
    match spare {
        Some(mut spare) => {
            spare.truncate(len);
            spare
        }
        None => vec![0; len],
    }
}

impl Cached {
    /// An array none of whose blocks is cached.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Cached { id: NEXT.fetch_add(1, Relaxed), any: AtomicBool::new(false), seen: Seen::default() }
    }

    /// A block, if it is there.
    pub(crate) fn get(&self, block: u64) -> Option<Arc<Kept>> {
        if !self.any.load(Relaxed) {
            return None;
        }
        let mut cache = cache()?;
        let found = cache.blocks.get_mut(&(self.id, block))?;
        found.used = true;
        Some(found.block.clone())
    }

    /// Whether a block that a request wants a part of is worth keeping; see [`Seen`].
    pub(crate) fn wants(&self, block: u64) -> bool {
        self.seen.again(block)
    }

    /// Keeps a block, if it is within the budget.
    pub(crate) fn keep(&self, number: u64, block: &Arc<Kept>) {
        let len = block.bytes.len();
        let Some(mut cache) = cache() else { return };
        if len > cache.budget || cache.blocks.contains_key(&(self.id, number)) {
            return;
        }
        cache.make_room(len);
        cache.bytes += len;
        cache.blocks.insert((self.id, number), Entry { block: block.clone(), used: false });
        cache.queue.push_back((self.id, number));
        self.any.store(true, Relaxed);
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        if !*self.any.get_mut() {
            return;
        }
        let Some(mut cache) = cache() else { return };
        let cache = &mut *cache;
        cache.queue.retain(|key| key.0 != self.id);
        cache.blocks.retain(|key, entry| {
            let stays = key.0 != self.id;
            if !stays {
                cache.bytes -= entry.block.bytes.len();
            }
            stays
        });
    }
}

impl Cache {
    fn new() -> Cache {
        let wished = std::env::var("FERROCDF_CACHE").ok().and_then(|text| text.trim().parse().ok());
        Cache {
            blocks: HashMap::new(),
            queue: VecDeque::new(),
            bytes: 0,
            budget: wished.unwrap_or(BUDGET),
            spare: Vec::new(),
        }
    }

    /// Evicts blocks until `len` more bytes are within the budget.
    fn make_room(&mut self, len: usize) {
        while self.bytes + len > self.budget {
            let Some(key) = self.queue.pop_front() else { return };
            let Some(entry) = self.blocks.get_mut(&key) else { continue };
            if std::mem::take(&mut entry.used) {
                self.queue.push_back(key);
                continue;
            }
            let Some(entry) = self.blocks.remove(&key) else { continue };
            self.bytes -= entry.block.bytes.len();
            if let Ok(block) = Arc::try_unwrap(entry.block)
                && self.spare.len() < SPARE
            {
                self.spare.push(block.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_stays_and_what_is_not_goes() {
        let mut cache = Cache { budget: 30, ..Cache::new() };
        for block in 0..3 {
            cache.make_room(10);
            cache.bytes += 10;
            let kept = Kept { bytes: vec![0; 10], planes: false };
            cache.blocks.insert((0, block), Entry { block: Arc::new(kept), used: block == 0 });
            cache.queue.push_back((0, block));
        }
        cache.make_room(10);
        let mut left: Vec<u64> = cache.blocks.keys().map(|key| key.1).collect();
        left.sort_unstable();
        assert_eq!((left, cache.bytes, cache.spare.len()), (vec![0, 2], 20, 1));
    }

    #[test]
    fn blocks_of_a_dropped_array_are_forgotten() {
        let array = Cached::new();
        let key = (array.id, 7);
        let block = Arc::new(Kept { bytes: vec![1, 2, 3], planes: false });
        array.keep(7, &block);
        assert_eq!(array.get(7), Some(block));
        assert_eq!(array.get(8), None);
        drop(array);
        assert!(!cache().unwrap().blocks.contains_key(&key));
    }
}
