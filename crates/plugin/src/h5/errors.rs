//! `H5E`: the messages that a plugin pushes are kept for the error that the caller of the filter gets.
//!
//! Each thread has its own messages. Placeholders in a message are not expanded: their values are in a variable
//! argument list, which is not read.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use super::handles::Hid;
use super::{ANY_ERROR, DONE, functions, guard, put, value_of};

/// Largest number of messages kept for one call.
const MOST: usize = 8;
/// Longest kept part of a message, in bytes.
const LONGEST: usize = 500;

thread_local! {
    static MESSAGES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Removes all messages.
pub(crate) fn clear() {
    let _ = take();
}

/// Takes the messages since [`clear`], oldest first.
pub(crate) fn take() -> Vec<String> {
    // A thread that is ending has no messages.
    MESSAGES.try_with(RefCell::take).unwrap_or_default()
}

/// # Safety
/// The text is null or ends in a zero byte.
unsafe fn push(text: *const c_char) -> c_int {
    guard(DONE, || {
        if text.is_null() {
            return Some(DONE);
        }
        // SAFETY: as the caller says.
        let text = unsafe { CStr::from_ptr(text) }.to_bytes();
        let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]).trim().to_string();
        let _ = MESSAGES.try_with(|messages| {
            let mut messages = messages.borrow_mut();
            if messages.len() < MOST && !text.is_empty() && !messages.contains(&text) {
                messages.push(text);
            }
        });
        Some(DONE)
    })
}

/// # Safety
/// The text is null or ends in a zero byte.
unsafe extern "C" fn H5Epush1(
    _file: *const c_char,
    _function: *const c_char,
    _line: c_uint,
    _major: Hid,
    _minor: Hid,
    text: *const c_char,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { push(text) }
}

/// Variadic in C; on the systems on which plugins are loaded, the fixed arguments of a variadic function are passed as
/// those of any other function.
///
/// # Safety
/// The text is null or ends in a zero byte.
unsafe extern "C" fn H5Epush2(
    _stack: Hid,
    _file: *const c_char,
    _function: *const c_char,
    _line: c_uint,
    _class: Hid,
    _major: Hid,
    _minor: Hid,
    text: *const c_char,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { push(text) }
}

extern "C" fn H5Eclear1() -> c_int {
    clear();
    DONE
}

extern "C" fn H5Eclear2(_stack: Hid) -> c_int {
    clear();
    DONE
}

/// Prints nothing: messages become part of errors.
extern "C" fn H5Eprint1(_file: *mut c_void) -> c_int {
    DONE
}

extern "C" fn H5Eprint2(_stack: Hid, _file: *mut c_void) -> c_int {
    DONE
}

/// # Safety
/// The places are null or valid.
unsafe extern "C" fn H5Eget_auto1(function: *mut *mut c_void, data: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        put(function, std::ptr::null_mut());
        put(data, std::ptr::null_mut());
    }
    DONE
}

/// # Safety
/// The places are null or valid.
unsafe extern "C" fn H5Eget_auto2(_stack: Hid, function: *mut *mut c_void, data: *mut *mut c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { H5Eget_auto1(function, data) }
}

extern "C" fn H5Eset_auto1(_function: *mut c_void, _data: *mut c_void) -> c_int {
    DONE
}

extern "C" fn H5Eset_auto2(_stack: Hid, _function: *mut c_void, _data: *mut c_void) -> c_int {
    DONE
}

extern "C" fn H5Ewalk1(_direction: c_int, _function: *mut c_void, _data: *mut c_void) -> c_int {
    DONE
}

extern "C" fn H5Ewalk2(_stack: Hid, _direction: c_int, _function: *mut c_void, _data: *mut c_void) -> c_int {
    DONE
}

extern "C" fn H5Eget_num(_stack: Hid) -> isize {
    MESSAGES.try_with(|messages| isize::try_from(messages.borrow().len()).unwrap_or(isize::MAX)).unwrap_or(0)
}

extern "C" fn H5Eget_current_stack() -> Hid {
    value_of(&ANY_ERROR)
}

extern "C" fn H5Eregister_class(
    _name: *const c_char,
    _library: *const c_char,
    _version: *const c_char,
) -> Hid {
    value_of(&ANY_ERROR)
}

extern "C" fn H5Ecreate_msg(_class: Hid, _kind: c_int, _text: *const c_char) -> Hid {
    value_of(&ANY_ERROR)
}

/// Does nothing, as `H5Eunregister_class` and `H5Eclose_stack`: error handles are constants.
extern "C" fn H5Eclose_msg(_handle: Hid) -> c_int {
    DONE
}

extern "C" fn H5Eunregister_class(_handle: Hid) -> c_int {
    DONE
}

extern "C" fn H5Eclose_stack(_handle: Hid) -> c_int {
    DONE
}

functions![
    H5Epush1,
    H5Epush2,
    H5Eclear1,
    H5Eclear2,
    H5Eprint1,
    H5Eprint2,
    H5Eget_auto1,
    H5Eget_auto2,
    H5Eset_auto1,
    H5Eset_auto2,
    H5Ewalk1,
    H5Ewalk2,
    H5Eget_num,
    H5Eget_current_stack,
    H5Eregister_class,
    H5Ecreate_msg,
    H5Eclose_msg,
    H5Eunregister_class,
    H5Eclose_stack,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_kept() {
        let none = std::ptr::null();
        clear();
        // SAFETY: texts end in a zero byte, or are null.
        unsafe {
            assert_eq!(H5Epush1(none, none, 1, 0, 0, c"first".as_ptr()), 0);
            assert_eq!(H5Epush2(0, none, none, 1, 0, 0, 0, c"second\n".as_ptr()), 0);
            assert_eq!(H5Epush2(0, none, none, 1, 0, 0, 0, c"first".as_ptr()), 0);
            assert_eq!(H5Epush2(0, none, none, 1, 0, 0, 0, none), 0);
        }
        assert_eq!((H5Eget_num(0), take()), (2, vec!["first".to_string(), "second".to_string()]));
        assert_eq!(take(), Vec::<String>::new());
    }
}
