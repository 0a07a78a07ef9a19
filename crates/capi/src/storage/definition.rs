//! Storage of a variable, and its changes before the variable is in the file.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::Storage;
use ferrocdf::{Code, Model, Result, VarId, check_available, define_filter};

use crate::abi::answer::fail;
use crate::model::entities::variable;
use crate::open::ids::{find, find_enhanced};

/// Changes the storage of a variable. Fails for classic files, and for variables that are in the file already.
pub(crate) fn wish(
    ncid: c_int,
    varid: c_int,
    change: impl FnOnce(&mut Model, VarId) -> Result<()>,
) -> Result<()> {
    let (file, group) = find_enhanced(ncid)?;
    let writable = file.writable()?;
    let state = file.state();
    let var = file.file().look(|model| variable(model, group, varid))?;
    state.check_open(var)?;
    writable.define(|model| change(model, var))
}

/// Returns the storage of a variable; the default for classic files.
pub(crate) fn storage_of(ncid: c_int, varid: c_int) -> Result<Storage> {
    let (file, group) = find(ncid)?;
    file.file().look(|model| {
        let var = variable(model, group, varid)?;
        file.caches.set_asked(var);
        Ok(model.var(var).storage.clone())
    })
}

/// Returns the storage of a variable for an inquiry of filters. In a classic file the variable need not exist.
pub(crate) fn filtered(ncid: c_int, varid: c_int) -> Result<Storage> {
    let (file, _) = find(ncid)?;
    if file.is_classic() {
        return Ok(Storage::default());
    }
    storage_of(ncid, varid)
}

/// Adds a filter to a variable that is not in the file yet, in define mode. A null pointer for the parameters is an
/// error, which is reported after all other errors but those of the parameters.
pub(crate) fn add_filter(ncid: c_int, varid: c_int, id: c_uint, params: Option<&[c_uint]>) -> Result<()> {
    let (file, group) = find_enhanced(ncid)?;
    if !file.is_defining() {
        return fail(Code::EINDEFINE, "filters are set in define mode");
    }
    // Scalars are refused before variables that are already in the file.
    let rank = file.file().look(|model| Ok(model.var(variable(model, group, varid)?).dims.len()))?;
    if rank == 0 {
        return fail(Code::EINVAL, "a scalar goes through no filters");
    }
    wish(ncid, varid, |model, var| {
        check_available(id)?;
        match params {
            Some(params) => define_filter(model, var, id, params),
            None => fail(Code::EINVAL, "the parameters are a null pointer"),
        }
    })
}
