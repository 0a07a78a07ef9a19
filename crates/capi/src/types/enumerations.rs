//! Enumerations and their members.

use std::ffi::{c_char, c_int, c_longlong, c_void};

use ferrocdf::model::Class;
use ferrocdf::{Atomic, Code, Model, Name, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_ENUM;
use crate::abi::pointers::{list, put_all, put_name, text};
use crate::model::type_numbers::{type_of, user_type};
use crate::open::ids::find_enhanced;
use crate::types::define::{define, inquire, wrong_class};
use crate::values::number_bytes::number_of_bytes;

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
