//! Values of user-defined types that are to be written, checked against their type.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Atomic, Class, Field, Model, Type, TypeId, Value};

use crate::nested::elements_of;

/// Checks that values are of a type: nothing is converted, cut or padded when they are written.
///
/// # Errors
/// `NC_EBADTYPE`, with the number of the value and the name of the field.
pub(super) fn check_values(model: &Model, id: TypeId, values: &[Value]) -> Result<()> {
    values.iter().enumerate().try_for_each(|(number, value)| {
        check(model, Type::User(id), value).map_err(|error| error.at(format_args!("value {number}")))
    })
}

fn check(model: &Model, ty: Type, value: &Value) -> Result<()> {
    let Type::User(id) = ty else { return check_atomic(ty, 1, value) };
    match (&model.user_type(id).class, value) {
        (Class::Compound { fields, .. }, Value::Compound(values)) if fields.len() == values.len() => {
            fields.iter().zip(values).try_for_each(|(field, value)| {
                check_field(model, field, value)
                    .map_err(|error| error.at(format_args!("field \"{}\"", field.name)))
            })
        }
        (Class::Compound { fields, .. }, Value::Compound(values)) => {
            wrong(format!("{} fields where the type has {}", values.len(), fields.len()))
        }
        (Class::Vlen(element @ Type::Atomic(_)), Value::Vlen(list)) => {
            list.iter().try_for_each(|values| check_atomic(*element, usize::MAX, values))
        }
        (Class::Vlen(element), Value::Vlen(list)) => {
            list.iter().try_for_each(|value| check(model, *element, value))
        }
        (Class::Opaque(size), Value::Opaque(bytes)) if bytes.len() == *size => Ok(()),
        (Class::Opaque(size), Value::Opaque(bytes)) => {
            wrong(format!("{} bytes where the type has {size}", bytes.len()))
        }
        (Class::Enum { base, .. }, Value::Enum(number)) if is_in_range(*base, *number) => Ok(()),
        (Class::Enum { base, .. }, Value::Enum(number)) => {
            wrong(format!("{number} is out of the range of {base}"))
        }
        _ => wrong(format!("it is no value of the type {}", model.type_name(ty))),
    }
}

fn check_field(model: &Model, field: &Field, value: &Value) -> Result<()> {
    let count = elements_of(field);
    match (field.ty, value) {
        (Type::Atomic(_), value) => check_atomic(field.ty, count, value),
        (_, Value::Array(values)) if values.len() == count => {
            values.iter().try_for_each(|value| check(model, field.ty, value))
        }
        (_, Value::Array(values)) => wrong(format!("{} values where the field has {count}", values.len())),
        (_, value) if field.shape.is_empty() => check(model, field.ty, value),
        _ => wrong(format!("one value where the field has {count}: `Value::Array` holds them")),
    }
}

/// Checks `count` values of an atomic type, any number of them for `usize::MAX`.
fn check_atomic(ty: Type, count: usize, value: &Value) -> Result<()> {
    match value {
        Value::Atomic(values) if values.ty() == ty && (count == usize::MAX || values.len() == count) => {
            Ok(())
        }
        Value::Atomic(values) if values.ty() == ty => {
            wrong(format!("{} values where {count} are expected", values.len()))
        }
        Value::Atomic(values) => {
            let (is, expected) = (name(values.ty()), name(ty));
            let advice = if ty == Atomic::String.into() { ": `Value::string` makes one" } else { "" };
            wrong(format!("{is} where {expected} is expected{advice}"))
        }
        _ => wrong(format!("it is no value of the type {}", name(ty))),
    }
}

fn name(ty: Type) -> &'static str {
    match ty {
        Type::Atomic(atomic) => atomic.cdl_name(),
        Type::User(_) => "a user-defined type",
    }
}

/// True if an integer type holds a number.
fn is_in_range(base: Atomic, number: i128) -> bool {
    let bits = 8 * base.size() as u32;
    let is_signed = matches!(base, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64);
    match is_signed {
        true => (-(1i128 << (bits - 1))..1 << (bits - 1)).contains(&number),
        false => (0..1 << bits).contains(&number),
    }
}

fn wrong<T>(what: String) -> Result<T> {
    Err(Error::new(Code::EBADTYPE, what))
}
