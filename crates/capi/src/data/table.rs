//! Functions that read and write variables: `nc_get_` and `nc_put_` for five parts of a variable and fifteen types in
//! memory. Each row of the table at the end is one type.

use std::ffi::{
    c_char, c_int, c_long, c_longlong, c_schar, c_short, c_uchar, c_uint, c_ulonglong, c_ushort, c_void,
};

use ferrocdf::Element;
use ferrocdf::array::Kind;

use crate::abi::transfer::{MemoryType, VariablePart};
use crate::data::{get, put};

/// Returns the kind of a type of C.
const fn number<T: Element>() -> MemoryType {
    MemoryType::Elements(T::KIND)
}

/// Defines the functions of one type in memory; their names end in `$suffix`.
macro_rules! functions {
    ($module:ident, $suffix:literal, $get:ty, $put:ty, $memory:expr) => {
        mod $module {
            use super::*;

            const MEMORY: MemoryType = $memory;

            functions!(@ "var", $suffix, $get, $put, VariablePart::All,);
            functions!(@ "var1", $suffix, $get, $put, VariablePart::One { start }, start: *const usize);
            functions!(@ "vara", $suffix, $get, $put, VariablePart::Slab { start, count },
                start: *const usize, count: *const usize);
            functions!(@ "vars", $suffix, $get, $put, VariablePart::Strided { start, count, stride },
                start: *const usize, count: *const usize, stride: *const isize);
            functions!(@ "varm", $suffix, $get, $put, VariablePart::Mapped { start, count, stride, map },
                start: *const usize, count: *const usize, stride: *const isize, map: *const isize);
        }
    };
    (@ $family:literal, $suffix:literal, $get:ty, $put:ty, $part:expr, $($pointer:ident: $type:ty),*) => {
        const _: () = {
            /// # Safety
            /// The contract of a transfer, for memory of the type of the row.
            #[unsafe(export_name = concat!("nc_get_", $family, $suffix))]
            unsafe extern "C" fn get_(ncid: c_int, varid: c_int, $($pointer: $type,)* values: *mut $get) -> c_int {
                // SAFETY: the arguments keep to the contract of a transfer for this part; `values` is memory of the
                // type of this row.
                unsafe { get(ncid, varid, $part, MEMORY, values.cast()) }
            }

            /// # Safety
            /// The contract of a transfer; `values` is only read.
            #[unsafe(export_name = concat!("nc_put_", $family, $suffix))]
            unsafe extern "C" fn put_(ncid: c_int, varid: c_int, $($pointer: $type,)* values: *const $put) -> c_int {
                // SAFETY: the arguments keep to the contract of a transfer for this part; `values` is only read.
                unsafe { put(ncid, varid, $part, MEMORY, values.cast()) }
            }
        };
    };
}

functions!(generic, "", c_void, c_void, MemoryType::Own);
functions!(text, "_text", c_char, c_char, MemoryType::Elements(Kind::Char));
functions!(schar, "_schar", c_schar, c_schar, number::<c_schar>());
functions!(uchar, "_uchar", c_uchar, c_uchar, number::<c_uchar>());
functions!(ubyte, "_ubyte", c_uchar, c_uchar, number::<c_uchar>());
functions!(short, "_short", c_short, c_short, number::<c_short>());
functions!(ushort, "_ushort", c_ushort, c_ushort, number::<c_ushort>());
functions!(int, "_int", c_int, c_int, number::<c_int>());
functions!(uint, "_uint", c_uint, c_uint, number::<c_uint>());
functions!(long, "_long", c_long, c_long, number::<c_long>());
functions!(longlong, "_longlong", c_longlong, c_longlong, number::<c_longlong>());
functions!(ulonglong, "_ulonglong", c_ulonglong, c_ulonglong, number::<c_ulonglong>());
functions!(float, "_float", f32, f32, number::<f32>());
functions!(double, "_double", f64, f64, number::<f64>());
functions!(string, "_string", *mut c_char, *const c_char, MemoryType::Strings);
