//! Values in the caller's memory that own other memory: strings, lists, and compounds that hold them. Here they are
//! copied and given back.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use ferrocdf::model::Class;
use ferrocdf::{Atomic, Code, Format, Model, Result, Type};

use crate::boundary::{answer, fail, put, text};
use crate::c_memory::{copy_text, free, room};
use crate::groups::find_enhanced;
use crate::types::{NcVlen, number_of, size_of_type, type_of, user_type};

/// The type with a number, and a model that has it. Atomic types need no file.
fn find_type(ncid: c_int, number: c_int) -> Result<(Arc<Model>, Type)> {
    if number > number_of(Atomic::String.into()) {
        let model = find_enhanced(ncid)?.0.model();
        let id = user_type(&model, number)?;
        return Ok((model, Type::User(id)));
    }
    Ok((Arc::new(Model::new(Format::Classic)), type_of(number)?))
}

/// The type with a number, to be copied: the numbers between atomic and user-defined types are found to be none first.
pub(crate) fn find_copied(ncid: c_int, number: c_int) -> Result<(Arc<Model>, Type)> {
    type_of(number)?;
    find_type(ncid, number)
}

/// Checks the arguments that all functions have. `false` if there is nothing to do.
pub(crate) fn check(ncid: c_int, ty: c_int, memory: *const c_void, count: usize) -> Result<bool> {
    if ncid < 0 || ty <= 0 || (memory.is_null() && count > 0) {
        return fail(Code::EINVAL, format!("id {ncid}, type {ty}, {count} values at {memory:?}"));
    }
    Ok(!memory.is_null() && count > 0)
}

/// Calls `visit` with the type and place of each part of a compound value.
fn parts(
    model: &Model,
    fields: &[ferrocdf::model::Field],
    mut visit: impl FnMut(Type, usize) -> Result<()>,
) -> Result<()> {
    for field in fields {
        let size = size_of_type(model, field.ty);
        for at in 0..field.shape.iter().product() {
            visit(field.ty, field.offset + at * size)?;
        }
    }
    Ok(())
}

/// Gives back what a value owns.
///
/// # Safety
/// A value of the type is at `place`, and what it owns is from `malloc` and not used any more.
pub(crate) unsafe fn reclaim(model: &Model, ty: Type, place: *mut u8) -> Result<()> {
    let id = match ty {
        Type::Atomic(Atomic::String) => {
            // SAFETY: as the caller says.
            unsafe { free(place.cast::<*mut c_char>().read_unaligned()) };
            return Ok(());
        }
        Type::Atomic(_) => return Ok(()),
        Type::User(id) => id,
    };
    match &model.user_type(id).class {
        Class::Opaque(_) | Class::Enum { .. } => Ok(()),
        Class::Vlen(base) => {
            // SAFETY: as the caller says.
            let list = unsafe { place.cast::<NcVlen>().read_unaligned() };
            let size = size_of_type(model, *base);
            for at in 0..if list.values.is_null() { 0 } else { list.len } {
                // SAFETY: the list has that many values.
                unsafe { reclaim(model, *base, list.values.cast::<u8>().add(at * size)) }?;
            }
            // SAFETY: as the caller says.
            unsafe { free(list.values) };
            Ok(())
        }
        // SAFETY: fields are inside the value.
        Class::Compound { fields, .. } => {
            parts(model, fields, |ty, at| unsafe { reclaim(model, ty, place.add(at)) })
        }
    }
}

/// Copies a value with all that it owns.
///
/// # Safety
/// A value of the type is at `from`, and there is room for one at `to`.
pub(crate) unsafe fn copy(model: &Model, ty: Type, from: *const u8, to: *mut u8) -> Result<()> {
    // What the value owns is put in the place of the original's below.
    // SAFETY: as the caller says.
    unsafe { from.copy_to_nonoverlapping(to, size_of_type(model, ty)) };
    let id = match ty {
        Type::Atomic(Atomic::String) => {
            // SAFETY: as the caller says.
            let string = unsafe { from.cast::<*const c_char>().read_unaligned() };
            if !string.is_null() {
                // SAFETY: as the caller says.
                unsafe { to.cast::<*mut c_char>().write_unaligned(copy_text(text(string)?)?) };
            }
            return Ok(());
        }
        Type::Atomic(_) => return Ok(()),
        Type::User(id) => id,
    };
    match &model.user_type(id).class {
        Class::Opaque(_) | Class::Enum { .. } => Ok(()),
        Class::Vlen(base) => {
            // SAFETY: as the caller says.
            let list = unsafe { from.cast::<NcVlen>().read_unaligned() };
            if list.values.is_null() {
                return Ok(());
            }
            let size = size_of_type(model, *base);
            let values = room::<u8>(list.len.saturating_mul(size))?;
            // SAFETY: as the caller says.
            unsafe { to.cast::<NcVlen>().write_unaligned(NcVlen { len: list.len, values: values.cast() }) };
            (0..list.len).try_for_each(|at| {
                // SAFETY: both lists have that many values.
                unsafe { copy(model, *base, list.values.cast::<u8>().add(at * size), values.add(at * size)) }
            })
        }
        // SAFETY: fields are inside the values.
        Class::Compound { fields, .. } => {
            parts(model, fields, |ty, at| unsafe { copy(model, ty, from.add(at), to.add(at)) })
        }
    }
}

/// Copies values one after the other.
unsafe fn copy_all(
    (model, ty): (&Model, Type),
    from: *const c_void,
    count: usize,
    to: *mut c_void,
) -> Result<()> {
    let size = size_of_type(model, ty);
    (0..count).try_for_each(|at| {
        // SAFETY: as the caller says, both have room for all values.
        unsafe { copy(model, ty, from.cast::<u8>().add(at * size), to.cast::<u8>().add(at * size)) }
    })
}

/// The functions of `netcdf.h`, and their older names in `netcdf_aux.h`.
macro_rules! functions {
    ($reclaim:ident, $reclaim_all:ident, $copy:ident, $copy_all:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $reclaim(
            ncid: c_int,
            ty: c_int,
            memory: *mut c_void,
            count: usize,
        ) -> c_int {
            // SAFETY: the contract of the interface.
            answer(|| unsafe { reclaim_all(ncid, ty, memory, count) })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $reclaim_all(
            ncid: c_int,
            ty: c_int,
            memory: *mut c_void,
            count: usize,
        ) -> c_int {
            answer(|| {
                // SAFETY: the contract of the interface.
                unsafe {
                    reclaim_all(ncid, ty, memory, count)?;
                    free(memory);
                }
                Ok(())
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $copy(
            ncid: c_int,
            ty: c_int,
            memory: *const c_void,
            count: usize,
            place: *mut c_void,
        ) -> c_int {
            answer(|| {
                if !check(ncid, ty, memory, count)? {
                    return Ok(());
                }
                if place.is_null() {
                    return fail(Code::EINVAL, "the memory for the copy is a null pointer");
                }
                let (model, ty) = find_copied(ncid, ty)?;
                // SAFETY: the contract of the interface.
                unsafe { copy_all((&model, ty), memory, count, place) }
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $copy_all(
            ncid: c_int,
            ty: c_int,
            memory: *const c_void,
            count: usize,
            place: *mut *mut c_void,
        ) -> c_int {
            answer(|| {
                let (model, found) = find_copied(ncid, ty)?;
                let wanted = check(ncid, ty, memory, count)?;
                let values = room::<u8>(count.saturating_mul(size_of_type(&model, found)))?.cast();
                // SAFETY: the contract of the interface.
                unsafe {
                    put(place, values);
                    if wanted { copy_all((&model, found), memory, count, values) } else { Ok(()) }
                }
            })
        }
    };
}

functions!(nc_reclaim_data, nc_reclaim_data_all, nc_copy_data, nc_copy_data_all);
functions!(ncaux_reclaim_data, ncaux_reclaim_data_all, ncaux_copy_data, ncaux_copy_data_all);

/// Gives back what values own.
unsafe fn reclaim_all(ncid: c_int, ty: c_int, memory: *mut c_void, count: usize) -> Result<()> {
    if !check(ncid, ty, memory, count)? {
        return Ok(());
    }
    let (model, ty) = find_type(ncid, ty)?;
    let size = size_of_type(&model, ty);
    (0..count).try_for_each(|at| {
        // SAFETY: as the caller says.
        unsafe { reclaim(&model, ty, memory.cast::<u8>().add(at * size)) }
    })
}
