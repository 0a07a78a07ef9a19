//! Types: the atomic ones of `netcdf.h`, with their numbers there, and those that files define, from 32 on.

use std::ffi::{c_char, c_int};

use ferrocdf::model::{Class, TypeId, UserType};
use ferrocdf::{Atomic, Code, Model, Name, Result, Type};

use crate::boundary::{answer, fail, put, put_all, put_name, put_text, text};
use crate::names::split_path;
use crate::open_files::{find, find_enhanced, find_file};
use crate::type_numbers::{number_of, type_of, user_type};

/// The last number of an atomic type.
const LAST_ATOMIC: c_int = Atomic::String as c_int;

/// Name and size of a type. The id need not be one for an atomic type.
pub unsafe extern "C" fn nc_inq_type(ncid: c_int, ty: c_int, name: *mut c_char, size: *mut usize) -> c_int {
    answer(|| {
        if let Ok(Type::Atomic(atomic)) = type_of(ty) {
            // SAFETY: the contract of the interface.
            unsafe {
                put_text(name, atomic.cdl_name().as_bytes());
                put(size, atomic.size());
            }
            return Ok(());
        }
        let Ok(file) = find_file(ncid) else {
            return fail(Code::EBADTYPE, format!("no type has the number {ty}, and no file the id {ncid}"));
        };
        file.file().look(|model| {
            let id = user_type(model, ty)?;
            // SAFETY: the contract of the interface.
            unsafe {
                put_name(name, model.user_type(id).name.as_bytes());
                put(size, model.size_of(Type::User(id)));
            }
            Ok(())
        })
    })
}

/// The number of a type by its name. Classic files know the names of the first six types only, and that of no type.
pub unsafe extern "C" fn nc_inq_typeid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        // SAFETY: the contract of the interface.
        let name = unsafe { text(name) }?;
        let found = file.file().look(|model| {
            let classic = model.format().has_cdf_model();
            if classic && name == b"undefined" {
                return Ok(0);
            }
            let last = if classic { Atomic::Double } else { Atomic::String };
            let mut atomic = Atomic::ALL.into_iter().filter(|&atomic| atomic <= last);
            if let Some(atomic) = atomic.find(|atomic| atomic.cdl_name().as_bytes() == name) {
                return Ok(number_of(atomic.into()));
            }
            if classic {
                return fail(
                    Code::ENOTNC4,
                    format!("classic files have no type \"{}\"", name.escape_ascii()),
                );
            }
            let found = match split_path(model, name)? {
                Some((group, name)) => model.type_in(group, name),
                // In a group around this one, or else in any.
                None => model.and_parents(group).find_map(|group| model.type_in(group, name)).or_else(|| {
                    let wanted = Name::wanted(name);
                    let named = |ty: &UserType| ty.name.as_bytes() == &*wanted;
                    model.types().iter().position(named).map(|at| TypeId(at as u32))
                }),
            };
            match found {
                Some(id) => Ok(number_of(Type::User(id))),
                None => fail(Code::EBADTYPE, format!("no type \"{}\"", name.escape_ascii())),
            }
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, found) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_typeids(ncid: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let types = &model.group(group).types;
            // SAFETY: the contract of the interface.
            unsafe {
                put(count, types.len() as c_int);
                put_all(ids, types.iter().map(|&id| number_of(Type::User(id))));
            }
        });
        Ok(())
    })
}

/// What a file's own type is: name, size, the type it is made of, how many fields or members, and its class.
pub unsafe extern "C" fn nc_inq_user_type(
    ncid: c_int,
    ty: c_int,
    name: *mut c_char,
    size: *mut usize,
    base: *mut c_int,
    count: *mut usize,
    class: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        file.file().look(|model| {
            let id = user_type(model, ty)?;
            let described = model.user_type(id);
            let (number, made_of, parts) = match &described.class {
                Class::Vlen(base) => (NC_VLEN, number_of(*base), 0),
                Class::Opaque(_) => (NC_OPAQUE, 0, 0),
                Class::Enum { base, members } => (NC_ENUM, number_of((*base).into()), members.len()),
                Class::Compound { fields, .. } => (NC_COMPOUND, 0, fields.len()),
            };
            // SAFETY: the contract of the interface.
            unsafe {
                put_name(name, described.name.as_bytes());
                put(size, model.size_of(Type::User(id)));
                put(base, made_of);
                put(count, parts);
                put(class, number);
            }
            Ok(())
        })
    })
}

pub(crate) const NC_VLEN: c_int = 13;
pub(crate) const NC_OPAQUE: c_int = 14;
pub(crate) const NC_ENUM: c_int = 15;
pub(crate) const NC_COMPOUND: c_int = 16;

/// Whether two types are equal. In classic files only the first six types are, each to itself.
pub unsafe extern "C" fn nc_inq_type_equal(
    ncid: c_int,
    ty: c_int,
    other_id: c_int,
    other: c_int,
    equal: *mut c_int,
) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        if equal.is_null() {
            return Ok(());
        }
        if ty <= 0 || other <= 0 {
            return fail(Code::EINVAL, format!("{ty} and {other} are no types"));
        }
        let model = file.model();
        let answer = if model.format().has_cdf_model() {
            ty == other && ty <= number_of(Atomic::Double.into())
        } else if (ty > LAST_ATOMIC) != (other > LAST_ATOMIC) || ty <= LAST_ATOMIC + 1 {
            // The number behind the last atomic type is taken for one too, as in the reference.
            ty == other
        } else {
            user_type(&model, ty)?;
            let other_file = find_file(other_id)?;
            let others = other_file.model();
            user_type(&others, other)?;
            let (one, two) = (type_of(ty)?, type_of(other)?);
            // One after the other: it may be the same file.
            let stored = [(&file, one), (&other_file, two)].map(|(file, ty)| file.state().is_stored(ty));
            if stored.contains(&false) {
                return fail(Code::EHDFERR, "a type that is not in the file yet is not compared");
            }
            is_equal((&model, one), (&others, two), false)?
        };
        // SAFETY: the contract of the interface.
        unsafe { put(equal, c_int::from(answer)) };
        Ok(())
    })
}

/// The type of a file that equals a type of another one, or of itself. Fails with `NC_EBADTYPE`.
pub(crate) fn equal_type(from: &Model, ty: Type, to: &Model) -> Result<Type> {
    let Type::User(_) = ty else { return Ok(ty) };
    for at in 0..to.types().len() {
        let other = Type::User(TypeId(at as u32));
        if is_equal((from, ty), (to, other), true)? {
            return Ok(other);
        }
    }
    fail(Code::EBADTYPE, format!("the file has no type like \"{}\"", from.type_name(ty)))
}

/// Whether two types, of one file or of two, are made alike, and have the same name if that is asked for.
fn is_equal((model, ty): (&Model, Type), (other_model, other): (&Model, Type), named: bool) -> Result<bool> {
    let (Type::User(_), Type::User(_)) = (ty, other) else { return Ok(ty == other) };
    let one: &UserType = model.user_type(user_type(model, number_of(ty))?);
    let two: &UserType = other_model.user_type(user_type(other_model, number_of(other))?);
    if named && one.name != two.name {
        return Ok(false);
    }
    match (&one.class, &two.class) {
        (Class::Vlen(base), Class::Vlen(other)) => is_equal((model, *base), (other_model, *other), named),
        (Class::Compound { size, fields }, Class::Compound { size: other_size, fields: others }) => {
            if size != other_size || fields.len() != others.len() {
                return Ok(false);
            }
            for (field, other) in fields.iter().zip(others) {
                let alike =
                    (&field.name, field.offset, &field.shape) == (&other.name, other.offset, &other.shape);
                if !alike || !is_equal((model, field.ty), (other_model, other.ty), named)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Class::Enum { base, members }, Class::Enum { base: other, members: others }) if !named => {
            let same = members.len() == others.len() && members.iter().all(|member| others.contains(member));
            Ok(base == other && same)
        }
        (class, other) => Ok(class == other),
    }
}
