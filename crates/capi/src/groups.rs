//! Groups. A classic file is a root group without groups below it.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use ferrocdf::{Code, DataModel, DimId, GroupId, Name};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{put, put_all, put_name, put_text, text};
use crate::model::names::{by_path, check_new, child};
use crate::open::ids::{find, find_enhanced, group_id};

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

pub unsafe extern "C" fn nc_inq_varids(ncid: c_int, count: *mut c_int, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let vars = file.file().look(|model| model.group(group).vars.len()) as c_int;
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, vars);
            put_all(ids, 0..vars);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_dimids(
    ncid: c_int,
    count: *mut c_int,
    ids: *mut c_int,
    include_parents: c_int,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let groups = model.and_parents(group).take(if include_parents != 0 { usize::MAX } else { 1 });
        let mut dims: Vec<DimId> = groups.flat_map(|group| model.group(group).dims.clone()).collect();
        dims.sort_unstable();
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, dims.len() as c_int);
            put_all(ids, dims.iter().map(|dim| dim.0 as c_int));
        }
        Ok(())
    })
}
