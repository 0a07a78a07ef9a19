//! How a variable is stored, and changes of that before the variable is in the file.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::Storage;
use ferrocdf::{Code, Model, Result, VarId, check_available, define_filter};

use crate::abi::answer::fail;
use crate::model::entities::variable;
use crate::open::ids::{find, find_enhanced};

/// Changes how a variable is to be stored, where that is a choice and not yet decided.
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

/// How a variable is stored; classic files say nothing of it.
pub(crate) fn storage_of(ncid: c_int, varid: c_int) -> Result<Storage> {
    let (file, group) = find(ncid)?;
    file.file().look(|model| {
        let var = variable(model, group, varid)?;
        file.caches.set_asked(var);
        Ok(model.var(var).storage.clone())
    })
}

/// How a variable is stored. One of a classic file has no filters, whether or not it exists.
pub(crate) fn filtered(ncid: c_int, varid: c_int) -> Result<Storage> {
    let (file, _) = find(ncid)?;
    if file.is_classic() {
        return Ok(Storage::default());
    }
    storage_of(ncid, varid)
}

/// Adds a filter to a variable that is still to be made, in define mode. Without parameters it fails, but only where it
/// would not fail with them.
pub(crate) fn add_filter(ncid: c_int, varid: c_int, id: c_uint, params: Option<&[c_uint]>) -> Result<()> {
    let (file, group) = find_enhanced(ncid)?;
    if !file.is_defining() {
        return fail(Code::EINDEFINE, "filters are set in define mode");
    }
    // Whether a variable is a scalar is asked before whether it is in the file.
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
