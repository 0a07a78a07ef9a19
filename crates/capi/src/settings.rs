//! Settings of the process: those of `.ncrc` files as programs see them, folders of plugins, formats of a program's own.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail, give, list, put, put_text, text};
use crate::c_memory::copy_text;

struct Settings {
    /// What was set, by key. Nothing in this version depends on it, so no file is read.
    values: BTreeMap<Vec<u8>, Vec<u8>>,
    /// `None` until it is asked for or set.
    plugin_path: Option<Vec<CString>>,
}

static SETTINGS: Mutex<Settings> = Mutex::new(Settings { values: BTreeMap::new(), plugin_path: None });

fn settings() -> MutexGuard<'static, Settings> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a setting, in memory of `malloc`; null if it is not set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_get(key: *const c_char) -> *mut c_char {
    give(std::ptr::null_mut(), || {
        // SAFETY: the contract of the interface.
        let key = unsafe { text(key) }?;
        settings().values.get(key).map_or(Ok(std::ptr::null_mut()), |value| copy_text(value))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rc_set(key: *const c_char, value: *const c_char) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let (key, value) = unsafe { (text(key)?, text(value)?) };
        settings().values.insert(key.to_vec(), value.to_vec());
        Ok(())
    })
}

/// `NCPluginList` of `netcdf_filter.h`.
#[repr(C)]
pub struct NcPluginList {
    pub(crate) count: usize,
    pub(crate) folders: *mut *mut c_char,
}

/// Where plugins are if nobody says otherwise, as HDF5 has it.
const USUAL_FOLDER: &std::ffi::CStr = c"/usr/local/hdf5/lib/plugin";

/// The folders of plugins in use. They start as `HDF5_PLUGIN_PATH` says.
pub(crate) fn plugin_path() -> Vec<CString> {
    let first = || match std::env::var("HDF5_PLUGIN_PATH") {
        Ok(path) => {
            let folders = path.split(':').filter(|folder| !folder.is_empty());
            folders.filter_map(|folder| CString::new(folder).ok()).collect()
        }
        Err(_) => vec![USUAL_FOLDER.into()],
    };
    settings().plugin_path.get_or_insert_with(first).clone()
}

pub(crate) fn set_plugin_path(folders: Vec<CString>) {
    settings().plugin_path = Some(folders);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_ndirs(count: *mut usize) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        unsafe { put(count, plugin_path().len()) };
        Ok(())
    })
}

/// The modes under which programs may add formats: `NC_UDF0` to `NC_UDF9`.
const USER_FORMATS: [c_int; 10] =
    [0x40, 0x80, 0x10000, 0x80000, 0x100000, 0x200000, 0x400000, 0x800000, 0x1000000, 0x2000000];
/// `NC_MAX_MAGIC_NUMBER_LEN`
const LONGEST_MAGIC: usize = 8;
/// `NC_DISPATCH_VERSION`
const TABLE_VERSION: c_int = 5;

fn check_user_format(mode: c_int) -> Result<()> {
    if USER_FORMATS.contains(&mode) { Ok(()) } else { fail(Code::EINVAL, format!("{mode} is no NC_UDF")) }
}

/// Formats of a program's own are not taken: there is no table of functions here that theirs could stand in for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_user_format(mode: c_int, table: *mut c_void, magic: *mut c_char) -> c_int {
    answer(|| {
        check_user_format(mode)?;
        // SAFETY: the contract of the interface: a table starts with the number of the format and its own version.
        let version = unsafe { list(table.cast::<c_int>(), 2) }.get(1).copied();
        // SAFETY: the contract of the interface.
        let magic = if magic.is_null() { b"" } else { unsafe { text(magic) }? };
        if magic.len() > LONGEST_MAGIC || version != Some(TABLE_VERSION) {
            return fail(Code::EINVAL, "the magic number is too long, or the table has another version");
        }
        fail(Code::ENOTBUILT, "formats of a program's own are not supported")
    })
}

/// There are no plugins that bring formats.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the name in C")]
pub extern "C" fn NC_udf_load_plugins() -> c_int {
    crate::constants::NC_NOERR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_user_format(
    mode: c_int,
    table: *mut *mut c_void,
    magic: *mut c_char,
) -> c_int {
    answer(|| {
        check_user_format(mode)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(table, std::ptr::null_mut());
            put_text(magic, b"");
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_memory::free;
    use crate::constants::NC_NOERR;

    #[test]
    fn values_are_kept_and_given_away() {
        // SAFETY: all texts end in a zero byte, and what is given is freed once.
        unsafe {
            assert!(nc_rc_get(c"HTTP.TEST".as_ptr()).is_null());
            assert_eq!(nc_rc_set(c"HTTP.TEST".as_ptr(), c"old".as_ptr()), NC_NOERR);
            assert_eq!(nc_rc_set(c"HTTP.TEST".as_ptr(), c"new".as_ptr()), NC_NOERR);
            let value = nc_rc_get(c"HTTP.TEST".as_ptr());
            assert_eq!(std::ffi::CStr::from_ptr(value), c"new");
            free(value);
            assert_eq!(nc_rc_set(std::ptr::null(), c"x".as_ptr()), Code::EINVAL.0);
            assert!(nc_rc_get(std::ptr::null()).is_null());
        }
    }
}
