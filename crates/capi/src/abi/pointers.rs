//! Pointers of C.

use std::ffi::{CStr, c_char};

use ferrocdf::{Code, Result};

use crate::abi::answer::fail;
use crate::abi::constants::LONGEST_NAME;

/// The bytes of a C string. Fails with `NC_EINVAL` for a null pointer.
///
/// # Safety
/// `text` is null or ends in a zero byte.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a [u8]> {
    if text.is_null() {
        return fail(Code::EINVAL, "a name is a null pointer");
    }
    // SAFETY: it is not null, and ends in a zero byte as the caller says.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Stores a value where the caller wants it, if the caller does.
///
/// # Safety
/// `place` is null or valid for writing.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not null, so it is valid for writing as the caller says. C promises alignment.
        unsafe { place.write(value) }
    }
}

/// Stores text with a zero byte behind it where the caller wants it, if the caller does.
///
/// # Safety
/// `place` is null or has room for the text and one byte.
pub(crate) unsafe fn put_text(place: *mut c_char, text: &[u8]) {
    if !place.is_null() {
        // SAFETY: it is not null, so there is room as the caller says; the caller's memory is none of ours.
        unsafe {
            place.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
            place.add(text.len()).write(0);
        }
    }
}

/// Stores a name as [`put_text`] does text. HDF5 has names that are longer than those of netCDF: of these there is as much as
/// callers have room for.
///
/// # Safety
/// `place` is null or has room for a name of the longest kind, `NC_MAX_NAME`, and one byte.
pub(crate) unsafe fn put_name(place: *mut c_char, name: &[u8]) {
    // SAFETY: the contract of this function.
    unsafe { put_text(place, &name[..name.len().min(LONGEST_NAME)]) }
}

/// Stores values one behind the other where the caller wants them, if the caller does.
///
/// # Safety
/// `place` is null or has room for all values.
pub(crate) unsafe fn put_all<T>(place: *mut T, values: impl IntoIterator<Item = T>) {
    if !place.is_null() {
        for (at, value) in values.into_iter().enumerate() {
            // SAFETY: it is not null, so there is room for all as the caller says.
            unsafe { place.add(at).write(value) }
        }
    }
}

/// Values that the caller gave; none for a null pointer or no values.
///
/// # Safety
/// `values` is null or points to `count` values that nobody changes meanwhile.
pub(crate) unsafe fn list<'a, T>(values: *const T, count: usize) -> &'a [T] {
    if values.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: it is not null, so the values are there as the caller says.
    unsafe { std::slice::from_raw_parts(values, count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_longer_than_callers_have_room_for() {
        let mut room = [c_char::MAX; LONGEST_NAME + 2];
        // SAFETY: there is room for the longest name.
        unsafe { put_name(room.as_mut_ptr(), &[b'a'; 300]) };
        assert_eq!(room[LONGEST_NAME - 1], b'a' as c_char);
        assert_eq!(room[LONGEST_NAME..], [0, c_char::MAX]);
    }
}
