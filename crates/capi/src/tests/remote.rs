//! Tests of URLs in the C interface, with a web server on this machine.

#[path = "../../../tools/tests/it/web_server.rs"]
mod web_server;

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::null_mut;

use ferrocdf::Code;
use web_server::{Objects, serve};

use crate::abi::answer::ferrocdf_last_error;
use crate::abi::constants::*;
use crate::tests::c::{
    nc_abort, nc_close, nc_create, nc_def_dim, nc_def_var, nc_delete, nc_enddef, nc_get_var_int,
    nc_inq_format, nc_inq_format_extended, nc_inq_path, nc_inq_varid, nc_open, nc_open_mem, nc_put_var_int,
    nc_rc_set, nc_redef, nc_sync,
};

const NC_INT: c_int = 4;
/// Formats: flags of `nc_create`, and numbers of `nc_inq_format` and `nc_inq_format_extended`.
const FORMATS: [(c_int, c_int, c_int); 4] =
    [(0, 1, 1), (NC_64BIT_OFFSET, 2, 1), (NC_64BIT_DATA, 5, 1), (NC_NETCDF4, 3, 2)];

fn text(url: &str) -> CString {
    CString::new(url).unwrap()
}

/// Returns the message of the last error.
fn message() -> String {
    // SAFETY: the text belongs to this thread, and is valid until its next error.
    unsafe { CStr::from_ptr(ferrocdf_last_error()) }.to_str().unwrap().to_string()
}

/// Creates a dataset with the values 1, 2, 3 in a variable `v`, and leaves it open.
fn create(url: &str, mode: c_int) -> c_int {
    let (mut id, mut dim, mut var) = (-1, -1, -1);
    // SAFETY: texts end in a zero byte, and places are valid for writing.
    unsafe {
        assert_eq!(nc_create(text(url).as_ptr(), mode, &mut id), 0, "{}", message());
        assert_eq!(nc_def_dim(id, c"x".as_ptr(), 3, &mut dim), 0);
        assert_eq!(nc_def_var(id, c"v".as_ptr(), NC_INT, 1, &dim, &mut var), 0);
        assert_eq!(nc_enddef(id), 0);
        assert_eq!(nc_put_var_int(id, var, [1, 2, 3].as_ptr()), 0);
    }
    id
}

/// Opens a dataset; returns the error code on failure.
fn open(url: &str, mode: c_int) -> Result<c_int, Code> {
    let mut id = -1;
    // SAFETY: the text ends in a zero byte, and the place is valid for writing.
    match unsafe { nc_open(text(url).as_ptr(), mode, &mut id) } {
        0 => Ok(id),
        code => Err(Code(code)),
    }
}

/// Returns the values of `v`.
fn values(id: c_int) -> [c_int; 3] {
    let (mut var, mut values) = (-1, [0; 3]);
    // SAFETY: the text ends in a zero byte, and there is room for the values.
    unsafe {
        assert_eq!(nc_inq_varid(id, c"v".as_ptr(), &mut var), 0);
        assert_eq!(nc_get_var_int(id, var, values.as_mut_ptr()), 0, "{}", message());
    }
    values
}

#[test]
fn datasets_behind_urls_are_made_read_and_removed() {
    let server = serve(Objects::new());
    for (flags, format, container) in FORMATS {
        let url = format!("{server}/d/{format}.nc");
        let made = create(&url, flags);
        assert_eq!(open(&url, 0), Err(Code::ENOOBJECT), "it is put when it is synced or closed");
        assert_eq!(nc_sync(made), 0);
        let read = open(&url, 0).unwrap();
        assert_eq!(values(read), [1, 2, 3]);
        assert_eq!((nc_close(read), nc_close(made)), (0, 0));

        for form in [&*url, &format!("  {url}#mode=bytes"), &format!("[http.timeout=60]{url}#bytes")] {
            let id = open(form, 0).unwrap();
            assert_eq!(values(id), [1, 2, 3]);
            let (mut len, mut path) = (0, [0 as c_char; 200]);
            let (mut told, mut told_container, mut mode) = (0, 0, -1);
            // SAFETY: places are valid for writing, and the path has room.
            let path = unsafe {
                assert_eq!(nc_inq_path(id, &mut len, path.as_mut_ptr()), 0);
                assert_eq!(nc_inq_format(id, &mut told), 0);
                assert_eq!(nc_inq_format_extended(id, &mut told_container, &mut mode), 0);
                CStr::from_ptr(path.as_ptr()).to_str().unwrap()
            };
            assert_eq!((path, len), (form.trim(), form.trim().len()));
            // The mode is that of netCDF-C 4.9 for `#mode=bytes`.
            assert_eq!((told, told_container, mode), (format, container, flags));
            assert_eq!(nc_redef(id), Code::EPERM.0);
            assert_eq!(nc_close(id), 0);
        }

        assert_eq!(open(&url, NC_WRITE), Err(Code::EPERM));
        assert!(message().contains(&url) && message().contains("not changed in place"), "{}", message());
        let mut id = -1;
        // SAFETY: texts end in a zero byte, and the place is valid for writing.
        unsafe {
            let exists = nc_create(text(&url).as_ptr(), flags | NC_NOCLOBBER, &mut id);
            assert_eq!(Code(exists), Code::EEXIST);
            assert_eq!(nc_delete(text(&url).as_ptr()), 0, "{}", message());
            assert_eq!(nc_delete(text(&url).as_ptr()), Code::ENOOBJECT.0);
        }
    }
}

#[test]
fn objects_are_read_into_memory_and_put_whole() {
    let server = serve(Objects::new());
    for (flags, format, _) in FORMATS {
        let url = format!("{server}/d/{format}.nc");
        assert_eq!(nc_close(create(&url, flags | NC_DISKLESS)), 0);
        assert_eq!(open(&url, 0), Err(Code::ENOOBJECT), "it stayed in memory");
        assert_eq!(nc_close(create(&url, flags | NC_DISKLESS | NC_PERSIST)), 0);
        let read = open(&url, NC_DISKLESS).unwrap();
        assert_eq!(values(read), [1, 2, 3]);
        for (mode, kept) in [(NC_WRITE, [1, 2, 3]), (NC_WRITE | NC_PERSIST, [4, 5, 6])] {
            let id = open(&url, NC_DISKLESS | mode).unwrap();
            // SAFETY: the memory has as many values as the variable.
            assert_eq!(unsafe { nc_put_var_int(id, 0, [4, 5, 6].as_ptr()) }, 0);
            assert_eq!(nc_close(id), 0);
            let id = open(&url, 0).unwrap();
            assert_eq!(values(id), kept);
            assert_eq!(nc_close(id), 0);
        }
        assert_eq!(values(read), [1, 2, 3], "of the time it was opened");
        assert_eq!(nc_close(read), 0);
    }
}

#[test]
fn dataset_that_cannot_be_put_stays_open() {
    let server = serve(Objects::new());
    let url = format!("{server}/d/denied");
    let id = create(&url, NC_NETCDF4);
    for call in [nc_sync, nc_close, nc_close] {
        assert_eq!(Code(call(id)), Code::EACCESS);
        assert!(message().contains(&format!("{url}: PUT ")), "{}", message());
    }
    assert_eq!(values(id), [1, 2, 3]);
    assert_eq!(Code(nc_abort(id)), Code::EACCESS);
    assert_eq!(Code(nc_close(id)), Code::EBADID);

    // A dataset that never left define mode leaves nothing behind.
    let (url, mut id) = (format!("{server}/d/aborted"), -1);
    // SAFETY: the text ends in a zero byte, and the place is valid for writing.
    unsafe {
        assert_eq!(nc_create(text(&url).as_ptr(), 0, &mut id), 0);
        assert_eq!(nc_def_dim(id, c"x".as_ptr(), 3, null_mut()), 0);
    }
    assert_eq!(nc_abort(id), 0);
    assert_eq!(open(&url, 0), Err(Code::ENOOBJECT));
}

#[test]
fn errors_of_servers_have_codes_of_netcdf() {
    let mut objects = Objects::new();
    objects.insert("/d/text".to_string(), b"no dataset".to_vec());
    let server = serve(objects);
    for (url, code, what) in [
        (format!("{server}/d/none"), Code::ENOOBJECT, "404"),
        (format!("{server}/d/denied"), Code::EACCESS, "403"),
        (format!("{server}/d/private"), Code::EAUTH, "401"),
        (format!("{server}/d/text"), Code::ENOTNC, "/d/text"),
        ("[http.timeout=1]http://127.0.0.1:1/a.nc".to_string(), Code::ECURL, "127.0.0.1:1"),
        ("[http.timeout=soon]http://127.0.0.1:1/a.nc".to_string(), Code::ERCFILE, "soon"),
        ("s3://bucket".to_string(), Code::EDAPURL, "names a bucket"),
        ("dap4://host/a.nc".to_string(), Code::ENOTBUILT, "DAP"),
    ] {
        assert_eq!(open(&url, 0), Err(code), "{url}: {}", message());
        assert!(message().contains(what), "{url}: {}", message());
    }
}

#[test]
fn settings_of_programs_reach_requests() {
    let server = serve(Objects::new());
    let url = format!("{server}/d/private");
    let given = url.replacen("//", "//me:hush@", 1);
    assert_eq!(nc_close(create(&given, 0)), 0);
    assert_eq!(open(&url, 0), Err(Code::EAUTH));
    // SAFETY: texts end in a zero byte.
    unsafe { nc_rc_set(c"HTTP.CREDENTIALS.USERPASSWORD".as_ptr(), c"me:hush".as_ptr()) };
    let id = open(&url, 0).unwrap();
    assert_eq!(values(id), [1, 2, 3]);
    assert_eq!(nc_close(id), 0);
    assert_eq!(open(&format!("{url}#http.credentials.userpassword=me:other"), 0), Err(Code::EAUTH));
}

#[test]
fn memory_may_be_named_by_a_url() {
    let bytes = b"CDF\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    let mut id = -1;
    // SAFETY: the memory has `bytes.len()` bytes, which are only read.
    let code = unsafe {
        nc_open_mem(
            c"http://127.0.0.1:1/a".as_ptr(),
            0,
            bytes.len(),
            bytes.as_ptr().cast_mut().cast(),
            &mut id,
        )
    };
    assert_eq!((code, nc_close(id)), (0, 0));
}
