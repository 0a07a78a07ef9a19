//! Lookup of the dimensions, variables and attribute owners of a model by their ids.

use std::ffi::c_int;

use ferrocdf::model::Attrs;
use ferrocdf::{Code, DimId, GroupId, Model, Owner, Result, VarId};

use crate::abi::answer::fail;
use crate::abi::constants::NC_GLOBAL;

/// Returns the dimension with an id. Fails with `NC_EBADDIM`.
pub(crate) fn dimension(model: &Model, id: c_int) -> Result<DimId> {
    match usize::try_from(id) {
        Ok(at) if at < model.dims().len() => Ok(DimId(id as u32)),
        _ => fail(Code::EBADDIM, format!("no dimension has the id {id}")),
    }
}

/// Returns the variable with an id in a group. Fails with `NC_ENOTVAR`.
pub(crate) fn variable(model: &Model, group: GroupId, varid: c_int) -> Result<VarId> {
    let found = usize::try_from(varid).ok().and_then(|at| model.group(group).vars.get(at));
    found.copied().map_or_else(|| fail(Code::ENOTVAR, format!("no variable has the id {varid}")), Ok)
}

/// Returns the group or variable that has the attributes of a variable id. Fails with `NC_ENOTVAR`.
pub(crate) fn owner(model: &Model, group: GroupId, varid: c_int) -> Result<Owner> {
    match varid {
        NC_GLOBAL => Ok(Owner::Group(group)),
        _ => variable(model, group, varid).map(Owner::Var),
    }
}

/// Returns the attributes of an owner. Fails if they are unreadable.
pub(crate) fn attrs(model: &Model, owner: Owner) -> Result<&Attrs> {
    let attrs = model.attrs(owner);
    attrs.failure().map_or(Ok(attrs), |error| Err(error.clone()))
}

/// Fails with `NC_EGLOBAL` for `NC_GLOBAL`, in calls that need a variable.
pub(crate) fn check_not_global(varid: c_int) -> Result<()> {
    if varid == NC_GLOBAL { fail(Code::EGLOBAL, "NC_GLOBAL is no variable") } else { Ok(()) }
}
