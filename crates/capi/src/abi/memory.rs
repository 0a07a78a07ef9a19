//! Memory that the caller frees: all of it is from `malloc`.

use std::ffi::c_char;

use ferrocdf::{Code, Result};

use crate::abi::answer::fail;

/// Allocates zeroed memory for `count` values, at least one byte. Fails with `NC_ENOMEM`.
pub(crate) fn allocate<T>(count: usize) -> Result<*mut T> {
    // SAFETY: `calloc` takes any sizes.
    let place = unsafe { libc::calloc(count.max(1), size_of::<T>().max(1)) };
    if place.is_null() {
        return fail(Code::ENOMEM, format!("no memory for {count} values of {} bytes", size_of::<T>()));
    }
    Ok(place.cast())
}

/// Returns a copy of values.
pub(crate) fn copy_of<T: Copy>(values: &[T]) -> Result<*mut T> {
    let place = allocate::<T>(values.len())?;
    // SAFETY: there is room for all values, and it is nobody else's.
    unsafe { place.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    Ok(place)
}

/// Returns a copy of text, with a zero byte behind it.
pub(crate) fn copy_of_text(text: &[u8]) -> Result<*mut c_char> {
    let place = allocate::<u8>(text.len().saturating_add(1))?;
    // SAFETY: there is room for the text, and it is nobody else's.
    unsafe { place.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    Ok(place.cast())
}

/// Frees memory; null is allowed.
///
/// # Safety
/// It is from `malloc`, and nobody uses it any more.
pub(crate) unsafe fn free<T>(place: *mut T) {
    // SAFETY: the memory is from `malloc`, or null, which `free` takes too.
    unsafe { libc::free(place.cast()) }
}

/// `nc_vlen_t` of `netcdf.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct NcVlen {
    pub(crate) len: usize,
    pub(crate) values: *mut std::ffi::c_void,
}
