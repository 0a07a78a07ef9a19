//! Reading and writing of attribute values: `nc_get_att`, `nc_put_att` and their fifteen types in memory.

use std::ffi::{
    c_char, c_int, c_long, c_longlong, c_schar, c_short, c_uchar, c_uint, c_ulonglong, c_ushort, c_void,
};

use ferrocdf::{Atomic, Code, RangeCheck, Type};

use crate::abi::answer::{answer, fail, in_range};
use crate::abi::pointers::Str;
use crate::attributes::hidden;
use crate::attributes::netcdf4::AttributeWrite;
use crate::attributes::store::{attribute, name_of, store};
use crate::model::entities::owner;
use crate::model::type_numbers::type_of;
use crate::open::ids::find;
use crate::user_formats::user_file;
use crate::values::conversion::{give_values, values_of};
use crate::values::nested::gather;

/// Sets an attribute of type `ty` to `len` values of type `memory`, or of type `ty` without `memory`.
///
/// # Safety
/// `values` is null or has `len` values of type `memory`, or of type `ty` without `memory`.
pub(crate) unsafe fn put_attribute(
    (ncid, varid, name): (c_int, c_int, Str),
    ty: c_int,
    len: usize,
    values: *const c_void,
    memory: Option<Atomic>,
) -> c_int {
    if let Some(file) = user_file(ncid) {
        let own = memory.map_or(ty, |memory| memory.nc_type().into());
        // SAFETY: the arguments are those of the call, which the table's function takes too.
        return unsafe { file.put_att(ncid, varid, name, ty, len, values, own) };
    }
    answer(|| {
        let (file, group) = find(ncid)?;
        let name = name_of(name);
        let is_null = values.is_null();
        let wanted = AttributeWrite { group, varid, name, ty: type_of(ty), memory, len, is_null, json: None };
        store(&file, wanted, |model, ty| {
            match (ty, memory) {
                // SAFETY: `values` is null or has `len` values of the type in memory.
                (Type::Atomic(atomic), memory) => unsafe {
                    values_of(model.format(), atomic, memory.unwrap_or(atomic), values, len)
                },
                // SAFETY: `values` has `len` values of the user-defined type: null was refused unless there are none.
                (Type::User(_), None) => unsafe { gather(model, ty, values.cast(), len) }
                    .map(|values| (values, RangeCheck::InRange)),
                (Type::User(_), Some(_)) => {
                    fail(Code::EBADTYPE, "values of user-defined types do not convert")
                }
            }
        })
    })
}

/// Stores the values of an attribute as type `memory`, or as the type of the attribute without `memory`.
///
/// # Safety
/// `values` is null or has room for the attribute in type `memory`, or in its own type without `memory`.
pub(crate) unsafe fn get_attribute(
    (ncid, varid, name): (c_int, c_int, Str),
    values: *mut c_void,
    memory: Option<Atomic>,
) -> c_int {
    if let Some(file) = user_file(ncid) {
        // SAFETY: `values` is null or has room for the attribute in the type of memory.
        return unsafe { file.get_attribute((ncid, varid, name), values, memory) };
    }
    answer(|| {
        if let Some(attr) = hidden::find(ncid, varid, name)? {
            // SAFETY: `values` is null or has room for the attribute in the type of memory.
            return unsafe { hidden::give(&attr.value, memory, values) };
        }
        let (file, group) = find(ncid)?;
        let fit = file.file().look(|model| {
            let owner = owner(model, group, varid)?;
            let value = &attribute(model, owner, name_of(name)?)?.value;
            // SAFETY: `values` is null or has room for the attribute in the type of memory.
            unsafe { give_values(model, value, memory, values) }
        })?;
        in_range(fit)
    })
}

/// Defines the functions of one type in memory; their names end in `$suffix`. The type in the file is an argument of
/// the put function, unless the values are stored in the type in memory.
macro_rules! functions {
    ($suffix:literal, $get:ty, $put:ty, $memory:expr, stored as it is) => {
        functions!(@ $suffix, $get, $put, $memory, $memory.map_or(0, |memory| memory.nc_type().into()),);
    };
    ($suffix:literal, $get:ty, $put:ty, $memory:expr) => {
        functions!(@ $suffix, $get, $put, $memory, ty, ty: c_int,);
    };
    (@ $suffix:literal, $get:ty, $put:ty, $memory:expr, $type:expr, $($ty:ident: c_int,)?) => {
        const _: () = {
            const MEMORY: Option<Atomic> = $memory;

            /// # Safety
            /// The contract of [`put_attribute`], for memory of the type of the row.
            #[unsafe(export_name = concat!("nc_put_att", $suffix))]
            unsafe extern "C" fn put_(
                ncid: c_int, varid: c_int, name: Str, $($ty: c_int,)? len: usize, values: *const $put,
            ) -> c_int {
                // SAFETY: `values` is null or has `len` values of the type of this row.
                unsafe { put_attribute((ncid, varid, name), $type, len, values.cast(), MEMORY) }
            }

            /// # Safety
            /// The contract of [`get_attribute`], for memory of the type of the row.
            #[unsafe(export_name = concat!("nc_get_att", $suffix))]
            unsafe extern "C" fn get_(ncid: c_int, varid: c_int, name: Str, values: *mut $get) -> c_int {
                // SAFETY: `values` is null or has room for the attribute in the type of this row.
                unsafe { get_attribute((ncid, varid, name), values.cast(), MEMORY) }
            }
        };
    };
}

/// `long` is 64 bits wide where pointers are, except on Windows.
const LONG: Atomic = if size_of::<c_long>() == 8 { Atomic::Int64 } else { Atomic::Int };

functions!("", c_void, c_void, None);
functions!("_text", c_char, c_char, Some(Atomic::Char), stored as it is);
functions!("_string", *mut c_char, *const c_char, Some(Atomic::String), stored as it is);
functions!("_schar", c_schar, c_schar, Some(Atomic::Byte));
functions!("_uchar", c_uchar, c_uchar, Some(Atomic::Ubyte));
functions!("_ubyte", c_uchar, c_uchar, Some(Atomic::Ubyte));
functions!("_short", c_short, c_short, Some(Atomic::Short));
functions!("_ushort", c_ushort, c_ushort, Some(Atomic::Ushort));
functions!("_int", c_int, c_int, Some(Atomic::Int));
functions!("_uint", c_uint, c_uint, Some(Atomic::Uint));
functions!("_long", c_long, c_long, Some(LONG));
functions!("_longlong", c_longlong, c_longlong, Some(Atomic::Int64));
functions!("_ulonglong", c_ulonglong, c_ulonglong, Some(Atomic::Uint64));
functions!("_float", f32, f32, Some(Atomic::Float));
functions!("_double", f64, f64, Some(Atomic::Double));
