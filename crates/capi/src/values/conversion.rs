//! Conversion of attribute values between the model and the memory of the caller.

use std::ffi::{c_char, c_void};

use ferrocdf::array::{ConversionRules, Kind, Stored, convert};
use ferrocdf::nested::{bytes, bytes_mut, zeros};
use ferrocdf::{Atomic, Code, DataModel, Format, Model, RangeCheck, Result, Type, Values, kind_of};

use crate::abi::answer::fail;
use crate::abi::pointers::{Str, list};
use crate::values::nested::lay_out;

/// Fails if one type is text and the other is not.
fn check_text(one: Atomic, other: Atomic) -> Result<()> {
    if (one == Atomic::Char) == (other == Atomic::Char) {
        return Ok(());
    }
    fail(Code::ECHAR, "text does not convert to numbers, nor numbers to text")
}

/// Returns the kinds between which values are converted. In CDF-1 and CDF-2 `NC_BYTE` is the only 8-bit number, so with
/// unsigned bytes in memory it counts as unsigned; in netCDF-4 files that keep to the classic model, signed and
/// unsigned bytes count as the type in memory. Fails with `NC_EBADTYPE` for strings, which only convert to strings.
fn kinds(format: Format, file: Atomic, memory: Atomic) -> Result<(Kind, Kind)> {
    let same = match format.data_model() {
        DataModel::Classic | DataModel::Offset64 => (file, memory) == (Atomic::Byte, Atomic::Ubyte),
        DataModel::Netcdf4Classic => {
            matches!((file, memory), (Atomic::Byte, Atomic::Ubyte) | (Atomic::Ubyte, Atomic::Byte))
        }
        DataModel::Data64 | DataModel::Netcdf4 => false,
    };
    match (kind_of(if same { memory } else { file }), kind_of(memory)) {
        (Some(file), Some(memory)) => Ok((file, memory)),
        _ => fail(Code::EBADTYPE, format!("{memory} does not convert to {file}")),
    }
}

/// Converts `count` values of type `memory` to type `file`. Values out of range are converted as in variables, and
/// reported.
///
/// # Safety
/// `given` is null or has `count` values.
pub(crate) unsafe fn values_of(
    format: Format,
    file: Atomic,
    memory: Atomic,
    given: *const c_void,
    count: usize,
) -> Result<(Values, RangeCheck)> {
    check_text(file, memory)?;
    if count > i32::MAX as usize {
        return fail(Code::EINVAL, format!("{count} values are too many"));
    }
    if given.is_null() && count > 0 {
        return fail(Code::EINVAL, "the values are a null pointer");
    }
    if (file, memory) == (Atomic::String, Atomic::String) {
        // SAFETY: `given` is not null here, and has `count` pointers.
        let pointers = unsafe { list(given.cast::<*const c_char>(), count) };
        // SAFETY: each pointer is null or to text that ends in a zero byte.
        let strings = pointers
            .iter()
            .map(|&string| unsafe { Str::new(string) }.c_str().map(|text| text.to_bytes().to_vec()));
        return Ok((Values::String(strings.collect()), RangeCheck::InRange));
    }
    let (to, from) = kinds(format, file, memory)?;
    let mut values = zeros(file, count)?;
    // SAFETY: `given` has `count` values of the memory type, or is null with none.
    let given = unsafe { list(given.cast::<u8>(), count * from.size()) };
    let fit = convert(
        ConversionRules::Put,
        Stored::native(from),
        given,
        Stored::native(to),
        bytes_mut(&mut values),
    )?;
    Ok((values, fit))
}

/// Stores the values of an attribute as type `memory`, or as their own type. An attribute without values needs no
/// memory and no conversion; in netCDF-4 files a null pointer requests nothing.
///
/// # Safety
/// `place` is null or has room for the values.
pub(crate) unsafe fn give_values(
    model: &Model,
    values: &Values,
    memory: Option<Atomic>,
    place: *mut c_void,
) -> Result<RangeCheck> {
    let format = model.format();
    if values.is_empty() || (place.is_null() && !format.has_cdf_model()) {
        return Ok(RangeCheck::InRange);
    }
    match (values.ty(), memory) {
        (Type::User(_) | Type::Atomic(Atomic::String), None)
        | (Type::Atomic(Atomic::String), Some(Atomic::String)) => {
            // SAFETY: `place` is null or has room for the values in their own type.
            unsafe { put_values(model, place, values) }.map(|()| RangeCheck::InRange)
        }
        (Type::Atomic(file), memory) => {
            let memory = memory.unwrap_or(file);
            check_text(file, memory)?;
            // SAFETY: `place` is null or has room for as many values of the memory type.
            unsafe { give_converted(format, values, memory, place) }
        }
        (Type::User(_), Some(Atomic::Char)) => fail(Code::ECHAR, "values of user-defined types are no text"),
        (Type::User(_), Some(_)) => fail(Code::EBADTYPE, "values of user-defined types do not convert"),
    }
}

/// Stores numbers or text, converted to type `memory`.
///
/// # Safety
/// `place` is null or has room for the values.
pub(crate) unsafe fn give_converted(
    format: Format,
    values: &Values,
    memory: Atomic,
    place: *mut c_void,
) -> Result<RangeCheck> {
    let (from, to) = kinds(format, values.atomic().unwrap_or(Atomic::String), memory)?;
    if place.is_null() {
        return fail(Code::EINVAL, "the memory for the values is a null pointer");
    }
    // SAFETY: `place` is not null, and has room for as many values of the memory type.
    let room = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), values.len() * to.size()) };
    let rules = if format.has_cdf_model() { ConversionRules::Get } else { ConversionRules::Cast };
    convert(rules, Stored::native(from), bytes(values), Stored::native(to), room)
}

/// Stores values in their own type.
///
/// # Safety
/// `place` is null or has room for the values.
pub(crate) unsafe fn put_values(model: &Model, place: *mut c_void, values: &Values) -> Result<()> {
    if place.is_null() {
        return Ok(());
    }
    let Some(size) = model.size_of(values.ty()).checked_mul(values.len()) else {
        return fail(Code::ENOMEM, format!("{} values are larger than memory", values.len()));
    };
    // SAFETY: `place` is not null, and has room for `size` bytes.
    lay_out(model, values, unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), size) })
}
