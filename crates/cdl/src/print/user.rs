//! Printing of strings and of values of user-defined types.

use ferrocdf_model::{Class, Field, Model, Type, Value, Values, each_numbers};

use super::cells::PrintedNumber;
use super::escape::{NameEscapes, Place, c_text, name, quoted, trimmed};
use super::float::Point;
use crate::parse::is_value;

/// Significant digits of floating-point numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    pub(super) float: usize,
    pub(super) double: usize,
}

/// Appends a string, or `NIL`.
pub(super) fn string(value: Option<&[u8]>, out: &mut Vec<u8>) {
    match value {
        Some(text) => quoted(c_text(text), Place::OnePiece, out),
        None => out.extend_from_slice(b"NIL"),
    }
}

/// Appends a value of a user-defined type.
pub(super) fn value(model: &Model, ty: Type, value: &Value, digits: Digits, out: &mut Vec<u8>) {
    let class = match ty {
        Type::User(id) => Some(&model.user_type(id).class),
        Type::Atomic(_) => None,
    };
    match (value, class) {
        (Value::Compound(parts), Some(Class::Compound { fields, .. })) => {
            list(fields.iter().zip(parts), out, |(field, part), out| {
                field_value(model, field, part, digits, out)
            });
        }
        (Value::Vlen(parts), Some(Class::Vlen(of))) => match &parts[..] {
            [Value::Atomic(values)] if matches!(of, Type::Atomic(_)) => {
                braced(out, |out| atomic_list(values, values.len(), digits, out));
            }
            _ => list(parts, out, |part, out| self::value(model, *of, part, digits, out)),
        },
        (Value::Opaque(bytes), _) => {
            out.extend_from_slice(b"0X");
            for byte in bytes {
                out.extend_from_slice(format!("{byte:02X}").as_bytes());
            }
        }
        (Value::Enum(number), Some(Class::Enum { members, .. })) => {
            match members.iter().find(|(_, value)| value == number) {
                Some((member, _)) => {
                    // Without a backslash the word would be read as another value.
                    if is_value(member.as_bytes()) {
                        out.push(b'\\');
                    }
                    // If the name cannot be written, the number is.
                    if name(member.as_bytes(), NameEscapes::Reference, out).is_err() {
                        out.extend_from_slice(number.to_string().as_bytes());
                    }
                }
                None if *number == 0 => out.extend_from_slice(b"_UNDEFINED"),
                _ => out.extend_from_slice(number.to_string().as_bytes()),
            }
        }
        (Value::Enum(number), _) => out.extend_from_slice(number.to_string().as_bytes()),
        (Value::Atomic(values), _) => atomic_list(values, values.len(), digits, out),
        (Value::Array(parts) | Value::Compound(parts) | Value::Vlen(parts), _) => {
            list(parts, out, |part, out| self::value(model, ty, part, digits, out));
        }
    }
}

fn field_value(model: &Model, field: &Field, part: &Value, digits: Digits, out: &mut Vec<u8>) {
    // In a text of fixed length, netCDF sees one byte per element.
    if let (Value::Atomic(Values::Char(text)), 2..) = (part, field.chars) {
        let known = text.len().min(field.shape.iter().product());
        let field = Field { chars: 1, ..field.clone() };
        let part = Value::Atomic(Values::Char(text[..known].to_vec()));
        return field_value(model, &field, &part, digits, out);
    }
    match (part, field.shape.last()) {
        (Value::Atomic(values), Some(&row)) => braced(out, |out| atomic_list(values, row, digits, out)),
        (Value::Array(parts), _) => list(parts, out, |part, out| value(model, field.ty, part, digits, out)),
        _ => value(model, field.ty, part, digits, out),
    }
}

/// Appends values with commas between them; characters as text, a row at a time.
fn atomic_list(values: &Values, row: usize, digits: Digits, out: &mut Vec<u8>) {
    match values {
        Values::Char(text) => separated(text.chunks(row.max(1)), out, |row, out| {
            quoted(trimmed(row), Place::Field, out);
        }),
        Values::String(list) => separated(list, out, |item, out| string(item.as_deref(), out)),
        _ => each_numbers!(values, list => separated(list, out, |number, out| {
            number.plain(digits, Point::IfNeeded, out);
        }), _ => ()),
    }
}

fn separated<T>(items: impl IntoIterator<Item = T>, out: &mut Vec<u8>, mut put: impl FnMut(T, &mut Vec<u8>)) {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        put(item, out);
    }
}

fn braced(out: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'{');
    put(out);
    out.push(b'}');
}

fn list<T>(items: impl IntoIterator<Item = T>, out: &mut Vec<u8>, put: impl FnMut(T, &mut Vec<u8>)) {
    braced(out, |out| separated(items, out, put));
}

/// True if a value is the fill value; numbers are compared by [`PrintedNumber::same`].
pub(super) fn same(value: &Value, fill: &Value) -> bool {
    match (value, fill) {
        (Value::Atomic(values), Value::Atomic(fills)) => same_values(values, fills),
        (Value::Array(parts), Value::Array(fills))
        | (Value::Compound(parts), Value::Compound(fills))
        | (Value::Vlen(parts), Value::Vlen(fills)) => {
            parts.len() == fills.len() && parts.iter().zip(fills).all(|(part, fill)| same(part, fill))
        }
        _ => value == fill,
    }
}

fn same_values(values: &Values, fills: &Values) -> bool {
    match (values, fills) {
        (Values::Float(values), Values::Float(fills)) => same_numbers(values, fills),
        (Values::Double(values), Values::Double(fills)) => same_numbers(values, fills),
        _ => values == fills,
    }
}

fn same_numbers<T: PrintedNumber>(values: &[T], fills: &[T]) -> bool {
    values.len() == fills.len() && values.iter().zip(fills).all(|(value, &fill)| value.same(fill))
}
