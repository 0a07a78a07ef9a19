//! Compound types and their fields.

use std::ffi::c_int;
use std::ptr::null_mut as no;

use ferrocdf::model::{Class, Field};
use ferrocdf::{Code, Name, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_COMPOUND;
use crate::abi::pointers::{NameOut, Out, Str, list, put_all};
use crate::model::type_numbers::{number_of, user_type};
use crate::open::ids::find_enhanced;
use crate::types::define::{define, inquire, part, wrong_class};

pub extern "C" fn nc_def_compound(ncid: c_int, size: usize, name: Str, id: Out<c_int>) -> c_int {
    define(ncid, name, |_| Ok(Class::Compound { size, fields: vec![] }), id)
}

pub extern "C" fn nc_insert_compound(
    ncid: c_int,
    ty: c_int,
    name: Str,
    offset: usize,
    field: c_int,
) -> c_int {
    // SAFETY: a field of rank 0 has no lengths, so null is valid.
    unsafe { nc_insert_array_compound(ncid, ty, name, offset, field, 0, no()) }
}

/// # Safety
/// `shape` is null or has `rank` lengths.
pub unsafe extern "C" fn nc_insert_array_compound(
    ncid: c_int,
    ty: c_int,
    name: Str,
    offset: usize,
    field: c_int,
    rank: c_int,
    shape: *const c_int,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        // SAFETY: `shape` is null or has `rank` lengths.
        let (name, shape) =
            unsafe { (Name::new(name.bytes()?)?, list(shape, usize::try_from(rank).unwrap_or(0))) };
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

pub extern "C" fn nc_inq_compound(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    fields: Out<usize>,
) -> c_int {
    inquire(NC_COMPOUND, ncid, ty, name, size, Out::NULL, fields)
}

/// Calls `look` with the fields of a compound type.
fn with_fields(ncid: c_int, ty: c_int, look: impl FnOnce(&[Field]) -> Result<()>) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        file.file().look(|model| match &model.user_type(user_type(model, ty)?).class {
            Class::Compound { fields, .. } => look(fields),
            _ => wrong_class(),
        })
    })
}

/// # Safety
/// `shape` is null or has room for a length for each dimension of the field.
pub unsafe extern "C" fn nc_inq_compound_field(
    ncid: c_int,
    ty: c_int,
    at: c_int,
    name: NameOut,
    offset: Out<usize>,
    field_type: Out<c_int>,
    rank: Out<c_int>,
    shape: *mut c_int,
) -> c_int {
    with_fields(ncid, ty, |fields| {
        let Some(field) = usize::try_from(at).ok().and_then(|at| fields.get(at)) else {
            return fail(Code::EBADFIELD, format!("no field has the number {at}"));
        };
        name.put(field.name.as_bytes());
        offset.put(field.offset);
        field_type.put(number_of(field.ty));
        rank.put(field.shape.len() as c_int);
        // SAFETY: `shape` is null or has room for a length for each dimension of the field (`nc_inq_compound_fieldndims`).
        unsafe { put_all(shape, field.shape.iter().map(|&len| len as c_int)) };
        Ok(())
    })
}

pub extern "C" fn nc_inq_compound_fieldindex(ncid: c_int, ty: c_int, name: Str, at: Out<c_int>) -> c_int {
    with_fields(ncid, ty, |fields| {
        let wanted = Name::wanted(name.bytes()?);
        let Some(found) = fields.iter().position(|field| field.name.as_bytes() == &*wanted) else {
            return fail(Code::EBADFIELD, format!("no field \"{}\"", wanted.escape_ascii()));
        };
        at.put(found as c_int);
        Ok(())
    })
}
