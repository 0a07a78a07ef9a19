//! Plugin folders: the folders in use, and lists of folders as text.

use std::ffi::{OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;

use ferrocdf::plugins::path;
use ferrocdf::{Code, Result};

use crate::abi::answer::{answer, fail, give};
use crate::abi::memory::{allocate, copy_of, copy_of_text, free};
use crate::abi::pointers::{Out, Str, list};

/// Separator of folders on this system.
const SEPARATOR: u8 = b':';
/// Separator of folders in texts for Fortran.
const FORTRAN_SEPARATOR: u8 = b';';

type Folders = Vec<Vec<u8>>;

/// Returns the folders in use.
fn folders() -> Folders {
    path::get().into_iter().map(|folder| folder.into_os_string().into_vec()).collect()
}

fn set_folders(folders: Folders) {
    path::set(folders.into_iter().map(|folder| OsString::from_vec(folder).into()).collect());
}

fn parse(text: &[u8], separator: u8) -> Folders {
    text.split(|byte| *byte == separator).map(<[u8]>::to_vec).collect()
}

fn separator_or_usual(separator: c_char) -> u8 {
    if separator == 0 { SEPARATOR } else { separator as u8 }
}

/// `NCPluginList` of `netcdf_filter.h`; the vector and its texts are from `malloc`.
#[repr(C)]
pub struct PluginList {
    ndirs: usize,
    dirs: *mut *mut c_char,
}

impl PluginList {
    /// Returns the list at a pointer. Fails with `NC_EINVAL` for a null pointer.
    ///
    /// # Safety
    /// The pointer is null or valid.
    unsafe fn at<'a>(list: *mut PluginList) -> Result<&'a mut PluginList> {
        // SAFETY: the pointer is null or points to a list that only this call uses.
        match unsafe { list.as_mut() } {
            Some(list) => Ok(list),
            None => fail(Code::EINVAL, "the list of folders is a null pointer"),
        }
    }

    /// Returns the folders of the list. Fails with `NC_EINVAL` if the vector is null but the count is not 0.
    ///
    /// # Safety
    /// The vector is null or has `ndirs` texts; a null text is an empty one.
    unsafe fn read(&self) -> Result<Folders> {
        // SAFETY: `dirs` is null or has `ndirs` texts.
        let dirs = unsafe { list(self.dirs, self.ndirs) };
        if dirs.len() != self.ndirs {
            return fail(Code::EINVAL, "the vector of folders is a null pointer");
        }
        // SAFETY: each text is null or ends in a zero byte.
        let texts = dirs.iter().map(|dir| unsafe { Str::new(*dir) });
        Ok(texts.map(|text| text.c_str().map_or_else(Vec::new, |text| text.to_bytes().to_vec())).collect())
    }

    /// Stores folders in the vector of the list, or in a new one if it is null.
    fn store(&mut self, folders: &[Vec<u8>]) -> Result<()> {
        if self.dirs.is_null() && !folders.is_empty() {
            self.dirs = allocate(folders.len())?;
        }
        self.ndirs = folders.len();
        for (at, folder) in folders.iter().enumerate() {
            // SAFETY: `dirs` has room for all folders: guaranteed by the caller, or newly allocated.
            unsafe { self.dirs.add(at).write(copy_of_text(folder)?) };
        }
        Ok(())
    }

    /// Adds a folder, in a new vector; the texts are not copied.
    fn insert(&mut self, at: usize, folder: &[u8]) -> Result<()> {
        // SAFETY: `dirs` is null or has `ndirs` texts.
        let old = unsafe { list(self.dirs, self.ndirs) };
        let mut new = old.to_vec();
        new.insert(at.min(old.len()), copy_of_text(folder)?);
        let vector = copy_of(&new)?;
        // SAFETY: `dirs` is null or from `malloc`, and only the list points to it.
        unsafe { free(self.dirs) };
        (self.ndirs, self.dirs) = (new.len(), vector);
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_plugin_path_ndirs(count: Out<usize>) -> c_int {
    answer(|| {
        count.put(folders().len());
        Ok(())
    })
}

/// # Safety
/// `list` is null or one list, whose `dirs` is null or has room for the folders in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_get(list: *mut PluginList) -> c_int {
    answer(|| {
        if list.is_null() {
            return Ok(());
        }
        // SAFETY: `list` is null or one list; its `dirs` is null or has room for the folders in use
        // (`nc_plugin_path_ndirs`).
        unsafe { PluginList::at(list)?.store(&folders()) }
    })
}

/// # Safety
/// `list` is null or one list; its `dirs` is null or has `ndirs` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_set(list: *mut PluginList) -> c_int {
    answer(|| {
        // SAFETY: `list` is null or one list of `ndirs` texts.
        set_folders(unsafe { PluginList::at(list)?.read() }?);
        Ok(())
    })
}

/// Parses a text of `len` bytes, or up to its first zero byte. An empty text has no folders; other texts have one
/// folder more than separators.
///
/// # Safety
/// `path` is null, or has `len` bytes or a zero byte before that. `into` is null or one list, whose `dirs` is null or has room for the
/// folders.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_parsen(
    len: usize,
    path: *const c_char,
    separator: c_char,
    into: *mut PluginList,
) -> c_int {
    answer(|| {
        // SAFETY: `into` is null or one list.
        let into = unsafe { PluginList::at(into) }?;
        if len == 0 || path.is_null() {
            into.ndirs = 0;
            return Ok(());
        }
        // SAFETY: there are `len` bytes or a zero byte before that, as the function says.
        let bytes = unsafe { list(path.cast::<u8>(), libc::strnlen(path, len)) };
        into.store(&parse(bytes, separator_or_usual(separator)))
    })
}

/// # Safety
/// `into` is as for [`ncaux_plugin_path_parsen`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_parse(
    path: Str,
    separator: c_char,
    into: *mut PluginList,
) -> c_int {
    // SAFETY: `path` has `len` bytes, as counted; `into` is null or one list.
    unsafe {
        let len = path.c_str().map_or(0, |path| path.count_bytes());
        ncaux_plugin_path_parsen(len, path.as_ptr(), separator, into)
    }
}

/// # Safety
/// `list` is null or one list; its `dirs` is null or has `ndirs` texts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_tostring(
    list: *const PluginList,
    separator: c_char,
    place: Out<*mut c_char>,
) -> c_int {
    answer(|| {
        // SAFETY: `list` is null or one list, which is only read.
        let folders = unsafe { PluginList::at(list.cast_mut())?.read() }?;
        if !place.is_null() {
            let text = copy_of_text(&folders.join(&separator_or_usual(separator)))?;
            place.put(text);
        }
        Ok(())
    })
}

/// Empties a list, and frees its vector and texts.
///
/// # Safety
/// `list_` is null or one list; its `dirs` is null, or from `malloc` with `ndirs` texts from `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_clear(list_: *mut PluginList) -> c_int {
    answer(|| {
        // SAFETY: `list_` is null or one list.
        let Some(into) = (unsafe { list_.as_mut() }) else { return Ok(()) };
        // SAFETY: `dirs` is null or has `ndirs` texts.
        let dirs = unsafe { list(into.dirs, into.ndirs) };
        if !dirs.is_empty() {
            // SAFETY: all pointers are from `malloc`, as the function says.
            unsafe {
                dirs.iter().for_each(|dir| free(*dir));
                free(into.dirs);
            }
            (into.ndirs, into.dirs) = (0, std::ptr::null_mut());
        }
        Ok(())
    })
}

/// Empties a list like [`ncaux_plugin_path_clear`], and frees the list itself.
///
/// # Safety
/// `list` is as for [`ncaux_plugin_path_clear`], and from `malloc` itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_reclaim(list: *mut PluginList) -> c_int {
    // SAFETY: `list` is null, or from `malloc` with its vector and texts.
    unsafe {
        let code = ncaux_plugin_path_clear(list);
        free(list);
        code
    }
}

/// Defines a function that adds a folder at a position.
macro_rules! add {
    ($name:ident, $at:expr) => {
        /// # Safety
        /// `list` is null or one list, whose `dirs` is null, or from `malloc` with `ndirs` texts.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(list: *mut PluginList, folder: Str) -> c_int {
            answer(|| {
                // SAFETY: `list` is null or one list, whose `dirs` is null or from `malloc`.
                unsafe { PluginList::at(list)?.insert($at, folder.bytes()?) }
            })
        }
    };
}

add!(ncaux_plugin_path_append, usize::MAX);
add!(ncaux_plugin_path_prepend, 0);

/// Returns the folders in use as a text for Fortran.
fn as_text() -> Vec<u8> {
    folders().join(&FORTRAN_SEPARATOR)
}

/// Returns the length in bytes of the folders in use as a text for Fortran, or -1 on failure.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_plugin_path_stringlen() -> c_int {
    give(-1, || c_int::try_from(as_text().len()).or_else(|_| fail(Code::EINVAL, "the text is too long")))
}

/// Stores the folders in use as a text for Fortran in exactly `len` bytes: truncated, or padded with zero bytes.
///
/// # Safety
/// `place` is null or has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_stringget(len: c_int, place: *mut c_char) -> c_int {
    answer(|| {
        let len = length(len, place)?;
        let mut text = as_text();
        text.resize(len, 0);
        // SAFETY: there is room for `len` bytes, as the function says.
        unsafe { place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), len) };
        Ok(())
    })
}

/// Sets the folders in use from a text for Fortran.
///
/// # Safety
/// `path` is null, or has `len` bytes or a zero byte before that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_stringset(len: c_int, path: *const c_char) -> c_int {
    answer(|| {
        let len = length(len, path)?;
        // SAFETY: there are `len` bytes or a zero byte before that, as the function says.
        let bytes = unsafe { list(path.cast::<u8>(), libc::strnlen(path, len)) };
        set_folders(parse(bytes, FORTRAN_SEPARATOR));
        Ok(())
    })
}

fn length(len: c_int, text: *const c_char) -> Result<usize> {
    match usize::try_from(len) {
        Ok(1..) if !text.is_null() => Ok(len as usize),
        _ => fail(Code::EINVAL, "a text needs a length and memory"),
    }
}

#[cfg(test)]
mod tests;
