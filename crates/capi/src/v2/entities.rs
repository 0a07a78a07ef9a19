//! The interface of version 2: variables and attributes.

use std::ffi::{c_char, c_int, c_void};

use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::put;
use crate::attributes::store::nc_copy_att;
use crate::attributes::values::{get_attribute, put_attribute};
use crate::forward::{
    nc_def_var, nc_del_att, nc_inq_att, nc_inq_attname, nc_inq_var, nc_inq_varid, nc_rename_att,
    nc_rename_var,
};
use crate::v2::{outcome, quoted, version_2};

version_2! {
    fn ncvardef(ncid, name: *const c_char, ty: c_int, dims_count: c_int, dims: *const c_int) {
        let mut id = -1;
        (nc_def_var(ncid, name, ty, dims_count, dims, &mut id), id)
    }

    fn ncvarid(ncid, name: *const c_char) {
        let mut id = -1;
        (nc_inq_varid(ncid, name, &mut id), id)
    }

    fn ncvarinq(
        ncid,
        varid: c_int,
        name: *mut c_char,
        ty: *mut c_int,
        dims_count: *mut c_int,
        dims: *mut c_int,
        attrs: *mut c_int,
    ) {
        (nc_inq_var(ncid, varid, name, ty, dims_count, dims, attrs), varid)
    }

    fn ncvarrename(ncid, varid: c_int, name: *const c_char) {
        (nc_rename_var(ncid, varid, name), varid)
    }

    fn ncattput(ncid, varid: c_int, name: *const c_char, ty: c_int, len: c_int, values: *const c_void) {
        // A negative length is one that is too large.
        (put_attribute((ncid, varid, name), ty, len as usize, values, None), 0)
    }

    fn ncattget(ncid, varid: c_int, name: *const c_char, values: *mut c_void) {
        (get_attribute((ncid, varid, name), values, None), 1)
    }

    fn ncattname(ncid, varid: c_int, at: c_int, name: *mut c_char) {
        (nc_inq_attname(ncid, varid, at, name), at)
    }

    fn ncattrename(ncid, varid: c_int, name: *const c_char, to: *const c_char) {
        (nc_rename_att(ncid, varid, name, to), 1)
    }

    fn ncattdel(ncid, varid: c_int, name: *const c_char) {
        (nc_del_att(ncid, varid, name), 1)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncattinq(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    ty: *mut c_int,
    len: *mut c_int,
) -> c_int {
    let mut found = 0;
    // SAFETY: the contract of the interface.
    let code = unsafe { nc_inq_att(ncid, varid, name, ty, &mut found) };
    if code == NC_NOERR {
        // SAFETY: the contract of the interface.
        unsafe { put(len, found as c_int) };
    }
    outcome("ncattinq", code, 1, || {
        let ids = format!("ncid {ncid}; varid {varid}; attname \"");
        // SAFETY: the contract of the interface.
        [ids.as_bytes(), unsafe { quoted(name) }, b"\""].concat()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncattcopy(
    ncid: c_int,
    varid: c_int,
    name: *const c_char,
    to_ncid: c_int,
    to_varid: c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    let code = unsafe { nc_copy_att(ncid, varid, name, to_ncid, to_varid) };
    // SAFETY: the contract of the interface.
    outcome("ncattcopy", code, 0, || unsafe { quoted(name) }.to_vec())
}
