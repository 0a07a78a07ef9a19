//! Chunk cache settings, and settings for files opened later: the process has one set of settings, and each netCDF-4
//! file has those of its variables. A chunk cache setting affects only the results of `nc_get_chunk_cache` and
//! `nc_get_var_chunk_cache`.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Chunking;
use ferrocdf::{Model, SpaceOptions, VarId};

use crate::abi::forks::ProcessMutex;

/// Chunk cache setting: size in bytes, number of slots, and preference for evicting fully used chunks.
#[derive(Clone, Copy)]
pub(crate) struct Cache {
    pub(crate) size: usize,
    pub(crate) places: usize,
    pub(crate) preemption: f32,
}

/// Default of the process, as in netCDF-C 4.10.1. That release intends to enlarge the cache for variables with large
/// chunks, but does not do so for its own default.
pub(crate) const USUAL: Cache = Cache { size: 64 << 20, places: 1000, preemption: 0.75 };

/// Setting that HDF5 2 reports for a dataset that is not chunked.
const NOT_CHUNKED: Cache = Cache { size: 8 << 20, places: 8191, preemption: 0.75 };

/// Number of bits of a word.
const BITS: usize = u64::BITS as usize;

/// Settings for files opened later.
pub(crate) struct Wishes {
    pub(crate) cache: Cache,
    /// Size from which on objects are aligned, and alignment, in bytes.
    pub(crate) alignment: (c_int, c_int),
    /// Size of a metadata block in bytes; 0 is the default of the format.
    pub(crate) metadata: usize,
}

static WISHES: ProcessMutex<Wishes> =
    ProcessMutex::new(Wishes { cache: USUAL, alignment: (0, 0), metadata: 0 });

/// Returns the space options for files that are opened from now on.
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

/// Chunk cache settings of the variables of a netCDF-4 file.
pub(crate) struct FileCaches {
    /// Setting of the process when the file was opened; the default of the variables that it had then.
    at_open: Cache,
    /// Number of variables when the file was opened.
    count: usize,
    /// One bit per such variable: set if a program has inquired about the variable.
    asked: Box<[AtomicU64]>,
    /// Settings of single variables.
    wished: Mutex<HashMap<VarId, Cache>>,
}

impl FileCaches {
    pub(crate) fn new(count: usize) -> FileCaches {
        let asked = (0..count.div_ceil(BITS)).map(|_| AtomicU64::default()).collect();
        FileCaches { at_open: wishes().cache, count, asked, wished: Mutex::default() }
    }

    /// Records that a program inquired about a variable: from then on netCDF-C knows its storage.
    pub(crate) fn set_asked(&self, var: VarId) {
        let (word, bit) = (self.asked.get(var.index() / BITS), 1 << (var.index() % BITS));
        if let Some(word) = word
            && word.load(Relaxed) & bit == 0
        {
            word.fetch_or(bit, Relaxed);
        }
    }

    /// Returns the cache setting of a variable: its own, else that of the process. After an inquiry, a variable that is
    /// not chunked has the setting of HDF5 for such datasets.
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
