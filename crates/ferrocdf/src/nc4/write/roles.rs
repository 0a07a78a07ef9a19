//! Which variables are coordinates of dimensions, and what their links are called.

use std::collections::{BTreeSet, HashMap};

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::Address;
use ferrocdf_model::{DimId, Model, VarId};

use super::link_name;
use crate::nc4::names;

/// What is to be attached to its scales.
#[derive(Default)]
pub(super) struct Attach {
    /// New variables, and those that are attached anew.
    pub(super) vars: Vec<VarId>,
    /// Dimensions whose list of users is made anew from the model.
    pub(super) dims: BTreeSet<u32>,
    /// For each dimension of some variables, scales that they stay attached to besides the dimension's own, which comes last.
    pub(super) others: HashMap<VarId, Vec<Vec<Address>>>,
}

/// The dimension whose coordinate a variable is: the first of its dimensions, if that is in the same group and has the
/// same name.
pub(super) fn role(model: &Model, var: VarId) -> Option<DimId> {
    let var = model.var(var);
    let &first = var.dims.first()?;
    let dim = model.dim(first);
    (dim.group == var.group && dim.name == var.name).then_some(first)
}

/// The variable that is the coordinate of a dimension.
pub(super) fn coordinate(model: &Model, dim: DimId) -> Option<VarId> {
    let of = model.dim(dim);
    model.find_var(of.group, of.name.as_bytes()).filter(|&var| role(model, var) == Some(dim))
}

/// Whether a variable has the name of a dimension of its group whose coordinate it is not.
pub(super) fn is_prefixed(model: &Model, var: VarId) -> bool {
    let of = model.var(var);
    role(model, var).is_none() && model.dim_in(of.group, of.name.as_bytes()).is_some()
}

/// The name of a variable's link.
pub(super) fn link_of(model: &Model, var: VarId, prefixed: bool) -> Result<String> {
    let name = link_name(model.var(var).name.as_bytes())?;
    let prefix = if prefixed { link_name(names::NON_COORDINATE)? } else { "" };
    Ok(format!("{prefix}{name}"))
}

/// True if variables or dimensions have other names, or there are more dimensions.
pub(super) fn changes_names(old: &Model, new: &Model) -> bool {
    let vars = old.vars().iter().zip(new.vars()).any(|(old, new)| old.name != new.name);
    let dims = old.dims().iter().zip(new.dims()).any(|(old, new)| old.name != new.name);
    vars || dims || new.dims().len() > old.dims().len()
}
