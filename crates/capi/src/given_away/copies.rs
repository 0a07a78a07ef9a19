//! Values with all that hangs from them, freed and copied for the caller.

use std::ffi::{c_int, c_void};

use ferrocdf::{Atomic, Code, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_NOERR;
use crate::abi::memory::{allocate, free};
use crate::abi::pointers::Out;
use crate::model::type_numbers::known_type;
use crate::open::ids::find_enhanced;
use crate::values::owned::{copy, reclaim};

/// True if there are values to work on. Fails with `NC_EINVAL`.
pub(crate) fn check(ncid: c_int, ty: c_int, values: *const c_void, count: usize) -> Result<bool> {
    if ncid < 0 || ty <= 0 || (values.is_null() && count > 0) {
        return fail(Code::EINVAL, "values need an id, a type and memory");
    }
    Ok(count > 0)
}

/// Frees what hangs from values, but not the memory that they lie in.
///
/// # Safety
/// `values` is null or has `count` values of the type; what hangs from them is from `malloc`, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_reclaim_data(ncid: c_int, ty: c_int, values: *mut c_void, count: usize) -> c_int {
    answer(|| {
        if !check(ncid, ty, values, count)? {
            return Ok(());
        }
        if ty > c_int::from(Atomic::String.nc_type()) {
            // Before it is asked whether there is such a type.
            find_enhanced(ncid)?;
        }
        let (model, ty) = known_type(ncid, ty)?;
        // SAFETY: `values` has `count` values of the type: a null pointer was refused.
        unsafe { reclaim(&model, ty, values.cast(), count) }
    })
}

/// [`nc_reclaim_data`], and frees the memory that the values lie in.
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

/// Checks what the caller gave, and copies.
///
/// # Safety
/// That of [`copy`], but for null pointers.
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

/// Copies values, and all that hangs from them, into memory of the caller's.
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

/// [`nc_copy_data`] into new memory, which the caller is given even where values could not be copied: it is zero there.
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
        // SAFETY: there is room for the copy; `values` is null or has `count` values of the type.
        let copied = unsafe { copy_checked(ncid, ty, values, count, new.cast()) };
        if place.is_null() {
            // SAFETY: nobody else knows of the copy, which is whole, or zero from some value on.
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

/// A function of `netcdf_aux.h` that is another name for one of `netcdf.h`.
macro_rules! other_name {
    ($name:ident, $same:path, ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// That of the function of `netcdf.h`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(ncid: c_int, ty: c_int, $($argument: $type),*) -> c_int {
            // SAFETY: the other name has the contract of `$same`.
            unsafe { $same(ncid, ty, $($argument),*) }
        }
    };
}
pub(crate) use other_name;

other_name!(ncaux_reclaim_data, nc_reclaim_data, (values: *mut c_void, count: usize));
other_name!(ncaux_reclaim_data_all, nc_reclaim_data_all, (values: *mut c_void, count: usize));
other_name!(ncaux_copy_data, nc_copy_data, (values: *mut c_void, count: usize, place: *mut c_void));
other_name!(ncaux_copy_data_all, nc_copy_data_all, (values: *mut c_void, count: usize, place: Out<*mut c_void>));
