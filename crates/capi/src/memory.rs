//! Memory that the caller frees: all of it is from `malloc`.

use std::ffi::{c_char, c_int};

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail};
use crate::constants::NC_NOERR;

/// Zeroed memory for this many values, at least for one byte. Fails with `NC_ENOMEM`.
pub(crate) fn allocate<T>(count: usize) -> Result<*mut T> {
    // SAFETY: `calloc` takes any sizes.
    let place = unsafe { libc::calloc(count.max(1), size_of::<T>().max(1)) };
    if place.is_null() {
        return fail(Code::ENOMEM, format!("no memory for {count} values of {} bytes", size_of::<T>()));
    }
    Ok(place.cast())
}

/// A copy of values.
pub(crate) fn copy_of<T: Copy>(values: &[T]) -> Result<*mut T> {
    let place = allocate::<T>(values.len())?;
    // SAFETY: there is room for all values, and it is nobody else's.
    unsafe { place.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    Ok(place)
}

/// A copy of text, with a zero byte behind it.
pub(crate) fn copy_of_text(text: &[u8]) -> Result<*mut c_char> {
    let place = allocate::<u8>(text.len().saturating_add(1))?;
    // SAFETY: there is room for the text, and it is nobody else's.
    unsafe { place.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    Ok(place.cast())
}

/// Gives memory back. Null is none.
///
/// # Safety
/// It is from `malloc`, and nobody uses it any more.
pub(crate) unsafe fn free<T>(place: *mut T) {
    // SAFETY: as the caller says.
    unsafe { libc::free(place.cast()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_string(count: usize, strings: *mut *mut c_char) -> c_int {
    answer(|| {
        if strings.is_null() && count > 0 {
            return fail(Code::EINVAL, "the strings are a null pointer");
        }
        for at in 0..count {
            // SAFETY: there are `count` strings from `malloc` by the contract of the interface.
            unsafe { free(*strings.add(at)) };
        }
        Ok(())
    })
}

/// Frees the elements of a list that hold no memory themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlen(vlen: *mut NcVlen) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_free_vlens(1, vlen) }
}

/// [`nc_free_vlen`] for several.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlens(count: usize, vlens: *mut NcVlen) -> c_int {
    if count == 0 {
        return NC_NOERR;
    }
    answer(|| {
        if vlens.is_null() {
            return fail(Code::EINVAL, "the lists are a null pointer");
        }
        for at in 0..count {
            // SAFETY: there are `count` lists, their elements from `malloc`, by the contract of the interface.
            unsafe { free((*vlens.add(at)).values) };
        }
        Ok(())
    })
}

/// `nc_vlen_t` of `netcdf.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NcVlen {
    pub(crate) len: usize,
    pub(crate) values: *mut std::ffi::c_void,
}
