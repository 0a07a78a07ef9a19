//! Filters of variables (`netcdf_filter.h`). Classic files have none: an inquiry stores nothing, and no filter is
//! available.

use std::ffi::{c_int, c_uint};

use ferrocdf::Code;

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{Out, list, put_all};
use crate::model::entities::variable;
use crate::open::ids::find;
use crate::storage::definition::{add_filter, filtered};

/// # Safety
/// `params` is null or has `count` numbers.
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
        // SAFETY: `params` is null or has `count` numbers.
        let given = (count == 0 || !params.is_null()).then(|| unsafe { list(params, count) });
        add_filter(ncid, varid, id, given)
    })
}

/// # Safety
/// `ids` is null or has room for an id for each filter of the variable.
pub unsafe extern "C" fn nc_inq_var_filter_ids(
    ncid: c_int,
    varid: c_int,
    count: Out<usize>,
    ids: *mut c_uint,
) -> c_int {
    answer(|| {
        // A codec of a Zarr array without an HDF5 number has the id 0, as in netCDF-C.
        let found = filtered(ncid, varid)?.filter_ids();
        count.put(found.len());
        // SAFETY: `ids` is null or has room for all filters, whose number the caller gets from `count` of an earlier
        // call.
        unsafe { put_all(ids, found) };
        Ok(())
    })
}

/// Stores the parameters of a filter.
fn give(params: &[c_uint], count: Out<usize>, place: *mut c_uint) {
    count.put(params.len());
    // SAFETY: `place` is null or has room for the parameters, as the caller says.
    unsafe { put_all(place, params.iter().copied()) };
}

/// # Safety
/// `params` is null or has room for the parameters of the filter.
pub unsafe extern "C" fn nc_inq_var_filter_info(
    ncid: c_int,
    varid: c_int,
    id: c_uint,
    count: Out<usize>,
    params: *mut c_uint,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let Some(found) = storage.filter(id) else {
            return fail(Code::ENOFILTER, format!("the variable does not go through filter {id}"));
        };
        give(found, count, params);
        Ok(())
    })
}

/// Returns the first filter; id 0 if there is none.
///
/// # Safety
/// `params` is null or has room for the parameters of the first filter.
pub unsafe extern "C" fn nc_inq_var_filter(
    ncid: c_int,
    varid: c_int,
    id: Out<c_uint>,
    count: Out<usize>,
    params: *mut c_uint,
) -> c_int {
    answer(|| {
        let filters = filtered(ncid, varid)?.filters;
        id.put(filters.first().map_or(0, |filter| filter.id));
        if let Some(filter) = filters.first() {
            give(&filter.params, count, params);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;

    use super::*;
    use crate::tests::c::{nc_close, nc_inq_var_filter_ids, nc_inq_var_filter_info, nc_open};

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
        // SAFETY: the URL ends in a zero byte, and there is room for all filters.
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
