//! Folders of plugins as text, and provenance, of `netcdf_aux.h`: lists of texts in memory of `malloc`.

use std::ffi::{CString, c_char, c_int};
use std::ptr::null_mut;

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail, give, list, put, put_all, put_text, text};
use crate::c_memory::{copy_text, free, room};
use crate::constants::NC_NOERR;
use crate::settings::{NcPluginList, plugin_path, set_plugin_path};

/// What Fortran has between folders.
const FORTRAN: c_char = b';' as c_char;

/// The separator that a caller means: 0 is the usual one.
fn separator(given: c_char) -> u8 {
    if given == 0 { b':' } else { given as u8 }
}

unsafe fn list_of<'a>(given: *mut NcPluginList) -> Result<&'a mut NcPluginList> {
    // SAFETY: the contract of the interface.
    unsafe { given.as_mut() }.map_or_else(|| fail(Code::EINVAL, "the list is a null pointer"), Ok)
}

/// Puts texts where a caller has room for them, or in new room.
unsafe fn fill(place: &mut NcPluginList, folders: &[&[u8]]) -> Result<()> {
    place.count = folders.len();
    if place.folders.is_null() && !folders.is_empty() {
        place.folders = room(folders.len())?;
    }
    for (at, folder) in folders.iter().enumerate() {
        // SAFETY: there is room for all, by the contract of the interface if the room is the caller's.
        unsafe { place.folders.add(at).write(copy_text(folder)?) };
    }
    Ok(())
}

/// Gives the folders in use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_get(place: *mut NcPluginList) -> c_int {
    answer(|| {
        let folders = plugin_path();
        let folders: Vec<&[u8]> = folders.iter().map(|folder| folder.as_bytes()).collect();
        // SAFETY: the contract of the interface.
        unsafe { place.as_mut().map_or(Ok(()), |place| fill(place, &folders)) }
    })
}

/// The folders of a list; a null pointer among them is an empty text.
unsafe fn folders_of(given: &NcPluginList) -> Vec<CString> {
    // SAFETY: the contract of the interface.
    let folders = unsafe { list(given.folders, given.count) };
    // SAFETY: the contract of the interface.
    let texts = folders.iter().map(|&folder| unsafe { text(folder) }.unwrap_or_default());
    texts.map(|folder| CString::new(folder).unwrap_or_default()).collect()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_plugin_path_set(given: *mut NcPluginList) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        set_plugin_path(unsafe { folders_of(list_of(given)?) });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_parsen(
    len: usize,
    path: *const c_char,
    between: c_char,
    place: *mut NcPluginList,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let (place, bytes) = unsafe { (list_of(place)?, list(path.cast::<u8>(), len)) };
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        let folders: Vec<&[u8]> = match bytes {
            [] => vec![],
            _ => bytes[..end].split(|&byte| byte == separator(between)).collect(),
        };
        // SAFETY: the contract of the interface.
        unsafe { fill(place, &folders) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_parse(
    path: *const c_char,
    between: c_char,
    place: *mut NcPluginList,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe {
        let len = text(path).map_or(0, <[u8]>::len);
        ncaux_plugin_path_parsen(len, path, between, place)
    }
}

/// Folders in one text.
fn joined(folders: &[CString], between: u8) -> Vec<u8> {
    let texts: Vec<&[u8]> = folders.iter().map(|folder| folder.as_bytes()).collect();
    texts.join(&between)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_tostring(
    given: *const NcPluginList,
    between: c_char,
    place: *mut *mut c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let given = unsafe { list_of(given.cast_mut()) }?;
        if given.count > 0 && given.folders.is_null() {
            return fail(Code::EINVAL, "the list has no folders");
        }
        // SAFETY: the contract of the interface.
        unsafe { put(place, copy_text(&joined(&folders_of(given), separator(between)))?) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_clear(given: *mut NcPluginList) -> c_int {
    // SAFETY: the contract of the interface.
    if let Some(given) = unsafe { given.as_mut() }.filter(|given| given.count > 0 && !given.folders.is_null())
    {
        for at in 0..given.count {
            // SAFETY: the contract of the interface.
            unsafe { free(*given.folders.add(at)) };
        }
        // SAFETY: the contract of the interface.
        unsafe { free(given.folders) };
        *given = NcPluginList { count: 0, folders: null_mut() };
    }
    NC_NOERR
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_reclaim(given: *mut NcPluginList) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe {
        ncaux_plugin_path_clear(given);
        free(given);
    }
    NC_NOERR
}

/// Puts one more folder into a list, at `at` of its places.
unsafe fn insert(given: *mut NcPluginList, folder: *const c_char, at: impl FnOnce(usize) -> usize) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let (given, folder) = unsafe { (list_of(given)?, text(folder)?) };
        // SAFETY: the contract of the interface.
        let mut folders = unsafe { list(given.folders, given.count) }.to_vec();
        folders.insert(at(folders.len()), copy_text(folder)?);
        let place = room(folders.len())?;
        // SAFETY: there is room for all; the old list is from `malloc` by the contract of the interface.
        unsafe {
            free(given.folders);
            *given = NcPluginList { count: folders.len(), folders: place };
            put_all(place, folders);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_append(given: *mut NcPluginList, folder: *const c_char) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { insert(given, folder, |len| len) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_prepend(given: *mut NcPluginList, folder: *const c_char) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { insert(given, folder, |_| 0) }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncaux_plugin_path_stringlen() -> c_int {
    give(-1, || Ok(joined(&plugin_path(), FORTRAN as u8).len() as c_int))
}

/// Gives the folders in use as a text, as much of it as there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_stringget(len: c_int, place: *mut c_char) -> c_int {
    answer(|| {
        let len = usize::try_from(len).unwrap_or(0);
        if len == 0 || place.is_null() {
            return fail(Code::EINVAL, "there is no room for the folders");
        }
        let path = joined(&plugin_path(), FORTRAN as u8);
        // SAFETY: the contract of the interface.
        unsafe {
            match path.get(..len) {
                Some(part) => put_all(place.cast::<u8>(), part.iter().copied()),
                None => put_text(place, &path),
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_plugin_path_stringset(len: c_int, path: *const c_char) -> c_int {
    let len = usize::try_from(len).unwrap_or(0);
    if len == 0 || path.is_null() {
        return answer(|| fail(Code::EINVAL, "there are no folders"));
    }
    let mut folders = NcPluginList { count: 0, folders: null_mut() };
    // SAFETY: the contract of the interface.
    unsafe {
        let mut code = ncaux_plugin_path_parsen(len, path, FORTRAN, &mut folders);
        if code == NC_NOERR {
            code = nc_plugin_path_set(&mut folders);
        }
        ncaux_plugin_path_clear(&mut folders);
        code
    }
}

/// Takes away backslashes before characters.
fn unescaped(given: &[u8]) -> Vec<u8> {
    let mut bytes = given.iter().copied();
    let mut out = vec![];
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte });
    }
    out
}

/// Splits a text where one of some bytes is that has no backslash before it.
fn split<'a>(given: &'a [u8], at: &[u8], most: usize) -> Vec<&'a [u8]> {
    let (mut parts, mut begin, mut escaped) = (vec![], 0, false);
    for (place, byte) in given.iter().enumerate() {
        if !escaped && at.contains(byte) && parts.len() + 1 < most {
            parts.push(&given[begin..place]);
            begin = place + 1;
        }
        escaped = !escaped && *byte == b'\\';
    }
    parts.push(&given[begin..]);
    parts
}

/// Reads `_NCProperties`: keys and values in turn, two null pointers at the end, all from `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_parse_provenance(given: *const c_char, place: *mut *mut *mut c_char) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        unsafe { put(place, null_mut()) };
        // SAFETY: the contract of the interface.
        let given = unsafe { text(given) }.unwrap_or_default();
        if given.is_empty() || place.is_null() {
            return Ok(());
        }
        let pairs = split(given, b",|", usize::MAX);
        if pairs.iter().any(|pair| pair.is_empty()) {
            return fail(Code::EINVAL, format!("\"{}\" has an empty key", given.escape_ascii()));
        }
        let mut texts = vec![];
        for pair in pairs {
            let parts = split(pair, b"=", 2);
            texts.push(copy_text(&unescaped(parts[0]))?);
            texts.push(copy_text(&unescaped(parts.get(1).copied().unwrap_or_default()))?);
        }
        texts.extend([null_mut(), null_mut()]);
        let list = room(texts.len())?;
        // SAFETY: there is room for all.
        unsafe {
            put_all(list, texts);
            put(place, list);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c_memory::nc_free_string;
    use crate::settings::nc_plugin_path_ndirs;

    #[test]
    fn folders_go_between_lists_and_texts() {
        let mut folders = NcPluginList { count: 0, folders: null_mut() };
        let shown = |folders: &NcPluginList, between: u8| {
            let mut text = null_mut();
            // SAFETY: the list is whole, and the text is freed once.
            unsafe {
                assert_eq!(ncaux_plugin_path_tostring(folders, between as c_char, &mut text), NC_NOERR);
                let shown = std::ffi::CStr::from_ptr(text).to_owned();
                nc_free_string(1, &mut text);
                shown
            }
        };
        // SAFETY: the list is made and cleared by the functions.
        unsafe {
            assert_eq!(ncaux_plugin_path_parse(c"/a:/b;c:".as_ptr(), 0, &mut folders), NC_NOERR);
            assert_eq!((folders.count, &*shown(&folders, b'|')), (3, c"/a|/b;c|"));
            assert_eq!(ncaux_plugin_path_append(&mut folders, c"/last".as_ptr()), NC_NOERR);
            assert_eq!(ncaux_plugin_path_prepend(&mut folders, c"/first".as_ptr()), NC_NOERR);
            assert_eq!(&*shown(&folders, 0), c"/first:/a:/b;c::/last");
            assert_eq!(ncaux_plugin_path_append(&mut folders, std::ptr::null()), Code::EINVAL.0);
            assert_eq!(ncaux_plugin_path_clear(&mut folders), NC_NOERR);
            assert!(folders.folders.is_null());
            assert_eq!(ncaux_plugin_path_parsen(0, null_mut(), 0, &mut folders), NC_NOERR);
            assert_eq!(folders.count, 0);
            assert_eq!(ncaux_plugin_path_parse(c"x".as_ptr(), 0, null_mut()), Code::EINVAL.0);
        }
    }

    #[test]
    fn the_folders_in_use_are_set_and_told() {
        let mut room = [b'?' as c_char; 20];
        // SAFETY: all places are large enough for what is said.
        unsafe {
            assert_eq!(ncaux_plugin_path_stringset(5, c"/a;/b".as_ptr()), NC_NOERR);
            assert_eq!(ncaux_plugin_path_stringlen(), 5);
            assert_eq!(ncaux_plugin_path_stringget(20, room.as_mut_ptr()), NC_NOERR);
            assert_eq!(std::ffi::CStr::from_ptr(room.as_ptr()), c"/a;/b");
            let mut count = 0;
            assert_eq!(nc_plugin_path_ndirs(&mut count), NC_NOERR);
            let mut folders = NcPluginList { count: 0, folders: null_mut() };
            assert_eq!(nc_plugin_path_get(&mut folders), NC_NOERR);
            assert_eq!((count, folders.count), (2, 2));
            ncaux_plugin_path_clear(&mut folders);
            assert_eq!(nc_plugin_path_set(&mut folders), NC_NOERR);
            assert_eq!(ncaux_plugin_path_stringlen(), 0);
            assert_eq!(nc_plugin_path_set(null_mut()), Code::EINVAL.0);
        }
    }

    #[test]
    fn provenance_is_split_and_unescaped() {
        let parsed = |text: &std::ffi::CStr| {
            let (mut list, mut texts) = (null_mut(), vec![]);
            // SAFETY: the list ends in null pointers, and is freed once.
            unsafe {
                let code = ncaux_parse_provenance(text.as_ptr(), &mut list);
                while !list.is_null() && !(*list.add(texts.len())).is_null() {
                    texts.push(std::ffi::CStr::from_ptr(*list.add(texts.len())).to_owned());
                }
                nc_free_string(texts.len(), list);
                free(list);
                (code, texts)
            }
        };
        let (code, texts) = parsed(c"version=2,netcdf=4.9.0,a\\,b=c\\=d=e,alone");
        assert_eq!(code, NC_NOERR);
        assert_eq!(
            texts,
            [c"version", c"2", c"netcdf", c"4.9.0", c"a,b", c"c=d=e", c"alone", c""]
                .map(std::ffi::CStr::to_owned)
        );
        assert_eq!(parsed(c""), (NC_NOERR, vec![]));
        assert_eq!(parsed(c"a=1,,b=2").0, Code::EINVAL.0);
    }
}
