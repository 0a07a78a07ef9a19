//! Variables: what they are. Their data is in [`crate::data`].

pub(crate) mod copy;
pub(crate) mod fill_values;

use std::ffi::{c_char, c_int};
use std::ptr::null_mut as no;

use ferrocdf::{Atomic, Code, DimId, Name, Owner, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_GLOBAL;
use crate::abi::pointers::{list, put, put_all, put_name, text};
use crate::files::inquire::nc_inq_natts;
use crate::model::entities::{attrs, check_not_global, variable};
use crate::model::names::{check_longer, check_new, check_wanted, renamed};
use crate::model::type_numbers::{number_of, type_of};
use crate::open::ids::{ask_of, find};
use crate::storage::chunk_shapes;

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
