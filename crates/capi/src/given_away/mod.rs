//! Memory that the library allocated for the caller and the caller returns: strings and lists.

pub(crate) mod copies;
pub(crate) mod dump;

use std::ffi::{c_char, c_int};

use ferrocdf::Code;

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_NOERR;
use crate::abi::memory::{NcVlen, free};

/// # Safety
/// `strings` is null or has `count` pointers, each null or from `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_string(count: usize, strings: *mut *mut c_char) -> c_int {
    answer(|| {
        if strings.is_null() && count > 0 {
            return fail(Code::EINVAL, "the strings are a null pointer");
        }
        for at in 0..count {
            // SAFETY: `strings` has `count` strings from `malloc`, as the function says.
            unsafe { free(*strings.add(at)) };
        }
        Ok(())
    })
}

/// Frees the elements of a list; the elements must not own memory.
///
/// # Safety
/// `vlen` is null or one list; its elements are from `malloc`, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_free_vlen(vlen: *mut NcVlen) -> c_int {
    // SAFETY: `vlen` is null or one `nc_vlen_t`.
    unsafe { nc_free_vlens(1, vlen) }
}

/// Frees several lists as [`nc_free_vlen`] does.
///
/// # Safety
/// `vlens` is null or has `count` lists; their elements are from `malloc`, or null.
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
            // SAFETY: `vlens` has `count` lists, whose elements are from `malloc`, as the function says.
            unsafe { free((*vlens.add(at)).values) };
        }
        Ok(())
    })
}
