//! Values that are trees, as C programs have them in memory: strings and lists in memory of `malloc`, fields at the
//! offsets of their type. [`lay_out`] makes them, [`gather`] reads them.
//!
//! The decision that shaped it: memory is zero before anything is put into it, and the memory of a list is part of the
//! whole before its elements are made. So whatever fails, [`reclaim`] frees just what was made.

use std::ffi::c_char;

use ferrocdf::model::{Class, Field, TypeId, Value};
use ferrocdf::{Atomic, Code, Error, Model, Result, Type, Values};

use crate::abi::answer::fail;
use crate::abi::memory::{NcVlen, allocate, copy_of_text};
use crate::abi::pointers::{Str, list};
use crate::values::number_bytes::{bytes, bytes_mut, number_of_bytes, zeros};
use crate::values::owned::{count_of, read_list, reclaim};

/// Lays values out in memory for just them. If that fails, nothing is left to be freed.
pub(crate) fn lay_out(model: &Model, values: &Values, room: &mut [u8]) -> Result<()> {
    room.fill(0);
    let ty = values.ty();
    let done = match values {
        Values::User(id, list) => each(model, *id, list, room),
        atomic => lay_atomic(atomic, room),
    };
    done.inspect_err(|_| {
        // SAFETY: the memory holds as many values as fit into it; what hangs from them was made here, the rest is zero.
        let freed = unsafe {
            let count = room.len() / model.size_of(ty).max(1);
            reclaim(model, ty, room.as_mut_ptr(), count)
        };
        debug_assert!(freed.is_ok());
        room.fill(0);
    })
}

/// Values that C programs have in memory.
///
/// # Safety
/// There are `count` values of the type, and what hangs from them is as the type says.
pub(crate) unsafe fn gather(model: &Model, ty: Type, from: *const u8, count: usize) -> Result<Values> {
    // SAFETY: there are `count` values of the type, as the caller says.
    unsafe {
        match ty {
            Type::Atomic(atomic) => gather_atomic(atomic, from, count),
            Type::User(id) => gather_each(model, id, from, count).map(|list| Values::User(id, list)),
        }
    }
}

/// # Safety
/// That of [`gather`].
unsafe fn gather_atomic(atomic: Atomic, from: *const u8, count: usize) -> Result<Values> {
    if atomic == Atomic::String {
        // SAFETY: there are as many pointers; a null pointer is a string too.
        let string = |at: usize| unsafe {
            let string = from.cast::<*const c_char>().add(at).read_unaligned();
            Str::new(string).c_str().map(|text| text.to_bytes().to_vec())
        };
        return Ok(Values::String((0..count).map(string).collect()));
    }
    let mut values = zeros(atomic, count)?;
    // SAFETY: a number or a character has `atomic.size()` bytes, and there are `count`.
    bytes_mut(&mut values).copy_from_slice(unsafe { list(from, count * atomic.size()) });
    Ok(values)
}

/// # Safety
/// That of [`gather`].
unsafe fn gather_each(model: &Model, id: TypeId, from: *const u8, count: usize) -> Result<Vec<Value>> {
    let size = model.size_of(Type::User(id));
    // SAFETY: each is one of the values.
    (0..count).map(|at| unsafe { gather_value(model, id, from.add(at * size)) }).collect()
}

/// # Safety
/// That of [`gather`], for one value.
unsafe fn gather_value(model: &Model, id: TypeId, from: *const u8) -> Result<Value> {
    // SAFETY: `from` is one value of the type; a field lies within its compound.
    unsafe {
        match &model.user_type(id).class {
            Class::Compound { size, fields } => {
                let field = |field| gather_field(model, field, from, *size);
                fields.iter().map(field).collect::<Result<_>>().map(Value::Compound)
            }
            Class::Vlen(base) => {
                let list = read_list(from)?;
                Ok(Value::Vlen(match gather(model, *base, list.values.cast(), list.len)? {
                    Values::User(_, values) => values,
                    values => vec![Value::Atomic(values)],
                }))
            }
            Class::Opaque(size) => Ok(Value::Opaque(list(from, *size).to_vec())),
            Class::Enum { base, .. } => number_of_bytes(*base, list(from, base.size())).map(Value::Enum),
        }
    }
}

/// # Safety
/// That of [`gather`], for one value of `size` bytes.
unsafe fn gather_field(model: &Model, field: &Field, from: *const u8, size: usize) -> Result<Value> {
    let count = count_of(field);
    let bytes = model.size_of(field.ty).checked_mul(count);
    if bytes.and_then(|bytes| field.offset.checked_add(bytes)).is_none_or(|end| end > size) {
        return fail(Code::EBADTYPE, format!("field \"{}\" lies outside its type", field.name));
    }
    // SAFETY: the elements of the field end within the `size` bytes of the compound, as was just checked.
    let values = unsafe { gather(model, field.ty, from.add(field.offset), count) }?;
    Ok(match values {
        Values::User(_, mut list) if field.shape.is_empty() => match list.pop() {
            Some(value) => value,
            None => return Err(mismatch()),
        },
        Values::User(_, list) => Value::Array(list),
        values => Value::Atomic(values),
    })
}

fn mismatch() -> Error {
    Error::new(Code::EBADTYPE, "a value is not of the type that it should have")
}

/// The room of as many values of a size; fails if there is another number.
fn pieces(room: &mut [u8], size: usize, count: usize) -> Result<impl Iterator<Item = &mut [u8]>> {
    match size.checked_mul(count) {
        Some(bytes) if bytes == room.len() && size > 0 => Ok(room.chunks_exact_mut(size)),
        _ => Err(mismatch()),
    }
}

fn lay_atomic(values: &Values, room: &mut [u8]) -> Result<()> {
    let Values::String(strings) = values else {
        let bytes = bytes(values);
        if bytes.len() != room.len() {
            return Err(mismatch());
        }
        room.copy_from_slice(bytes);
        return Ok(());
    };
    for (string, room) in strings.iter().zip(pieces(room, Atomic::String.size(), strings.len())?) {
        if let Some(string) = string {
            let string = copy_of_text(string)?;
            // SAFETY: there is room for a pointer.
            unsafe { room.as_mut_ptr().cast::<*mut c_char>().write_unaligned(string) };
        }
    }
    Ok(())
}

fn each(model: &Model, id: TypeId, values: &[Value], room: &mut [u8]) -> Result<()> {
    let rooms = pieces(room, model.size_of(Type::User(id)), values.len())?;
    values.iter().zip(rooms).try_for_each(|(value, room)| lay_value(model, id, value, room))
}

fn lay_value(model: &Model, id: TypeId, value: &Value, room: &mut [u8]) -> Result<()> {
    match (&model.user_type(id).class, value) {
        (Class::Compound { fields, .. }, Value::Compound(values)) if fields.len() == values.len() => {
            fields.iter().zip(values).try_for_each(|(field, value)| lay_field(model, field, value, room))
        }
        (Class::Vlen(base), Value::Vlen(values)) => lay_list(model, *base, values, room),
        (Class::Opaque(_), Value::Opaque(bytes)) if bytes.len() == room.len() => {
            room.copy_from_slice(bytes);
            Ok(())
        }
        (Class::Enum { .. }, Value::Enum(number)) => {
            let (low, high) = (number.to_le_bytes(), number.to_be_bytes());
            let size = room.len();
            let bytes = if cfg!(target_endian = "big") { &high[high.len() - size..] } else { &low[..size] };
            room.copy_from_slice(bytes);
            Ok(())
        }
        _ => Err(mismatch()),
    }
}

fn lay_field(model: &Model, field: &Field, value: &Value, room: &mut [u8]) -> Result<()> {
    let size = model.size_of(field.ty).checked_mul(count_of(field));
    let end = size.and_then(|size| field.offset.checked_add(size));
    let Some(room) = end.and_then(|end| room.get_mut(field.offset..end)) else {
        return fail(Code::EBADTYPE, format!("field \"{}\" lies outside its type", field.name));
    };
    match (field.ty, value) {
        (Type::Atomic(atomic), Value::Atomic(values)) if values.atomic() == Some(atomic) => {
            lay_atomic(values, room)
        }
        (Type::User(id), Value::Array(values)) => each(model, id, values, room),
        (Type::User(id), value) if count_of(field) == 1 => lay_value(model, id, value, room),
        _ => Err(mismatch()),
    }
}

fn lay_list(model: &Model, base: Type, values: &[Value], room: &mut [u8]) -> Result<()> {
    let len = match (base, values) {
        (Type::User(_), values) => values.len(),
        (Type::Atomic(atomic), [Value::Atomic(values)]) if values.atomic() == Some(atomic) => values.len(),
        (Type::Atomic(_), []) => 0,
        _ => return Err(mismatch()),
    };
    if len == 0 {
        return Ok(());
    }
    if room.len() != size_of::<NcVlen>() {
        return Err(mismatch());
    }
    let Some(size) = len.checked_mul(model.size_of(base)) else {
        return fail(Code::ENOMEM, format!("no memory for a list of {len} elements"));
    };
    let place = allocate::<u8>(size)?;
    let list = NcVlen { len, values: place.cast() };
    // SAFETY: there is room for a list; the new memory is `size` bytes, all zero, and nobody else's yet.
    let elements = unsafe {
        room.as_mut_ptr().cast::<NcVlen>().write_unaligned(list);
        std::slice::from_raw_parts_mut(place, size)
    };
    match (base, values) {
        (Type::User(id), values) => each(model, id, values, elements),
        (Type::Atomic(_), [Value::Atomic(values)]) => lay_atomic(values, elements),
        (Type::Atomic(_), _) => Err(mismatch()),
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf::model::UserType;
    use ferrocdf::{Format, GroupId, Name};

    use super::*;

    fn field(name: &str, offset: usize, ty: Type, shape: &[usize]) -> Field {
        Field { name: Name::new(name).unwrap(), offset, ty, shape: shape.to_vec(), chars: 1 }
    }

    /// A list of compounds of a string, two lists of bytes and an enumeration.
    fn model() -> (Model, TypeId) {
        let mut model = Model::new(Format::NETCDF4);
        let mut add = |name: &str, class: Class| {
            let ty = UserType { name: Name::new(name).unwrap(), group: GroupId::ROOT, class };
            model.def_type(ty).unwrap()
        };
        let bytes = add("bytes", Class::Vlen(Atomic::Ubyte.into()));
        let colour = add("colour", Class::Enum { base: Atomic::Short, members: vec![] });
        let fields = vec![
            field("s", 0, Atomic::String.into(), &[]),
            field("l", 8, Type::User(bytes), &[2]),
            field("c", 40, Type::User(colour), &[]),
        ];
        let mixed = add("mixed", Class::Compound { size: 48, fields });
        let lists = add("lists", Class::Vlen(Type::User(mixed)));
        (model, lists)
    }

    fn mixed(text: Option<&str>, bytes: &[u8], last: Value) -> Value {
        let list = |bytes: &[u8]| Value::Vlen(vec![Value::Atomic(Values::Ubyte(bytes.to_vec()))]);
        let text = text.map(|text| text.as_bytes().to_vec());
        Value::Compound(vec![
            Value::Atomic(Values::String(vec![text])),
            Value::Array(vec![list(bytes), Value::Vlen(vec![])]),
            last,
        ])
    }

    #[test]
    fn a_tree_lies_in_memory_as_c_has_it() {
        let (model, lists) = model();
        let values =
            vec![mixed(Some("ab"), &[1, 2, 3], Value::Enum(-2)), mixed(None, &[], Value::Enum(0x102))];
        let values = Values::User(lists, vec![Value::Vlen(values), Value::Vlen(vec![])]);
        let mut room = [NcVlen { len: 7, values: std::ptr::null_mut() }; 2];
        // SAFETY: the memory is that of two lists.
        let bytes = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<u8>(), 32) };
        lay_out(&model, &values, bytes).unwrap();
        assert_eq!((room[0].len, room[1].len, room[1].values.is_null()), (2, 0, true));
        #[repr(C)]
        struct Mixed {
            text: *const c_char,
            lists: [NcVlen; 2],
            colour: i16,
        }
        // SAFETY: the first list has two elements, and they lie as the structure says.
        unsafe {
            let made = std::slice::from_raw_parts(room[0].values.cast::<Mixed>(), 2);
            assert_eq!(std::ffi::CStr::from_ptr(made[0].text), c"ab");
            let list = std::slice::from_raw_parts(made[0].lists[0].values.cast::<u8>(), made[0].lists[0].len);
            assert_eq!((list, made[0].lists[1].len, made[0].colour), (&[1, 2, 3][..], 0, -2));
            assert_eq!((made[1].text.is_null(), made[1].lists[0].len, made[1].colour), (true, 0, 0x102));
            let again = gather(&model, Type::User(lists), room.as_ptr().cast(), 2).unwrap();
            let mut second = [NcVlen { len: 7, values: std::ptr::null_mut() }; 2];
            let bytes = std::slice::from_raw_parts_mut(second.as_mut_ptr().cast::<u8>(), 32);
            lay_out(&model, &again, bytes).unwrap();
            assert_eq!(gather(&model, Type::User(lists), bytes.as_ptr(), 2).unwrap(), again);
            assert!(format!("{again:?}").contains("Enum(-2)"), "{again:?}");
            reclaim(&model, Type::User(lists), second.as_mut_ptr().cast(), 2).unwrap();
            reclaim(&model, Type::User(lists), room.as_mut_ptr().cast(), 2).unwrap();
        }
    }

    #[test]
    fn what_does_not_fit_leaves_nothing_behind() {
        let (model, lists) = model();
        let good = mixed(Some("made before"), &[1], Value::Enum(1));
        for bad in [Value::Opaque(vec![1]), Value::Vlen(vec![]), Value::Atomic(Values::Short(vec![1]))] {
            let list = Value::Vlen(vec![good.clone(), mixed(Some("made too"), &[2], bad)]);
            let mut room = [0x55; 16];
            let done = lay_out(&model, &Values::User(lists, vec![list]), &mut room);
            assert_eq!(done.unwrap_err().code, Code::EBADTYPE);
        }
        let one = Values::User(lists, vec![Value::Vlen(vec![])]);
        assert_eq!(lay_out(&model, &one, &mut [0; 15]).unwrap_err().code, Code::EBADTYPE);
    }
}
