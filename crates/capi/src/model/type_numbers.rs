//! Conversion between types of the model and type numbers in C: the numbers of `netcdf.h` for atomic types, and from 32
//! on those of user-defined types.

use std::ffi::c_int;
use std::sync::Arc;

use ferrocdf::model::TypeId;
use ferrocdf::{Atomic, Code, Format, Model, Result, Type};

use crate::abi::answer::fail;
use crate::open::ids::find_enhanced;

/// `NC_FIRSTUSERTYPEID`
const FIRST_USER_TYPE: c_int = 32;

/// Returns the type with a number, even if no file has it. Fails with `NC_EBADTYPE`.
pub(crate) fn type_of(number: c_int) -> Result<Type> {
    if number >= FIRST_USER_TYPE {
        return Ok(Type::User(TypeId((number - FIRST_USER_TYPE) as u32)));
    }
    match u64::try_from(number).ok().and_then(Atomic::from_nc_type) {
        Some(atomic) => Ok(atomic.into()),
        None => fail(Code::EBADTYPE, format!("no type has the number {number}")),
    }
}

/// Returns the number of a type.
pub(crate) fn number_of(ty: Type) -> c_int {
    match ty {
        Type::Atomic(atomic) => atomic.nc_type().into(),
        Type::User(id) => FIRST_USER_TYPE + id.0 as c_int,
    }
}

/// Returns the user-defined type of a file with a number. Fails with `NC_EBADTYPE`.
pub(crate) fn user_type(model: &Model, number: c_int) -> Result<TypeId> {
    match type_of(number)? {
        Type::User(id) if id.index() < model.types().len() => Ok(id),
        _ => fail(Code::EBADTYPE, format!("no type of this file has the number {number}")),
    }
}

/// Returns the type with a number, and the model that defines it.
pub(crate) fn known_type(ncid: c_int, number: c_int) -> Result<(Arc<Model>, Type)> {
    let ty = type_of(number)?;
    if let Type::Atomic(_) = ty {
        return Ok((Arc::new(Model::new(Format::NETCDF4)), ty));
    }
    let model = find_enhanced(ncid)?.0.model();
    user_type(&model, number)?;
    Ok((model, ty))
}
