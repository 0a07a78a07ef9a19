//! Enumerations and their members.

use std::ffi::{c_int, c_longlong, c_void};

use ferrocdf::model::Class;
use ferrocdf::nested::integer;
use ferrocdf::{Atomic, Code, Model, Name, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_ENUM;
use crate::abi::pointers::{NameOut, Out, Str, list, put_all};
use crate::model::type_numbers::{type_of, user_type};
use crate::open::ids::find_enhanced;
use crate::types::define::{define, inquire, wrong_class};

pub extern "C" fn nc_def_enum(ncid: c_int, base: c_int, name: Str, id: Out<c_int>) -> c_int {
    let class = |_: &Model| match type_of(base)? {
        Type::Atomic(Atomic::Char | Atomic::Float | Atomic::Double | Atomic::String) | Type::User(_) => {
            fail(Code::EBADTYPE, "an enumeration is of integers")
        }
        Type::Atomic(base) => Ok(Class::Enum { base, members: vec![] }),
    };
    define(ncid, name, class, id)
}

/// # Safety
/// `value` is null or one value of the base type.
pub unsafe extern "C" fn nc_insert_enum(ncid: c_int, ty: c_int, name: Str, value: *const c_void) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        let name = Name::new(name.bytes()?)?;
        let state = file.state();
        file.writable()?.define(|model| {
            let id = user_type(model, ty)?;
            if let Class::Enum { .. } = model.user_type(id).class {
                state.check_type_open(Type::User(id))?;
            }
            let Class::Enum { base, members } = &mut model.user_type_mut(id).class else {
                return wrong_class();
            };
            if value.is_null() {
                return fail(Code::EINVAL, "the value is a null pointer");
            }
            // SAFETY: `value` is not null, and one value of the base type.
            let bytes = unsafe { list(value.cast::<u8>(), base.size()) };
            members.push((name, integer(*base, bytes)?));
            Ok(())
        })
    })
}

pub extern "C" fn nc_inq_enum(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    base: Out<c_int>,
    size: Out<usize>,
    members: Out<usize>,
) -> c_int {
    inquire(NC_ENUM, ncid, ty, name, size, base, members)
}

/// Calls `look` with the base type and the members of an enumeration.
fn with_members(ncid: c_int, ty: c_int, look: impl FnOnce(Atomic, &[(Name, i128)]) -> Result<()>) -> c_int {
    answer(|| {
        let (file, _) = find_enhanced(ncid)?;
        file.file().look(|model| match &model.user_type(user_type(model, ty)?).class {
            Class::Enum { base, members } => look(*base, members),
            _ => wrong_class(),
        })
    })
}

/// # Safety
/// `value` is null or has room for one value of the base type.
pub unsafe extern "C" fn nc_inq_enum_member(
    ncid: c_int,
    ty: c_int,
    at: c_int,
    name: NameOut,
    value: *mut c_void,
) -> c_int {
    with_members(ncid, ty, |base, members| {
        let Some((found, number)) = usize::try_from(at).ok().and_then(|at| members.get(at)) else {
            return fail(Code::EINVAL, format!("no member has the number {at}"));
        };
        let bytes = number.to_le_bytes();
        // SAFETY: `value` is null or has room for one value of the base type.
        unsafe {
            name.put(found.as_bytes());
            put_all(value.cast::<u8>(), native(&bytes[..base.size()]));
        }
        Ok(())
    })
}

/// Converts little-endian bytes to the byte order of this machine.
fn native(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if cfg!(target_endian = "big") {
        bytes.reverse();
    }
    bytes
}

pub extern "C" fn nc_inq_enum_ident(ncid: c_int, ty: c_int, value: c_longlong, name: NameOut) -> c_int {
    with_members(ncid, ty, |_, members| {
        // As in netCDF-C, numbers beyond the signed range are compared as negative ones.
        let found = members.iter().find(|(_, number)| *number as c_longlong == value);
        let found = match found {
            Some((found, _)) => found.as_bytes(),
            // HDF5 fills with zeros where no fill value is set.
            None if value == 0 => b"_UNDEFINED",
            None => return fail(Code::EINVAL, format!("no member has the value {value}")),
        };
        name.put(found);
        Ok(())
    })
}
