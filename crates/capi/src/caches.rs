//! Wishes on chunk caches, alignment and blocks of metadata, for formats that have them. Those of the process are kept
//! and told, and so are those of variables of netCDF-4 files; a classic file has none of its own.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::model::Chunking;
use ferrocdf::{Code, Model, Result, SpaceOptions, VarId};

use crate::boundary::{answer, fail, put};
use crate::data_checks::variable;
use crate::groups::find_enhanced;

/// A chunk cache: bytes, places for chunks, and how much chunks that were used up are preferred to leave it.
#[derive(Clone, Copy)]
pub(crate) struct Cache {
    size: usize,
    places: usize,
    preemption: f32,
}

/// The cache of the process before any wish.
const USUAL: Cache = Cache { size: 16 << 20, places: 4133, preemption: 0.75 };
/// The cache of a variable that is not in chunks.
const PLAIN: Cache = Cache { size: 1 << 20, places: 521, preemption: 0.75 };

/// What is wished for files to come.
struct Wishes {
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

fn wishes() -> MutexGuard<'static, Wishes> {
    WISHES.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The cache that a variable has without wishes: what HDF5 gives what is not in chunks, else that of the process, larger
/// where a chunk would not fit.
fn usual_cache(model: &Model, var: VarId) -> Cache {
    const CHUNKS: u64 = 10;
    const MOST: u64 = 64 << 20;
    let described = model.var(var);
    let Some(Chunking::Chunked(shape)) = &described.storage.chunking else { return PLAIN };
    let mut cache = wishes().cache;
    let chunk = shape.iter().fold(model.size_of(described.ty) as u64, |all, &len| all.saturating_mul(len));
    if cache.size == USUAL.size && chunk > cache.size as u64 {
        cache.size = chunk.saturating_mul(CHUNKS).min(MOST) as usize;
    }
    cache
}

/// Looks at the cache of a variable, or changes it. Nothing depends on it here, but it is told.
fn with_cache(ncid: c_int, varid: c_int, work: impl FnOnce(&mut Cache)) -> Result<()> {
    let (file, group) = find_enhanced(ncid)?;
    let (var, usual) = file.file().look(|model| {
        let var = variable(model, group, varid)?;
        Ok((var, usual_cache(model, var)))
    })?;
    let mut caches = file.caches.lock().unwrap_or_else(PoisonError::into_inner);
    work(caches.entry(var).or_insert(usual));
    Ok(())
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    size: usize,
    places: usize,
    preemption: f32,
) -> c_int {
    answer(|| {
        find_enhanced(ncid)?;
        check_preemption(preemption)?;
        with_cache(ncid, varid, |cache| *cache = Cache { size, places, preemption })
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
    nc_set_var_chunk_cache(ncid, varid, size, places, preemption)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    size: *mut usize,
    places: *mut usize,
    preemption: *mut f32,
) -> c_int {
    // SAFETY: the contract of the interface.
    answer(|| with_cache(ncid, varid, |cache| unsafe { give_cache(*cache, size, places, preemption) }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: *mut c_int,
    places: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    answer(|| {
        with_cache(ncid, varid, |cache| {
            // SAFETY: the contract of the interface.
            unsafe {
                put(size, (cache.size / MEGABYTE) as c_int);
                put(places, cache.places as c_int);
                put(preemption, (cache.preemption * WHOLE as f32) as c_int);
            }
        })
    })
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
