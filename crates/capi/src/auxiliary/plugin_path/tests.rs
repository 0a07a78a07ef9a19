//! Tests: lists of folders as text, and the folders in use.

use std::ffi::{CStr, CString};

use super::*;
use crate::tests::c::{
    nc_plugin_path_get, nc_plugin_path_ndirs, nc_plugin_path_set, ncaux_plugin_path_append,
    ncaux_plugin_path_clear, ncaux_plugin_path_parse, ncaux_plugin_path_prepend, ncaux_plugin_path_reclaim,
    ncaux_plugin_path_stringget, ncaux_plugin_path_stringlen, ncaux_plugin_path_stringset,
    ncaux_plugin_path_tostring,
};

const EMPTY: PluginList = PluginList { ndirs: 0, dirs: std::ptr::null_mut() };

/// Returns the folders of a list, and frees it.
fn take(mut list: PluginList) -> Vec<String> {
    // SAFETY: the interface filled the list.
    let folders = unsafe { list.read() }.expect("it has a vector");
    // SAFETY: the vector and its texts are from `malloc`.
    assert_eq!(unsafe { ncaux_plugin_path_clear(&mut list) }, 0);
    assert!(list.ndirs == 0 && list.dirs.is_null());
    folders.into_iter().map(|folder| String::from_utf8(folder).expect("text")).collect()
}

/// Results of netCDF-C 4.10.1; version 4.9.0 has no such functions.
#[test]
fn texts_and_lists() {
    for (text, separator, expected) in [
        ("", 0, &[][..]),
        ("a", 0, &["a"]),
        ("a:b", 0, &["a", "b"]),
        ("a::b", b':', &["a", "", "b"]),
        (":", 0, &["", ""]),
        ("a;b", 0, &["a;b"]),
        ("a:b", b';', &["a:b"]),
        (";;", b';', &["", "", ""]),
    ] {
        let mut list = EMPTY;
        let c_text = CString::new(text).expect("no zero byte");
        let mut back = std::ptr::null_mut();
        // SAFETY: the pointers are valid, and text ends in a zero byte.
        unsafe {
            assert_eq!(ncaux_plugin_path_parse(c_text.as_ptr(), separator as c_char, &mut list), 0);
            assert_eq!(ncaux_plugin_path_tostring(&list, separator as c_char, &mut back), 0);
            assert_eq!(CStr::from_ptr(back), &*c_text);
            free(back);
        }
        assert_eq!(take(list), expected, "{text}");
    }
}

#[test]
fn lists_grow() {
    let mut list = EMPTY;
    // SAFETY: the pointers are valid, and texts end in a zero byte.
    let codes = unsafe {
        [
            ncaux_plugin_path_append(&mut list, c"b".as_ptr()),
            ncaux_plugin_path_prepend(&mut list, c"a".as_ptr()),
            ncaux_plugin_path_append(&mut list, c"c".as_ptr()),
            ncaux_plugin_path_append(&mut list, std::ptr::null()),
            ncaux_plugin_path_prepend(std::ptr::null_mut(), c"x".as_ptr()),
            ncaux_plugin_path_clear(std::ptr::null_mut()),
            ncaux_plugin_path_reclaim(std::ptr::null_mut()),
        ]
    };
    assert_eq!(codes, [0, 0, 0, Code::EINVAL.0, Code::EINVAL.0, 0, 0]);
    assert_eq!(take(list), ["a", "b", "c"]);
}

#[test]
fn the_folders_in_use() {
    let mut names = [c"x".as_ptr().cast_mut(), c"y z".as_ptr().cast_mut()];
    let mut list = PluginList { ndirs: 2, dirs: names.as_mut_ptr() };
    let mut copy = EMPTY;
    let mut own = [std::ptr::null_mut(); 2];
    let mut filled = PluginList { ndirs: 0, dirs: own.as_mut_ptr() };
    let (mut count, mut place) = (7, [b'#'; 8]);
    let text: *mut c_char = place.as_mut_ptr().cast();
    // SAFETY: the pointers are valid, and there is room for all.
    unsafe {
        assert_eq!(nc_plugin_path_set(&mut list), 0);
        assert_eq!((nc_plugin_path_ndirs(&mut count), count), (0, 2));
        assert_eq!((nc_plugin_path_get(&mut copy), nc_plugin_path_get(&mut filled)), (0, 0));
        assert_eq!((filled.dirs, filled.ndirs), (own.as_mut_ptr(), 2));
        own.iter().for_each(|folder| free(*folder));
        assert_eq!(take(copy), ["x", "y z"]);

        assert_eq!(ncaux_plugin_path_stringlen(), 5);
        assert_eq!((ncaux_plugin_path_stringget(3, text), &place), (0, b"x;y#####"));
        assert_eq!((ncaux_plugin_path_stringget(7, text), &place), (0, b"x;y z\0\0#"));
        assert_eq!(ncaux_plugin_path_stringset(5, c"x;y;zzz".as_ptr()), 0);
        assert_eq!((ncaux_plugin_path_stringget(8, text), &place), (0, b"x;y;z\0\0\0"));
        let none: *mut c_char = std::ptr::null_mut();
        for code in [
            nc_plugin_path_set(none.cast()),
            ncaux_plugin_path_stringset(0, c"x".as_ptr()),
            ncaux_plugin_path_stringset(1, none.cast()),
            ncaux_plugin_path_stringget(0, text),
            ncaux_plugin_path_stringget(-1, text),
            ncaux_plugin_path_stringget(1, none.cast()),
            nc_plugin_path_set(&mut PluginList { ndirs: 1, dirs: none.cast() }),
        ] {
            assert_eq!(code, Code::EINVAL.0);
        }
        assert_eq!(nc_plugin_path_get(none.cast()), 0);
        assert_eq!(nc_plugin_path_ndirs(none.cast()), 0);
        assert_eq!((nc_plugin_path_ndirs(&mut count), count), (0, 3));
        assert_eq!(nc_plugin_path_set(&mut PluginList { ndirs: 0, ..EMPTY }), 0);
        assert_eq!((nc_plugin_path_ndirs(&mut count), count), (0, 0));
    }
}
