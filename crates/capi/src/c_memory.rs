//! Memory of `malloc`, in which everything is that callers free.

use std::ffi::{c_char, c_int, c_void};

use ferrocdf::{Code, Result};

use crate::boundary::fail;
use crate::constants::NC_NOERR;
use crate::types::NcVlen;

/// Room for so many values, all bytes zero. It is never null, even for none.
pub(crate) fn room<T>(count: usize) -> Result<*mut T> {
    // SAFETY: `calloc` takes any sizes.
    let place = unsafe { libc::calloc(count.max(1), size_of::<T>()) };
    if place.is_null() {
        return fail(Code::ENOMEM, format!("no memory for {count} values of {} bytes", size_of::<T>()));
    }
    Ok(place.cast())
}

/// A copy of bytes, with a zero byte behind them.
pub(crate) fn copy_text(text: &[u8]) -> Result<*mut c_char> {
    let place = room::<u8>(text.len() + 1)?;
    // SAFETY: there is room for the text, and it is nobody else's.
    unsafe { place.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
    Ok(place.cast())
}

/// Gives memory back.
///
/// # Safety
/// The pointer is null or from `malloc`, and not used any more.
pub(crate) unsafe fn free<T>(place: *mut T) {
    // SAFETY: as the caller says.
    unsafe { libc::free(place.cast()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_string(count: usize, strings: *mut *mut c_char) -> c_int {
    for at in 0..if strings.is_null() { 0 } else { count } {
        // SAFETY: the contract of the interface.
        unsafe { free(*strings.add(at)) };
    }
    NC_NOERR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlen(list: *mut NcVlen) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_free_vlens(1, list) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlens(count: usize, lists: *mut NcVlen) -> c_int {
    for at in 0..if lists.is_null() { 0 } else { count } {
        // SAFETY: the contract of the interface.
        unsafe { free::<c_void>((*lists.add(at)).values) };
    }
    NC_NOERR
}
