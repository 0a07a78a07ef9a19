//! Checks of names of dimensions, variables, groups and types, and resolution of paths.

use ferrocdf::{Code, DataModel, GroupId, Model, Name, Result};

use crate::abi::answer::fail;
use crate::abi::constants::LONGEST_NAME;
use crate::open::file::OpenFile;

/// Fails with `NC_EMAXNAME` for a name that is too long for any object of a netCDF-4 file.
pub(crate) fn check_wanted(name: &[u8]) -> Result<()> {
    if Name::wanted(name).len() > LONGEST_NAME {
        return fail(Code::EMAXNAME, "the name is too long");
    }
    Ok(())
}

/// Fails with `NC_ENAMEINUSE` for a name that is in use in a netCDF-4 group; variables, groups and types share one name
/// space.
pub(crate) fn check_new(model: &Model, group: GroupId, name: &Name) -> Result<()> {
    let bytes = name.as_bytes();
    let taken = model.find_var(group, bytes).is_some()
        || model.find_group(group, bytes).is_some()
        || model.type_in(group, bytes).is_some();
    if taken { fail(Code::ENAMEINUSE, format!("\"{name}\" exists already")) } else { Ok(()) }
}

/// Returns the new name of an object. Outside define mode a classic header cannot grow, so the new name must fit in the
/// space of the old one.
pub(crate) fn renamed(file: &OpenFile, old: &Name, new: Name) -> Result<Name> {
    if file.is_defining() || !file.model().format().has_cdf_model() { Ok(new) } else { new.in_room_of(old) }
}

/// Fails with `NC_ENOTINDEFINE` for a longer name outside define mode, in a netCDF-4 file that keeps to the classic model.
pub(crate) fn check_longer(file: &OpenFile, old: &Name, new: &Name) -> Result<()> {
    let strict = file.file().format().data_model() == DataModel::Netcdf4Classic;
    if strict && !file.is_defining() && new.as_bytes().len() > old.as_bytes().len() {
        return fail(Code::ENOTINDEFINE, "outside define mode names do not grow");
    }
    Ok(())
}

fn no_group<T>(name: &[u8]) -> Result<T> {
    fail(Code::ENOGRP, format!("no group \"{}\"", name.escape_ascii()))
}

/// Returns the subgroup with a name. Fails for invalid names without a search.
pub(crate) fn child(model: &Model, group: GroupId, name: &[u8]) -> Result<GroupId> {
    let name = Name::new(name)?;
    model.find_group(group, name.as_bytes()).map_or_else(|| no_group(name.as_bytes()), Ok)
}

/// Returns the group with a path, such as `/a/b`, relative to another group. An empty path is valid for the root only.
pub(crate) fn by_path(model: &Model, from: GroupId, path: &[u8]) -> Result<GroupId> {
    let mut names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() && from != GroupId::ROOT {
        return no_group(path);
    }
    names.try_fold(from, |group, name| child(model, group, name))
}

/// Returns the group and name of a path such as `/a/b`; `None` for a plain name. Fails with `NC_EINVAL` for a path that
/// does not start at the root, and, as in netCDF-C, for a path directly in the root group.
pub(crate) fn split_path<'a>(model: &Model, path: &'a [u8]) -> Result<Option<(GroupId, &'a [u8])>> {
    match path.iter().rposition(|&byte| byte == b'/') {
        None => Ok(None),
        Some(last) if last > 0 && path.starts_with(b"/") => {
            Ok(Some((by_path(model, GroupId::ROOT, &path[..last])?, &path[last + 1..])))
        }
        Some(_) => fail(Code::EINVAL, format!("\"{}\" is no path from the root", path.escape_ascii())),
    }
}
