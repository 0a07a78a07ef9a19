//! The library itself: version, texts of error codes, settings.

pub(crate) mod parallel;
pub(crate) mod settings;

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};

use ferrocdf::Code;

use crate::abi::answer::{answer, give};
use crate::abi::constants::NC_NOERR;
use crate::abi::forks::ProcessMutex;

/// Release of netCDF-C whose interface this library has, in the form that programs parse: version, " of ", a time, "
/// $".
const VERSION: &std::ffi::CStr = c"4.10.1 of Oct 22 2026 00:00:00 $";

#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_libvers() -> *const c_char {
    VERSION.as_ptr()
}

/// Texts of the codes requested so far.
type Texts = Option<HashMap<c_int, &'static std::ffi::CStr>>;

static TEXTS: ProcessMutex<Texts> = ProcessMutex::new(None);

/// Returns the text of a code. The text is valid until the process ends.
#[unsafe(no_mangle)]
pub extern "C" fn nc_strerror(code: c_int) -> *const c_char {
    give(c"Unknown Error".as_ptr(), || {
        // About two hundred codes have their own text; all others share one.
        let text = if code == NC_NOERR { "No error".to_string() } else { Code(code).text() };
        if text == "Unknown Error" {
            return Ok(c"Unknown Error".as_ptr());
        }
        let mut texts = TEXTS.lock();
        let known = texts.get_or_insert_default().entry(code);
        Ok(known
            .or_insert_with(|| Box::leak(CString::new(text).unwrap_or_default().into_boxed_c_str()))
            .as_ptr())
    })
}

/// Does nothing: the library needs no initialization.
#[unsafe(no_mangle)]
pub extern "C" fn nc_initialize() -> c_int {
    NC_NOERR
}

/// Finalizes the codecs of plugins. Open files stay open until `nc_close`.
#[unsafe(no_mangle)]
pub extern "C" fn nc_finalize() -> c_int {
    answer(|| {
        ferrocdf::plugins::finalize_codecs();
        Ok(())
    })
}

/// Does nothing: the library has no log.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_log_level(_level: c_int) -> c_int {
    NC_NOERR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_form_of_the_reference() {
        // SAFETY: the pointer is to a static text of the library.
        let text = unsafe { std::ffi::CStr::from_ptr(nc_inq_libvers()) }.to_str().unwrap();
        let (version, made) = text.split_once(" of ").unwrap();
        assert_eq!(version, "4.10.1");
        // In the form of `__DATE__` and `__TIME__`.
        let parts: Vec<&str> = made.split(' ').collect();
        assert_eq!((parts.len(), parts[4], parts[3].split(':').count()), (5, "$", 3));
    }
}
