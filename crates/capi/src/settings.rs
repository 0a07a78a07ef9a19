//! What holds for the whole library: caches, alignment, blocks of metadata. Nothing here changes a classic file.

use std::ffi::{c_int, c_uint};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::Code;

use crate::boundary::{answer, fail, put};
use crate::constants::NC_NOERR;
use crate::open_files::find_file;

struct Settings {
    /// Bytes, slots and preemption of the cache for chunks of each variable.
    chunk_cache: (usize, usize, f32),
    /// From what size on things are aligned, and to what.
    alignment: (c_int, c_int),
    /// Least size of blocks for metadata.
    meta_block_size: usize,
}

static SETTINGS: Mutex<Settings> =
    Mutex::new(Settings { chunk_cache: (16 << 20, 4133, 0.75), alignment: (0, 0), meta_block_size: 0 });

fn settings() -> MutexGuard<'static, Settings> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache(size: usize, slots: usize, preemption: f32) -> c_int {
    answer(|| {
        if !(0.0..=1.0).contains(&preemption) {
            return fail(Code::EINVAL, format!("{preemption} is no part of 1"));
        }
        settings().chunk_cache = (size, slots, preemption);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_chunk_cache(
    size: *mut usize,
    slots: *mut usize,
    preemption: *mut f32,
) -> c_int {
    answer(|| {
        let cache = settings().chunk_cache;
        // SAFETY: the contract of the interface.
        unsafe {
            put(size, cache.0);
            put(slots, cache.1);
            put(preemption, cache.2);
        }
        Ok(())
    })
}

/// For Fortran: preemption in percent.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_chunk_cache_ints(size: c_int, slots: c_int, preemption: c_int) -> c_int {
    answer(|| {
        if size <= 0 || slots <= 0 || !(0..=100).contains(&preemption) {
            return fail(Code::EINVAL, "a cache has bytes, slots and a preemption in percent");
        }
        settings().chunk_cache = (size as usize, slots as usize, preemption as f32 / 100.0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_chunk_cache_ints(
    size: *mut c_int,
    slots: *mut c_int,
    preemption: *mut c_int,
) -> c_int {
    answer(|| {
        let cache = settings().chunk_cache;
        // SAFETY: the contract of the interface.
        unsafe {
            put(size, cache.0 as c_int);
            put(slots, cache.1 as c_int);
            put(preemption, (cache.2 * 100.0) as c_int);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_alignment(threshold: c_int, alignment: c_int) -> c_int {
    settings().alignment = (threshold, alignment);
    NC_NOERR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_alignment(threshold: *mut c_int, alignment: *mut c_int) -> c_int {
    let set = settings().alignment;
    // SAFETY: the contract of the interface.
    unsafe {
        put(threshold, set.0);
        put(alignment, set.1);
    }
    NC_NOERR
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size(size: usize) -> c_int {
    settings().meta_block_size = size;
    NC_NOERR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_meta_block_size(size: *mut usize) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { put(size, settings().meta_block_size) };
    NC_NOERR
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size_ints(size: c_int) -> c_int {
    nc_set_meta_block_size(size as usize)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_get_meta_block_size_ints(size: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { put(size, settings().meta_block_size as c_int) };
    NC_NOERR
}

/// No format of this version has filters.
#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_filter_avail(ncid: c_int, id: c_uint) -> c_int {
    answer(|| {
        find_file(ncid)?;
        fail(Code::ENOFILTER, format!("there is no filter {id} for this file"))
    })
}
