//! Types that files define: compounds, lists of any length, opaque blocks, enumerations. Classic files have none, and
//! answer `NC_ENOTNC4`.

use std::ffi::{c_char, c_int, c_longlong, c_void};
use std::ptr::null_mut as no;

use ferrocdf::model::{Class, Field, UserType};
use ferrocdf::{Atomic, Code, DataModel, Error, Model, Name, Result, Type};

use crate::boundary::{answer, fail, list, put, put_all, put_name, text};
use crate::constants::NC_NOERR;
use crate::memory::NcVlen;
use crate::number_bytes::number_of_bytes;
use crate::open_files::find_enhanced;
use crate::type_numbers::{number_of, type_of, user_type};
use crate::types::{NC_COMPOUND, NC_ENUM, NC_OPAQUE, NC_VLEN, nc_inq_user_type};

/// Defines a type and gives its number.
unsafe fn define(
    ncid: c_int,
    name: *const c_char,
    class: impl FnOnce(&Model) -> Result<Class>,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let name = Name::new(unsafe { text(name) }?)?;
        let _state = file.state();
        if file.file().format().data_model() == DataModel::Netcdf4Classic {
            return fail(Code::ESTRICTNC3, "the classic model has no types of its own");
        }
        file.check_define_mode()?;
        let new = file.writable()?.define(|model| {
            let class = class(model)?;
            if let Class::Compound { size: 0, .. } | Class::Opaque(0) = class {
                return fail(Code::EINVAL, "values of the type have no bytes");
            }
            model.def_type(UserType { name, group, class })
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, number_of(Type::User(new))) };
        Ok(())
    })
}

/// A type that a file has, to be part of another one.
fn part(model: &Model, number: c_int) -> Result<Type> {
    let ty = type_of(number)?;
    if matches!(ty, Type::User(_)) {
        user_type(model, number)?;
    }
    Ok(ty)
}

pub unsafe extern "C" fn nc_def_compound(
    ncid: c_int,
    size: usize,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, |_| Ok(Class::Compound { size, fields: vec![] }), id) }
}

pub unsafe extern "C" fn nc_def_vlen(ncid: c_int, name: *const c_char, base: c_int, id: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, |model| part(model, base).map(Class::Vlen), id) }
}

pub unsafe extern "C" fn nc_def_opaque(
    ncid: c_int,
    size: usize,
    name: *const c_char,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, |_| Ok(Class::Opaque(size)), id) }
}

pub unsafe extern "C" fn nc_def_enum(ncid: c_int, base: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    let class = |_: &Model| match type_of(base)? {
        Type::Atomic(Atomic::Char | Atomic::Float | Atomic::Double | Atomic::String) | Type::User(_) => {
            fail(Code::EBADTYPE, "an enumeration is of integers")
        }
        Type::Atomic(base) => Ok(Class::Enum { base, members: vec![] }),
    };
    // SAFETY: the contract of the interface.
    unsafe { define(ncid, name, class, id) }
}

fn wrong_class<T>() -> Result<T> {
    Err(Error::new(Code::EBADTYPE, "the type is of another class"))
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

pub unsafe extern "C" fn nc_insert_enum(
    ncid: c_int,
    ty: c_int,
    name: *const c_char,
    value: *const c_void,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let name = Name::new(unsafe { text(name) }?)?;
        let state = file.state();
        file.writable()?.define(|model| {
            let id = user_type(model, ty)?;
            if let Class::Enum { .. } = model.user_type(id).class {
                state.check_type_open(Type::User(id))?;
            }
            let Class::Enum { base, members } = &mut model.user_type_mut(id).class else {
                return wrong_class();
            };
            // SAFETY: the contract of the interface: the value is of the base type.
            let bytes = unsafe { list(value.cast::<u8>(), base.size()) };
            members.push((name, number_of_bytes(*base, bytes)?));
            Ok(())
        })
    })
}

/// What [`nc_inq_user_type`] gives, for types of one class.
#[allow(clippy::too_many_arguments)]
unsafe fn inquire(
    wanted: c_int,
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
    count: *mut usize,
) -> c_int {
    let mut class = 0;
    // SAFETY: the contract of the interface.
    let code = unsafe { nc_inq_user_type(ncid, ty, name, size, base, count, &mut class) };
    if code != NC_NOERR || class == wanted { code } else { answer(wrong_class) }
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

pub unsafe extern "C" fn nc_inq_vlen(
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { inquire(NC_VLEN, ncid, ty, name, size, base, no()) }
}

pub unsafe extern "C" fn nc_inq_opaque(ncid: c_int, ty: c_int, name: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { inquire(NC_OPAQUE, ncid, ty, name, size, no(), no()) }
}

pub unsafe extern "C" fn nc_inq_enum(
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    base: *mut c_int,
    size: *mut usize,
    members: *mut usize,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { inquire(NC_ENUM, ncid, ty, name, size, base, members) }
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

/// Looks at the members of an enumeration.
fn with_members(ncid: c_int, ty: c_int, look: impl FnOnce(Atomic, &[(Name, i128)]) -> Result<()>) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        file.file().look(|model| match &model.user_type(user_type(model, ty)?).class {
            Class::Enum { base, members } => look(*base, members),
            _ => wrong_class(),
        })
    })
}

pub unsafe extern "C" fn nc_inq_enum_member(
    ncid: c_int,
    ty: c_int,
    at: c_int,
    name: *mut c_char,
    value: *mut c_void,
) -> c_int {
    with_members(ncid, ty, |base, members| {
        let Some((found, number)) = usize::try_from(at).ok().and_then(|at| members.get(at)) else {
            return fail(Code::EINVAL, format!("no member has the number {at}"));
        };
        let bytes = number.to_le_bytes();
        // SAFETY: the contract of the interface: there is room for a value of the base type.
        unsafe {
            put_name(name, found.as_bytes());
            put_all(value.cast::<u8>(), native(&bytes[..base.size()]));
        }
        Ok(())
    })
}

/// Little-endian bytes in the order of this machine.
fn native(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes
}

pub unsafe extern "C" fn nc_inq_enum_ident(
    ncid: c_int,
    ty: c_int,
    value: c_longlong,
    name: *mut c_char,
) -> c_int {
    with_members(ncid, ty, |_, members| {
        // The largest numbers are negative here, as in the reference.
        let found = members.iter().find(|(_, number)| *number as c_longlong == value);
        let found = match found {
            Some((found, _)) => found.as_bytes(),
            // HDF5 fills with zeros where no fill value is set.
            None if value == 0 => b"_UNDEFINED",
            None => return fail(Code::EINVAL, format!("no member has the value {value}")),
        };
        // SAFETY: the contract of the interface.
        unsafe { put_name(name, found) };
        Ok(())
    })
}

/// Makes a list of values that stay where they are.
pub unsafe extern "C" fn nc_put_vlen_element(
    ncid: c_int,
    _ty: c_int,
    element: *mut c_void,
    len: usize,
    values: *const c_void,
) -> c_int {
    answer(|| {
        find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        unsafe { put(element.cast(), NcVlen { len, values: values.cast_mut() }) };
        Ok(())
    })
}

/// Copies the values of a list.
pub unsafe extern "C" fn nc_get_vlen_element(
    ncid: c_int,
    ty: c_int,
    element: *const c_void,
    len: *mut usize,
    values: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        let size = file.file().look(|model| match model.user_type(user_type(model, ty)?).class {
            Class::Vlen(base) => Ok(model.size_of(base)),
            _ => wrong_class(),
        })?;
        // SAFETY: the contract of the interface.
        unsafe {
            let Some(element) = element.cast::<NcVlen>().as_ref() else {
                return fail(Code::EINVAL, "the list is a null pointer");
            };
            put(len, element.len);
            put_all(
                values.cast::<u8>(),
                list(element.values.cast::<u8>(), element.len * size).iter().copied(),
            );
        }
        Ok(())
    })
}
