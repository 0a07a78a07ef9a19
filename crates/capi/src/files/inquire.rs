//! What a file is and how much of everything it holds.

use std::ffi::{c_char, c_int};

use ferrocdf::Owner;

use crate::abi::answer::answer;
use crate::abi::pointers::{put, put_text};
use crate::model::entities::attrs;
use crate::open::ids::{find, find_file};
use crate::open::paths::text_of;

pub unsafe extern "C" fn nc_inq(
    ncid: c_int,
    dims: *mut c_int,
    vars: *mut c_int,
    attrs_count: *mut c_int,
    unlimited: *mut c_int,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let in_group = model.group(group);
        let first = in_group.dims.iter().find(|dim| model.dim(**dim).unlimited);
        // SAFETY: the contract of the interface.
        unsafe {
            put(dims, in_group.dims.len() as c_int);
            put(vars, in_group.vars.len() as c_int);
            if !attrs_count.is_null() {
                put(attrs_count, attrs(&model, Owner::Group(group))?.len() as c_int);
            }
            put(unlimited, first.map_or(-1, |dim| dim.0 as c_int));
        }
        Ok(())
    })
}

/// A function that gives one of the numbers of [`nc_inq`].
macro_rules! part_of_inq {
    ($name:ident, $dims:expr, $vars:expr, $attrs:expr, $unlimited:expr) => {
        pub unsafe extern "C" fn $name(ncid: c_int, number: *mut c_int) -> c_int {
            let null = std::ptr::null_mut();
            let pick = |this: bool| if this { number } else { null };
            // SAFETY: the contract of the interface.
            unsafe { nc_inq(ncid, pick($dims), pick($vars), pick($attrs), pick($unlimited)) }
        }
    };
}

part_of_inq!(nc_inq_ndims, true, false, false, false);
part_of_inq!(nc_inq_nvars, false, true, false, false);
part_of_inq!(nc_inq_natts, false, false, true, false);
part_of_inq!(nc_inq_unlimdim, false, false, false, true);

pub unsafe extern "C" fn nc_inq_format(ncid: c_int, format: *mut c_int) -> c_int {
    answer(|| {
        let number = find_file(ncid)?.file().format().number();
        // SAFETY: the contract of the interface.
        unsafe { put(format, number) };
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_format_extended(ncid: c_int, format: *mut c_int, mode: *mut c_int) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        let number = file.file().format().container().number();
        // SAFETY: the contract of the interface.
        unsafe {
            put(format, number);
            put(mode, file.mode);
        }
        Ok(())
    })
}

pub unsafe extern "C" fn nc_inq_path(ncid: c_int, len: *mut usize, path: *mut c_char) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        let text = text_of(&file.location);
        // SAFETY: the contract of the interface.
        unsafe {
            put(len, text.len());
            put_text(path, &text);
        }
        Ok(())
    })
}
