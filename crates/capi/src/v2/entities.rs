//! The interface of version 2: variables and attributes.

use std::ffi::{c_int, c_void};

use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::{NameOut, Out, Str};
use crate::attributes::store::nc_copy_att;
use crate::attributes::values::{get_attribute, put_attribute};
use crate::forward::{
    nc_def_var, nc_del_att, nc_inq_att, nc_inq_attname, nc_inq_var, nc_inq_varid, nc_rename_att,
    nc_rename_var,
};
use crate::v2::{outcome, quoted, version_2};

version_2! {
    fn ncvardef(ncid, name: Str, ty: c_int, dims_count: c_int, dims: *const c_int) {
        let mut id = -1;
        (nc_def_var(ncid, name, ty, dims_count, dims, Out::from(&mut id)), id)
    }

    fn ncvarid(ncid, name: Str) {
        let mut id = -1;
        (nc_inq_varid(ncid, name, Out::from(&mut id)), id)
    }

    fn ncvarinq(
        ncid,
        varid: c_int,
        name: NameOut,
        ty: Out<c_int>,
        dims_count: Out<c_int>,
        dims: *mut c_int,
        attrs: Out<c_int>,
    ) {
        (nc_inq_var(ncid, varid, name, ty, dims_count, dims, attrs), varid)
    }

    fn ncvarrename(ncid, varid: c_int, name: Str) {
        (nc_rename_var(ncid, varid, name), varid)
    }

    fn ncattput(ncid, varid: c_int, name: Str, ty: c_int, len: c_int, values: *const c_void) {
        // A negative length becomes one that is too large.
        (put_attribute((ncid, varid, name), ty, len as usize, values, None), 0)
    }

    fn ncattget(ncid, varid: c_int, name: Str, values: *mut c_void) {
        (get_attribute((ncid, varid, name), values, None), 1)
    }

    fn ncattname(ncid, varid: c_int, at: c_int, name: NameOut) {
        (nc_inq_attname(ncid, varid, at, name), at)
    }

    fn ncattrename(ncid, varid: c_int, name: Str, to: Str) {
        (nc_rename_att(ncid, varid, name, to), 1)
    }

    fn ncattdel(ncid, varid: c_int, name: Str) {
        (nc_del_att(ncid, varid, name), 1)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncattinq(ncid: c_int, varid: c_int, name: Str, ty: Out<c_int>, len: Out<c_int>) -> c_int {
    let mut found = 0;
    // SAFETY: the name, the type and the length carry their contract.
    let code = unsafe { nc_inq_att(ncid, varid, name, ty, Out::from(&mut found)) };
    if code == NC_NOERR {
        len.put(found as c_int);
    }
    outcome("ncattinq", code, 1, || {
        let ids = format!("ncid {ncid}; varid {varid}; attname \"");
        [ids.as_bytes(), quoted(name), b"\""].concat()
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncattcopy(ncid: c_int, varid: c_int, name: Str, to_ncid: c_int, to_varid: c_int) -> c_int {
    let code = nc_copy_att(ncid, varid, name, to_ncid, to_varid);
    outcome("ncattcopy", code, 0, || quoted(name).to_vec())
}
