//! Coordinates of a dimension, and the bounds of their cells.

use ferrocdf_model::{Model, Owner, VarId};

use super::attribute_values::text;

/// Attributes of a coordinate that name the variable with the bounds of its cells.
const BOUNDS: [&str; 2] = ["bounds", "climatology"];

/// True for the coordinate variable of its only dimension.
pub(super) fn is_coordinate(model: &Model, var: VarId) -> bool {
    let described = model.var(var);
    match described.dims[..] {
        [dim] => model.dim(dim).name == described.name && model.dim(dim).group == described.group,
        _ => false,
    }
}

/// Returns the coordinate of whose cells a variable has the bounds.
pub(super) fn parent_of_bounds(model: &Model, var: VarId) -> Option<VarId> {
    let described = model.var(var);
    // Cells of one dimension have two bounds.
    let &[dim, two] = &described.dims[..] else { return None };
    if model.dim(two).len != 2 {
        return None;
    }
    model.var_ids().find(|&parent| {
        let other = model.var(parent);
        other.group == described.group
            && other.dims[..] == [dim]
            && BOUNDS.iter().any(|name| {
                let attr = model.find_attr(Owner::Var(parent), name.as_bytes());
                attr.and_then(|attr| text(&attr.value)) == Some(described.name.as_bytes())
            })
    })
}
