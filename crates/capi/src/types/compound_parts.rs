//! Inquiry of single properties of compound types and their fields, each a part of the result of another function.

use std::ffi::c_int;
use std::ptr::null_mut;

use crate::abi::pointers::{NameOut, Out};

/// Defines a function that returns a part of the result of another one.
macro_rules! part_of {
    ($($function:ident($value:ident: $type:ty $(, $field:ident)?) => $whole:ident($($argument:expr),*);)*) => {$(
        /// # Safety
        /// A raw pointer is null or has room for the lengths of the field.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $function(ncid: c_int, ty: c_int, $($field: c_int,)? $value: $type) -> c_int {
            // SAFETY: a `shape` has room for the lengths of the field; all other arguments carry their contract.
            unsafe { crate::forward::$whole(ncid, ty, $($argument),*) }
        }
    )*};
}

part_of! {
    nc_inq_compound_name(name: NameOut) => nc_inq_compound(name, Out::NULL, Out::NULL);
    nc_inq_compound_size(size: Out<usize>) => nc_inq_compound(NameOut::NULL, size, Out::NULL);
    nc_inq_compound_nfields(fields: Out<usize>) => nc_inq_compound(NameOut::NULL, Out::NULL, fields);
    nc_inq_compound_fieldname(name: NameOut, at) =>
        nc_inq_compound_field(at, name, Out::NULL, Out::NULL, Out::NULL, null_mut());
    nc_inq_compound_fieldoffset(offset: Out<usize>, at) =>
        nc_inq_compound_field(at, NameOut::NULL, offset, Out::NULL, Out::NULL, null_mut());
    nc_inq_compound_fieldtype(field: Out<c_int>, at) =>
        nc_inq_compound_field(at, NameOut::NULL, Out::NULL, field, Out::NULL, null_mut());
    nc_inq_compound_fieldndims(rank: Out<c_int>, at) =>
        nc_inq_compound_field(at, NameOut::NULL, Out::NULL, Out::NULL, rank, null_mut());
    nc_inq_compound_fielddim_sizes(shape: *mut c_int, at) =>
        nc_inq_compound_field(at, NameOut::NULL, Out::NULL, Out::NULL, Out::NULL, shape);
}
