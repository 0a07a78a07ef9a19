//! The numbers of types: atomic ones as in `netcdf.h`, those that files define from 32 on.

use std::ffi::c_int;

use ferrocdf::{Atomic, Code, Result, Type};

use crate::boundary::fail;

/// `NC_FIRSTUSERTYPEID`
pub(crate) const FIRST_USER_TYPE: c_int = 32;

/// The type with a number, whether or not a file has it. Fails with `NC_EBADTYPE`.
pub(crate) fn type_of(number: c_int) -> Result<Type> {
    if number >= FIRST_USER_TYPE {
        return Ok(Type::User(ferrocdf::model::TypeId((number - FIRST_USER_TYPE) as u32)));
    }
    match u64::try_from(number).ok().and_then(Atomic::from_nc_type) {
        Some(atomic) => Ok(atomic.into()),
        None => fail(Code::EBADTYPE, format!("no type has the number {number}")),
    }
}

/// The number of a type.
pub(crate) fn number_of(ty: Type) -> c_int {
    match ty {
        Type::Atomic(atomic) => atomic.nc_type().into(),
        Type::User(id) => FIRST_USER_TYPE + id.0 as c_int,
    }
}
