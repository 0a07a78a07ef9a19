//! Definition of user-defined types: compounds, variable-length lists, opaque types, enumerations. Classic files have
//! none, and fail with `NC_ENOTNC4`.

use std::ffi::c_int;

use ferrocdf::model::{Class, UserType};
use ferrocdf::{Code, DataModel, Error, Model, Name, Result, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::{NameOut, Out, Str};
use crate::model::type_numbers::{number_of, type_of, user_type};
use crate::open::ids::find_enhanced;
use crate::types::inquire::nc_inq_user_type;

/// Defines a type and returns its number.
pub(crate) fn define(
    ncid: c_int,
    name: Str,
    class: impl FnOnce(&Model) -> Result<Class>,
    id: Out<c_int>,
) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        let name = Name::new(name.bytes()?)?;
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
        id.put(number_of(Type::User(new)));
        Ok(())
    })
}

/// Returns an existing type for use as a part of a new one.
pub(crate) fn part(model: &Model, number: c_int) -> Result<Type> {
    let ty = type_of(number)?;
    if matches!(ty, Type::User(_)) {
        user_type(model, number)?;
    }
    Ok(ty)
}

pub(crate) fn wrong_class<T>() -> Result<T> {
    Err(Error::new(Code::EBADTYPE, "the type is of another class"))
}

/// Inquires about a type as [`nc_inq_user_type`] does. Fails for types of another class.
#[allow(clippy::too_many_arguments)]
pub(crate) fn inquire(
    wanted: c_int,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    count: Out<usize>,
) -> c_int {
    let mut class = 0;
    let code = nc_inq_user_type(ncid, ty, name, size, base, count, Out::from(&mut class));
    if code != NC_NOERR || class == wanted { code } else { answer(wrong_class) }
}
