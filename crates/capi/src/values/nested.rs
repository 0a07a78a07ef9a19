//! Nested values in the memory of C: the flat bytes of `ferrocdf::nested`, with pointers to memory from `malloc` in the
//! slots.
//!
//! Memory is zero before it is filled, and a list is linked before its elements are created. So after any failure
//! [`reclaim`] frees exactly the memory that was allocated.

use std::ffi::c_char;

use ferrocdf::nested::{self, NestedReader, NestedWriter};
use ferrocdf::{Code, Model, Result, Type, Values};

use crate::abi::answer::fail;
use crate::abi::memory::{NcVlen, allocate, copy_of_text};
use crate::abi::pointers::{Str, list};
use crate::values::owned::{read_list, reclaim};

/// Writer of strings and lists to memory from `malloc`.
struct Allocated;

impl NestedWriter<'static> for Allocated {
    fn put_string(&mut self, slot: &mut [u8], text: &[u8]) -> Result<()> {
        let string = copy_of_text(text)?;
        store(slot, string);
        Ok(())
    }

    fn put_list(&mut self, slot: &mut [u8], len: usize, size: usize) -> Result<&'static mut [u8]> {
        let Some(bytes) = len.checked_mul(size) else {
            return fail(Code::ENOMEM, format!("no memory for a list of {len} elements"));
        };
        let values = allocate::<u8>(bytes)?;
        store(slot, NcVlen { len, values: values.cast() });
        // SAFETY: the new memory has at least `bytes` bytes, all zero; the caller of the library gets it only after it
        // is filled.
        Ok(unsafe { std::slice::from_raw_parts_mut(values, bytes) })
    }
}

/// Stores the value of a slot, which may be unaligned.
fn store<T: Copy>(slot: &mut [u8], value: T) {
    assert_eq!(slot.len(), size_of::<T>());
    // SAFETY: the slot has as many bytes as the value.
    unsafe { slot.as_mut_ptr().cast::<T>().write_unaligned(value) }
}

/// Lays out values in memory of exactly their size. After a failure nothing is left to free.
pub(crate) fn lay_out(model: &Model, values: &Values, room: &mut [u8]) -> Result<()> {
    nested::lay_out(model, values, room, &mut Allocated).inspect_err(|_| {
        let ty = values.ty();
        let count = room.len() / model.size_of(ty).max(1);
        // SAFETY: `room` has `count` values; their strings and lists were allocated here, all else is zero.
        let freed = unsafe { reclaim(model, ty, room.as_mut_ptr(), count) };
        debug_assert!(freed.is_ok());
        room.fill(0);
    })
}

/// Reader of strings and lists in the memory of C. Created only if the slots are valid for the type.
struct OfCaller;

impl NestedReader for OfCaller {
    fn string(&self, slot: &[u8]) -> Result<Option<&[u8]>> {
        assert_eq!(slot.len(), size_of::<*const c_char>());
        // SAFETY: the slot is a pointer, null or to text that ends in a zero byte.
        let text = unsafe { Str::new(slot.as_ptr().cast::<*const c_char>().read_unaligned()) };
        Ok(text.c_str().map(|text| text.to_bytes()))
    }

    fn list(&self, slot: &[u8], size: usize) -> Result<&[u8]> {
        assert_eq!(slot.len(), size_of::<NcVlen>());
        // SAFETY: the slot is one list, with memory for its elements or none.
        unsafe {
            let NcVlen { len, values } = read_list(slot.as_ptr())?;
            Ok(list(values.cast::<u8>(), len * size))
        }
    }
}

/// Reads values from the memory of C.
///
/// # Safety
/// `from` is null or has `count` values of the type, whose strings and lists are valid.
pub(crate) unsafe fn gather(model: &Model, ty: Type, from: *const u8, count: usize) -> Result<Values> {
    // SAFETY: `from` has `count` values, as the caller says.
    let from = unsafe { list(from, count * model.size_of(ty)) };
    nested::gather(model, ty, from, &OfCaller)
}

#[cfg(test)]
mod tests {
    use ferrocdf::model::{Class, Field, TypeId, UserType, Value};
    use ferrocdf::{Atomic, Format, GroupId, Name};

    use super::*;

    fn field(name: &str, offset: usize, ty: Type, shape: &[usize]) -> Field {
        Field { name: Name::new(name).unwrap(), offset, ty, shape: shape.to_vec(), chars: 1 }
    }

    /// Returns a list of compounds of a string, two lists of bytes and an enumeration.
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
