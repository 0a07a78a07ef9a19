//! Wishes on chunk caches, alignment and blocks of metadata, for formats that have them. Those of the process are kept
//! and told; a classic file has none of its own.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::Code;

use crate::boundary::{answer, fail, put};
use crate::constants::NC_NOERR;
use crate::data_checks::variable;
use crate::groups::find_enhanced;

/// A chunk cache: bytes, places for chunks, and how much chunks that were used up are preferred to leave it.
#[derive(Clone, Copy)]
struct Cache {
    size: usize,
    places: usize,
    preemption: f32,
}

/// What is wished for files to come.
struct Wishes {
    cache: Cache,
    /// Bytes from which on objects are aligned, and to what.
    alignment: (c_int, c_int),
    /// Bytes of a block of metadata; 0 leaves it to the format.
    metadata: usize,
}

static WISHES: Mutex<Wishes> = Mutex::new(Wishes {
    cache: Cache { size: 16 << 20, places: 4133, preemption: 0.75 },
    alignment: (0, 0),
    metadata: 0,
});

fn wishes() -> MutexGuard<'static, Wishes> {
    WISHES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Preemption in hundredths, as Fortran has it.
const WHOLE: c_int = 100;

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache(size: usize, places: usize, preemption: f32) -> c_int {
    answer(|| {
        // What is not a number passes, as it does in the reference.
        if !(0.0..=1.0).contains(&preemption) && !preemption.is_nan() {
            return fail(Code::EINVAL, format!("the preemption is {preemption}, not 0 to 1"));
        }
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
        let cache = wishes().cache;
        // SAFETY: the contract of the interface.
        unsafe {
            put(size, cache.size);
            put(places, cache.places);
            put(preemption, cache.preemption);
        }
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

/// There is no cache of a variable's own: checks that a file may have one, and the variable.
fn of_variable(ncid: c_int, varid: c_int) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        file.file().look(|model| variable(model, group, varid)).map(drop)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    _size: usize,
    _places: usize,
    _preemption: f32,
) -> c_int {
    of_variable(ncid, varid)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_var_chunk_cache_ints(
    ncid: c_int,
    varid: c_int,
    _size: c_int,
    _places: c_int,
    _preemption: c_int,
) -> c_int {
    of_variable(ncid, varid)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    size: *mut usize,
    places: *mut usize,
    preemption: *mut f32,
) -> c_int {
    match of_variable(ncid, varid) {
        // SAFETY: the contract of the interface.
        NC_NOERR => unsafe { nc_get_chunk_cache(size, places, preemption) },
        code => code,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_var_chunk_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: *mut c_int,
    places: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    match of_variable(ncid, varid) {
        // SAFETY: the contract of the interface.
        NC_NOERR => unsafe { nc_get_chunk_cache_ints(size, places, preemption) },
        code => code,
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
