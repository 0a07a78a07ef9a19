//! Groups. A classic file has only the root group.

use std::ffi::{c_char, c_int};
use std::ptr::null_mut;

use ferrocdf::{Code, DataModel, DimId, GroupId, Name};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::{NameOut, Out, Str, put_all, put_text};
use crate::model::names::{by_path, check_new, child};
use crate::open::ids::{find, find_enhanced, group_id};

/// Returns the id of a subgroup; without a name, that of the root. In a classic file any name gives the group itself.
pub extern "C" fn nc_inq_ncid(ncid: c_int, name: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| {
            if model.format().has_cdf_model() {
                return Ok(group);
            }
            if name.is_null() {
                return Ok(GroupId::ROOT);
            }
            let name = name.bytes()?;
            child(model, group, name)
        })?;
        id.put(group_id(ncid, found));
        Ok(())
    })
}

pub extern "C" fn nc_inq_grp_ncid(ncid: c_int, name: Str, id: Out<c_int>) -> c_int {
    nc_inq_ncid(ncid, name, id)
}

/// Returns the id of the group with a path, such as `/a/b`, relative to the group of the id. In a classic file every
/// path fails, even that of the root.
pub extern "C" fn nc_inq_grp_full_ncid(ncid: c_int, path: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| {
            if model.format().has_cdf_model() {
                return fail(Code::ENOGRP, "classic files have no paths of groups");
            }
            let path = path.bytes()?;
            by_path(model, group, path)
        })?;
        id.put(group_id(ncid, found));
        Ok(())
    })
}

/// # Safety
/// `ids` is null or has room for an id for each group in the group.
pub unsafe extern "C" fn nc_inq_grps(ncid: c_int, count: Out<c_int>, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let groups = &model.group(group).groups;
            count.put(groups.len() as c_int);
            // SAFETY: `ids` is null or has room for the subgroups, whose number the caller gets from `count` of an
            // earlier call.
            unsafe { put_all(ids, groups.iter().map(|&group| group_id(ncid, group))) };
        });
        Ok(())
    })
}

pub extern "C" fn nc_inq_grpname(ncid: c_int, name: NameOut) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        file.file().look(|model| {
            let own = model.group(group).name.as_bytes();
            name.put(if group == GroupId::ROOT { b"/" } else { own });
        });
        Ok(())
    })
}

/// # Safety
/// `path` is null or has room for the full name and a zero byte.
pub unsafe extern "C" fn nc_inq_grpname_full(ncid: c_int, len: Out<usize>, path: *mut c_char) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let found = file.file().look(|model| model.group_path(group));
        len.put(found.len());
        // SAFETY: `path` is null or has room for the full name, whose length the caller gets from `len` of an earlier
        // call, and a zero byte.
        unsafe { put_text(path, found.as_bytes()) };
        Ok(())
    })
}

pub extern "C" fn nc_inq_grpname_len(ncid: c_int, len: Out<usize>) -> c_int {
    // SAFETY: null requests no text.
    unsafe { nc_inq_grpname_full(ncid, len, null_mut()) }
}

pub extern "C" fn nc_inq_grp_parent(ncid: c_int, id: Out<c_int>) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let Some(parent) = file.file().look(|model| model.group(group).parent) else {
            return fail(Code::ENOGRP, "the root group has no parent");
        };
        id.put(group_id(ncid, parent));
        Ok(())
    })
}

pub extern "C" fn nc_def_grp(ncid: c_int, name: Str, id: Out<c_int>) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        let name = Name::new(name.bytes()?)?;
        let _state = file.state();
        file.file().look(|model| check_new(model, group, &name))?;
        if file.file().format().data_model() == DataModel::Netcdf4Classic {
            return fail(Code::ESTRICTNC3, "the classic model has one group");
        }
        file.check_define_mode()?;
        let new = file.writable()?.define(|model| model.def_group(group, name.as_bytes()))?;
        id.put(group_id(ncid, new));
        Ok(())
    })
}

pub extern "C" fn nc_rename_grp(ncid: c_int, name: Str) -> c_int {
    answer(|| {
        let (file, group) = find_enhanced(ncid)?;
        let name = name.bytes()?;
        let _state = file.state();
        file.writable()?.define(|model| model.rename_group(group, name))?;
        file.check_define_mode()
    })
}

/// Only checks the id: netCDF-C prints to a log that default builds do not have.
pub extern "C" fn nc_show_metadata(ncid: c_int) -> c_int {
    answer(|| find(ncid).map(drop))
}

/// # Safety
/// `ids` is null or has room for an id for each variable of the group.
pub unsafe extern "C" fn nc_inq_varids(ncid: c_int, count: Out<c_int>, ids: *mut c_int) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let vars = file.file().look(|model| model.group(group).vars.len()) as c_int;
        count.put(vars);
        // SAFETY: `ids` is null or has room for the variables of the group.
        unsafe { put_all(ids, 0..vars) };
        Ok(())
    })
}

/// # Safety
/// `ids` is null or has room for an id for each dimension of the group, and of its parents if they are included.
pub unsafe extern "C" fn nc_inq_dimids(
    ncid: c_int,
    count: Out<c_int>,
    ids: *mut c_int,
    include_parents: c_int,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let groups = model.and_parents(group).take(if include_parents != 0 { usize::MAX } else { 1 });
        let mut dims: Vec<DimId> = groups.flat_map(|group| model.group(group).dims.clone()).collect();
        dims.sort_unstable();
        count.put(dims.len() as c_int);
        // SAFETY: `ids` is null or has room for the dimensions, including those of the parents if requested.
        unsafe { put_all(ids, dims.iter().map(|dim| dim.0 as c_int)) };
        Ok(())
    })
}
