//! Blocks kept decoded, for the next request that needs them.
//!
//! One cache for the process, within one budget of bytes: the environment variable `FERROCDF_CACHE`, else 256 MiB. Only
//! blocks of which a request took a part are kept. The block that was not asked for longest goes first, roughly: each
//! that was used since it was last looked at gets a second round. A process made by `fork` has no cache, since another
//! thread may have held its lock.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::memory::Memory;

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
}

struct Cache {
    blocks: HashMap<(u64, u64), Block>,
    /// All keys in the order in which they are looked at for eviction.
    queue: VecDeque<(u64, u64)>,
    bytes: usize,
    budget: usize,
    spare: Vec<Memory>,
}

struct Block {
    bytes: Arc<Memory>,
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
pub(crate) fn buffer(len: usize) -> Memory {
    let spare = cache().and_then(|mut cache| {
        let at = cache.spare.iter().position(|spare| spare.fits(len))?;
        Some(cache.spare.swap_remove(at))
    });
    match spare {
        Some(mut spare) => {
            spare.cut(len);
            spare
        }
        None => Memory::new(len),
    }
}

impl Cached {
    /// An array none of whose blocks is cached.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Cached { id: NEXT.fetch_add(1, Relaxed), any: AtomicBool::new(false) }
    }

    /// A block, if it is there.
    pub(crate) fn get(&self, block: u64) -> Option<Arc<Memory>> {
        if !self.any.load(Relaxed) {
            return None;
        }
        let mut cache = cache()?;
        let found = cache.blocks.get_mut(&(self.id, block))?;
        found.used = true;
        Some(found.bytes.clone())
    }

    /// Keeps a block, if it is within the budget.
    pub(crate) fn keep(&self, block: u64, bytes: &Arc<Memory>) {
        let Some(mut cache) = cache() else { return };
        if bytes.size() > cache.budget || cache.blocks.contains_key(&(self.id, block)) {
            return;
        }
        cache.make_room(bytes.size());
        cache.bytes += bytes.size();
        cache.blocks.insert((self.id, block), Block { bytes: bytes.clone(), used: false });
        cache.queue.push_back((self.id, block));
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
        cache.blocks.retain(|key, block| {
            let stays = key.0 != self.id;
            if !stays {
                cache.bytes -= block.bytes.size();
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
            let Some(block) = self.blocks.get_mut(&key) else { continue };
            if std::mem::take(&mut block.used) {
                self.queue.push_back(key);
                continue;
            }
            let Some(block) = self.blocks.remove(&key) else { continue };
            self.bytes -= block.bytes.size();
            if let Ok(bytes) = Arc::try_unwrap(block.bytes)
                && self.spare.len() < SPARE
            {
                self.spare.push(bytes);
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
            cache.blocks.insert((0, block), Block { bytes: Arc::new(Memory::new(10)), used: block == 0 });
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
        let mut block = Memory::new(3);
        block.copy_from_slice(&[1, 2, 3]);
        array.keep(7, &Arc::new(block));
        assert_eq!(array.get(7).as_deref().map(|block| &block[..]), Some(&[1, 2, 3][..]));
        assert!(array.get(8).is_none());
        drop(array);
        assert!(!cache().unwrap().blocks.contains_key(&key));
    }
}
