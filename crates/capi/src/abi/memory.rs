//! Memory from `malloc`, which the caller frees.

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

/// Copies values into new memory.
pub(crate) fn copy_of<T: Copy>(values: &[T]) -> Result<*mut T> {
    let place = allocate::<T>(values.len())?;
    // SAFETY: the new memory has room for all values, and does not overlap them.
    unsafe { place.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    Ok(place)
}

/// Copies text into new memory, with a zero byte after it.
pub(crate) fn copy_of_text(text: &[u8]) -> Result<*mut c_char> {
    let place = allocate::<u8>(text.len().saturating_add(1))?;
    // SAFETY: the new memory has room for the text, and does not overlap it.
    unsafe { place.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    Ok(place.cast())
}

/// Frees memory; null is allowed.
///
/// # Safety
/// The memory is from `malloc`, and is not used afterwards.
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
