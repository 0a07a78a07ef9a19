//! Chunk caches, and what the program wishes for files to come: the process has one set of wishes, and each netCDF-4 file
//! has the caches of its variables. Nothing but the answers of `nc_get_…` depends on a chunk cache.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Chunking;
use ferrocdf::{Model, SpaceOptions, VarId};

use crate::abi::forks::ProcessMutex;

/// A chunk cache: bytes, places for chunks, and how much chunks that were used up are preferred to leave it.
#[derive(Clone, Copy)]
pub(crate) struct Cache {
    pub(crate) size: usize,
    pub(crate) places: usize,
    pub(crate) preemption: f32,
}

/// The cache of the process before any wish, as netCDF-C 4.10.1 has it. That release was to enlarge it for variables with
/// chunks that do not fit, but for its own default it does not.
pub(crate) const USUAL: Cache = Cache { size: 64 << 20, places: 1000, preemption: 0.75 };

/// The cache that HDF5 2 has for a dataset that is not in chunks.
const NOT_CHUNKED: Cache = Cache { size: 8 << 20, places: 8191, preemption: 0.75 };

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// What is wished for files to come.
pub(crate) struct Wishes {
    pub(crate) cache: Cache,
    /// Bytes from which on objects are aligned, and to what.
    pub(crate) alignment: (c_int, c_int),
    /// Bytes of a block of metadata; 0 leaves it to the format.
    pub(crate) metadata: usize,
}

static WISHES: ProcessMutex<Wishes> =
    ProcessMutex::new(Wishes { cache: USUAL, alignment: (0, 0), metadata: 0 });

/// Returns the options of space for files that are opened from now on.
pub(crate) fn space() -> SpaceOptions {
    let wishes = wishes();
    let mut space = SpaceOptions::default();
    if let (Ok(threshold), Ok(alignment @ 1..)) =
        (wishes.alignment.0.try_into(), wishes.alignment.1.try_into())
    {
        (space.threshold, space.alignment) = (threshold, alignment);
    }
    if wishes.metadata > 0 {
        space.meta_block = wishes.metadata as u64;
    }
    space
}

pub(crate) fn wishes() -> MutexGuard<'static, Wishes> {
    WISHES.lock()
}

/// The chunk caches of the variables of a netCDF-4 file.
pub(crate) struct FileCaches {
    /// The cache of the process when the file was opened, which its variables have.
    at_open: Cache,
    /// How many variables were in the file then.
    count: usize,
    /// A bit for each of them: whether a program asked for anything of it.
    asked: Box<[AtomicU64]>,
    /// What was wished for variables.
    wished: Mutex<HashMap<VarId, Cache>>,
}

impl FileCaches {
    pub(crate) fn new(count: usize) -> FileCaches {
        let asked = (0..count.div_ceil(BITS)).map(|_| AtomicU64::default()).collect();
        FileCaches { at_open: wishes().cache, count, asked, wished: Mutex::default() }
    }

    /// Notes that a program asked for something of a variable: from then on the reference knows how it is stored.
    pub(crate) fn set_asked(&self, var: VarId) {
        let (word, bit) = (self.asked.get(var.index() / BITS), 1 << (var.index() % BITS));
        if let Some(word) = word
            && word.load(Relaxed) & bit == 0
        {
            word.fetch_or(bit, Relaxed);
        }
    }

    /// Returns the cache of a variable: what was wished, else that of the process, but for what the file stores otherwise than in
    /// chunks, as soon as something of it was asked for.
    pub(crate) fn get(&self, model: &Model, var: VarId) -> Cache {
        if let Some(&wished) = self.wished().get(&var) {
            return wished;
        }
        if var.index() >= self.count {
            return wishes().cache;
        }
        let described = model.var(var);
        let bit =
            self.asked.get(var.index() / BITS).map_or(0, |word| word.load(Relaxed) >> (var.index() % BITS));
        let is_known = bit & 1 != 0 || !described.attrs.is_late();
        let is_chunked = matches!(described.storage.chunking, Some(Chunking::Chunked(_)));
        if is_known && !is_chunked { NOT_CHUNKED } else { self.at_open }
    }

    pub(crate) fn wished(&self) -> MutexGuard<'_, HashMap<VarId, Cache>> {
        self.wished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
