//! Wishes on chunk caches, alignment and blocks of metadata, for formats that have them. Those of the process are kept
//! and told, and so are those of variables of netCDF-4 files; a classic file has none of its own.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Chunking;
use ferrocdf::{Code, Model, Result, SpaceOptions, VarId};

use crate::boundary::{answer, fail, put};
use crate::constants::NC_NOERR;
use crate::data_checks::variable;
use crate::forks;
use crate::groups::find_enhanced;

/// A chunk cache: bytes, places for chunks, and how much chunks that were used up are preferred to leave it.
#[derive(Clone, Copy)]
pub(crate) struct Cache {
    size: usize,
    places: usize,
    preemption: f32,
}

/// The cache of the process before any wish, as netCDF-C 4.10.1 has it. That release was to enlarge it for variables with
/// chunks that do not fit, but for its own default it does not.
const USUAL: Cache = Cache { size: 64 << 20, places: 1000, preemption: 0.75 };
/// The cache that HDF5 2 has for a dataset that is not in chunks.
const NOT_CHUNKED: Cache = Cache { size: 8 << 20, places: 8191, preemption: 0.75 };
/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// What is wished for files to come.
pub(crate) struct Wishes {
    cache: Cache,
    /// Bytes from which on objects are aligned, and to what.
    alignment: (c_int, c_int),
    /// Bytes of a block of metadata; 0 leaves it to the format.
    metadata: usize,
}

static WISHES: Mutex<Wishes> = Mutex::new(Wishes { cache: USUAL, alignment: (0, 0), metadata: 0 });

/// What is wished of space in files to come.
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
    forks::lock(&WISHES)
}

/// Preemption in hundredths, as Fortran has it.
const WHOLE: c_int = 100;
/// The unit in which Fortran has the size of a variable's cache.
const MEGABYTE: usize = 1 << 20;

/// Fails with `NC_EINVAL`. What is not a number passes, as it does in the reference.
fn check_preemption(preemption: f32) -> Result<()> {
    if (0.0..=1.0).contains(&preemption) || preemption.is_nan() {
        return Ok(());
    }
    fail(Code::EINVAL, format!("the preemption is {preemption}, not 0 to 1"))
}

/// # Safety
/// Each pointer is null or valid for writing.
unsafe fn give_cache(cache: Cache, size: *mut usize, places: *mut usize, preemption: *mut f32) {
    // SAFETY: as the caller says.
    unsafe {
        put(size, cache.size);
        put(places, cache.places);
        put(preemption, cache.preemption);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache(size: usize, places: usize, preemption: f32) -> c_int {
    answer(|| {
        check_preemption(preemption)?;
        wishes().cache = Cache { size, places, preemption };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_chunk_cache(
    size: *mut usize,
    places: *mut usize,
    preemption: *mut f32,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        unsafe { give_cache(wishes().cache, size, places, preemption) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache_ints(size: c_int, places: c_int, preemption: c_int) -> c_int {
    answer(|| {
        if size <= 0 || places <= 0 || !(0..=WHOLE).contains(&preemption) {
            return fail(
                Code::EINVAL,
                format!("no cache is of {size} bytes, {places} places, {preemption}%"),
            );
        }
        let preemption = preemption as f32 / WHOLE as f32;
        wishes().cache = Cache { size: size as usize, places: places as usize, preemption };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_chunk_cache_ints(
    size: *mut c_int,
    places: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    answer(|| {
        let cache = wishes().cache;
        // SAFETY: the contract of the interface.
        unsafe {
            put(size, cache.size as c_int);
            put(places, cache.places as c_int);
            put(preemption, (cache.preemption * WHOLE as f32) as c_int);
        }
        Ok(())
    })
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

    /// The cache of a variable: what was wished, else that of the process, but for what the file stores otherwise than in
    /// chunks, as soon as something of it was asked for.
    fn get(&self, model: &Model, var: VarId) -> Cache {
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

    fn wished(&self) -> MutexGuard<'_, HashMap<VarId, Cache>> {
        self.wished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cache of a variable of a netCDF-4 file. Nothing depends on it here, but it is told.
fn cache_of(ncid: c_int, varid: c_int) -> Result<Cache> {
    let (file, group) = find_enhanced(ncid)?;
    file.file().look(|model| Ok(file.caches.get(model, variable(model, group, varid)?)))
}

pub extern "C" fn nc_set_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    size: usize,
    places: usize,
    preemption: f32,
) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        check_preemption(preemption)?;
        let var = file.file().look(|model| variable(model, group, varid))?;
        file.caches.wished().insert(var, Cache { size, places, preemption });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_var_chunk_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: c_int,
    places: c_int,
    preemption: c_int,
) -> c_int {
    // HDF5's word for its own defaults.
    const DEFAULT: usize = usize::MAX;
    let size = usize::try_from(size).map_or(DEFAULT, |size| size.saturating_mul(MEGABYTE));
    let places = usize::try_from(places).unwrap_or(DEFAULT);
    let preemption = if preemption < 0 { USUAL.preemption } else { preemption as f32 / WHOLE as f32 };
    // SAFETY: no pointers are given.
    unsafe { crate::forward::nc_set_var_chunk_cache(ncid, varid, size, places, preemption) }
}

pub unsafe extern "C" fn nc_get_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    size: *mut usize,
    places: *mut usize,
    preemption: *mut f32,
) -> c_int {
    // SAFETY: the contract of the interface.
    answer(|| cache_of(ncid, varid).map(|cache| unsafe { give_cache(cache, size, places, preemption) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: *mut c_int,
    places: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    let mut cache = USUAL;
    // SAFETY: the contract of the interface.
    unsafe {
        let Cache { size: bytes, places: count, preemption: share } = &mut cache;
        let code = crate::forward::nc_get_var_chunk_cache(ncid, varid, bytes, count, share);
        if code == NC_NOERR {
            put(size, (cache.size / MEGABYTE) as c_int);
            put(places, cache.places as c_int);
            put(preemption, (cache.preemption * WHOLE as f32) as c_int);
        }
        code
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_alignment(threshold: c_int, alignment: c_int) -> c_int {
    answer(|| {
        wishes().alignment = (threshold, alignment);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_alignment(threshold: *mut c_int, alignment: *mut c_int) -> c_int {
    answer(|| {
        let (from, to) = wishes().alignment;
        // SAFETY: the contract of the interface.
        unsafe {
            put(threshold, from);
            put(alignment, to);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size(size: usize) -> c_int {
    answer(|| {
        wishes().metadata = size;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_meta_block_size(size: *mut usize) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        unsafe { put(size, wishes().metadata) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size_ints(size: c_int) -> c_int {
    nc_set_meta_block_size(usize::try_from(size).unwrap_or(0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_meta_block_size_ints(size: *mut c_int) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        unsafe { put(size, wishes().metadata as c_int) };
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;
    use crate::files::{nc_close, nc_create, nc_enddef, nc_open};

    /// `NC_NETCDF4`, `NC_DOUBLE`, `NC_CHUNKED`, `NC_CONTIGUOUS`.
    const NETCDF4: c_int = 0x1000;
    const DOUBLE: c_int = 6;
    const STORAGE: [c_int; 2] = [0, 1];

    fn of(ncid: c_int, varid: c_int) -> (usize, usize, f32) {
        let (mut size, mut places, mut preemption) = (0, 0, 0.0);
        // SAFETY: the pointers are valid.
        let code = unsafe { nc_get_var_chunk_cache(ncid, varid, &mut size, &mut places, &mut preemption) };
        assert_eq!(code, 0);
        (size, places, preemption)
    }

    /// What netCDF-C 4.10.1 over HDF5 2 answers. One test, since the process has one cache.
    #[test]
    fn sizes_are_those_of_the_release_that_the_library_says_it_is() {
        let (mut size, mut places, mut preemption) = (0, 0, 0.0);
        let path = std::env::temp_dir().join(format!("ferrocdf-caches-{}.nc", std::process::id()));
        let path = std::ffi::CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
        let (usual, not_chunked) = ((64 << 20, 1000, 0.75), (8 << 20, 8191, 0.75));
        let (mut ncid, mut dim, mut scalar, mut contiguous, mut chunked, mut large) = (0, 0, 0, 0, 0, 0);
        // SAFETY: the pointers are valid, and texts end in a zero byte.
        unsafe {
            assert_eq!(nc_get_chunk_cache(&mut size, &mut places, &mut preemption), 0);
            assert_eq!((size, places, preemption), usual);
            assert_eq!(nc_create(path.as_ptr(), NETCDF4, &mut ncid), 0);
            assert_eq!(crate::dimensions::nc_def_dim(ncid, c"x".as_ptr(), 20_000_000, &mut dim), 0);
            let def = |name: &std::ffi::CStr, rank, id: &mut c_int| {
                crate::variables::nc_def_var(ncid, name.as_ptr(), DOUBLE, rank, &dim, id)
            };
            assert_eq!(def(c"scalar", 0, &mut scalar), 0);
            for (name, id) in
                [(c"contiguous", &mut contiguous), (c"chunked", &mut chunked), (c"large", &mut large)]
            {
                assert_eq!(def(name, 1, id), 0);
            }
            for (var, storage, chunk) in [(contiguous, 1, 0), (chunked, 0, 100), (large, 0, 20_000_000usize)]
            {
                assert_eq!(crate::storage::nc_def_var_chunking(ncid, var, STORAGE[storage], &chunk), 0);
            }
            for var in [scalar, contiguous, chunked, large] {
                assert_eq!(of(ncid, var), usual);
            }
            assert_eq!(nc_set_var_chunk_cache(ncid, chunked, 16, 1, 0.5), 0);
            assert_eq!(of(ncid, chunked), (16, 1, 0.5));
            assert_eq!((nc_enddef(ncid), nc_close(ncid)), (0, 0));

            assert_eq!(nc_set_chunk_cache(1 << 20, 11, 0.25), 0);
            assert_eq!(nc_open(path.as_ptr(), 0, &mut ncid), 0);
            assert_eq!(nc_set_chunk_cache(64 << 20, 1000, 0.75), 0);
            let at_open = (1 << 20, 11, 0.25);
            for var in [scalar, contiguous, chunked, large] {
                assert_eq!(of(ncid, var), at_open);
            }
            assert_eq!(crate::variables::nc_inq_varndims(ncid, scalar, null_mut()), 0);
            assert_eq!(crate::storage::nc_inq_var_chunking(ncid, contiguous, null_mut(), null_mut()), 0);
            assert_eq!(crate::variables::nc_inq_varnatts(ncid, chunked, null_mut()), 0);
            let now = [scalar, contiguous, chunked, large].map(|var| of(ncid, var));
            assert_eq!(now, [not_chunked, not_chunked, at_open, at_open]);
            assert_eq!(nc_close(ncid), 0);
        }
        std::fs::remove_file(std::ffi::OsStr::new(path.to_str().unwrap())).unwrap();
    }
}
