//! Warnings of what other Zarr programs do not read in a Zarr store, or do not find there: codecs, data types and fill values.

use ferrocdf::model::Class;
use ferrocdf::{Atomic, Container, Model, Owner, Type, VarId};

use crate::kinds::is_zarr;

/// Returns a line for each codec and data type that zarr-python does not read, and for attributes `_FillValue` that are not written, which
/// names the first variable that has it.
pub fn warnings(model: &Model, is_netcdf: bool) -> Vec<String> {
    if !is_zarr(model.format()) {
        return vec![];
    }
    let mut found: Vec<(String, Vec<VarId>)> = vec![];
    let mut note = |what: String, var| match found.iter_mut().find(|(known, _)| *known == what) {
        Some((_, vars)) => vars.push(var),
        None => found.push((what, vec![var])),
    };
    for var in model.var_ids() {
        for filter in &model.var(var).storage.filters {
            if let Some(readers) = ferrocdf::readers_without_numcodecs(filter.id) {
                let name = ferrocdf::filter_name(filter.id).unwrap_or("not registered");
                let id = filter.id;
                let what = format!(
                    "zarr-python 3 opens nothing of a store with the codec of filter {id} ({name}); readers: {readers}"
                );
                note(what, var);
            }
        }
        if model.format().container() == Container::ZarrV2 && !is_netcdf && is_list(model, model.var(var).ty)
        {
            let what = "zarr-python 3 opens nothing of a store with lists of numbers (vlen-array): -k nczarr2 or nczarr3 stores \
                        them as bytes";
            note(what.to_string(), var);
        }
        if !is_netcdf && has_unwritten_fill(model, var) {
            let what = "_FillValue is the fill value of the array and no attribute, since xarray opens no store with such an attribute";
            note(what.to_string(), var);
        }
    }
    let line = |(what, vars): (String, Vec<VarId>)| {
        let more = match vars.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("warning: {}{more}: {what}", model.var_path(vars[0]))
    };
    found.into_iter().map(line).collect()
}

/// True if a variable has a `_FillValue` that is no attribute of its array without netCDF's metadata: that of text in version 3, and of
/// user-defined types but enumerations.
fn has_unwritten_fill(model: &Model, var: VarId) -> bool {
    let is_without = match model.var(var).ty {
        Type::Atomic(atomic) => atomic == Atomic::String && model.format().container() == Container::ZarrV3,
        Type::User(id) => !matches!(model.user_type(id).class, Class::Enum { .. }),
    };
    is_without && model.find_attr(Owner::Var(var), b"_FillValue").is_some()
}

/// True for lists that are stored as lists, and not as bytes, in Zarr 2 without netCDF's metadata.
fn is_list(model: &Model, ty: Type) -> bool {
    use Atomic::{Char, Ubyte};
    match ty {
        Type::User(id) => match model.user_type(id).class {
            Class::Vlen(of) => !matches!(of, Type::Atomic(Ubyte | Char)),
            _ => false,
        },
        Type::Atomic(_) => false,
    }
}
