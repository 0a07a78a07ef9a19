//! Values of user-defined types as JSON, in attributes: enumerations as numbers, compounds as objects, vlens as lists, opaque values in
//! base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_model::{Atomic, Class, Field, Model, Type, TypeId, Value, Values, each_numbers};
use ferrocdf_zarr::{Json, Members, without_zeros};

use super::atomic_json::of_type;
use super::data_types::enum_holds;
use super::text;

/// Returns the JSON of each of a list of values of a type.
pub(super) fn to_json(model: &Model, values: &Values) -> Vec<Json> {
    match values {
        Values::Char(bytes) => vec![Json::String(text(bytes))],
        Values::String(strings) => {
            strings.iter().map(|string| Json::String(text(string.as_deref().unwrap_or_default()))).collect()
        }
        Values::Float(numbers) => numbers.iter().map(|&number| Json::float(number.into())).collect(),
        Values::Double(numbers) => numbers.iter().map(|&number| Json::float(number)).collect(),
        Values::User(id, list) => list.iter().map(|value| nested(model, Type::User(*id), value)).collect(),
        integers => each_numbers!(integers, numbers => {
            numbers.iter().map(|number| Json::Number(number.to_string().into())).collect()
        }, _ => vec![]),
    }
}

/// Returns one value alone, several as a list.
pub(super) fn one_or_list(mut list: Vec<Json>) -> Json {
    if list.len() == 1 { list.remove(0) } else { Json::Array(list) }
}

fn nested(model: &Model, ty: Type, value: &Value) -> Json {
    let class = match ty {
        Type::User(id) => Some(&model.user_type(id).class),
        Type::Atomic(_) => None,
    };
    match (value, class) {
        (Value::Enum(number), _) => Json::Number(number.to_string().into()),
        (Value::Opaque(bytes), _) => Json::String(STANDARD.encode(bytes)),
        (Value::Compound(values), Some(Class::Compound { fields, .. })) => {
            let member = |(field, value): (&Field, &Value)| {
                let json = match value {
                    // NetCDF-C, which reads version 2, knows no escapes such as \u0000.
                    Value::Atomic(Values::Char(bytes)) => Json::String(text(without_zeros(bytes))),
                    Value::Atomic(values) if field.shape.is_empty() => one_or_list(to_json(model, values)),
                    Value::Atomic(values) => Json::Array(to_json(model, values)),
                    value => nested(model, field.ty, value),
                };
                (field.name.to_str().into_owned(), json)
            };
            Json::Object(Members(fields.iter().zip(values).map(member).collect()))
        }
        (Value::Vlen(values), Some(Class::Vlen(of))) => {
            let several = |value: &Value| match value {
                Value::Atomic(values) => to_json(model, values),
                value => vec![nested(model, *of, value)],
            };
            Json::Array(values.iter().flat_map(several).collect())
        }
        (Value::Array(values), _) => {
            Json::Array(values.iter().map(|value| nested(model, ty, value)).collect())
        }
        (Value::Atomic(values), _) => one_or_list(to_json(model, values)),
        (Value::Compound(_) | Value::Vlen(_), _) => Json::Null,
    }
}

/// Reads the values of an attribute of a user-defined type; `None` if they are not of that type, or take more bytes than `budget`, from which
/// they are taken.
pub(super) fn from_json(model: &Model, id: TypeId, json: &Json, budget: &mut usize) -> Option<Values> {
    let ty = Type::User(id);
    // One value of a vlen is a list itself: its attributes are always lists of lists.
    let several = match json {
        Json::Array(list) => &list[..],
        one => std::slice::from_ref(one),
    };
    *budget = budget.checked_sub(several.len().checked_mul(model.size_of(ty))?)?;
    let values = several.iter().map(|json| value(model, ty, json)).collect::<Option<Vec<_>>>()?;
    Some(Values::User(id, values))
}

fn value(model: &Model, ty: Type, json: &Json) -> Option<Value> {
    let class = match ty {
        Type::Atomic(atomic) => return of_type(json, atomic).map(Value::Atomic),
        Type::User(id) => &model.user_type(id).class,
    };
    Some(match class {
        Class::Enum { base, .. } => {
            Value::Enum(json.as_integer().filter(|&number| enum_holds(*base, number))?)
        }
        Class::Opaque(size) => {
            let bytes = STANDARD.decode(json.as_str()?).ok()?;
            (bytes.len() == *size).then_some(Value::Opaque(bytes))?
        }
        // Text is one string.
        Class::Vlen(Type::Atomic(Atomic::Char)) => match json {
            Json::Array(list) if list.len() == 1 => {
                Value::Vlen(vec![value(model, Atomic::Char.into(), &list[0])?])
            }
            _ => return None,
        },
        Class::Vlen(of @ Type::Atomic(atomic)) => match json {
            Json::Array(list) if list.is_empty() => Value::Vlen(vec![Value::Atomic(Values::empty(*atomic))]),
            json => Value::Vlen(vec![value(model, *of, json)?]),
        },
        Class::Vlen(of) => {
            let each = json.as_array()?.iter().map(|json| value(model, *of, json));
            Value::Vlen(each.collect::<Option<_>>()?)
        }
        Class::Compound { fields, .. } => {
            let members = json.as_object()?;
            let each = fields.iter().map(|of| field(model, of, members.get(&of.name.to_str())?));
            Value::Compound(each.collect::<Option<_>>()?)
        }
    })
}

fn field(model: &Model, field: &Field, json: &Json) -> Option<Value> {
    let count = field.shape.iter().product::<usize>();
    match field.ty {
        Type::Atomic(Atomic::Char) => {
            let size = count * field.chars;
            let Values::Char(mut bytes) = of_type(json, Atomic::Char)? else { return None };
            if bytes.len() > size {
                // Text that is not UTF-8 was taken as ISO 8859-1 when it was written.
                let byte = |char: char| u8::try_from(u32::from(char)).ok();
                bytes = json.as_str()?.chars().map(byte).collect::<Option<_>>()?;
            }
            if bytes.len() > size {
                return None;
            }
            bytes.resize(size, 0);
            Some(Value::Atomic(Values::Char(bytes)))
        }
        Type::Atomic(atomic) => {
            of_type(json, atomic).filter(|values| values.len() == count).map(Value::Atomic)
        }
        ty if field.shape.is_empty() => value(model, ty, json),
        ty => {
            let list = json.as_array().filter(|list| list.len() == count)?;
            let each = list.iter().map(|json| value(model, ty, json));
            Some(Value::Array(each.collect::<Option<_>>()?))
        }
    }
}
