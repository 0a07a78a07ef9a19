//! Numbers and text of the model as bytes of memory.

use ferrocdf::{Atomic, Code, Result, Values};

use crate::abi::answer::fail;

/// Room for numbers or text.
pub(crate) fn zeros(atomic: Atomic, count: usize) -> Result<Values> {
    fn resize<T: Default + Clone>(list: &mut Vec<T>, count: usize) -> Result<()> {
        if list.try_reserve_exact(count).is_err() {
            return fail(Code::ENOMEM, format!("no memory for {count} values"));
        }
        list.resize(count, T::default());
        Ok(())
    }
    let mut values = Values::empty(atomic);
    match &mut values {
        Values::Char(text) => resize(text, count)?,
        numbers => ferrocdf::model::each_numbers!(numbers, list => resize(list, count)?, _ => {}),
    }
    Ok(values)
}

/// The bytes of numbers or text; none of other values.
pub(crate) fn bytes_mut(values: &mut Values) -> &mut [u8] {
    match values {
        Values::Char(text) => text,
        numbers => {
            ferrocdf::model::each_numbers!(numbers, list => bytemuck::cast_slice_mut(list), _ => &mut [])
        }
    }
}

/// The bytes of numbers or text; none of other values.
pub(crate) fn bytes(values: &Values) -> &[u8] {
    match values {
        Values::Char(text) => text,
        numbers => ferrocdf::model::each_numbers!(numbers, list => bytemuck::cast_slice(list), _ => &[]),
    }
}

/// The number that the bytes of one integer in memory are.
pub(crate) fn number_of_bytes(atomic: Atomic, given: &[u8]) -> Result<i128> {
    let mut values = zeros(atomic, 1)?;
    if given.len() != atomic.size() {
        return fail(Code::EINVAL, "the value is a null pointer");
    }
    bytes_mut(&mut values).copy_from_slice(given);
    Ok(match values {
        Values::Byte(list) => list[0].into(),
        Values::Ubyte(list) => list[0].into(),
        Values::Short(list) => list[0].into(),
        Values::Ushort(list) => list[0].into(),
        Values::Int(list) => list[0].into(),
        Values::Uint(list) => list[0].into(),
        Values::Int64(list) => list[0].into(),
        Values::Uint64(list) => list[0].into(),
        _ => return fail(Code::EBADTYPE, format!("{atomic} is no integer")),
    })
}
