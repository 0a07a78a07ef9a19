//! Coordinate variables of dimensions, and the names of links.

use std::collections::{BTreeSet, HashMap};

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::Address;
use ferrocdf_model::{DimId, Model, VarId};

use super::link_name;
use crate::nc4::names;

/// Variables and dimensions whose attachment to scales must be written.
#[derive(Default)]
pub(super) struct Attach {
    /// New variables, and variables to attach again.
    pub(super) vars: Vec<VarId>,
    /// Dimensions whose reference list is rebuilt from the model.
    pub(super) dims: BTreeSet<u32>,
    /// For each dimension of a variable, further scales to which it stays attached; that of the netCDF dimension is
    /// stored after them.
    pub(super) others: HashMap<VarId, Vec<Vec<Address>>>,
}

/// Returns the dimension of which a variable is the coordinate: its first one, if that is in the same group and has the
/// same name.
pub(super) fn role(model: &Model, var: VarId) -> Option<DimId> {
    let var = model.var(var);
    let &first = var.dims.first()?;
    let dim = model.dim(first);
    (dim.group == var.group && dim.name == var.name).then_some(first)
}

/// Returns the coordinate variable of a dimension.
pub(super) fn coordinate(model: &Model, dim: DimId) -> Option<VarId> {
    let of = model.dim(dim);
    model.find_var(of.group, of.name.as_bytes()).filter(|&var| role(model, var) == Some(dim))
}

/// True if a variable has the name of a dimension of its group, but is not its coordinate variable.
pub(super) fn is_prefixed(model: &Model, var: VarId) -> bool {
    let of = model.var(var);
    role(model, var).is_none() && model.dim_in(of.group, of.name.as_bytes()).is_some()
}

/// Returns the name of the link of a variable.
pub(super) fn link_of(model: &Model, var: VarId, prefixed: bool) -> Result<String> {
    let name = link_name(model.var(var).name.as_bytes())?;
    let prefix = if prefixed { link_name(names::NON_COORDINATE)? } else { "" };
    Ok(format!("{prefix}{name}"))
}

/// Returns the path of the link of a variable.
pub(in crate::nc4) fn link_path(model: &Model, var: VarId, prefixed: bool) -> Result<String> {
    let group = model.group_path(model.var(var).group);
    Ok(format!("{}/{}", group.trim_end_matches('/'), link_of(model, var, prefixed)?))
}

/// True if variables or dimensions are renamed, or dimensions are added.
pub(super) fn changes_names(old: &Model, new: &Model) -> bool {
    let vars = old.vars().iter().zip(new.vars()).any(|(old, new)| old.name != new.name);
    let dims = old.dims().iter().zip(new.dims()).any(|(old, new)| old.name != new.name);
    vars || dims || new.dims().len() > old.dims().len()
}
