//! Pointers from C callers. Most have a type that carries its contract, so their use is safe; each type is as wide as a
//! pointer, and the functions of the interface have it as an argument:
//!
//! | type | what the caller gives |
//! |---|---|
//! | [`Str`] | null, or text that ends in a zero byte |
//! | [`Out`] | null, or memory for one value |
//! | [`NameOut`] | null, or memory for `NC_MAX_NAME` bytes and a zero byte |
//!
//! A value of these types comes from C, whose callers guarantee the contract, or from a Rust reference. No other code
//! uses the memory during the call. Pointers to several values stay raw, because another argument or the dataset
//! determines the number of values: the function that uses such a pointer documents it ([`list`], [`put_all`],
//! [`put_text`]).

use std::ffi::{CStr, c_char};
use std::marker::PhantomData;

use ferrocdf::{Code, Result};

use crate::abi::answer::fail;
use crate::abi::constants::LONGEST_NAME;

/// Text of the caller that ends in a zero byte, or null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Str<'a> {
    text: *const c_char,
    life: PhantomData<&'a CStr>,
}

impl<'a> Str<'a> {
    pub(crate) const NULL: Str<'static> = Str { text: std::ptr::null(), life: PhantomData };

    /// Wraps a pointer that is stored in memory of the caller.
    ///
    /// # Safety
    /// `text` is null or ends in a zero byte, and does not change for `'a`.
    pub(crate) unsafe fn new(text: *const c_char) -> Str<'a> {
        Str { text, life: PhantomData }
    }

    pub(crate) fn is_null(self) -> bool {
        self.text.is_null()
    }

    /// Returns the bytes before the zero byte. Fails with `NC_EINVAL` for a null pointer.
    pub(crate) fn bytes(self) -> Result<&'a [u8]> {
        match self.c_str() {
            Some(text) => Ok(text.to_bytes()),
            None => fail(Code::EINVAL, "a name is a null pointer"),
        }
    }

    /// Returns the text; `None` if the pointer is null.
    pub(crate) fn c_str(self) -> Option<&'a CStr> {
        // SAFETY: the pointer is not null, so it comes from C, which guarantees a zero byte, or from a `CStr`.
        (!self.is_null()).then(|| unsafe { CStr::from_ptr(self.text) })
    }

    pub(crate) fn as_ptr(self) -> *const c_char {
        self.text
    }
}

impl<'a> From<&'a CStr> for Str<'a> {
    fn from(text: &'a CStr) -> Str<'a> {
        Str { text: text.as_ptr(), life: PhantomData }
    }
}

/// Memory of the caller for one value, or null if the caller does not want the value.
#[repr(transparent)]
pub struct Out<'a, T> {
    place: *mut T,
    life: PhantomData<&'a mut T>,
}

impl<T> Clone for Out<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<'_, T> {}

impl<'a, T> Out<'a, T> {
    pub(crate) const NULL: Out<'a, T> = Out { place: std::ptr::null_mut(), life: PhantomData };

    pub(crate) fn is_null(self) -> bool {
        self.place.is_null()
    }

    /// Stores the value, if the caller wants it.
    pub(crate) fn put(self, value: T) {
        if !self.is_null() {
            // SAFETY: the pointer is not null, so it comes from C, which guarantees aligned memory for a `T`, or from a
            // reference.
            unsafe { self.place.write(value) }
        }
    }

    /// Returns the memory as a value that the caller has set; `None` for a null pointer.
    ///
    /// # Safety
    /// The memory is null or holds a value, and there is no other reference to it.
    pub(crate) unsafe fn value(self) -> Option<&'a mut T> {
        // SAFETY: the memory is null or holds a value, as the caller says; C guarantees alignment.
        unsafe { self.place.as_mut() }
    }
}

impl<'a, T> From<&'a mut T> for Out<'a, T> {
    fn from(place: &'a mut T) -> Out<'a, T> {
        Out { place, life: PhantomData }
    }
}

/// Memory of the caller for the longest name and a zero byte, or null.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct NameOut<'a> {
    place: *mut c_char,
    life: PhantomData<&'a mut [c_char; LONGEST_NAME + 1]>,
}

impl NameOut<'_> {
    pub(crate) const NULL: NameOut<'static> = NameOut { place: std::ptr::null_mut(), life: PhantomData };

    /// Stores a name and a zero byte, if the caller wants the name. Names in HDF5 files may exceed the limit of netCDF;
    /// the caller gets their first `NC_MAX_NAME` bytes.
    pub(crate) fn put(self, name: &[u8]) {
        // SAFETY: the memory is null or has `NC_MAX_NAME + 1` bytes, and at most as many are written.
        unsafe { put_text(self.place, &name[..name.len().min(LONGEST_NAME)]) }
    }
}

impl<'a> From<&'a mut [c_char; LONGEST_NAME + 1]> for NameOut<'a> {
    fn from(room: &'a mut [c_char; LONGEST_NAME + 1]) -> NameOut<'a> {
        NameOut { place: room.as_mut_ptr(), life: PhantomData }
    }
}

/// Stores text and a zero byte, if the caller wants the text.
///
/// # Safety
/// `place` is null or has room for the text and one byte.
pub(crate) unsafe fn put_text(place: *mut c_char, text: &[u8]) {
    if !place.is_null() {
        // SAFETY: the pointer is not null, so there is room as the caller says; the memory does not overlap the text.
        unsafe {
            place.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
            place.add(text.len()).write(0);
        }
    }
}

/// Stores consecutive values, if the caller wants them.
///
/// # Safety
/// `place` is null or has room for all values.
pub(crate) unsafe fn put_all<T>(place: *mut T, values: impl IntoIterator<Item = T>) {
    if !place.is_null() {
        for (at, value) in values.into_iter().enumerate() {
            // SAFETY: the pointer is not null, so there is room for all values as the caller says.
            unsafe { place.add(at).write(value) }
        }
    }
}

/// Returns values of the caller; none for a null pointer or a count of 0.
///
/// # Safety
/// `values` is null or points to `count` values that do not change during the call.
pub(crate) unsafe fn list<'a, T>(values: *const T, count: usize) -> &'a [T] {
    if values.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: the pointer is not null, so there are `count` values as the caller says.
    unsafe { std::slice::from_raw_parts(values, count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_ends_where_callers_have_no_more_room() {
        let mut room = [c_char::MAX; LONGEST_NAME + 1];
        NameOut::from(&mut room).put(&[b'a'; 300]);
        assert_eq!(room[LONGEST_NAME - 1..], [b'a' as c_char, 0]);
    }

    #[test]
    fn null_pointers_are_told_apart() {
        assert!(Str::NULL.bytes().is_err_and(|error| error.code == Code::EINVAL));
        assert_eq!(Str::from(c"ab").bytes().unwrap(), b"ab");
        Out::NULL.put(1);
        let mut value = 0;
        Out::from(&mut value).put(1);
        assert_eq!(value, 1);
    }
}
