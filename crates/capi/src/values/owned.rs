//! Freeing and copying of values of any type with their strings and lists.
//!
//! Values have the layout of C: strings are pointers, vlens are [`NcVlen`], compounds have their fields at the offsets
//! of the type. Atomic types do not need a file, so any id is valid for them, as in netCDF-C.

use std::ffi::c_char;

use ferrocdf::model::Class;
use ferrocdf::nested::elements_of;
use ferrocdf::{Code, Model, Result, Type};

use crate::abi::answer::fail;
use crate::abi::memory::{NcVlen, allocate, copy_of_text, free};
use crate::abi::pointers::Str;

/// Frees the strings and lists of values.
///
/// # Safety
/// `values` has `count` values of the type, whose strings and lists are from `malloc`.
pub(crate) unsafe fn reclaim(model: &Model, ty: Type, values: *mut u8, count: usize) -> Result<()> {
    if model.is_flat(ty) {
        return Ok(());
    }
    let size = model.size_of(ty);
    for at in 0..count {
        // SAFETY: the pointer is to one of the values.
        let value = unsafe { values.add(at * size) };
        // SAFETY: `value` is one value of the type; a field lies within its compound.
        unsafe {
            match ty {
                Type::Atomic(_) => free(value.cast::<*mut c_char>().read_unaligned()),
                Type::User(id) => match &model.user_type(id).class {
                    Class::Vlen(base) => {
                        let list = read_list(value)?;
                        reclaim(model, *base, list.values.cast(), list.len)?;
                        free(list.values);
                    }
                    Class::Compound { fields, .. } => {
                        for field in fields {
                            reclaim(model, field.ty, value.add(field.offset), elements_of(field))?;
                        }
                    }
                    Class::Opaque(_) | Class::Enum { .. } => {}
                },
            }
        }
    }
    Ok(())
}

/// Reads a list. Fails with `NC_EINVAL` for a list that has elements but a null pointer.
///
/// # Safety
/// `value` points to a list.
pub(crate) unsafe fn read_list(value: *const u8) -> Result<NcVlen> {
    // SAFETY: `value` points to an `nc_vlen_t`, possibly unaligned.
    let list = unsafe { value.cast::<NcVlen>().read_unaligned() };
    if list.len > 0 && list.values.is_null() {
        return fail(Code::EINVAL, format!("a list of {} elements is a null pointer", list.len));
    }
    Ok(if list.len == 0 { NcVlen { len: 0, values: std::ptr::null_mut() } } else { list })
}

/// Copies values, and their strings and lists to new memory.
///
/// # Safety
/// `from` has `count` values of the type, and `to` has room for as many.
pub(crate) unsafe fn copy(model: &Model, ty: Type, from: *const u8, to: *mut u8, count: usize) -> Result<()> {
    let size = model.size_of(ty);
    if model.is_flat(ty) {
        // SAFETY: both have `count * size` bytes and do not overlap: the copy is new to the caller.
        unsafe { to.copy_from_nonoverlapping(from, count * size) };
        return Ok(());
    }
    for at in 0..count {
        // SAFETY: both have `count` values; a field lies within its compound.
        unsafe {
            let (from, to) = (from.add(at * size), to.add(at * size));
            match ty {
                Type::Atomic(_) => {
                    let string = from.cast::<*const c_char>().read_unaligned();
                    let copied = if string.is_null() {
                        std::ptr::null_mut()
                    } else {
                        copy_of_text(Str::new(string).bytes()?)?
                    };
                    to.cast::<*mut c_char>().write_unaligned(copied);
                }
                Type::User(id) => match &model.user_type(id).class {
                    Class::Vlen(base) => copy_list(model, *base, from, to)?,
                    Class::Compound { size, fields } => {
                        // The bytes between the fields are copied too.
                        to.copy_from_nonoverlapping(from, *size);
                        for field in fields {
                            let (from, to) = (from.add(field.offset), to.add(field.offset));
                            copy(model, field.ty, from, to, elements_of(field))?;
                        }
                    }
                    Class::Opaque(_) | Class::Enum { .. } => {}
                },
            }
        }
    }
    Ok(())
}

/// # Safety
/// `from` points to a list, and `to` has room for one.
unsafe fn copy_list(model: &Model, base: Type, from: *const u8, to: *mut u8) -> Result<()> {
    // SAFETY: `from` and `to` are one `nc_vlen_t` each; the new memory has as many elements as the list.
    unsafe {
        let list = read_list(from)?;
        let values = if list.len == 0 {
            std::ptr::null_mut()
        } else {
            let values = allocate::<u8>(list.len.saturating_mul(model.size_of(base)))?;
            copy(model, base, list.values.cast(), values, list.len)?;
            values
        };
        to.cast::<NcVlen>().write_unaligned(NcVlen { len: list.len, values: values.cast() });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
