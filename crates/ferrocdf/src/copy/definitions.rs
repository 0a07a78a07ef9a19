//! Definitions of one dataset for another one.

use ferrocdf_model::{Format, Model};

/// Returns the groups, dimensions, types and attributes of groups of a dataset, as those of another format, with the same ids.
pub(crate) fn without_variables(source: &Model, format: Format) -> Model {
    let mut model = Model::new(format);
    for id in source.group_ids() {
        let group = source.group(id);
        if let Some(parent) = group.parent {
            model.push_group(parent, group.name.clone());
        }
        // Attributes that are still in the source would count as those that the new file has already.
        model.set_attrs(id, group.attrs.iter().cloned().collect::<Vec<_>>().into());
    }
    for ty in source.types() {
        model.push_type(ty.clone());
    }
    for dim in source.dims() {
        model.push_dim(dim.clone());
    }
    model
}
