//! Variables: what they are. Their data is in [`crate::data`].

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut as no;

use ferrocdf::model::Class;
use ferrocdf::{Atomic, Code, DimId, File, Model, Name, Owner, Result, Type, Values, VarId};

use crate::attribute_values::put_values;
use crate::boundary::{answer, fail, list, put, put_all, put_name, text};
use crate::chunk_shapes;
use crate::constants::{FILL_VALUE, NC_GLOBAL};
use crate::entities::{attrs, check_not_global, variable};
use crate::inquire::nc_inq_natts;
use crate::names::{check_longer, check_new, check_wanted, renamed};
use crate::open_files::{ask_of, find};
use crate::trees::gather;
use crate::type_numbers::{number_of, type_of};

/// `NC_MAX_VAR_DIMS`
const MOST_DIMS: usize = 1024;
/// What HDF5 has room for.
const MOST_DIMS_OF_HDF5: c_int = 32;

pub unsafe extern "C" fn nc_def_var(
    ncid: c_int,
    name: *const c_char,
    ty: c_int,
    dims_count: c_int,
    dims: *const c_int,
    id: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let classic = file.is_classic();
        let state = file.state();
        if !classic && dims_count > MOST_DIMS_OF_HDF5 {
            return fail(Code::EMAXDIMS, format!("{dims_count} dimensions, {MOST_DIMS_OF_HDF5} are allowed"));
        }
        file.check_define_mode()?;
        // SAFETY: the contract of the interface.
        let name = Name::new(unsafe { text(name) }?)?;
        let ty = type_of(ty)?;
        file.file().look(|model| {
            model.check_type(ty)?;
            if classic { Ok(()) } else { check_new(model, group, &name) }
        })?;
        if dims_count > MOST_DIMS as c_int {
            return fail(Code::EMAXDIMS, format!("{dims_count} dimensions, {MOST_DIMS} are allowed"));
        }
        if dims_count < 0 || (dims_count > 0 && dims.is_null()) {
            return fail(Code::EINVAL, format!("{dims_count} dimensions, at {dims:?}"));
        }
        // SAFETY: the contract of the interface.
        let dims = unsafe { list(dims, dims_count as usize) };
        // A negative id becomes one that is too large.
        let dims: Vec<DimId> = dims.iter().map(|&id| DimId(id as u32)).collect();
        let varid = file.writable()?.define(|model| {
            let var = model.def_var(group, name.as_bytes(), ty, &dims)?;
            if !classic {
                let chunking = chunk_shapes::of_new(model, var);
                let storage = &mut model.var_mut(var).storage;
                // Strings and lists are always filled.
                storage.no_fill =
                    state.no_fill && matches!(ty, Type::Atomic(atomic) if atomic != Atomic::String);
                storage.chunking = Some(chunking);
            }
            Ok(model.group(group).vars.len() - 1)
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, varid as c_int) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_varid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        ask_of(ncid, |file, model, group| {
            // SAFETY: the contract of the interface.
            let name = unsafe { text(name) }?;
            if !file.is_classic() {
                if id.is_null() {
                    // The reference does not look for the variable either.
                    return Ok(());
                }
                check_wanted(name)?;
            }
            let Some(position) = model.find_var_position(group, name) else {
                return fail(Code::ENOTVAR, format!("no variable \"{}\"", name.escape_ascii()));
            };
            // SAFETY: the contract of the interface.
            unsafe { put(id, position as c_int) };
            Ok(())
        })
    })
}

pub unsafe extern "C" fn nc_inq_var(
    ncid: c_int,
    varid: c_int,
    name: *mut c_char,
    ty: *mut c_int,
    dims_count: *mut c_int,
    dims: *mut c_int,
    attrs_count: *mut c_int,
) -> c_int {
    answer(|| {
        ask_of(ncid, |file, model, group| {
            if varid == NC_GLOBAL && !attrs_count.is_null() && !model.format().has_cdf_model() {
                // SAFETY: the contract of the interface.
                unsafe { put(attrs_count, attrs(model, Owner::Group(group))?.len() as c_int) };
                return Ok(());
            }
            let id = variable(model, group, varid)?;
            file.caches.set_asked(id);
            let var = model.var(id);
            if !attrs_count.is_null() {
                // SAFETY: the contract of the interface.
                unsafe { put(attrs_count, attrs(model, Owner::Var(id))?.len() as c_int) };
            }
            // SAFETY: the contract of the interface.
            unsafe {
                put_name(name, var.name.as_bytes());
                put(ty, number_of(var.ty));
                put(dims_count, var.dims.len() as c_int);
                put_all(dims, var.dims.iter().map(|dim| dim.0 as c_int));
            }
            Ok(())
        })
    })
}

/// A function that gives one of the things that [`nc_inq_var`] gives.
macro_rules! part_of_inq_var {
    ($function:ident($value:ident: *mut $type:ty) => ($($argument:expr),*)) => {
        pub unsafe extern "C" fn $function(ncid: c_int, varid: c_int, $value: *mut $type) -> c_int {
            // SAFETY: the contract of the interface.
            unsafe { nc_inq_var(ncid, varid, $($argument),*) }
        }
    };
}

part_of_inq_var!(nc_inq_varname(name: *mut c_char) => (name, no(), no(), no(), no()));
part_of_inq_var!(nc_inq_vartype(ty: *mut c_int) => (no(), ty, no(), no(), no()));
part_of_inq_var!(nc_inq_varndims(count: *mut c_int) => (no(), no(), count, no(), no()));
part_of_inq_var!(nc_inq_vardimid(dims: *mut c_int) => (no(), no(), no(), dims, no()));

pub unsafe extern "C" fn nc_inq_varnatts(ncid: c_int, varid: c_int, count: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe {
        match varid {
            NC_GLOBAL => nc_inq_natts(ncid, count),
            _ => nc_inq_var(ncid, varid, no(), no(), no(), no(), count),
        }
    }
}

pub unsafe extern "C" fn nc_rename_var(ncid: c_int, varid: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let writable = file.writable()?;
        // SAFETY: the contract of the interface.
        let name = Name::new(unsafe { text(name) }?)?;
        let _state = file.state();
        let model = file.model();
        let found = || variable(&model, group, varid);
        if !model.format().has_cdf_model() {
            found()?;
        }
        if model.find_var(group, name.as_bytes()).is_some() {
            return fail(Code::ENAMEINUSE, format!("a variable \"{name}\" exists already"));
        }
        check_not_global(varid)?;
        let var = found()?;
        check_longer(&file, &model.var(var).name, &name)?;
        let name = renamed(&file, &model.var(var).name, name)?;
        writable.define(|model| model.rename_var(var, name))
    })
}

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
            // SAFETY: the contract of the interface: the value is of the variable's type.
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

pub unsafe extern "C" fn nc_inq_var_fill(
    ncid: c_int,
    varid: c_int,
    no_fill: *mut c_int,
    value: *mut c_void,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let var = variable(&model, group, varid)?;
        file.caches.set_asked(var);
        let described = model.var(var);
        // SAFETY: the contract of the interface.
        unsafe { put(no_fill, c_int::from(described.storage.no_fill)) };
        if value.is_null() {
            return Ok(());
        }
        if !model.format().has_cdf_model() {
            // SAFETY: the contract of the interface.
            return unsafe { give_fill(file.file(), &model, var, value) };
        }
        let own = described.attrs.find(FILL_VALUE.as_bytes()).map(|attr| attr.value.clone());
        // An attribute of another type or of many values is given as it is.
        let fill = match own {
            Some(fill) => fill,
            None => Values::default_fill(model.atomic_type(var)?),
        };
        // SAFETY: the contract of the interface.
        unsafe { put_values(&model, value, &fill) }
    })
}

/// The fill value of a variable of a netCDF-4 file; none if it is not filled.
///
/// # Safety
/// There is room for a value.
unsafe fn give_fill(file: &File, model: &Model, var: VarId, place: *mut c_void) -> Result<()> {
    let described = model.var(var);
    if described.storage.no_fill {
        return Ok(());
    }
    if let Some(fill) = file.fill_value(var)? {
        // SAFETY: as the caller says.
        return unsafe { put_values(model, place, &fill) };
    }
    if let Type::User(id) = described.ty
        && let Class::Enum { base, .. } = model.user_type(id).class
    {
        // SAFETY: as the caller says.
        return unsafe { put_values(model, place, &Values::default_fill(base)) };
    }
    // SAFETY: as the caller says.
    let room = unsafe { std::slice::from_raw_parts_mut(place.cast::<u8>(), model.size_of(described.ty)) };
    room.fill(0);
    Ok(())
}

pub unsafe extern "C" fn nc_inq_varids(ncid: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let vars = file.file().look(|model| model.group(group).vars.len()) as c_int;
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, vars);
            put_all(ids, 0..vars);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_dimids(
    ncid: c_int,
    count: *mut c_int,
    ids: *mut c_int,
    include_parents: c_int,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let groups = model.and_parents(group).take(if include_parents != 0 { usize::MAX } else { 1 });
        let mut dims: Vec<DimId> = groups.flat_map(|group| model.group(group).dims.clone()).collect();
        dims.sort_unstable();
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, dims.len() as c_int);
            put_all(ids, dims.iter().map(|dim| dim.0 as c_int));
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_unlimdims(ncid: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let unlimited = || model.group(group).dims.iter().filter(|&&dim| model.dim(dim).unlimited);
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, unlimited().count() as c_int);
            put_all(ids, unlimited().map(|dim| dim.0 as c_int));
        }
        Ok(())
    })
}
