//! From values of user-defined types to the bytes of stored elements.

use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_model::{Class, Model, Type, Value, Values, each_numbers};
use ferrocdf_zarr::{DataType, Element, without_zeros};
use half::f16;

use super::data_types;

/// Returns the bytes of an element with a value of a user-defined type: as many as the data type has, or those of one list.
///
/// # Errors
/// `NC_EBADTYPE` for a value of another type; `NC_ERANGE` for a number that the data type does not hold.
pub(super) fn bytes(model: &Model, ty: Type, element: &Element, value: &Value) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    match (&element.data_type, list_of(model, ty), value) {
        (DataType::List(of), Some(base), Value::Vlen(list)) => {
            list.iter().try_for_each(|value| encode(model, base, of, value, &mut bytes))?;
        }
        (DataType::Bytes, Some(base), Value::Vlen(list)) => {
            let of = data_types::fixed(model, base)?;
            list.iter().try_for_each(|value| encode(model, base, &of, value, &mut bytes))?;
        }
        _ => encode(model, ty, element, value, &mut bytes)?,
    }
    Ok(bytes)
}

/// Returns the bytes of text in an element, without zeros at the end: those of the text, or of characters of 4 bytes.
pub(super) fn text(element: &Element, bytes: &[u8]) -> Vec<u8> {
    match element.data_type {
        DataType::String => super::text(bytes).into_bytes(),
        DataType::FixedText(_) => {
            let mut units = vec![];
            super::text(bytes)
                .chars()
                .for_each(|char| ordered(&u32::from(char).to_le_bytes(), element.order, &mut units));
            units.truncate(without_zeros(&units).len());
            units
        }
        _ => bytes.to_vec(),
    }
}

/// Returns the bytes of text in an element of a fixed size.
///
/// # Errors
/// `NC_EVARSIZE` for longer text.
pub(super) fn text_of_size(element: &Element, bytes: &[u8]) -> Result<Vec<u8>> {
    let (size, mut stored) = (element.data_type.size().unwrap_or(0), text(element, bytes));
    if stored.len() > size {
        let what = format!("text that takes {} bytes, where the store has room for {size}", stored.len());
        return Err(Error::new(Code::EVARSIZE, what));
    }
    stored.resize(size, 0);
    Ok(stored)
}

/// Adds a number as one of 16 bits.
pub(super) fn half(number: f32, order: Order, into: &mut Vec<u8>) {
    ordered(&f16::from_f32(number).to_le_bytes(), order, into);
}

/// Returns the type of the elements of a vlen.
fn list_of(model: &Model, ty: Type) -> Option<Type> {
    match ty {
        Type::User(id) => match model.user_type(id).class {
            Class::Vlen(of) => Some(of),
            _ => None,
        },
        Type::Atomic(_) => None,
    }
}

fn wrong() -> Error {
    Error::new(Code::EBADTYPE, "a value of another type than that of the variable")
}

/// Adds the bytes of a value, or of each value of a list.
fn encode(model: &Model, ty: Type, element: &Element, value: &Value, into: &mut Vec<u8>) -> Result<()> {
    let class = match ty {
        Type::User(id) => Some(&model.user_type(id).class),
        Type::Atomic(_) => None,
    };
    match (&element.data_type, value, class) {
        (DataType::Bool, Value::Enum(number), _) => match u8::try_from(*number) {
            Ok(byte @ 0..=1) => into.push(byte),
            _ => {
                let what = format!("{number} as a boolean, which is 0 or 1");
                return Err(Error::new(Code::ERANGE, what));
            }
        },
        (DataType::Integer { size, signed }, Value::Enum(number), _) => {
            if !data_types::holds((*size).into(), *signed, *number) {
                let what = format!("{number}, which the integers of the enumeration do not hold");
                return Err(Error::new(Code::ERANGE, what));
            }
            ordered(&number.to_le_bytes()[..usize::from(*size)], element.order, into);
        }
        (data_type, Value::Opaque(bytes), _) if data_type.size() == Some(bytes.len()) => into.extend(bytes),
        (DataType::Struct(stored), Value::Compound(values), Some(Class::Compound { fields, .. }))
            if values.len() == fields.len() =>
        {
            for ((field, stored), value) in fields.iter().zip(stored).zip(values) {
                let count = stored.shape.iter().product::<usize>();
                let end = into.len() + count * stored.element.data_type.size().unwrap_or(0);
                let element = data_types::element_of(field, stored);
                match value {
                    Value::Array(list) => {
                        list.iter().try_for_each(|value| encode(model, field.ty, element, value, into))?;
                    }
                    // Text that is shorter has zeros at its end.
                    Value::Atomic(Values::Char(bytes)) if into.len() + bytes.len() <= end => {
                        into.extend(bytes);
                        into.resize(end, 0);
                    }
                    value => encode(model, field.ty, element, value, into)?,
                }
                if into.len() != end {
                    let what = format!("field {} has not as many values as its shape", field.name);
                    return Err(Error::new(Code::EBADTYPE, what));
                }
            }
        }
        (DataType::Complex(_), Value::Compound(parts), _) if parts.len() == 2 => {
            for part in parts {
                let Value::Atomic(values) = part else { return Err(wrong()) };
                encode_numbers(values, element.order, into)?;
            }
        }
        (DataType::FixedText(_) | DataType::FixedBytes(_), Value::Atomic(Values::String(list)), None) => {
            for string in list {
                into.extend(text_of_size(element, string.as_deref().unwrap_or_default())?);
            }
        }
        // Numbers of 16 bits are wider in netCDF.
        (DataType::Float(2), Value::Atomic(Values::Float(list)), None) => {
            list.iter().for_each(|&number| half(number, element.order, into));
        }
        (_, Value::Atomic(values), None) if values.ty() == ty => {
            encode_numbers(values, element.order, into)?;
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

/// Returns the bytes of the first of a list of numbers, in a byte order; none of text and of values of user-defined types.
pub(super) fn number(values: &Values, order: Order) -> Vec<u8> {
    let mut bytes = vec![];
    each_numbers!(values, list => {
        ordered(&list.first().copied().unwrap_or_default().to_le_bytes(), order, &mut bytes);
    }, _ => {});
    bytes
}

fn encode_numbers(values: &Values, order: Order, into: &mut Vec<u8>) -> Result<()> {
    match values {
        Values::Char(bytes) => into.extend(bytes),
        numbers => each_numbers!(numbers, list => {
            list.iter().for_each(|number| ordered(&number.to_le_bytes(), order, into));
        }, _ => return Err(wrong())),
    }
    Ok(())
}

/// Adds the bytes of a little-endian number in a byte order.
fn ordered(little: &[u8], order: Order, into: &mut Vec<u8>) {
    let start = into.len();
    into.extend(little);
    if order == Order::Big {
        into[start..].reverse();
    }
}
