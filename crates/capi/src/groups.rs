//! Groups. A classic file is a root group without groups below it.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use ferrocdf::{Code, DataModel, GroupId, Model, Name, Result};

use crate::boundary::{answer, fail, put, put_all, put_name, put_text, text};
use crate::file_table::Pinned;
use crate::open_files::{find, group_id};
use crate::variables::check_new;

/// The file and group with an id, for what classic files do not have. Fails with `NC_ENOTNC4` for those.
pub(crate) fn find_enhanced(ncid: c_int) -> Result<(Pinned, GroupId)> {
    let (file, group) = find(ncid)?;
    if file.is_classic() {
        return fail(Code::ENOTNC4, "classic files have one group and no types of their own");
    }
    Ok((file, group))
}

fn no_group<T>(name: &[u8]) -> Result<T> {
    fail(Code::ENOGRP, format!("no group \"{}\"", name.escape_ascii()))
}

/// The id of a group below one; without a name, of the root. Any name finds the group itself in a classic file.
pub unsafe extern "C" fn nc_inq_ncid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| {
            if model.format().has_cdf_model() {
                return Ok(group);
            }
            if name.is_null() {
                return Ok(GroupId::ROOT);
            }
            // SAFETY: the contract of the interface.
            let name = unsafe { text(name) }?;
            child(model, group, name)
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, found)) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_grp_ncid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_inq_ncid(ncid, name, id) }
}

/// The group with a path from another one, such as `/a/b`. The path to the group itself is only known of the root.
fn by_path(model: &Model, from: GroupId, path: &[u8]) -> Result<GroupId> {
    let mut names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty()).peekable();
    if names.peek().is_none() && from != GroupId::ROOT {
        return no_group(path);
    }
    names.try_fold(from, |group, name| child(model, group, name))
}

/// A group within another. Names that could not be given are not even looked for.
fn child(model: &Model, group: GroupId, name: &[u8]) -> Result<GroupId> {
    let name = Name::new(name)?;
    model.find_group(group, name.as_bytes()).map_or_else(|| no_group(name.as_bytes()), Ok)
}

/// The group and the name in it that a path such as `/a/b` stands for; nothing for a plain name. Fails with `NC_EINVAL` for
/// a path that does not start at the root, and, as in the reference, for one that leads to the root group.
pub(crate) fn split_path<'a>(model: &Model, path: &'a [u8]) -> Result<Option<(GroupId, &'a [u8])>> {
    match path.iter().rposition(|&byte| byte == b'/') {
        None => Ok(None),
        Some(last) if last > 0 && path.starts_with(b"/") => {
            Ok(Some((by_path(model, GroupId::ROOT, &path[..last])?, &path[last + 1..])))
        }
        Some(_) => fail(Code::EINVAL, format!("\"{}\" is no path from the root", path.escape_ascii())),
    }
}

/// The id of the group with a path, such as `/a/b`, from the group of the id. Not even the root is found so in a classic
/// file.
pub unsafe extern "C" fn nc_inq_grp_full_ncid(ncid: c_int, path: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| {
            if model.format().has_cdf_model() {
                return fail(Code::ENOGRP, "classic files have no paths of groups");
            }
            // SAFETY: the contract of the interface.
            let path = unsafe { text(path) }?;
            by_path(model, group, path)
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, found)) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_grps(ncid: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let groups = &model.group(group).groups;
            // SAFETY: the contract of the interface.
            unsafe {
                put(count, groups.len() as c_int);
                put_all(ids, groups.iter().map(|&group| group_id(ncid, group)));
            }
        });
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_grpname(ncid: c_int, name: *mut c_char) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let own = model.group(group).name.as_bytes();
            // SAFETY: the contract of the interface.
            unsafe { put_name(name, if group == GroupId::ROOT { b"/" } else { own }) };
        });
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_grpname_full(ncid: c_int, len: *mut usize, path: *mut c_char) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| model.group_path(group));
        // SAFETY: the contract of the interface.
        unsafe {
            put(len, found.len());
            put_text(path, found.as_bytes());
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_grpname_len(ncid: c_int, len: *mut usize) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_inq_grpname_full(ncid, len, null_mut()) }
}

pub unsafe extern "C" fn nc_inq_grp_parent(ncid: c_int, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let Some(parent) = file.file().look(|model| model.group(group).parent) else {
            return fail(Code::ENOGRP, "the root group has no parent");
        };
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, parent)) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_def_grp(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let name = Name::new(unsafe { text(name) }?)?;
        let _state = file.state();
        file.file().look(|model| check_new(model, group, &name))?;
        if file.file().format().data_model() == DataModel::Netcdf4Classic {
            return fail(Code::ESTRICTNC3, "the classic model has one group");
        }
        file.check_define_mode()?;
        let new = file.writable()?.define(|model| model.def_group(group, name.as_bytes()))?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, new)) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_rename_grp(ncid: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let name = unsafe { text(name) }?;
        let _state = file.state();
        file.writable()?.define(|model| model.rename_group(group, name))?;
        file.check_define_mode()
    })
}

/// The reference prints to a log that usual builds do not have.
pub extern "C" fn nc_show_metadata(ncid: c_int) -> c_int {
    answer(|| find(ncid).map(drop))
}
