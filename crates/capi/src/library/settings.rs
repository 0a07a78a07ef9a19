//! Settings as keys and values: from the files of `ferrocdf::run_control`, and set by programs.

use std::ffi::{c_char, c_int};

use ferrocdf::run_control;

use crate::abi::answer::{answer, give};
use crate::abi::forks;
use crate::abi::memory::copy_of_text;
use crate::abi::pointers::Str;
use crate::open::settings::setting;

/// Returns the value of a key in memory from `malloc`; null if it has none.
#[unsafe(no_mangle)]
pub extern "C" fn nc_rc_get(key: Str) -> *mut c_char {
    give(std::ptr::null_mut(), || {
        let key = key.bytes()?.trim_ascii();
        match setting(key) {
            Some(value) => copy_of_text(&value),
            None => Ok(std::ptr::null_mut()),
        }
    })
}

/// Sets the value of a key for this process.
#[unsafe(no_mangle)]
pub extern "C" fn nc_rc_set(key: Str, value: Str) -> c_int {
    answer(|| {
        let (key, value) = (key.bytes()?.trim_ascii(), value.bytes()?.trim_ascii());
        forks::make_safe();
        run_control::set(key, value);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::c::{nc_rc_get, nc_rc_set};

    /// No other test changes settings.
    #[test]
    fn settings_are_kept() {
        let key = c"FERROCDF.TEST".as_ptr();
        // SAFETY: texts end in a zero byte; values are from `malloc`.
        unsafe {
            assert!(nc_rc_get(key).is_null() && nc_rc_get(std::ptr::null()).is_null());
            assert_eq!(nc_rc_set(std::ptr::null(), key), ferrocdf::Code::EINVAL.0);
            assert_eq!(nc_rc_set(key, std::ptr::null()), ferrocdf::Code::EINVAL.0);
            for value in [c"one", c"a = b"] {
                assert_eq!(nc_rc_set(key, value.as_ptr()), 0);
                let given = nc_rc_get(key);
                assert_eq!(std::ffi::CStr::from_ptr(given), value);
                crate::abi::memory::free(given);
            }
        }
    }
}
