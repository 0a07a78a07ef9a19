//! What filters learn of the data: `set_local` of HDF5, and `modify_parameters` of NCZarr.
//!
//! Parameters become what ferrocdf itself would store (`ferrocdf_codec::derive`). Where the host does not have what must be
//! asked, they stay as they are.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::host::{self, Place};
use crate::{codec, guarded, own_id};

/// `H5Z_set_local_func_t`.
pub type SetLocal = extern "C" fn(i64, i64, i64) -> c_int;

const FAILED: c_int = -1;
const DONE: c_int = 1;

/// What is asked of libhdf5.
#[derive(Clone, Copy)]
struct Hdf5 {
    get_filter: GetFilter,
    modify_filter: unsafe extern "C" fn(i64, c_int, c_uint, usize, *const c_uint) -> c_int,
    get_chunk: unsafe extern "C" fn(i64, c_int, *mut u64) -> c_int,
    get_size: unsafe extern "C" fn(i64) -> usize,
}

type GetFilter = unsafe extern "C" fn(
    i64,
    c_int,
    *mut c_uint,
    *mut usize,
    *mut c_uint,
    usize,
    *mut c_char,
    *mut c_uint,
) -> c_int;

impl Hdf5 {
    fn of(place: &Place) -> Option<Hdf5> {
        // SAFETY: the types of HDF5 since 1.10.
        unsafe {
            Some(Hdf5 {
                get_filter: place.function(c"H5Pget_filter_by_id2")?,
                modify_filter: place.function(c"H5Pmodify_filter")?,
                get_chunk: place.function(c"H5Pget_chunk")?,
                get_size: place.function(c"H5Tget_size")?,
            })
        }
    }
}

/// `H5S_MAX_RANK`.
const MOST_DIMENSIONS: usize = 32;
/// More parameters than any of these filters has.
const ROOM: usize = 32;

/// Puts the size of elements and of chunks into the parameters of a dataset that is about to be made.
pub extern "C" fn set_local(properties: i64, datatype: i64, _space: i64) -> c_int {
    guarded(FAILED, || {
        let Some(id) = own_id() else { return FAILED };
        let Some(hdf5) = host::find("libhdf5", Hdf5::of) else { return DONE };
        let (mut flags, mut count, mut params) = (0, ROOM, [0; ROOM]);
        let number = id as c_int;
        // SAFETY: the handles are those that HDF5 gave us, and `count` says what `params` has room for.
        let got = unsafe {
            let none = std::ptr::null_mut();
            (hdf5.get_filter)(
                properties,
                number,
                &mut flags,
                &mut count,
                params.as_mut_ptr(),
                0,
                none,
                std::ptr::null_mut(),
            )
        };
        let Some(params) = params.get(..count).filter(|_| got >= 0) else { return FAILED };
        let mut params = params.to_vec();
        // SAFETY: a handle that HDF5 gave us.
        let size = unsafe { (hdf5.get_size)(datatype) };
        let mut chunk = [0; MOST_DIMENSIONS];
        // SAFETY: `chunk` has room for so many.
        let dimensions = unsafe { (hdf5.get_chunk)(properties, chunk.len() as c_int, chunk.as_mut_ptr()) };
        let Some(chunk) = usize::try_from(dimensions).ok().and_then(|count| chunk.get(..count)) else {
            return FAILED;
        };
        if size == 0 || !learned(id, &mut params, size, chunk.iter().copied()) {
            return FAILED;
        }
        // SAFETY: handles of HDF5, and parameters that it copies.
        let kept = unsafe { (hdf5.modify_filter)(properties, number, flags, params.len(), params.as_ptr()) };
        if kept < 0 { FAILED } else { DONE }
    })
}

/// Puts sizes into parameters; whether the filter has them then.
fn learned(id: u32, params: &mut Vec<u32>, size: usize, chunk: impl Iterator<Item = u64>) -> bool {
    let bytes = chunk.fold(size as u64, |bytes, len| bytes.saturating_mul(len));
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    ferrocdf_codec::derive(&id.into(), params, small(size as u64), small(bytes));
    ferrocdf_codec::built_in(&id.into(), params)
        .is_some_and(|filter| filter.and_then(|filter| filter.check_encode()).is_ok())
}

/// What is asked of libnetcdf.
#[derive(Clone, Copy)]
struct Netcdf {
    inq_vartype: unsafe extern "C" fn(c_int, c_int, *mut c_int) -> c_int,
    inq_varndims: unsafe extern "C" fn(c_int, c_int, *mut c_int) -> c_int,
    inq_type: unsafe extern "C" fn(c_int, c_int, *mut c_char, *mut usize) -> c_int,
    inq_var_chunking: unsafe extern "C" fn(c_int, c_int, *mut c_int, *mut usize) -> c_int,
}

impl Netcdf {
    fn of(place: &Place) -> Option<Netcdf> {
        // SAFETY: the types of netcdf.h.
        unsafe {
            Some(Netcdf {
                inq_vartype: place.function(c"nc_inq_vartype")?,
                inq_varndims: place.function(c"nc_inq_varndims")?,
                inq_type: place.function(c"nc_inq_type")?,
                inq_var_chunking: place.function(c"nc_inq_var_chunking")?,
            })
        }
    }

    /// The size of a variable's elements, and the shape of its chunks.
    fn sizes(&self, group: c_int, variable: c_int) -> Result<(usize, Vec<usize>), c_int> {
        let checked = |code: c_int| if code == 0 { Ok(()) } else { Err(code) };
        let (mut kind, mut count, mut size, mut storage) = (0, 0, 0, 0);
        // SAFETY: netCDF writes one value to each.
        unsafe {
            checked((self.inq_vartype)(group, variable, &mut kind))?;
            checked((self.inq_varndims)(group, variable, &mut count))?;
            checked((self.inq_type)(group, kind, std::ptr::null_mut(), &mut size))?;
        }
        // Scalars have a chunk of one element.
        let mut chunk = vec![1; usize::try_from(count).unwrap_or(0).max(1)];
        // SAFETY: there is a number for each dimension.
        checked(unsafe { (self.inq_var_chunking)(group, variable, &mut storage, chunk.as_mut_ptr()) })?;
        Ok((size, chunk))
    }
}

/// `NCZ_modify_parameters`: makes of the parameters that a caller gave those that the filter works with.
///
/// # Safety
/// As netCDF-C calls it: `given` has `given_count` numbers.
pub unsafe extern "C" fn modify_parameters(
    group: c_int,
    variable: c_int,
    given_count: *mut usize,
    given: *mut *mut c_uint,
    count: *mut usize,
    params: *mut *mut c_uint,
) -> c_int {
    guarded(codec::NC_EFILTER, || {
        if [given_count, count].contains(&std::ptr::null_mut()) || given.is_null() || params.is_null() {
            return codec::NC_EINVAL;
        }
        let Some(id) = own_id() else { return codec::NC_EFILTER };
        // SAFETY: the caller's parameters, of which there may be none.
        let mut known = unsafe {
            match *given {
                at if at.is_null() => vec![],
                at => std::slice::from_raw_parts(at, *given_count).to_vec(),
            }
        };
        if let Some(netcdf) = host::find("libnetcdf", Netcdf::of) {
            let (size, chunk) = match netcdf.sizes(group, variable) {
                Ok(sizes) => sizes,
                Err(code) => return code,
            };
            if !learned(id, &mut known, size, chunk.iter().map(|&len| len as u64)) {
                return codec::NC_EFILTER;
            }
        }
        let bytes = size_of_val(known.as_slice());
        let Some(copy) = codec::copied(known.as_ptr().cast::<c_void>(), bytes) else {
            return codec::NC_ENOMEM;
        };
        // SAFETY: the caller has room for the two.
        unsafe { (*count, *params) = (known.len(), copy.cast()) };
        0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_put_where_they_belong() {
        let mut params = vec![0, 0, 0, 0, 7, 2, 5];
        assert!(learned(32001, &mut params, 4, [64, 64].into_iter()));
        assert_eq!(params, [0, 0, 4, 16384, 7, 2, 5]);
        let mut params = vec![0, 2];
        assert!(learned(32008, &mut params, 8, [u64::MAX, 9].into_iter()));
        assert_eq!(params, [0, 4, 8, 0, 2]);
        assert!(!learned(32008, &mut vec![7, 2], 8, [4].into_iter()), "blocks of seven elements");
    }
}
