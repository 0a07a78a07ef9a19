//! Inquiry of types: atomic types, with their numbers in `netcdf.h`, and user-defined types, from 32 on.

use std::ffi::c_int;

use ferrocdf::model::{Class, TypeId, UserType};
use ferrocdf::{Atomic, Code, Name, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::{NC_COMPOUND, NC_ENUM, NC_OPAQUE, NC_VLEN};
use crate::abi::pointers::{NameOut, Out, Str, put_all};
use crate::model::names::split_path;
use crate::model::type_numbers::{number_of, type_of, user_type};
use crate::open::ids::{find, find_enhanced, find_file};

/// Returns name and size of a type. For an atomic type the file id need not be valid.
pub extern "C" fn nc_inq_type(ncid: c_int, ty: c_int, name: NameOut, size: Out<usize>) -> c_int {
    answer(|| {
        if let Ok(Type::Atomic(atomic)) = type_of(ty) {
            size.put(atomic.size());
            name.put(atomic.cdl_name().as_bytes());
            return Ok(());
        }
        let Ok(file) = find_file(ncid) else {
            return fail(Code::EBADTYPE, format!("no type has the number {ty}, and no file the id {ncid}"));
        };
        file.file().look(|model| {
            let id = user_type(model, ty)?;
            name.put(model.user_type(id).name.as_bytes());
            size.put(model.size_of(Type::User(id)));
            Ok(())
        })
    })
}

/// Returns the number of a type by its name. In classic files only the names of the first six types are valid, and
/// "undefined".
pub extern "C" fn nc_inq_typeid(ncid: c_int, name: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let name = name.bytes()?;
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
                // In this group and its parents, or else in any group.
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
        id.put(found);
        Ok(())
    })
}

/// # Safety
/// `ids` is null or has room for an id for each type of the group.
pub unsafe extern "C" fn nc_inq_typeids(ncid: c_int, count: Out<c_int>, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let types = &model.group(group).types;
            count.put(types.len() as c_int);
            // SAFETY: `ids` is null or has room for the types of the group, whose number the caller gets from `count`
            // of an earlier call.
            unsafe { put_all(ids, types.iter().map(|&id| number_of(Type::User(id)))) };
        });
        Ok(())
    })
}

/// Returns the properties of a user-defined type: name, size, base type, number of fields or members, and class.
pub extern "C" fn nc_inq_user_type(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    count: Out<usize>,
    class: Out<c_int>,
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
            name.put(described.name.as_bytes());
            size.put(model.size_of(Type::User(id)));
            base.put(made_of);
            count.put(parts);
            class.put(number);
            Ok(())
        })
    })
}
