//! Freeing and copying of values with their strings and lists.

use std::ffi::{c_int, c_void};

use ferrocdf::{Atomic, Code, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_NOERR;
use crate::abi::memory::{allocate, free};
use crate::abi::pointers::Out;
use crate::model::type_numbers::known_type;
use crate::open::ids::find_enhanced;
use crate::values::owned::{copy, reclaim};

/// Checks the arguments; returns true if there are values. Fails with `NC_EINVAL`.
pub(crate) fn check(ncid: c_int, ty: c_int, values: *const c_void, count: usize) -> Result<bool> {
    if ncid < 0 || ty <= 0 || (values.is_null() && count > 0) {
        return fail(Code::EINVAL, "values need an id, a type and memory");
    }
    Ok(count > 0)
}

/// Frees the strings and lists of values, but not the memory of the values themselves.
///
/// # Safety
/// `values` is null or has `count` values of the type; their strings and lists are from `malloc`, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_reclaim_data(ncid: c_int, ty: c_int, values: *mut c_void, count: usize) -> c_int {
    answer(|| {
        if !check(ncid, ty, values, count)? {
            return Ok(());
        }
        if ty > c_int::from(Atomic::String.nc_type()) {
            // The id is checked before the type.
            find_enhanced(ncid)?;
        }
        let (model, ty) = known_type(ncid, ty)?;
        // SAFETY: `values` has `count` values of the type: a null pointer was refused.
        unsafe { reclaim(&model, ty, values.cast(), count) }
    })
}

/// Frees values as [`nc_reclaim_data`] does, and their memory.
///
/// # Safety
/// `values` is as for [`nc_reclaim_data`], and from `malloc` itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_reclaim_data_all(
    ncid: c_int,
    ty: c_int,
    values: *mut c_void,
    count: usize,
) -> c_int {
    // SAFETY: the arguments are those of this function.
    let code = unsafe { nc_reclaim_data(ncid, ty, values, count) };
    if code == NC_NOERR {
        // SAFETY: `values` is null or from `malloc`, and was emptied.
        unsafe { free(values) };
    }
    code
}

/// Checks the arguments, and copies values.
///
/// # Safety
/// The contract of [`copy`]; in addition null pointers are allowed.
unsafe fn copy_checked(
    ncid: c_int,
    ty: c_int,
    values: *const c_void,
    count: usize,
    place: *mut c_void,
) -> Result<()> {
    if !check(ncid, ty, values, count)? {
        return Ok(());
    }
    if place.is_null() {
        return fail(Code::EINVAL, "the memory for the copy is a null pointer");
    }
    let (model, ty) = known_type(ncid, ty)?;
    // SAFETY: neither pointer is null, and both have room for `count` values.
    unsafe { copy(&model, ty, values.cast(), place.cast(), count) }
}

/// Copies values with their strings and lists into memory of the caller.
///
/// # Safety
/// `values` and `place` are null or have `count` values of the type, and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_copy_data(
    ncid: c_int,
    ty: c_int,
    values: *const c_void,
    count: usize,
    place: *mut c_void,
) -> c_int {
    // SAFETY: `values` and `place` are null or have `count` values of the type.
    answer(|| unsafe { copy_checked(ncid, ty, values, count, place) })
}

/// Copies values as [`nc_copy_data`] does, into new memory. The caller gets the memory even after a failure; values
/// that could not be copied are zero.
///
/// # Safety
/// `values` is null or has `count` values of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_copy_data_all(
    ncid: c_int,
    ty: c_int,
    values: *const c_void,
    count: usize,
    place: Out<*mut c_void>,
) -> c_int {
    answer(|| {
        let (model, known) = known_type(ncid, ty)?;
        let new = if count == 0 {
            std::ptr::null_mut()
        } else {
            allocate::<u8>(count.saturating_mul(model.size_of(known)))?
        };
        // SAFETY: the new memory has room for the copy; `values` is null or has `count` values of the type.
        let copied = unsafe { copy_checked(ncid, ty, values, count, new.cast()) };
        if place.is_null() {
            // SAFETY: no other code refers to the copy, which is complete, or zero from some value on.
            unsafe {
                reclaim(&model, known, new, count)?;
                free(new);
            }
        } else {
            place.put(new.cast());
        }
        copied
    })
}

/// Defines a function of `netcdf_aux.h` that is an alias of one of `netcdf.h`.
macro_rules! other_name {
    ($name:ident, $same:path, ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// The contract of the function of `netcdf.h`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(ncid: c_int, ty: c_int, $($argument: $type),*) -> c_int {
            // SAFETY: an alias has the contract of `$same`.
            unsafe { $same(ncid, ty, $($argument),*) }
        }
    };
}
pub(crate) use other_name;

other_name!(ncaux_reclaim_data, nc_reclaim_data, (values: *mut c_void, count: usize));
other_name!(ncaux_reclaim_data_all, nc_reclaim_data_all, (values: *mut c_void, count: usize));
other_name!(ncaux_copy_data, nc_copy_data, (values: *mut c_void, count: usize, place: *mut c_void));
other_name!(ncaux_copy_data_all, nc_copy_data_all, (values: *mut c_void, count: usize, place: Out<*mut c_void>));
