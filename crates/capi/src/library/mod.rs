//! The library itself: version, texts of codes, defaults.

pub(crate) mod parallel;
pub(crate) mod settings;

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};

use ferrocdf::Code;

use crate::abi::answer::{answer, give};
use crate::abi::constants::NC_NOERR;
use crate::abi::forks::ProcessMutex;

/// The release of netCDF-C whose interface this is, in the form its users take apart: version, " of ", a time, " $".
const VERSION: &std::ffi::CStr = c"4.10.1 of Oct 22 2026 00:00:00 $";

#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_libvers() -> *const c_char {
    VERSION.as_ptr()
}

/// The texts of codes that were asked for.
type Texts = Option<HashMap<c_int, &'static std::ffi::CStr>>;

static TEXTS: ProcessMutex<Texts> = ProcessMutex::new(None);

/// The text stays valid as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn nc_strerror(code: c_int) -> *const c_char {
    give(c"Unknown Error".as_ptr(), || {
        // There are some two hundred codes with texts of their own; all others share one.
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

/// There is nothing to initialize.
#[unsafe(no_mangle)]
pub extern "C" fn nc_initialize() -> c_int {
    NC_NOERR
}

/// Ends the codecs of plugins. Open files stay open, and are closed by `nc_close`.
#[unsafe(no_mangle)]
pub extern "C" fn nc_finalize() -> c_int {
    answer(|| {
        ferrocdf::plugins::finalize_codecs();
        Ok(())
    })
}

/// There is no log.
#[unsafe(no_mangle)]
pub extern "C" fn nc_set_log_level(_level: c_int) -> c_int {
    NC_NOERR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_form_of_the_reference() {
        // SAFETY: it is a text of the library.
        let text = unsafe { std::ffi::CStr::from_ptr(nc_inq_libvers()) }.to_str().unwrap();
        let (version, made) = text.split_once(" of ").unwrap();
        assert_eq!(version, "4.10.1");
        // As `__DATE__` and `__TIME__` give it.
        let parts: Vec<&str> = made.split(' ').collect();
        assert_eq!((parts.len(), parts[4], parts[3].split(':').count()), (5, "$", 3));
    }
}
