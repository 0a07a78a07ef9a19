//! Variables: definition, inquiry, renaming. Their data is in [`crate::data`].

pub(crate) mod copy;
pub(crate) mod fill_values;

use std::ffi::c_int;
use std::ptr::null_mut;

use ferrocdf::{Atomic, Code, DimId, Name, Owner, Type};

use crate::abi::answer::{answer, fail};
use crate::abi::constants::NC_GLOBAL;
use crate::abi::pointers::{NameOut, Out, Str, list, put_all};
use crate::files::inquire::nc_inq_natts;
use crate::model::entities::{attrs, check_not_global, variable};
use crate::model::names::{check_longer, check_new, check_wanted, renamed};
use crate::model::type_numbers::{number_of, type_of};
use crate::open::ids::{ask_of, find};
use crate::storage::chunk_shapes;

/// `NC_MAX_VAR_DIMS`
const MOST_DIMS: usize = 1024;
/// Largest number of dimensions in HDF5.
const MOST_DIMS_OF_HDF5: c_int = 32;

/// # Safety
/// `dims` is null or has `dims_count` ids.
pub unsafe extern "C" fn nc_def_var(
    ncid: c_int,
    name: Str,
    ty: c_int,
    dims_count: c_int,
    dims: *const c_int,
    id: Out<c_int>,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let classic = file.is_classic();
        let state = file.state();
        if !classic && dims_count > MOST_DIMS_OF_HDF5 {
            return fail(Code::EMAXDIMS, format!("{dims_count} dimensions, {MOST_DIMS_OF_HDF5} are allowed"));
        }
        file.check_define_mode()?;
        let name = Name::new(name.bytes()?)?;
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
        // SAFETY: `dims` has `dims_count` ids: a null pointer was refused unless there are none.
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
        id.put(varid as c_int);
        Ok(())
    })
}

pub extern "C" fn nc_inq_varid(ncid: c_int, name: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        ask_of(ncid, |file, model, group| {
            let name = name.bytes()?;
            if !file.is_classic() {
                if id.is_null() {
                    // As in netCDF-C, the variable is not looked up without a pointer for its id.
                    return Ok(());
                }
                check_wanted(name)?;
            }
            let Some(position) = model.find_var_position(group, name) else {
                return fail(Code::ENOTVAR, format!("no variable \"{}\"", name.escape_ascii()));
            };
            id.put(position as c_int);
            Ok(())
        })
    })
}

/// # Safety
/// `dims` is null or has room for an id for each dimension of the variable.
pub unsafe extern "C" fn nc_inq_var(
    ncid: c_int,
    varid: c_int,
    name: NameOut,
    ty: Out<c_int>,
    dims_count: Out<c_int>,
    dims: *mut c_int,
    attrs_count: Out<c_int>,
) -> c_int {
    answer(|| {
        ask_of(ncid, |file, model, group| {
            if varid == NC_GLOBAL && !attrs_count.is_null() && !model.format().has_cdf_model() {
                attrs_count.put(attrs(model, Owner::Group(group))?.len() as c_int);
                return Ok(());
            }
            let id = variable(model, group, varid)?;
            file.caches.set_asked(id);
            let var = model.var(id);
            if !attrs_count.is_null() {
                attrs_count.put(attrs(model, Owner::Var(id))?.len() as c_int);
            }
            name.put(var.name.as_bytes());
            ty.put(number_of(var.ty));
            dims_count.put(var.dims.len() as c_int);
            // SAFETY: `dims` is null or has room for the dimensions of the variable (`nc_inq_varndims`).
            unsafe { put_all(dims, var.dims.iter().map(|dim| dim.0 as c_int)) };
            Ok(())
        })
    })
}

/// Defines a function that returns one of the properties of [`nc_inq_var`].
macro_rules! part_of_inq_var {
    ($function:ident($value:ident: $type:ty) => ($($argument:expr),*)) => {
        /// # Safety
        /// A raw pointer is null or has room for an id for each dimension of the variable.
        pub unsafe extern "C" fn $function(ncid: c_int, varid: c_int, $value: $type) -> c_int {
            // SAFETY: a `dims` has room for the dimensions of the variable; all other arguments carry their contract.
            unsafe { nc_inq_var(ncid, varid, $($argument),*) }
        }
    };
}

part_of_inq_var!(nc_inq_varname(name: NameOut) => (name, Out::NULL, Out::NULL, null_mut(), Out::NULL));
part_of_inq_var!(nc_inq_vartype(ty: Out<c_int>) => (NameOut::NULL, ty, Out::NULL, null_mut(), Out::NULL));
part_of_inq_var!(nc_inq_varndims(count: Out<c_int>) => (NameOut::NULL, Out::NULL, count, null_mut(), Out::NULL));
part_of_inq_var!(nc_inq_vardimid(dims: *mut c_int) => (NameOut::NULL, Out::NULL, Out::NULL, dims, Out::NULL));

pub extern "C" fn nc_inq_varnatts(ncid: c_int, varid: c_int, count: Out<c_int>) -> c_int {
    // SAFETY: no list is requested.
    unsafe {
        match varid {
            NC_GLOBAL => nc_inq_natts(ncid, count),
            _ => nc_inq_var(ncid, varid, NameOut::NULL, Out::NULL, Out::NULL, null_mut(), count),
        }
    }
}

pub extern "C" fn nc_rename_var(ncid: c_int, varid: c_int, name: Str) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let writable = file.writable()?;
        let name = Name::new(name.bytes()?)?;
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
