//! From what HDF5 stores to the values of the model.

use ferrocdf_array::{Array, Element, Layout, Out, PastEnd, Selection, read, to_native};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class as Stored, Datatype};
use ferrocdf_hdf5::{Address, Attribute, File, Number, Value as Raw, Values as Decoder};
use ferrocdf_model::{Atomic, Class, Field, Type, Value, Values};
use ferrocdf_store::MemoryBlob;

use crate::elements::{with_number, zeros};

/// What makes values of stored elements. A small file may point to the same bytes again and again, so they may only take
/// some times what the file has and the elements are.
fn decoder<'a>(file: &'a File, datatype: &Datatype, bytes: &[u8]) -> Result<Decoder<'a>> {
    const LEAST: u64 = 32 << 20;
    let (size, stored) = (file.source().blob.size()?, bytes.len() as u64);
    let elements = stored / u64::from(datatype.size.max(1));
    let times = |count: u64, bytes: u64| count.saturating_mul(bytes);
    Ok(Decoder::new(
        file,
        LEAST
            .saturating_add(times(64, size))
            .saturating_add(times(64, stored))
            .saturating_add(times(256, elements)),
    ))
}

fn wrong(what: &str) -> Error {
    Error::new(Code::EHDFERR, format!("the values are not {what}"))
}

/// The integer of an element.
pub(super) fn integer(datatype: &Datatype, bytes: &[u8]) -> Option<i128> {
    use ferrocdf_array::Kind::{Char, F32, F64};
    let number = datatype.number()?;
    if matches!(number.stored.kind, F32 | F64 | Char) {
        return Some(list::<u64>(&number, 1, bytes).ok()?[0].into());
    }
    match number.value(bytes)? {
        Raw::Int(signed) => Some(signed.into()),
        Raw::Uint(unsigned) => Some(unsigned.into()),
        _ => None,
    }
}

/// So many numbers side by side.
fn list<T: Element + Default>(number: &Number, count: usize, bytes: &[u8]) -> Result<Vec<T>> {
    let Number { stored, decoder } = number.clone();
    if decoder.is_none() && stored.kind == T::KIND && bytes.len() == count * size_of::<T>() {
        return Ok(to_native(stored.order, bytes));
    }
    let shape = vec![count as u64];
    let sel = Selection::all(&shape);
    let layout = Layout::Inline(bytes.into());
    let array = Array { shape, stored, decoder, layout, past_end: PastEnd::Error };
    let mut list = zeros(count)?;
    let _exact = read(&MemoryBlob::default(), &array, &sel, Out::new(&mut list))?;
    Ok(list)
}

/// The byte order of numbers; `true` is most significant byte first.
pub(super) fn endian(datatype: &Datatype) -> Option<bool> {
    match &datatype.class {
        Stored::Integer(integer) => Some(integer.order == ByteOrder::Big),
        Stored::Float(float) => Some(float.order == ByteOrder::Big),
        _ => None,
    }
}

/// Whether netCDF stores such elements in the same way: all numbers have as many bytes there, and use all their bits.
pub(super) fn is_as_netcdf_stores(datatype: &Datatype) -> bool {
    let bits = datatype.size.saturating_mul(8);
    match &datatype.class {
        Stored::Integer(integer) => {
            matches!(datatype.size, 1 | 2 | 4 | 8) && u32::from(integer.precision) == bits
        }
        Stored::Float(float) => matches!(datatype.size, 4 | 8) && u32::from(float.precision) == bits,
        Stored::Compound { members } => members.iter().all(|member| is_as_netcdf_stores(&member.datatype)),
        Stored::Enumeration { base, .. } | Stored::Array { base, .. } | Stored::Variable { base, .. } => {
            is_as_netcdf_stores(base)
        }
        // Longer text becomes text of any length.
        Stored::Text(_) => datatype.size == 1,
        _ => true,
    }
}

/// Text up to its first zero byte, as C programs see it.
pub(super) fn c_text(mut text: Vec<u8>) -> Vec<u8> {
    if let Some(end) = text.iter().position(|&byte| byte == 0) {
        text.truncate(end);
    }
    text
}

/// The text of an attribute; empty if it is none.
pub(super) fn text(attribute: &Attribute, file: &File) -> Vec<u8> {
    let list = decoder(file, &attribute.datatype, &attribute.data)
        .and_then(|mut decoder| decoder.list(&attribute.datatype, &attribute.data));
    match list.map(|mut list| list.pop()) {
        Ok(Some(Raw::Text(text) | Raw::String(Some(text)))) => c_text(text),
        _ => vec![],
    }
}

/// The integers of an attribute; none if it holds others.
pub(super) fn integers(attribute: &Attribute) -> Vec<i64> {
    let size = attribute.datatype.size.max(1) as usize;
    let one = |bytes| integer(&attribute.datatype, bytes).and_then(|number| i64::try_from(number).ok());
    attribute.data.chunks_exact(size).map_while(one).collect()
}

/// For each sequence of references of an attribute the last one, as the reference takes it.
pub(super) fn references(file: &File, attribute: &Attribute) -> Result<Vec<Option<Address>>> {
    Ok(scales(file, attribute)?.into_iter().map(|mut list| list.pop()).collect())
}

/// For each dimension the scales that an attribute refers to.
pub(super) fn scales(file: &File, attribute: &Attribute) -> Result<Vec<Vec<Address>>> {
    let list =
        decoder(file, &attribute.datatype, &attribute.data)?.list(&attribute.datatype, &attribute.data)?;
    let referred = |value: Raw| match value {
        Raw::Reference(Some(referred)) => Some(referred.object),
        _ => None,
    };
    let all = |value: Raw| match value {
        Raw::Sequence(list) => list.into_iter().filter_map(referred).collect(),
        other => referred(other).into_iter().collect(),
    };
    Ok(list.into_iter().map(all).collect())
}

/// Numbers side by side, in the C type that holds them.
pub(super) fn numbers(datatype: &Datatype, atomic: Atomic, bytes: &[u8]) -> Result<Values> {
    let number = datatype.number().ok_or_else(|| wrong("numbers"))?;
    let count = bytes.len() / (datatype.size.max(1) as usize);
    with_number!(atomic, variant => list(&number, count, bytes).map(variant),
        char => Err(wrong("numbers")), string => Err(wrong("numbers")))
}

/// Elements side by side as values of a type. `classes` are the user-defined types of the file.
pub(super) fn values(
    file: &File,
    classes: &[Class],
    ty: Type,
    datatype: &Datatype,
    bytes: &[u8],
) -> Result<Values> {
    match ty {
        Type::Atomic(Atomic::Char) => Ok(Values::Char(bytes.to_vec())),
        Type::Atomic(Atomic::String) => {
            atomics(Atomic::String, decoder(file, datatype, bytes)?.list(datatype, bytes)?)
        }
        Type::Atomic(atomic) => numbers(datatype, atomic, bytes),
        Type::User(id) => {
            let list = decoder(file, datatype, bytes)?.list(datatype, bytes)?;
            Ok(Values::User(id, list.into_iter().map(|raw| tree(classes, ty, raw)).collect::<Result<_>>()?))
        }
    }
}

/// A list of values of an atomic type.
fn atomics(atomic: Atomic, list: Vec<Raw>) -> Result<Values> {
    with_number!(atomic, variant => {
        let number = |raw| match raw {
            Raw::Int(number) => Ok(number as _),
            Raw::Uint(number) => Ok(number as _),
            Raw::Float(number) => Ok(number as _),
            _ => Err(wrong("numbers")),
        };
        Ok(variant(list.into_iter().map(number).collect::<Result<_>>()?))
    }, char => {
        let mut all = vec![];
        for raw in list {
            match raw {
                Raw::Text(text) => all.extend(text),
                _ => return Err(wrong("text")),
            }
        }
        Ok(Values::Char(all))
    }, string => {
        let text = |raw| match raw {
            Raw::Text(text) => Ok(Some(c_text(text))),
            Raw::String(text) => Ok(text.map(c_text)),
            _ => Err(wrong("strings")),
        };
        Ok(Values::String(list.into_iter().map(text).collect::<Result<_>>()?))
    })
}

/// A value of any type.
fn tree(classes: &[Class], ty: Type, raw: Raw) -> Result<Value> {
    let id = match ty {
        Type::Atomic(atomic) => return atomics(atomic, vec![raw]).map(Value::Atomic),
        Type::User(id) => id,
    };
    let class = classes.get(id.index()).ok_or_else(|| wrong("of a type of the file"))?;
    match (class, raw) {
        (Class::Compound { fields, .. }, Raw::Compound(members)) if members.len() == fields.len() => {
            let members = fields.iter().zip(members).map(|(of, raw)| field(classes, of, raw));
            Ok(Value::Compound(members.collect::<Result<_>>()?))
        }
        (Class::Vlen(base), Raw::Sequence(list)) => several(classes, *base, list).map(Value::Vlen),
        (Class::Opaque(_), Raw::Bytes(bytes)) => Ok(Value::Opaque(bytes)),
        (Class::Enum { .. }, Raw::Int(number)) => Ok(Value::Enum(number.into())),
        (Class::Enum { .. }, Raw::Uint(number)) => Ok(Value::Enum(number.into())),
        _ => Err(wrong("of the type that they should have")),
    }
}

fn field(classes: &[Class], field: &Field, raw: Raw) -> Result<Value> {
    match (raw, field.shape.is_empty()) {
        (raw, true) => tree(classes, field.ty, raw),
        (Raw::Array(list), false) => {
            let mut list = several(classes, field.ty, list)?;
            match field.ty {
                Type::Atomic(_) => list.pop().ok_or_else(|| wrong("an array")),
                Type::User(_) => Ok(Value::Array(list)),
            }
        }
        _ => Err(wrong("an array")),
    }
}

/// Those of an atomic type are one value, those of a user-defined type one each.
fn several(classes: &[Class], ty: Type, list: Vec<Raw>) -> Result<Vec<Value>> {
    match ty {
        Type::Atomic(atomic) => Ok(vec![Value::Atomic(atomics(atomic, list)?)]),
        Type::User(_) => list.into_iter().map(|raw| tree(classes, ty, raw)).collect(),
    }
}
