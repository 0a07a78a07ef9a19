//! Groups. A classic file is a root group without groups below it.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;
use std::sync::Arc;

use ferrocdf::{Code, GroupId, Result};

use crate::boundary::{answer, fail, put, put_all, put_text, text};
use crate::open_files::{OpenFile, find, group_id};

/// The file and group with an id, for what classic files do not have. Fails with `NC_ENOTNC4` for those.
pub(crate) fn find_enhanced(ncid: c_int) -> Result<(Arc<OpenFile>, GroupId)> {
    let (file, group) = find(ncid)?;
    if file.file().format().is_classic_file() {
        return fail(Code::ENOTNC4, "classic files have one group and no types of their own");
    }
    Ok((file, group))
}

fn no_group<T>(name: &[u8]) -> Result<T> {
    fail(Code::ENOGRP, format!("no group \"{}\"", name.escape_ascii()))
}

/// The id of a group below one. Any name finds the group itself in a classic file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_ncid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| {
            if model.format().is_classic_file() {
                return Ok(group);
            }
            // SAFETY: the contract of the interface.
            let name = unsafe { text(name) }?;
            model.find_group(group, name).map_or_else(|| no_group(name), Ok)
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, found)) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grp_ncid(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_inq_ncid(ncid, name, id) }
}

/// The id of the group with a path, such as `/a/b`. Not even the root is found so in a classic file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grp_full_ncid(ncid: c_int, path: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, _) = find(ncid)?;
        let found = file.file().look(|model| {
            if model.format().is_classic_file() {
                return fail(Code::ENOGRP, "classic files have no paths of groups");
            }
            // SAFETY: the contract of the interface.
            let path = unsafe { text(path) }?;
            let mut names = path.split(|&byte| byte == b'/').filter(|name| !name.is_empty());
            names.try_fold(GroupId::ROOT, |group, name| {
                model.find_group(group, name).map_or_else(|| no_group(name), Ok)
            })
        })?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, found)) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grpname(ncid: c_int, name: *mut c_char) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let own = model.group(group).name.as_bytes();
            // SAFETY: the contract of the interface.
            unsafe { put_text(name, if group == GroupId::ROOT { b"/" } else { own }) };
        });
        Ok(())
    })
}

#[unsafe(no_mangle)]
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_grpname_len(ncid: c_int, len: *mut usize) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { nc_inq_grpname_full(ncid, len, null_mut()) }
}

#[unsafe(no_mangle)]
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

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_grp(ncid: c_int, name: *const c_char, id: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let name = unsafe { text(name) }?;
        let new = file.writable()?.define(|model| model.def_group(group, name))?;
        // SAFETY: the contract of the interface.
        unsafe { put(id, group_id(ncid, new)) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_rename_grp(ncid: c_int, name: *const c_char) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        // SAFETY: the contract of the interface.
        let name = unsafe { text(name) }?;
        file.writable()?.define(|model| model.rename_group(group, name))
    })
}

/// The reference prints to a log that usual builds do not have.
#[unsafe(no_mangle)]
pub extern "C" fn nc_show_metadata(ncid: c_int) -> c_int {
    answer(|| find(ncid).map(drop))
}
