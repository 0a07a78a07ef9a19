//! The codec of a filter for NCZarr (`NCZ_codec_t` of `netcdf_filter_build.h`): its parameters from JSON and to JSON.
//!
//! What is handed out is the caller's to `free`.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

use ferrocdf_bytes::{Code, Result};

use crate::{guarded, learn, own_id};

/// Codes of `netcdf.h`.
pub const NC_EINVAL: c_int = Code::EINVAL.0;
pub const NC_ENOMEM: c_int = Code::ENOMEM.0;
pub const NC_EFILTER: c_int = Code::EFILTER.0;

const NCZ_CODEC_CLASS_VER: c_int = 1;
/// The rest of the structure is about a filter of HDF5.
const NCZ_CODEC_HDF5: c_int = 1;

/// `NCZ_codec_t`.
#[repr(C)]
pub struct Codec {
    version: c_int,
    sort: c_int,
    codec_id: *const c_char,
    hdf5_id: c_uint,
    initialize: Option<extern "C" fn()>,
    finalize: Option<extern "C" fn()>,
    to_hdf5: unsafe extern "C" fn(*const c_char, *mut usize, *mut *mut c_uint) -> c_int,
    to_codec: unsafe extern "C" fn(usize, *const c_uint, *mut *mut c_char) -> c_int,
    modify_parameters: Option<ModifyParameters>,
}

type ModifyParameters =
    unsafe extern "C" fn(c_int, c_int, *mut usize, *mut *mut c_uint, *mut usize, *mut *mut c_uint) -> c_int;

impl Codec {
    /// The codec of a filter, if it has one.
    pub fn new(id: u32, learns: bool) -> Option<Codec> {
        let name = CString::new(ferrocdf_codec::numcodecs_id(&id.into())?).ok()?;
        Some(Codec {
            version: NCZ_CODEC_CLASS_VER,
            sort: NCZ_CODEC_HDF5,
            // NetCDF may read it until it closes this library, and nobody tells us when.
            codec_id: name.into_raw(),
            hdf5_id: id,
            initialize: None,
            finalize: None,
            to_hdf5,
            to_codec,
            modify_parameters: learns.then_some(learn::modify_parameters),
        })
    }
}

/// A copy that `free` takes; `None` if there is no memory.
pub fn copied(from: *const c_void, bytes: usize) -> Option<*mut c_void> {
    // SAFETY: any size is fine.
    let copy = unsafe { libc::malloc(bytes.max(1)) };
    if copy.is_null() {
        return None;
    }
    // SAFETY: `from` has so many bytes, and so has what was just made.
    unsafe { libc::memcpy(copy, from, bytes) };
    Some(copy)
}

/// An error as netCDF-C knows it.
fn code<T>(made: Result<T>) -> Result<T, c_int> {
    made.map_err(|error| error.code.0)
}

unsafe extern "C" fn to_hdf5(json: *const c_char, count: *mut usize, params: *mut *mut c_uint) -> c_int {
    guarded(NC_EFILTER, || {
        if json.is_null() || count.is_null() || params.is_null() {
            return NC_EINVAL;
        }
        // SAFETY: text that ends, of the caller.
        let json = unsafe { CStr::from_ptr(json) }.to_string_lossy();
        let made = match ferrocdf_codec::from_numcodecs(&json).map(code) {
            Some(Ok((id, made))) if id.hdf5().is_some_and(|id| Some(id) == own_id()) => made,
            Some(Err(code)) => return code,
            _ => return NC_EINVAL,
        };
        let Some(copy) = copied(made.as_ptr().cast(), size_of_val(made.as_slice())) else { return NC_ENOMEM };
        // SAFETY: the caller has room for the two.
        unsafe { (*count, *params) = (made.len(), copy.cast()) };
        0
    })
}

unsafe extern "C" fn to_codec(count: usize, params: *const c_uint, json: *mut *mut c_char) -> c_int {
    guarded(NC_EFILTER, || {
        if json.is_null() || params.is_null() && count > 0 {
            return NC_EINVAL;
        }
        // SAFETY: the caller has `count` parameters.
        let params = if count > 0 { unsafe { std::slice::from_raw_parts(params, count) } } else { &[] };
        let made = match own_id().and_then(|id| ferrocdf_codec::to_numcodecs(&id.into(), params)).map(code) {
            Some(Ok(made)) => made,
            Some(Err(code)) => return code,
            None => return NC_EFILTER,
        };
        let Ok(made) = CString::new(made) else { return NC_EFILTER };
        let Some(copy) = copied(made.as_ptr().cast(), made.as_bytes_with_nul().len()) else {
            return NC_ENOMEM;
        };
        // SAFETY: the caller has room for it.
        unsafe { *json = copy.cast() };
        0
    })
}
