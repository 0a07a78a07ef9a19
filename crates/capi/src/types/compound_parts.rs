//! Single facts of compound types and their fields, each part of what another function gives.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut as no;

/// A function that gives part of what another one gives.
macro_rules! part_of {
    ($($function:ident($value:ident: *mut $type:ty $(, $field:ident)?) => $whole:ident($($argument:expr),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(ncid: c_int, ty: c_int, $($field: c_int,)? $value: *mut $type) -> c_int {
            // SAFETY: the contract of the interface.
            unsafe { crate::forward::$whole(ncid, ty, $($argument),*) }
        }
    )*};
}

part_of! {
    nc_inq_compound_name(name: *mut c_char) => nc_inq_compound(name, no(), no());
    nc_inq_compound_size(size: *mut usize) => nc_inq_compound(no(), size, no());
    nc_inq_compound_nfields(fields: *mut usize) => nc_inq_compound(no(), no(), fields);
    nc_inq_compound_fieldname(name: *mut c_char, at) => nc_inq_compound_field(at, name, no(), no(), no(), no());
    nc_inq_compound_fieldoffset(offset: *mut usize, at) => nc_inq_compound_field(at, no(), offset, no(), no(), no());
    nc_inq_compound_fieldtype(field: *mut c_int, at) => nc_inq_compound_field(at, no(), no(), field, no(), no());
    nc_inq_compound_fieldndims(rank: *mut c_int, at) => nc_inq_compound_field(at, no(), no(), no(), rank, no());
    nc_inq_compound_fielddim_sizes(shape: *mut c_int, at) => nc_inq_compound_field(at, no(), no(), no(), no(), shape);
}
