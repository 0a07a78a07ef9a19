//! Settings of the process: those of `.ncrc` files as programs see them, folders of plugins, formats of a program's own.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail, give, list, put, put_text, text};
use crate::c_memory::{copy_text, copy_texts};

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

/// Looks at the folders of plugins, or changes them. They start as `HDF5_PLUGIN_PATH` says.
fn with_plugin_path<T>(look: impl FnOnce(&mut Vec<CString>) -> Result<T>) -> Result<T> {
    let mut settings = settings();
    look(settings.plugin_path.get_or_insert_with(|| match std::env::var("HDF5_PLUGIN_PATH") {
        Ok(path) => {
            let folders = path.split(':').filter(|folder| !folder.is_empty());
            folders.filter_map(|folder| CString::new(folder).ok()).collect()
        }
        Err(_) => vec![USUAL_FOLDER.into()],
    }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_ndirs(count: *mut usize) -> c_int {
    answer(|| {
        let folders = with_plugin_path(|folders| Ok(folders.len()))?;
        // SAFETY: the contract of the interface.
        unsafe { put(count, folders) };
        Ok(())
    })
}

/// The folders, in memory of `malloc`. A list that is there already is filled, as far as there are folders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_get(place: *mut NcPluginList) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let Some(place) = (unsafe { place.as_mut() }) else {
            return fail(Code::EINVAL, "the list is a null pointer");
        };
        with_plugin_path(|folders| {
            place.count = folders.len();
            if place.folders.is_null() {
                place.folders = copy_texts(folders)?;
                return Ok(());
            }
            for (at, folder) in folders.iter().enumerate() {
                // SAFETY: the contract of the interface: there is room for all.
                unsafe { place.folders.add(at).write(copy_text(folder.as_bytes())?) };
            }
            Ok(())
        })
    })
}

/// Sets the folders. A null pointer stands for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_set(given: *mut NcPluginList) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let given = unsafe { given.as_ref() };
        let mut new = vec![];
        if let Some(given) = given {
            // SAFETY: the contract of the interface.
            for &folder in unsafe { list(given.folders, given.count) } {
                // SAFETY: the contract of the interface.
                let folder = unsafe { text(folder) }?;
                new.push(CString::new(folder).unwrap_or_default());
            }
        }
        with_plugin_path(|folders| {
            *folders = new;
            Ok(())
        })
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
