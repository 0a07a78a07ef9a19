//! Filters of variables (`netcdf_filter.h`). Classic files have none: nothing is stored, and no filter is available.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::Filter;
use ferrocdf::{Code, Result, check_available};

use crate::boundary::{answer, fail, list, put, put_all};
use crate::entities::variable;
use crate::open_files::find;
use crate::storage_wishes::{add_filter, filtered};
use crate::user_formats::user_file;

pub unsafe extern "C" fn nc_def_var_filter(
    ncid: c_int,
    varid: c_int,
    id: c_uint,
    count: usize,
    params: *const c_uint,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| variable(model, group, varid))?;
        // SAFETY: the contract of the interface.
        let given = (count == 0 || !params.is_null()).then(|| unsafe { list(params, count) });
        add_filter(ncid, varid, id, given)
    })
}

pub unsafe extern "C" fn nc_inq_var_filter_ids(
    ncid: c_int,
    varid: c_int,
    count: *mut usize,
    ids: *mut c_uint,
) -> c_int {
    answer(|| {
        // A codec of a Zarr array without an HDF5 number has the id 0, as in netCDF-C.
        let found = filtered(ncid, varid)?.filter_ids();
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, found.len());
            put_all(ids, found);
        }
        Ok(())
    })
}

/// Gives the parameters of a filter.
unsafe fn give(params: &[c_uint], count: *mut usize, place: *mut c_uint) {
    // SAFETY: the contract of the interface.
    unsafe {
        put(count, params.len());
        put_all(place, params.iter().copied());
    }
}

pub unsafe extern "C" fn nc_inq_var_filter_info(
    ncid: c_int,
    varid: c_int,
    id: c_uint,
    count: *mut usize,
    params: *mut c_uint,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let Some(found) = storage.filter(id) else {
            return fail(Code::ENOFILTER, format!("the variable does not go through filter {id}"));
        };
        // SAFETY: the contract of the interface.
        unsafe { give(found, count, params) };
        Ok(())
    })
}

/// The first filter; 0 if there is none.
pub unsafe extern "C" fn nc_inq_var_filter(
    ncid: c_int,
    varid: c_int,
    id: *mut c_uint,
    count: *mut usize,
    params: *mut c_uint,
) -> c_int {
    answer(|| {
        let filters = filtered(ncid, varid)?.filters;
        // SAFETY: the contract of the interface.
        unsafe {
            put(id, filters.first().map_or(0, |filter| filter.id));
            if let Some(filter) = filters.first() {
                give(&filter.params, count, params);
            }
        }
        Ok(())
    })
}

/// Fails with `NC_ENOFILTER` for a filter that nobody has, and for any in a file of a format that has none.
fn check_usable(ncid: c_int, id: c_uint) -> Result<()> {
    let (file, _) = find(ncid)?;
    if file.is_classic() {
        return fail(Code::ENOFILTER, "classic files have no filters");
    }
    check_available(id)
}

pub extern "C" fn nc_inq_filter_avail(ncid: c_int, id: c_uint) -> c_int {
    answer(|| check_usable(ncid, id))
}

/// Sets a filter that must be available, with parameters that must be right.
fn set_named(ncid: c_int, varid: c_int, id: c_uint, right: bool, params: &[c_uint]) -> c_int {
    answer(|| {
        check_usable(ncid, id)?;
        if !right {
            return fail(Code::EINVAL, format!("{params:?} are no parameters of filter {id}"));
        }
        add_filter(ncid, varid, id, Some(params))
    })
}

/// The parameters of a filter that must be available; `None` if the variable does not go through it. Whatever happens,
/// the caller is told whether it does.
unsafe fn named<const COUNT: usize>(
    ncid: c_int,
    varid: c_int,
    id: c_uint,
    has: *mut c_int,
) -> Result<Option<[c_uint; COUNT]>> {
    // SAFETY: the contract of the interface.
    unsafe { put(has, 0) };
    let found = match user_file(ncid) {
        Some(file) => file.filter(ncid, varid, id)?,
        None => {
            check_usable(ncid, id)?;
            filtered(ncid, varid)?.filter(id).map(<[c_uint]>::to_vec)
        }
    };
    let Some(found) = found else { return Ok(None) };
    // SAFETY: the contract of the interface.
    unsafe { put(has, 1) };
    match found.try_into() {
        Ok(found) => Ok(Some(found)),
        Err(found) => fail(Code::EFILTER, format!("filter {id} has {} parameters", found.len())),
    }
}

pub extern "C" fn nc_def_var_bzip2(ncid: c_int, varid: c_int, level: c_int) -> c_int {
    set_named(ncid, varid, Filter::BZIP2, (1..=9).contains(&level), &[level as c_uint])
}

pub extern "C" fn nc_def_var_zstandard(ncid: c_int, varid: c_int, level: c_int) -> c_int {
    set_named(ncid, varid, Filter::ZSTD, (-131072..=22).contains(&level), &[level as c_uint])
}

/// A function that tells whether a variable goes through a filter, and at which level.
macro_rules! inquire_level {
    ($($function:ident => $id:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(ncid: c_int, varid: c_int, has: *mut c_int, level: *mut c_int) -> c_int {
            answer(|| {
                // SAFETY: the contract of the interface.
                unsafe { put(level, 0) };
                // SAFETY: the contract of the interface.
                let found = unsafe { named(ncid, varid, $id, has) }?;
                // SAFETY: the contract of the interface.
                unsafe { put(level, found.map_or(0, |[level]| level as c_int)) };
                Ok(())
            })
        }
    )*};
}

inquire_level! {
    nc_inq_var_bzip2 => Filter::BZIP2;
    nc_inq_var_zstandard => Filter::ZSTD;
}

/// The last of the compressors inside blosc, of its levels, and of its ways to shuffle.
const LAST_COMPRESSOR: c_uint = 5;
const LAST_LEVEL: c_uint = 9;
const LAST_SHUFFLE: c_uint = 2;

pub extern "C" fn nc_def_var_blosc(
    ncid: c_int,
    varid: c_int,
    compressor: c_uint,
    level: c_uint,
    block: c_uint,
    shuffle: c_uint,
) -> c_int {
    let right = compressor <= LAST_COMPRESSOR && level <= LAST_LEVEL && shuffle <= LAST_SHUFFLE;
    set_named(ncid, varid, Filter::BLOSC, right, &[0, 0, 0, block, level, shuffle, compressor])
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_var_blosc(
    ncid: c_int,
    varid: c_int,
    has: *mut c_int,
    compressor: *mut c_uint,
    level: *mut c_uint,
    block: *mut c_uint,
    shuffle: *mut c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        if let Some(found) = unsafe { named::<7>(ncid, varid, Filter::BLOSC, has) }? {
            // SAFETY: the contract of the interface.
            unsafe {
                put(block, found[3]);
                put(level, found[4]);
                put(shuffle, found[5]);
                put(compressor, found[6]);
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;

    use super::*;
    use crate::files::{nc_close, nc_open};

    #[test]
    fn codecs_of_zarr_without_an_hdf5_number_have_the_filter_id_0() {
        let store = std::env::temp_dir().join(format!("ferrocdf-filter-ids-{}.zarr", std::process::id()));
        fs::create_dir_all(store.join("v")).unwrap();
        fs::write(store.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
        let array = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": 0, "order": "C",
            "filters": [{"id": "delta", "dtype": "<i4"}, {"id": "zlib", "level": 1}], "compressor": {"id": "gzip", "level": 1}}"#;
        fs::write(store.join("v/.zarray"), array).unwrap();
        let url = CString::new(format!("file://{}#mode=zarr", store.display())).unwrap();
        let (mut ncid, mut count, mut ids) = (0, 0usize, [77; 4]);
        // SAFETY: the contract of the interface: there is room for all filters.
        unsafe {
            assert_eq!(nc_open(url.as_ptr(), 0, &mut ncid), 0);
            assert_eq!(nc_inq_var_filter_ids(ncid, 0, &mut count, ids.as_mut_ptr()), 0);
            assert_eq!((count, ids), (3, [0, 1, 0, 77]));
            let code = nc_inq_var_filter_info(ncid, 0, 0, &mut count, std::ptr::null_mut());
            assert_eq!(code, Code::ENOFILTER.0);
            assert_eq!(nc_close(ncid), 0);
        }
        fs::remove_dir_all(store).unwrap();
    }
}
