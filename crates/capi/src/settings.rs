//! What holds for the whole library: caches, alignment, blocks of metadata, formats that programs bring along.
//!
//! Nothing here changes a classic file. Formats that programs bring along are remembered, but this version does not run
//! their functions: opening such a file answers `NC_ENOTBUILT`.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail, put, put_all, text};
use crate::constants::*;
use crate::open_files::find_file;

/// Bytes of the longest magic number that a program may bring along.
const MAGIC_LEN: usize = 8;
/// The version of `NC_Dispatch` that the headers describe.
const DISPATCH_VERSION: c_int = 5;

struct Settings {
    /// Bytes, slots and preemption of the cache for chunks of each variable.
    chunk_cache: (usize, usize, f32),
    /// From what size on things are aligned, and to what.
    alignment: (c_int, c_int),
    /// Least size of blocks for metadata.
    meta_block_size: usize,
    /// The tables and magic numbers of formats that programs brought along, in the order of [`UDF_FLAGS`].
    formats: [UserFormat; UDF_FLAGS.len()],
}

#[derive(Clone, Copy)]
struct UserFormat {
    /// The address of the `NC_Dispatch`; 0 for none.
    table: usize,
    magic: [c_char; MAGIC_LEN],
}

static SETTINGS: Mutex<Settings> = Mutex::new(Settings {
    chunk_cache: (16 << 20, 4133, 0.75),
    alignment: (0, 0),
    meta_block_size: 0,
    formats: [UserFormat { table: 0, magic: [0; MAGIC_LEN] }; UDF_FLAGS.len()],
});

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

/// Which format of a program's own a mode asks for. Fails with `NC_EINVAL` for none, or several.
fn user_format(mode: c_int) -> Result<usize> {
    let mut asked = (0..UDF_FLAGS.len()).filter(|at| mode & UDF_FLAGS[*at] != 0);
    match (asked.next(), asked.next()) {
        (Some(at), None) => Ok(at),
        _ => fail(Code::EINVAL, "the mode names one NC_UDF"),
    }
}

/// Remembers the table of a format, and how its files begin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_user_format(
    mode: c_int,
    table: *const c_void,
    magic: *const c_char,
) -> c_int {
    answer(|| {
        let at = user_format(mode)?;
        if table.is_null() {
            return fail(Code::EINVAL, "the table is a null pointer");
        }
        let begins = if magic.is_null() {
            None
        } else {
            // SAFETY: the contract of the interface.
            let text = unsafe { text(magic) }?;
            let mut magic = [0; MAGIC_LEN];
            let Some(room) = magic.get_mut(..text.len()) else {
                return fail(Code::EINVAL, format!("a magic number has at most {MAGIC_LEN} bytes"));
            };
            room.iter_mut().zip(text).for_each(|(to, from)| *to = *from as c_char);
            Some(magic)
        };
        // SAFETY: a table begins with its model and its version, both `int`, by the contract of the interface.
        let [_model, version] = unsafe { table.cast::<[c_int; 2]>().read() };
        if version != DISPATCH_VERSION {
            return fail(Code::EINVAL, format!("the table has version {version}, not {DISPATCH_VERSION}"));
        }
        let classic = mode & (NC_64BIT_OFFSET | NC_64BIT_DATA) != 0
            || mode & (NC_CLASSIC_MODEL | NC_NETCDF4) == NC_CLASSIC_MODEL;
        if begins.is_some() && classic {
            return fail(Code::EINVAL, "classic files have a magic number already");
        }
        let format = &mut settings().formats[at];
        format.table = table.expose_provenance();
        format.magic = begins.unwrap_or(format.magic);
        Ok(())
    })
}

/// Gives the table and the magic number, which takes up [`MAGIC_LEN`] bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_user_format(
    mode: c_int,
    table: *mut *const c_void,
    magic: *mut c_char,
) -> c_int {
    answer(|| {
        let format = settings().formats[user_format(mode)?];
        // SAFETY: the contract of the interface.
        unsafe {
            put(table, std::ptr::with_exposed_provenance(format.table));
            put_all(magic, format.magic);
        }
        Ok(())
    })
}

/// No format of this version has filters.
#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_filter_avail(ncid: c_int, id: c_uint) -> c_int {
    answer(|| {
        find_file(ncid)?;
        fail(Code::ENOFILTER, format!("there is no filter {id} for this file"))
    })
}
