//! Formats in libraries that settings name: `NETCDF.UDF0.LIBRARY`, the file of the library, `NETCDF.UDF0.INIT`, the function in
//! it that gives the table, and `NETCDF.UDF0.MAGIC`, how files of the format begin; the same up to `UDF9`.

use std::ffi::{CString, c_int, c_void};
use std::sync::Once;

use super::nc_def_user_format;
use crate::abi::constants::{NC_NOERR, UDF_FLAGS};
use crate::abi::pointers::Str;
use crate::open::settings::setting;

/// Loads the formats that settings name, as the library does when it first opens or makes a file. What cannot be loaded is
/// passed over, as in the reference.
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

/// Loads the formats that settings name, once for the process.
pub(super) fn load_once() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        NC_udf_load_plugins();
    });
}

/// Loads a format; nothing happens if that fails.
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
    // SAFETY: the function takes nothing and gives a table, by the contract of the settings; a table of another version is
    // refused.
    unsafe {
        let function: extern "C" fn() -> *const c_void = std::mem::transmute(function);
        nc_def_user_format(flag, function(), magic.map_or(Str::NULL, Str::from));
    }
}
