//! Names and paths of objects in a model.

use ferrocdf_bytes::{Code, Error, ErrorKind, Result};
use ferrocdf_model::{Container, DimId, GroupId, Model, Name, TypeId, VarId};

/// Finds a group by a path; an empty one is that of `from`.
pub(super) fn find_group(model: &Model, from: GroupId, path: &str) -> Result<GroupId> {
    if path.trim_matches('/').is_empty() {
        return Ok(if path.is_empty() { from } else { GroupId::ROOT });
    }
    let parent = model.split_path(from, path.trim_end_matches('/').as_bytes());
    let found = parent.and_then(|(parent, name)| model.find_group(parent, name));
    found.ok_or_else(|| {
        let groups = parent.map(|(parent, _)| model.group(parent).groups.iter());
        missing(Code::ENOGRP, "group", path, groups.map(|ids| ids.map(|&id| &model.group(id).name)))
    })
}

/// Finds a variable by a path.
pub(super) fn find_var(model: &Model, from: GroupId, path: &str) -> Result<VarId> {
    let group = model.split_path(from, path.as_bytes());
    let found = group.and_then(|(group, name)| model.find_var(group, name));
    found.ok_or_else(|| {
        let vars = group.map(|(group, _)| model.group(group).vars.iter());
        missing(Code::ENOTVAR, "variable", path, vars.map(|ids| ids.map(|&id| &model.var(id).name)))
    })
}

/// Finds a dimension by a path, or by its name in a group and those around it.
pub(super) fn find_dim(model: &Model, group: GroupId, path: &str) -> Result<DimId> {
    let (of, groups) = scopes(model, group, path);
    let found = of.and_then(|(_, name)| groups.clone()?.find_map(|group| model.dim_in(group, name)));
    found.ok_or_else(|| {
        let there = groups.map(|groups| groups.flat_map(|group| &model.group(group).dims));
        missing(Code::EBADDIM, "dimension", path, there.map(|ids| ids.map(|&id| &model.dim(id).name)))
    })
}

/// Finds a user-defined type by a path, or by its name in a group and those around it.
pub(super) fn find_type(model: &Model, group: GroupId, path: &str) -> Result<TypeId> {
    let (of, groups) = scopes(model, group, path);
    let found = of.and_then(|(_, name)| groups.clone()?.find_map(|group| model.type_in(group, name)));
    found.ok_or_else(|| {
        let there = groups.map(|groups| groups.flat_map(|group| &model.group(group).types));
        let names = there.map(|ids| ids.map(|&id| &model.user_type(id).name));
        missing(Code::EBADTYPE, "type", path, names).with_kind(ErrorKind::NotFound)
    })
}

/// Returns what [`Model::split_path`] does, and the groups in which a dimension or a type of the path may be.
fn scopes<'m, 'p>(
    model: &'m Model,
    group: GroupId,
    path: &'p str,
) -> (Option<(GroupId, &'p [u8])>, Option<impl Iterator<Item = GroupId> + Clone + use<'m>>) {
    let of = model.split_path(group, path.as_bytes());
    let depth = if path.contains('/') { 1 } else { usize::MAX };
    (of, of.map(|(group, _)| model.and_parents(group).take(depth)))
}

/// Checks that a new name clashes with nothing in a group whose objects are links of HDF5: dimensions are links too, and share their
/// names with variables only.
///
/// # Errors
/// `NC_ENAMEINUSE`.
pub(super) fn check_link(model: &Model, group: GroupId, name: &str, is_dimension: bool) -> Result<()> {
    let bytes = name.as_bytes();
    let kind = if model.find_group(group, bytes).is_some() {
        "group"
    } else if model.type_in(group, bytes).is_some() {
        "type"
    } else if !is_dimension && model.dim_in(group, bytes).is_some() {
        "dimension"
    } else {
        return Ok(());
    };
    if model.format().container() != Container::Hdf5 {
        return Ok(());
    }
    Err(Error::new(Code::ENAMEINUSE, format!("\"{name}\" is a {kind} already; choose another name")))
}

/// Returns the error of a path to nothing. `there` are the names that there are, if the groups in the path exist.
pub(super) fn missing<'n>(
    code: Code,
    kind: &str,
    path: &str,
    there: Option<impl Iterator<Item = &'n Name>>,
) -> Error {
    /// A longer list helps nobody.
    const MOST_NAMES: usize = 20;
    let Some(there) = there else {
        return Error::new(code, format!("no {kind} \"{path}\"; a group in this path does not exist"));
    };
    let mut names: Vec<String> = there.take(MOST_NAMES + 1).map(ToString::to_string).collect();
    if names.len() > MOST_NAMES {
        names[MOST_NAMES] = "…".to_string();
    }
    let there = match names.is_empty() {
        true => "there is none".to_string(),
        false => format!("there are: {}", names.join(", ")),
    };
    Error::new(code, format!("no {kind} \"{path}\"; {there}"))
}
