//! From stored elements to the values of the model.

use ferrocdf_array::{Array, Out, Selection, read};
use ferrocdf_bytes::{Code, Error, Order, Result};
use ferrocdf_model::{Atomic, Type, Value, Values};
use ferrocdf_store::MemoryBlob;
use ferrocdf_zarr::{ArrayMetadata, DataType, Element, FillValue, Json, without_zeros};
use half::f16;

use super::types::atomic;
use crate::elements::{elements, with_number, zeros};

/// Reads selected elements of a fixed size that are no numbers of netCDF. `array` has them as bytes, or as numbers of one byte.
pub(super) fn of_bytes(array: &Array, element: &Element, ty: Type, selection: &Selection) -> Result<Values> {
    let size = element.data_type.size().unwrap_or(1);
    let count = elements(selection)?;
    let mut selection = selection.clone();
    if array.shape.len() > selection.count.len() {
        selection.start.push(0);
        selection.count.push(size as u64);
        selection.stride.push(1);
    }
    let bytes = count.checked_mul(size);
    let bytes = bytes.ok_or_else(|| Error::new(Code::ENOMEM, format!("no memory for {count} elements")))?;
    let mut stored: Vec<u8> = zeros(bytes)?;
    let _exact = read(&MemoryBlob::default(), array, &selection, Out::new(&mut stored))?;
    // Elements of no bytes: as many empty ones.
    let pieces: Vec<&[u8]> = if size == 0 { vec![&[]; count] } else { stored.chunks_exact(size).collect() };
    Ok(list(element, ty, &pieces))
}

/// Returns the values of elements without a fixed size; `None` stands for one of a missing chunk.
pub(super) fn of_any_size(
    stored: &[Option<Box<[u8]>>],
    element: &Element,
    fill: &FillValue,
    ty: Type,
) -> Result<Values> {
    let fill = match fill {
        FillValue::Value(Json::String(text)) => text.clone().into_bytes(),
        FillValue::Value(json) if element.data_type == DataType::Json => json.to_string().into_bytes(),
        FillValue::Value(_) | FillValue::Undefined | FillValue::Bytes(_) => vec![],
    };
    let bytes = |stored: &'_ Option<Box<[u8]>>| stored.as_deref().unwrap_or(&fill).to_vec();
    match ty {
        Type::Atomic(_) => Ok(Values::String(stored.iter().map(|stored| Some(bytes(stored))).collect())),
        Type::User(id) => {
            let of = match &element.data_type {
                DataType::List(of) => of,
                _ => {
                    &Element { data_type: DataType::Integer { size: 1, signed: false }, order: Order::Little }
                }
            };
            let list = stored.iter().map(|stored| {
                let bytes = bytes(stored);
                let size = of.data_type.size().unwrap_or(1);
                if bytes.len() % size != 0 {
                    let what = format!("a list of {} bytes, and numbers of {size}", bytes.len());
                    return Err(Error::new(Code::EHDFERR, what));
                }
                Ok(Value::Vlen(vec![Value::Atomic(numbers(of, bytes.chunks_exact(size)))]))
            });
            Ok(Values::User(id, list.collect::<Result<_>>()?))
        }
    }
}

/// Returns the value of missing elements, if the metadata has one.
pub(super) fn fill(metadata: &ArrayMetadata, ty: Type) -> Option<Result<Values>> {
    match (&metadata.fill_value, ty) {
        (FillValue::Bytes(bytes), Type::Atomic(Atomic::Char)) => Some(Ok(Values::Char(bytes.clone()))),
        (FillValue::Bytes(bytes), ty) => Some(Ok(list(&metadata.element, ty, &[bytes]))),
        (FillValue::Value(_), ty) => Some(of_any_size(&[None], &metadata.element, &metadata.fill_value, ty)),
        (FillValue::Undefined, _) => None,
    }
}

/// Returns the values of elements.
fn list(element: &Element, ty: Type, stored: &[&[u8]]) -> Values {
    match ty {
        Type::Atomic(Atomic::String) => {
            Values::String(stored.iter().map(|bytes| Some(text(element, bytes))).collect())
        }
        Type::Atomic(_) => numbers(element, stored.iter().copied()),
        Type::User(id) => Values::User(id, stored.iter().map(|bytes| tree(element, bytes)).collect()),
    }
}

/// Returns the text of an element of a fixed size: without the zeros at its end.
fn text(element: &Element, bytes: &[u8]) -> Vec<u8> {
    match element.data_type {
        DataType::FixedText(_) => {
            let char = |unit: &[u8; 4]| match element.order {
                Order::Little => u32::from_le_bytes(*unit),
                Order::Big => u32::from_be_bytes(*unit),
            };
            let chars = bytes.as_chunks().0.iter().map(char);
            let text: String =
                chars.map(|unit| char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            without_zeros(text.as_bytes()).to_vec()
        }
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

/// Returns the value of an element of a user-defined type.
fn tree(element: &Element, bytes: &[u8]) -> Value {
    match &element.data_type {
        DataType::Bool => Value::Enum(i128::from(bytes.first().copied().unwrap_or(0))),
        DataType::Complex(size) => {
            let part = Element { data_type: DataType::Float(*size), order: element.order };
            let parts = bytes.chunks_exact((*size).into());
            Value::Compound(
                parts.map(|bytes| Value::Atomic(numbers(&part, std::iter::once(bytes)))).collect(),
            )
        }
        DataType::Struct(fields) => {
            let mut rest = bytes;
            let field = |field: &ferrocdf_zarr::Field| {
                let size = field.element.data_type.size().unwrap_or(0);
                let count = field.shape.iter().product::<usize>();
                let (own, more) = rest.split_at((size * count).min(rest.len()));
                rest = more;
                let pieces: Vec<&[u8]> =
                    if size == 0 { vec![&[]; count] } else { own.chunks_exact(size).collect() };
                match (&field.element.data_type, atomic(&field.element.data_type)) {
                    (DataType::FixedBytes(_), _) => Value::Atomic(Values::Char(own.to_vec())),
                    (_, Some(atomic)) => Value::Atomic(list(&field.element, atomic.into(), &pieces)),
                    (_, None) if field.shape.is_empty() => tree(&field.element, own),
                    (_, None) => {
                        Value::Array(pieces.iter().map(|bytes| tree(&field.element, bytes)).collect())
                    }
                }
            };
            Value::Compound(fields.iter().map(field).collect())
        }
        _ => Value::Opaque(bytes.to_vec()),
    }
}
