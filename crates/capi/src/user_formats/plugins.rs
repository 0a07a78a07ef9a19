//! Formats in shared libraries named by settings: `NETCDF.UDF0.LIBRARY` is the file of the library, `NETCDF.UDF0.INIT`
//! the function in it that returns the dispatch table, and `NETCDF.UDF0.MAGIC` the magic number of the format; the same
//! up to `UDF9`.

use std::ffi::{CString, c_int, c_void};
use std::sync::Once;

use super::nc_def_user_format;
use crate::abi::constants::{NC_NOERR, UDF_FLAGS};
use crate::abi::pointers::Str;
use crate::open::settings::setting;

/// Loads the formats named by settings. The library does so when it first opens or creates a file. Formats that cannot
/// be loaded are skipped, as in netCDF-C.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name in C")]
pub extern "C" fn NC_udf_load_plugins() -> c_int {
    for (number, flag) in UDF_FLAGS.into_iter().enumerate() {
        let of = |key: &str| {
            setting(format!("NETCDF.UDF{number}.{key}").as_bytes()).and_then(|value| CString::new(value).ok())
        };
        if let (Some(library), Some(init)) = (of("LIBRARY"), of("INIT")) {
            load(flag, &library, &init, of("MAGIC").as_deref());
        }
    }
    NC_NOERR
}

/// Loads the formats named by settings, once per process.
pub(super) fn load_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        NC_udf_load_plugins();
    });
}

/// Loads a format; ignores failures.
fn load(flag: c_int, library: &std::ffi::CStr, init: &std::ffi::CStr, magic: Option<&std::ffi::CStr>) {
    // SAFETY: the texts end in a zero byte. The library stays loaded: its functions serve files from now on.
    let function = unsafe {
        let library = libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if library.is_null() {
            return;
        }
        libc::dlsym(library, init.as_ptr())
    };
    if function.is_null() {
        return;
    }
    // SAFETY: the function takes no arguments and returns a table, by the contract of the settings; a table of another
    // version is refused.
    unsafe {
        let function: extern "C" fn() -> *const c_void = std::mem::transmute(function);
        nc_def_user_format(flag, function(), magic.map_or(Str::NULL, Str::from));
    }
}
