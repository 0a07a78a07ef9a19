//! Types of opaque bytes.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut as no;

use ferrocdf::model::Class;

use crate::abi::constants::NC_OPAQUE;
use crate::types::define::{define, inquire};

pub unsafe extern "C" fn nc_def_opaque(
    ncid: c_int,
    size: usize,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, |_| Ok(Class::Opaque(size)), id) }
}

pub unsafe extern "C" fn nc_inq_opaque(ncid: c_int, ty: c_int, name: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { inquire(NC_OPAQUE, ncid, ty, name, size, no(), no()) }
}
