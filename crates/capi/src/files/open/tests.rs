//! Tests of paths and modes that create, open and delete files.

use std::ffi::CString;

use ferrocdf::errno;

use super::*;
use crate::tests::c::{nc_close, nc_create, nc_delete, nc_open, nc_set_default_format};

#[test]
fn file_urls_are_paths() {
    let folder = std::env::temp_dir().join(format!("ferrocdf urls {}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let url = |text: &str| CString::new(text.replace('@', folder.to_str().unwrap())).unwrap();
    let (made, opened) = (url("file://@/a%20b.nc#mode=netcdf-4"), url("file:@/a b.nc"));
    let mut id = 0;
    // SAFETY: texts end in a zero byte, and the id is valid for writing.
    unsafe {
        assert_eq!(nc_create(made.as_ptr(), NC_NETCDF4, &mut id), 0);
        assert_eq!(nc_close(id), 0);
        assert!(folder.join("a b.nc").is_file());
        assert_eq!(nc_open(opened.as_ptr(), 0, &mut id), 0);
        assert_eq!(nc_close(id), 0);
        for (text, code) in [
            ("file://@/none.nc", errno::NOENT),
            ("file://@/a%20b.nc?x", Code::EDAPCONSTRAINT),
            ("file://@/a%20b.nc#mode=dap2", Code::ENOTBUILT),
            ("file://@/#mode=zarr,file", Code::ENOTNC),
            ("dods://host/a.nc", Code::ENOTBUILT),
        ] {
            assert_eq!(nc_open(url(text).as_ptr(), 0, &mut id), code.0, "{text}");
        }
        let zip = url("file://@/new.zip#mode=nczarr,zip");
        assert_eq!(nc_create(zip.as_ptr(), NC_NETCDF4, &mut id), 0);
        assert_eq!(nc_close(id), 0);
        assert!(std::fs::read(folder.join("new.zip")).unwrap().starts_with(b"PK"));
        assert_eq!(nc_open(zip.as_ptr(), 0, &mut id), 0);
        assert_eq!(nc_close(id), 0);
        assert_eq!(nc_delete(zip.as_ptr()), 0);
        assert_eq!(nc_delete(made.as_ptr()), 0);
        let store = url("file://@/s.zarr#mode=nczarr,file");
        assert_eq!(nc_create(store.as_ptr(), NC_NETCDF4, &mut id), 0);
        assert_eq!(nc_close(id), 0);
        assert!(folder.join("s.zarr/.zgroup").is_file());
        assert_eq!(nc_delete(store.as_ptr()), 0);
    }
    std::fs::remove_dir(&folder).unwrap();
}

#[test]
fn names_of_zarr_stores_make_stores_unless_a_format_is_asked_for() {
    let folder = std::env::temp_dir().join(format!("ferrocdf store names {}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let at = |name: &str| folder.join(name);
    let text = |name: &str| CString::new(at(name).to_str().unwrap()).unwrap();
    let mut id = 0;
    let mut create = |name: &str, mode| {
        // SAFETY: texts end in a zero byte, and the id is valid for writing.
        unsafe {
            match nc_create(text(name).as_ptr(), mode, &mut id) {
                0 => nc_close(id),
                code => code,
            }
        }
    };
    for mode in [0, NC_NETCDF4] {
        assert_eq!(create("a.zarr", mode), 0);
        assert!(at("a.zarr/zarr.json").is_file());
        assert_eq!(create("a.zarr", mode | NC_NOCLOBBER), Code::EEXIST.0);
        assert_eq!(create("a.zarr.zip", mode), 0);
        assert!(std::fs::read(at("a.zarr.zip")).unwrap().starts_with(b"PK"));
        assert_eq!(create("a.zarr.zip", mode | NC_NOCLOBBER), Code::EEXIST.0);
    }
    let magic = |name: &str| std::fs::read(at(name)).unwrap()[..4].to_vec();
    for (mode, wanted) in [
        (NC_64BIT_OFFSET, b"CDF\x02"),
        (NC_64BIT_DATA, b"CDF\x05"),
        (NC_CLASSIC_MODEL, b"CDF\x01"),
        (NC_NETCDF4 | NC_CLASSIC_MODEL, b"\x89HDF"),
        (NC_DISKLESS | NC_PERSIST, b"CDF\x01"),
        (NC_NETCDF4 | NC_DISKLESS | NC_PERSIST, b"\x89HDF"),
    ] {
        assert_eq!(create("b.zarr", mode), 0);
        assert_eq!(magic("b.zarr"), wanted, "{mode:#x}");
    }
    // SAFETY: null is allowed for the format that was set before.
    unsafe {
        assert_eq!(nc_set_default_format(Format::CLASSIC.number(), std::ptr::null_mut()), 0);
        assert_eq!(create("c.zarr", 0), 0);
        assert_eq!(magic("c.zarr"), b"CDF\x01");
        assert_eq!(nc_set_default_format(Format::NETCDF4.number(), std::ptr::null_mut()), 0);
        assert_eq!(create("d.zarr", 0), 0);
    }
    assert!(at("d.zarr/zarr.json").is_file());
    crate::files::default_format::forget_default_format();
    std::fs::remove_dir_all(&folder).unwrap();
}
