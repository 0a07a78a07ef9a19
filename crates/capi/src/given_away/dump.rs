//! Values of any type as text for debugging: `nc_dump_data`.

use std::ffi::{c_char, c_int, c_void};
use std::io::Write;

use ferrocdf::model::{Class, Field};
use ferrocdf::nested::elements_of;
use ferrocdf::{Atomic, Model, Result, Type};

use crate::abi::answer::answer;
use crate::abi::memory::copy_of_text;
use crate::abi::pointers::{Out, Str};
use crate::given_away::copies::{check, other_name};
use crate::model::type_numbers::known_type;
use crate::values::owned::read_list;

/// Writes consecutive values.
///
/// # Safety
/// `values` has `count` values of the type.
pub(crate) unsafe fn dump(
    model: &Model,
    ty: Type,
    values: *const u8,
    count: usize,
    to: &mut Vec<u8>,
) -> Result<()> {
    let size = model.size_of(ty);
    for at in 0..count {
        if at > 0 {
            to.push(b' ');
        }
        // SAFETY: the pointer is to one of the values.
        unsafe {
            let value = values.add(at * size);
            match ty {
                Type::Atomic(atomic) => dump_atomic(atomic, value, to)?,
                Type::User(id) => dump_user(model, &model.user_type(id).class, value, to)?,
            }
        }
    }
    Ok(())
}

/// # Safety
/// `value` points to a value of the type.
unsafe fn dump_atomic(ty: Atomic, value: *const u8, to: &mut Vec<u8>) -> Result<()> {
    /// # Safety
    /// `value` points to a value of the type.
    unsafe fn read<T>(value: *const u8) -> T {
        // SAFETY: `value` points to a value of a type of this size, possibly unaligned.
        unsafe { value.cast::<T>().read_unaligned() }
    }
    // SAFETY: `value` is one value of the type; a string is null or ends in a zero byte.
    let number = unsafe {
        match ty {
            Atomic::Byte => read::<i8>(value).to_string(),
            Atomic::Ubyte => read::<u8>(value).to_string(),
            Atomic::Short => read::<i16>(value).to_string(),
            Atomic::Ushort => read::<u16>(value).to_string(),
            Atomic::Int => read::<i32>(value).to_string(),
            Atomic::Uint => read::<u32>(value).to_string(),
            Atomic::Int64 => read::<i64>(value).to_string(),
            Atomic::Uint64 => read::<u64>(value).to_string(),
            Atomic::Float => real(read::<f32>(value).into()),
            Atomic::Double => real(read::<f64>(value)),
            Atomic::Char => {
                // The text ends at a zero byte, as in netCDF-C.
                match read::<u8>(value) {
                    0 => to.push(b'\''),
                    byte => to.extend([b'\'', byte, b'\'']),
                }
                return Ok(());
            }
            Atomic::String => {
                let string = read::<*const c_char>(value);
                to.push(b'"');
                to.extend(if string.is_null() { b"" } else { Str::new(string).bytes()? });
                to.push(b'"');
                return Ok(());
            }
        }
    };
    to.extend(number.into_bytes());
    Ok(())
}

/// Formats a real as C does with `%f`. netCDF-C truncates numbers after 127 characters.
fn real(value: f64) -> String {
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        format!("{sign}nan")
    } else if value.is_infinite() {
        format!("{sign}inf")
    } else {
        format!("{value:.6}")
    }
}

/// # Safety
/// `value` points to a value of the type.
unsafe fn dump_user(model: &Model, class: &Class, value: *const u8, to: &mut Vec<u8>) -> Result<()> {
    // SAFETY: `value` is one value of the type; a field lies within its compound.
    unsafe {
        match class {
            Class::Enum { base, .. } => dump_atomic(*base, value, to)?,
            Class::Opaque(size) => {
                to.push(b'|');
                for at in 0..*size {
                    append(to, format_args!("{:2x}", value.add(at).read()));
                }
                to.push(b'|');
            }
            Class::Vlen(base) => {
                let list = read_list(value)?;
                append(to, format_args!("{{len={},p=(", list.len));
                dump(model, *base, list.values.cast(), list.len, to)?;
                to.extend(b")}");
            }
            Class::Compound { fields, .. } => {
                to.push(b'<');
                for (at, field) in fields.iter().enumerate() {
                    if at > 0 {
                        to.push(b';');
                    }
                    dump_field(model, field, value, to)?;
                }
                to.push(b'>');
            }
        }
    }
    Ok(())
}

/// # Safety
/// `value` points to a value of the compound type that has the field.
unsafe fn dump_field(model: &Model, field: &Field, value: *const u8, to: &mut Vec<u8>) -> Result<()> {
    let shape: Vec<_> = field.shape.iter().map(usize::to_string).collect();
    to.extend(field.name.as_bytes());
    append(to, format_args!("({})", shape.join(",")));
    // SAFETY: `value` is one value of the compound, so the field has all its elements there.
    unsafe { dump(model, field.ty, value.add(field.offset), elements_of(field), to) }
}

fn append(to: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    to.write_fmt(what).expect("a vector takes everything");
}

/// Returns the text of values, in memory from `malloc`; after an error, the text up to the failing value.
///
/// # Safety
/// `values` is null or has `count` values of the type.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_dump_data(
    ncid: c_int,
    ty: c_int,
    values: *mut c_void,
    count: usize,
    place: Out<*mut c_char>,
) -> c_int {
    answer(|| {
        if !check(ncid, ty, values, count)? {
            return Ok(());
        }
        let mut to = Vec::new();
        let dumped = known_type(ncid, ty).and_then(|(model, ty)| {
            // SAFETY: `values` has `count` values of the type: a null pointer was refused.
            unsafe { dump(&model, ty, values.cast(), count, &mut to) }
        });
        if !place.is_null() {
            let text = if to.is_empty() { std::ptr::null_mut() } else { copy_of_text(&to)? };
            place.put(text);
        }
        dumped
    })
}

other_name!(ncaux_dump_data, nc_dump_data, (values: *mut c_void, count: usize, place: Out<*mut c_char>));
