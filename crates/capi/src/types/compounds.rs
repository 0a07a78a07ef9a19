//! Compound types and their fields.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut as no;

use ferrocdf::model::{Class, Field};
use ferrocdf::{Code, Name, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_COMPOUND;
use crate::abi::pointers::{list, put, put_all, put_name, text};
use crate::model::type_numbers::{number_of, user_type};
use crate::open::ids::find_enhanced;
use crate::types::define::{define, inquire, part, wrong_class};

pub unsafe extern "C" fn nc_def_compound(
    ncid: c_int,
    size: usize,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, |_| Ok(Class::Compound { size, fields: vec![] }), id) }
}

pub unsafe extern "C" fn nc_insert_compound(
    ncid: c_int,
    ty: c_int,
    name: *const c_char,
    offset: usize,
    field: c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_insert_array_compound(ncid, ty, name, offset, field, 0, no()) }
}

pub unsafe extern "C" fn nc_insert_array_compound(
    ncid: c_int,
    ty: c_int,
    name: *const c_char,
    offset: usize,
    field: c_int,
    rank: c_int,
    shape: *const c_int,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let (name, shape) =
            unsafe { (Name::new(text(name)?)?, list(shape, usize::try_from(rank).unwrap_or(0))) };
        let state = file.state();
        file.writable()?.define(|model| {
            let (id, ty) = (user_type(model, ty)?, part(model, field)?);
            if let Class::Compound { .. } = model.user_type(id).class {
                state.check_type_open(Type::User(id))?;
            }
            let shape = shape.iter().map(|&len| usize::try_from(len)).collect::<Result<_, _>>();
            let Ok(shape) = shape else { return fail(Code::EINVAL, "a length is negative") };
            match &mut model.user_type_mut(id).class {
                Class::Compound { fields, .. } => fields.push(Field { name, offset, ty, shape, chars: 1 }),
                _ => return wrong_class(),
            }
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_inq_compound(
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    size: *mut usize,
    fields: *mut usize,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { inquire(NC_COMPOUND, ncid, ty, name, size, no(), fields) }
}

/// Looks at the fields of a compound type.
fn with_fields(ncid: c_int, ty: c_int, look: impl FnOnce(&[Field]) -> Result<()>) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        file.file().look(|model| match &model.user_type(user_type(model, ty)?).class {
            Class::Compound { fields, .. } => look(fields),
            _ => wrong_class(),
        })
    })
}

pub unsafe extern "C" fn nc_inq_compound_field(
    ncid: c_int,
    ty: c_int,
    at: c_int,
    name: *mut c_char,
    offset: *mut usize,
    field_type: *mut c_int,
    rank: *mut c_int,
    shape: *mut c_int,
) -> c_int {
    with_fields(ncid, ty, |fields| {
        let Some(field) = usize::try_from(at).ok().and_then(|at| fields.get(at)) else {
            return fail(Code::EBADFIELD, format!("no field has the number {at}"));
        };
        // SAFETY: the contract of the interface.
        unsafe {
            put_name(name, field.name.as_bytes());
            put(offset, field.offset);
            put(field_type, number_of(field.ty));
            put(rank, field.shape.len() as c_int);
            put_all(shape, field.shape.iter().map(|&len| len as c_int));
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_compound_fieldindex(
    ncid: c_int,
    ty: c_int,
    name: *const c_char,
    at: *mut c_int,
) -> c_int {
    with_fields(ncid, ty, |fields| {
        // SAFETY: the contract of the interface.
        let wanted = Name::wanted(unsafe { text(name) }?);
        let Some(found) = fields.iter().position(|field| field.name.as_bytes() == &*wanted) else {
            return fail(Code::EBADFIELD, format!("no field \"{}\"", wanted.escape_ascii()));
        };
        // SAFETY: the contract of the interface.
        unsafe { put(at, found as c_int) };
        Ok(())
    })
}
