//! Settings of chunk caches, alignment and metadata blocks. Settings of the process, and of variables of netCDF-4
//! files, are stored and returned; classic files have none of their own.

use std::ffi::c_int;

use ferrocdf::{Code, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;
use crate::model::entities::variable;
use crate::open::chunk_caches::{Cache, wishes};
use crate::open::ids::find_enhanced;

/// Fails with `NC_EINVAL` for a preemption outside 0 to 1. NaN passes, as in netCDF-C.
fn check_preemption(preemption: f32) -> Result<()> {
    if (0.0..=1.0).contains(&preemption) || preemption.is_nan() {
        return Ok(());
    }
    fail(Code::EINVAL, format!("the preemption is {preemption}, not 0 to 1"))
}

fn give_cache(cache: Cache, size: Out<usize>, places: Out<usize>, preemption: Out<f32>) {
    size.put(cache.size);
    places.put(cache.places);
    preemption.put(cache.preemption);
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
pub extern "C" fn nc_get_chunk_cache(size: Out<usize>, places: Out<usize>, preemption: Out<f32>) -> c_int {
    answer(|| {
        give_cache(wishes().cache, size, places, preemption);
        Ok(())
    })
}

/// Returns the cache setting of a variable of a netCDF-4 file. This library does not use it; programs read back the
/// value that they set.
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

pub extern "C" fn nc_get_var_chunk_cache(
    ncid: c_int,
    varid: c_int,
    size: Out<usize>,
    places: Out<usize>,
    preemption: Out<f32>,
) -> c_int {
    answer(|| cache_of(ncid, varid).map(|cache| give_cache(cache, size, places, preemption)))
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_alignment(threshold: c_int, alignment: c_int) -> c_int {
    answer(|| {
        wishes().alignment = (threshold, alignment);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_get_alignment(threshold: Out<c_int>, alignment: Out<c_int>) -> c_int {
    answer(|| {
        let (from, to) = wishes().alignment;
        threshold.put(from);
        alignment.put(to);
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
pub extern "C" fn nc_get_meta_block_size(size: Out<usize>) -> c_int {
    answer(|| {
        size.put(wishes().metadata);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_meta_block_size_ints(size: c_int) -> c_int {
    nc_set_meta_block_size(usize::try_from(size).unwrap_or(0))
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_get_meta_block_size_ints(size: Out<c_int>) -> c_int {
    answer(|| {
        size.put(wishes().metadata as c_int);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;
    use crate::tests::c::{
        nc_close, nc_create, nc_def_dim, nc_def_var, nc_def_var_chunking, nc_enddef, nc_get_chunk_cache,
        nc_get_var_chunk_cache, nc_inq_var_chunking, nc_inq_varnatts, nc_inq_varndims, nc_open,
        nc_set_chunk_cache, nc_set_var_chunk_cache,
    };

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

    /// Results of netCDF-C 4.10.1 with HDF5 2. One test, since the process has one setting.
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
            assert_eq!(nc_def_dim(ncid, c"x".as_ptr(), 20_000_000, &mut dim), 0);
            let def = |name: &std::ffi::CStr, rank, id: &mut c_int| {
                nc_def_var(ncid, name.as_ptr(), DOUBLE, rank, &dim, id)
            };
            assert_eq!(def(c"scalar", 0, &mut scalar), 0);
            for (name, id) in
                [(c"contiguous", &mut contiguous), (c"chunked", &mut chunked), (c"large", &mut large)]
            {
                assert_eq!(def(name, 1, id), 0);
            }
            for (var, storage, chunk) in [(contiguous, 1, 0), (chunked, 0, 100), (large, 0, 20_000_000usize)]
            {
                assert_eq!(nc_def_var_chunking(ncid, var, STORAGE[storage], &chunk), 0);
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
            assert_eq!(nc_inq_varndims(ncid, scalar, null_mut()), 0);
            assert_eq!(nc_inq_var_chunking(ncid, contiguous, null_mut(), null_mut()), 0);
            assert_eq!(nc_inq_varnatts(ncid, chunked, null_mut()), 0);
            let now = [scalar, contiguous, chunked, large].map(|var| of(ncid, var));
            assert_eq!(now, [not_chunked, not_chunked, at_open, at_open]);
            assert_eq!(nc_close(ncid), 0);
        }
        std::fs::remove_file(std::ffi::OsStr::new(path.to_str().unwrap())).unwrap();
    }
}
