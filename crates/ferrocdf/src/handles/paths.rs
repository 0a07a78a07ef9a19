//! Names and paths of objects in a model.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_model::{Container, DimId, GroupId, Model, Name};

/// Returns the group that a path leads through, and the name in it. A path that begins with a slash begins at the root group,
/// others begin at `from`.
pub(super) fn split<'p>(model: &Model, from: GroupId, path: &'p str) -> Option<(GroupId, &'p [u8])> {
    let (from, path) = path.strip_prefix('/').map_or((from, path), |path| (GroupId::ROOT, path));
    let Some((groups, name)) = path.rsplit_once('/') else { return Some((from, path.as_bytes())) };
    let group = groups.split('/').try_fold(from, |group, step| model.find_group(group, step.as_bytes()))?;
    Some((group, name.as_bytes()))
}

/// Finds a dimension by a path, or by its name in a group and those around it.
pub(super) fn find_dim(model: &Model, group: GroupId, path: &str) -> Result<DimId> {
    let of = split(model, group, path);
    // The groups in which the dimension may be.
    let depth = if path.contains('/') { 1 } else { usize::MAX };
    let groups = of.map(|(group, _)| model.and_parents(group).take(depth));
    let found = of.and_then(|(_, name)| groups.clone()?.find_map(|group| model.dim_in(group, name)));
    found.ok_or_else(|| {
        let there = groups.map(|groups| groups.flat_map(|group| &model.group(group).dims));
        missing(Code::EBADDIM, "dimension", path, there.map(|ids| ids.map(|&id| &model.dim(id).name)))
    })
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
