//! Filters of variables (`netcdf_filter.h`). Classic files have none: nothing is stored, and no filter is available.

use std::ffi::{c_int, c_uint};

use ferrocdf::Code;

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{list, put, put_all};
use crate::model::entities::variable;
use crate::open::ids::find;
use crate::storage::definition::{add_filter, filtered};

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

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;

    use super::*;
    use crate::files::close::nc_close;
    use crate::files::open::nc_open;

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
