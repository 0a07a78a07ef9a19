//! Fill values of variables.

use std::ffi::{c_int, c_void};

use ferrocdf::model::Class;
use ferrocdf::{Atomic, Code, File, Model, Owner, Result, Type, Values, VarId};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::FILL_VALUE;
use crate::abi::pointers::Out;
use crate::model::entities::{check_not_global, variable};
use crate::open::ids::find;
use crate::values::conversion::put_values;
use crate::values::nested::gather;

/// # Safety
/// `value` is null or one value of the variable's type, not read if `no_fill` is set.
pub unsafe extern "C" fn nc_def_var_fill(
    ncid: c_int,
    varid: c_int,
    no_fill: c_int,
    value: *const c_void,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        check_not_global(varid)?;
        let writable = file.writable()?;
        let state = file.state();
        let model = file.model();
        let classic = model.format().has_cdf_model();
        if classic {
            file.check_define_mode()?;
        }
        let var = variable(&model, group, varid)?;
        let (no_fill, ty) = (no_fill != 0, model.var(var).ty);
        if !classic {
            state.check_open(var)?;
            if no_fill && ty == Atomic::String.into() {
                return fail(Code::EINVAL, "strings are always filled");
            }
            if !no_fill && !value.is_null() {
                state.check_unwritten(var)?;
            }
        }
        let value = if value.is_null() || no_fill {
            None
        } else {
            // SAFETY: `value` is not null, and one value of the variable's type.
            Some(unsafe { gather(&model, ty, value.cast(), 1) }?)
        };
        drop(model);
        writable.define(|model| {
            model.var_mut(var).storage.no_fill = no_fill;
            if !classic && no_fill && model.find_attr(Owner::Var(var), FILL_VALUE.as_bytes()).is_some() {
                model.del_attr(Owner::Var(var), FILL_VALUE)?;
            }
            value.map_or(Ok(()), |value| set_fill_value(model, var, value))
        })
    })
}

/// Makes `_FillValue` the last attribute of a variable.
fn set_fill_value(model: &mut Model, var: VarId, value: Values) -> Result<()> {
    let owner = Owner::Var(var);
    if model.find_attr(owner, FILL_VALUE.as_bytes()).is_some() {
        model.del_attr(owner, FILL_VALUE)?;
    }
    model.put_attr(owner, FILL_VALUE, value)
}

/// # Safety
/// `value` is null or has room for one value of the variable's type, or for all values of an attribute `_FillValue` of another type.
pub unsafe extern "C" fn nc_inq_var_fill(
    ncid: c_int,
    varid: c_int,
    no_fill: Out<c_int>,
    value: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let var = variable(&model, group, varid)?;
        file.caches.set_asked(var);
        let described = model.var(var);
        no_fill.put(c_int::from(described.storage.no_fill));
        if value.is_null() {
            return Ok(());
        }
        if !model.format().has_cdf_model() {
            // SAFETY: `value` is not null, and has room for one value of the variable's type.
            return unsafe { give_fill(file.file(), &model, var, value) };
        }
        let own = described.attrs.find(FILL_VALUE.as_bytes()).map(|attr| attr.value.clone());
        // An attribute of another type or of several values is returned unconverted.
        let fill = match own {
            Some(fill) => fill,
            None => Values::default_fill(model.atomic_type(var)?),
        };
        // SAFETY: `value` has room for the fill value, or for all values of an attribute `_FillValue`.
        unsafe { put_values(&model, value, &fill) }
    })
}

/// Stores the fill value of a variable of a netCDF-4 file; nothing if the variable is not filled.
///
/// # Safety
/// `place` has room for one value of the variable's type.
unsafe fn give_fill(file: &File, model: &Model, var: VarId, place: *mut c_void) -> Result<()> {
    let described = model.var(var);
    if described.storage.no_fill {
        return Ok(());
    }
    if let Some(fill) = file.fill_value(var)? {
        // SAFETY: `place` has room for one value of the variable's type, which a fill value is.
        return unsafe { put_values(model, place, &fill) };
    }
    if let Type::User(id) = described.ty
        && let Class::Enum { base, .. } = model.user_type(id).class
    {
        // SAFETY: an enumeration has the size of its base type.
        return unsafe { put_values(model, place, &Values::default_fill(base)) };
    }
    // SAFETY: `place` has room for one value, of `size_of` its type.
    let room = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), model.size_of(described.ty)) };
    room.fill(0);
    Ok(())
}
