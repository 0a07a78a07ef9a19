//! Chunk cache settings in the units of Fortran: `int` numbers, megabytes, hundredths.

use std::ffi::c_int;

use ferrocdf::Code;

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::Out;
use crate::forward::{nc_get_var_chunk_cache, nc_set_var_chunk_cache};
use crate::open::chunk_caches::{Cache, USUAL, wishes};

/// Scale of the preemption in Fortran: hundredths.
const WHOLE: c_int = 100;

/// Unit of the cache size of a variable in Fortran, in bytes.
const MEGABYTE: usize = 1 << 20;

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
pub extern "C" fn nc_get_chunk_cache_ints(
    size: Out<c_int>,
    places: Out<c_int>,
    preemption: Out<c_int>,
) -> c_int {
    answer(|| {
        let cache = wishes().cache;
        size.put(cache.size as c_int);
        places.put(cache.places as c_int);
        preemption.put((cache.preemption * WHOLE as f32) as c_int);
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
    // Value by which HDF5 denotes its own defaults.
    const DEFAULT: usize = usize::MAX;
    let size = usize::try_from(size).map_or(DEFAULT, |size| size.saturating_mul(MEGABYTE));
    let places = usize::try_from(places).unwrap_or(DEFAULT);
    let preemption = if preemption < 0 { USUAL.preemption } else { preemption as f32 / WHOLE as f32 };
    // SAFETY: no argument is a pointer.
    unsafe { nc_set_var_chunk_cache(ncid, varid, size, places, preemption) }
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_get_var_chunk_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: Out<c_int>,
    places: Out<c_int>,
    preemption: Out<c_int>,
) -> c_int {
    let mut cache = USUAL;
    let Cache { size: bytes, places: count, preemption: share } = &mut cache;
    // SAFETY: the three pointers are to local variables.
    let code =
        unsafe { nc_get_var_chunk_cache(ncid, varid, Out::from(bytes), Out::from(count), Out::from(share)) };
    if code == NC_NOERR {
        size.put((cache.size / MEGABYTE) as c_int);
        places.put(cache.places as c_int);
        preemption.put((cache.preemption * WHOLE as f32) as c_int);
    }
    code
}
