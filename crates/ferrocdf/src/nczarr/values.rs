//! From stored elements to the values of the model.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ferrocdf_array::{Array, Out, Selection, read};
use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_model::{Atomic, Class, Model, Type, TypeId, Value, Values, VarId, each_numbers};
use ferrocdf_store::MemoryBlob;
use ferrocdf_zarr::{ArrayMetadata, DataType, Element, FillValue, Json, without_zeros};
use half::f16;

use super::base_of_enum;
use super::data_types::element_of;
use super::types::atomic;
use crate::elements::{elements, with_number, zeros};

/// Returns a selection of elements as one of their bytes: the fastest dimension of an array of elements that are no numbers.
pub(super) fn bytes_of(selection: &Selection, element: &Element) -> Selection {
    let mut selection = selection.clone();
    selection.start.push(0);
    selection.count.push(element.data_type.size().unwrap_or(1) as u64);
    selection.stride.push(1);
    selection
}

/// Reads selected elements of a fixed size that are no numbers of netCDF. `array` has their bytes as its fastest dimension, but for those of
/// enumerations, which are numbers.
pub(super) fn of_bytes(
    model: &Model,
    (element, ty): (&Element, Type),
    array: &Array,
    selection: &Selection,
) -> Result<Values> {
    if let (Type::User(id), Some(base)) = (ty, base_of_enum(model, ty)) {
        return enumerated(id, base, array, selection);
    }
    let size = element.data_type.size().unwrap_or(1);
    let count = elements(selection)?;
    let selection = bytes_of(selection, element);
    let bytes = count.checked_mul(size);
    let bytes = bytes.ok_or_else(|| Error::new(Code::ENOMEM, format!("no memory for {count} elements")))?;
    let mut stored: Vec<u8> = zeros(bytes)?;
    let _exact = read(&MemoryBlob::default(), array, &selection, Out::new(&mut stored))?;
    // Elements of no bytes: as many empty ones.
    let pieces: Vec<&[u8]> = if size == 0 { vec![&[]; count] } else { stored.chunks_exact(size).collect() };
    Ok(list(model, element, ty, &pieces))
}

/// Reads selected elements of an enumeration.
fn enumerated(id: TypeId, base: Atomic, array: &Array, selection: &Selection) -> Result<Values> {
    let count = elements(selection)?;
    let values: Result<Vec<Value>> = with_number!(base, variant => {
        let mut list = zeros(count)?;
        let _exact = read(&MemoryBlob::default(), array, selection, Out::new(&mut list))?;
        each_numbers!(variant(list), numbers => {
            Ok(numbers.into_iter().map(|number| Value::Enum(number as i128)).collect())
        }, _ => Ok(vec![]))
    }, char => Ok(vec![]), string => Ok(vec![]));
    Ok(Values::User(id, values?))
}

/// Returns the stored bytes of an element without a fixed size in a missing chunk.
pub(super) fn fill_of_any_size(metadata: &ArrayMetadata) -> Vec<u8> {
    match (&metadata.fill_value, &metadata.element.data_type) {
        (FillValue::Value(Json::String(text)), DataType::Bytes | DataType::List(_)) => {
            STANDARD.decode(text).unwrap_or_else(|_| text.clone().into_bytes())
        }
        (FillValue::Value(Json::String(text)), _) => text.clone().into_bytes(),
        // Zarr-python 2 gives objects the number 0; version 3 reads it as text.
        (FillValue::Value(number @ Json::Number(_)), DataType::String) => number.to_string().into_bytes(),
        (FillValue::Value(json), DataType::Json) => json.to_string().into_bytes(),
        (FillValue::Value(_) | FillValue::Undefined | FillValue::Bytes(_), _) => vec![],
    }
}

/// Returns the values of elements without a fixed size; `None` stands for one of a missing chunk.
pub(super) fn of_any_size(
    model: &Model,
    (metadata, ty): (&ArrayMetadata, Type),
    stored: &[Option<Box<[u8]>>],
) -> Result<Values> {
    let (element, fill) = (&metadata.element, fill_of_any_size(metadata));
    let bytes = |stored: &'_ Option<Box<[u8]>>| stored.as_deref().unwrap_or(&fill).to_vec();
    match ty {
        Type::Atomic(_) => Ok(Values::String(stored.iter().map(|stored| Some(bytes(stored))).collect())),
        Type::User(id) => {
            let Class::Vlen(base) = model.user_type(id).class else {
                return Err(Error::new(Code::EBADTYPE, "elements of any size, and a type of a fixed size"));
            };
            let of = match &element.data_type {
                DataType::List(of) => (**of).clone(),
                _ => super::data_types::fixed(model, base)?,
            };
            let size = of.data_type.size().unwrap_or(1).max(1);
            let each = stored.iter().map(|stored| {
                let bytes = bytes(stored);
                if bytes.len() % size != 0 {
                    let what = format!("a list of {} bytes, and numbers of {size}", bytes.len());
                    return Err(Error::new(Code::EHDFERR, what));
                }
                let pieces: Vec<&[u8]> = bytes.chunks_exact(size).collect();
                Ok(Value::Vlen(match base {
                    Type::Atomic(Atomic::Char) => vec![Value::Atomic(Values::Char(bytes))],
                    Type::Atomic(_) => vec![Value::Atomic(list(model, &of, base, &pieces))],
                    Type::User(id) => pieces.iter().map(|bytes| nested(model, id, &of, bytes)).collect(),
                }))
            });
            Ok(Values::User(id, each.collect::<Result<_>>()?))
        }
    }
}

/// Returns the value of missing elements of a variable, if its array has one.
pub(super) fn fill(model: &Model, var: VarId, metadata: &ArrayMetadata) -> Result<Option<Values>> {
    match value_of_fill(model, metadata, model.var(var).ty) {
        Some(fill) => fill.map(Some),
        None => Ok(model.fill_value(var)),
    }
}

/// Returns the fill value of an array as a value of a type, if it has one.
pub(super) fn value_of_fill(model: &Model, metadata: &ArrayMetadata, ty: Type) -> Option<Result<Values>> {
    match (&metadata.fill_value, ty) {
        (FillValue::Bytes(bytes), Type::Atomic(Atomic::Char)) => Some(Ok(Values::Char(bytes.clone()))),
        (FillValue::Bytes(bytes), ty) => Some(Ok(list(model, &metadata.element, ty, &[bytes]))),
        (FillValue::Value(_), ty) => Some(of_any_size(model, (metadata, ty), &[None])),
        (FillValue::Undefined, _) => None,
    }
}

/// Returns the values of elements.
fn list(model: &Model, element: &Element, ty: Type, stored: &[&[u8]]) -> Values {
    match ty {
        Type::Atomic(Atomic::String) => {
            Values::String(stored.iter().map(|bytes| Some(text(element, bytes))).collect())
        }
        Type::Atomic(_) => numbers(element, stored.iter().copied()),
        Type::User(id) => {
            Values::User(id, stored.iter().map(|bytes| nested(model, id, element, bytes)).collect())
        }
    }
}

/// Returns the text of an element: without the zeros at its end, which may be missing.
pub(super) fn text(element: &Element, bytes: &[u8]) -> Vec<u8> {
    match element.data_type {
        DataType::FixedText(_) => {
            let mut bytes = bytes.to_vec();
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            let char = |unit: &[u8; 4]| match element.order {
                Order::Little => u32::from_le_bytes(*unit),
                Order::Big => u32::from_be_bytes(*unit),
            };
            let chars = bytes.as_chunks().0.iter().map(char);
            let text: String =
                chars.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            without_zeros(text.as_bytes()).to_vec()
        }
        DataType::String => bytes.to_vec(),
        _ => without_zeros(bytes).to_vec(),
    }
}

/// Returns numbers from their bytes.
fn numbers<'b>(element: &Element, stored: impl Iterator<Item = &'b [u8]>) -> Values {
    let atomic = atomic(&element.data_type).unwrap_or(Atomic::Ubyte);
    let is_half = element.data_type == DataType::Float(2);
    let little = |bytes: &[u8]| {
        let mut padded = [0u8; 8];
        let len = bytes.len().min(8);
        padded[..len].copy_from_slice(&bytes[..len]);
        if element.order == Order::Big {
            padded[..len].reverse();
        }
        padded
    };
    if is_half {
        let half = |bytes: &[u8]| f16::from_bits(u16::from_little(little(bytes))).to_f32();
        return Values::Float(stored.map(half).collect());
    }
    with_number!(atomic, variant => variant(stored.map(|bytes| {
        let bytes = little(bytes);
        FromLittle::from_little(bytes)
    }).collect()), char => Values::Char(vec![]), string => Values::String(vec![]))
}

/// A number from the first of 8 bytes, least significant first.
trait FromLittle {
    fn from_little(bytes: [u8; 8]) -> Self;
}

macro_rules! from_little {
    ($($type:ty),*) => { $(
        impl FromLittle for $type {
            fn from_little(bytes: [u8; 8]) -> Self {
                let mut own = [0; size_of::<$type>()];
                own.copy_from_slice(&bytes[..size_of::<$type>()]);
                <$type>::from_le_bytes(own)
            }
        }
    )* };
}

from_little!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);

/// Returns the value of an element of a user-defined type that has a fixed size.
fn nested(model: &Model, id: TypeId, element: &Element, bytes: &[u8]) -> Value {
    match (&model.user_type(id).class, &element.data_type) {
        (Class::Enum { base, .. }, data_type) => {
            let signed = !matches!(base, Atomic::Ubyte | Atomic::Ushort | Atomic::Uint | Atomic::Uint64);
            let number = match *data_type {
                DataType::Bool => {
                    Element { data_type: DataType::Integer { size: 1, signed }, order: element.order }
                }
                _ => element.clone(),
            };
            let values = numbers(&number, std::iter::once(bytes));
            Value::Enum(
                each_numbers!(values, list => list.first().map_or(0, |&number| number as i128), _ => 0),
            )
        }
        (_, DataType::Complex(size)) => {
            let part = Element { data_type: DataType::Float(*size), order: element.order };
            let parts = bytes.chunks_exact((*size).into());
            Value::Compound(
                parts.map(|bytes| Value::Atomic(numbers(&part, std::iter::once(bytes)))).collect(),
            )
        }
        (Class::Compound { fields, .. }, DataType::Struct(stored)) => {
            let mut rest = bytes;
            let each = fields.iter().zip(stored).map(|(field, stored)| {
                let len =
                    stored.element.data_type.size().unwrap_or(0) * stored.shape.iter().product::<usize>();
                let (own, more) = rest.split_at(len.min(rest.len()));
                rest = more;
                let element = element_of(field, stored);
                let (size, count) = (element.data_type.size().unwrap_or(0), field.shape.iter().product());
                let pieces: Vec<&[u8]> =
                    if size == 0 { vec![&[]; count] } else { own.chunks_exact(size).collect() };
                match field.ty {
                    Type::Atomic(Atomic::Char) => Value::Atomic(Values::Char(own.to_vec())),
                    Type::Atomic(_) => Value::Atomic(list(model, element, field.ty, &pieces)),
                    Type::User(id) if field.shape.is_empty() => nested(model, id, element, own),
                    Type::User(id) => {
                        Value::Array(pieces.iter().map(|bytes| nested(model, id, element, bytes)).collect())
                    }
                }
            });
            Value::Compound(each.collect())
        }
        _ => Value::Opaque(bytes.to_vec()),
    }
}
