//! Opaque types.

use std::ffi::c_int;

use ferrocdf::model::Class;

use crate::abi::constants::NC_OPAQUE;
use crate::abi::pointers::{NameOut, Out, Str};
use crate::types::define::{define, inquire};

pub extern "C" fn nc_def_opaque(ncid: c_int, size: usize, name: Str, id: Out<c_int>) -> c_int {
    define(ncid, name, |_| Ok(Class::Opaque(size)), id)
}

pub extern "C" fn nc_inq_opaque(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>) -> c_int {
    inquire(NC_OPAQUE, ncid, ty, name, size, Out::NULL, Out::NULL)
}
