//! Values as initializers of C.
//!
//! Lists of variable length are arrays of their own, declared before the initializer that points to them. Bytes of opaque
//! values are numbers, and characters in compounds are text in quotes, where the reference writes what no compiler takes.

use ferrocdf::model::{Class, Field};
use ferrocdf::{Atomic, Type, Value, Values};

use super::c::{C, constant, type_names};
use super::name::{c_byte, c_text};
use super::number::LiteralNumber;

impl C<'_> {
    /// Appends one value of a list that a variable or an attribute holds.
    pub(super) fn initializer(&mut self, values: &Values, at: usize, lists: &mut Vec<u8>, out: &mut Vec<u8>) {
        match values {
            Values::User(id, list) => self.nested(Type::User(*id), &list[at], lists, out),
            atomic => self.atomic(atomic, at, out),
        }
    }

    fn atomic(&self, values: &Values, at: usize, out: &mut Vec<u8>) {
        match values {
            Values::String(list) => match &list[at] {
                Some(text) => text_in_quotes(text, out),
                None => out.extend_from_slice(b"NULL"),
            },
            Values::Char(text) => {
                out.push(b'\'');
                c_byte(text[at], b'\'', out);
                out.push(b'\'');
            }
            numbers => {
                let word = LiteralNumber::of(numbers, at)
                    .zip(numbers.atomic())
                    .map(|(number, ty)| constant(number, ty));
                out.extend_from_slice(word.unwrap_or_default().as_bytes());
            }
        }
    }

    fn nested(&mut self, ty: Type, value: &Value, lists: &mut Vec<u8>, out: &mut Vec<u8>) {
        let class = match ty {
            Type::User(id) => Some(self.dataset.model.user_type(id).class.clone()),
            Type::Atomic(_) => None,
        };
        match (value, class) {
            (Value::Atomic(values), _) if !values.is_empty() => self.atomic(values, 0, out),
            (Value::Compound(parts), Some(Class::Compound { fields, .. })) => {
                braced(fields.iter().zip(parts), out, |(field, part), out| {
                    self.field(field, part, lists, out)
                });
            }
            (Value::Vlen(parts), Some(Class::Vlen(base))) => self.list(base, parts, lists, out),
            (Value::Opaque(bytes), _) => braced(bytes, out, |byte, out| {
                out.extend_from_slice(format!("0x{byte:02x}").as_bytes());
            }),
            (Value::Enum(number), Some(Class::Enum { base, .. })) => {
                out.extend_from_slice(constant(LiteralNumber::Integer(*number), base).as_bytes());
            }
            // No other value has such a type.
            _ => out.push(b'0'),
        }
    }

    fn field(&mut self, field: &Field, part: &Value, lists: &mut Vec<u8>, out: &mut Vec<u8>) {
        match (part, field.shape.last()) {
            (Value::Atomic(Values::Char(text)), Some(&row)) => match field.shape.len() {
                1 => text_in_quotes(text, out),
                _ => braced(text.chunks(row.max(1)), out, text_in_quotes),
            },
            (Value::Atomic(values), Some(_)) => {
                braced(0..values.len(), out, |at, out| self.atomic(values, at, out));
            }
            (Value::Array(parts), Some(_)) => {
                braced(parts, out, |part, out| self.nested(field.ty, part, lists, out));
            }
            (part, _) => self.nested(field.ty, part, lists, out),
        }
    }

    /// A list: its length and where its elements are, which are declared in `lists`.
    fn list(&mut self, base: Type, parts: &[Value], lists: &mut Vec<u8>, out: &mut Vec<u8>) {
        let mut elements = vec![];
        let len = match parts {
            [Value::Atomic(values)] if matches!(base, Type::Atomic(_)) => {
                braced(0..values.len(), &mut elements, |at, out| self.atomic(values, at, out));
                values.len()
            }
            parts => {
                braced(parts, &mut elements, |part, out| self.nested(base, part, lists, out));
                parts.len()
            }
        };
        if len == 0 {
            return out.extend_from_slice(b"{0, NULL}");
        }
        let (number, ty) = (self.lists, self.c_type(base));
        self.lists += 1;
        lists.extend_from_slice(format!("    static const {ty} vlen_{number}[] = ").as_bytes());
        lists.extend_from_slice(&elements);
        lists.extend_from_slice(b" ;\n");
        out.extend_from_slice(format!("{{{len}, (void*)vlen_{number}}}").as_bytes());
    }
}

/// The function that puts an attribute of a type, and whether it is told the type.
pub(super) fn attribute_function(ty: Type) -> (String, bool) {
    match ty {
        Type::User(_) => ("nc_put_att".to_string(), true),
        Type::Atomic(atomic) => {
            let is_told = !matches!(atomic, Atomic::Char | Atomic::String);
            (format!("nc_put_att_{}", type_names(atomic).2), is_told)
        }
    }
}

fn text_in_quotes(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(&c_text(text));
    out.push(b'"');
}

fn braced<T>(items: impl IntoIterator<Item = T>, out: &mut Vec<u8>, mut put: impl FnMut(T, &mut Vec<u8>)) {
    out.push(b'{');
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        put(item, out);
    }
    out.push(b'}');
}
