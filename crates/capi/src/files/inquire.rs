//! Inquiry about a file: format, path, and numbers of its objects.

use std::ffi::{c_char, c_int};

use ferrocdf::Owner;

use crate::abi::answer::answer;
use crate::abi::pointers::{Out, put_text};
use crate::model::entities::attrs;
use crate::open::ids::{find, find_file};
use crate::open::paths::text_of;

pub extern "C" fn nc_inq(
    ncid: c_int,
    dims: Out<c_int>,
    vars: Out<c_int>,
    attrs_count: Out<c_int>,
    unlimited: Out<c_int>,
) -> c_int {
    answer(|| {
        let (file, group) = find(ncid)?;
        let model = file.model();
        let in_group = model.group(group);
        let first = in_group.dims.iter().find(|dim| model.dim(**dim).unlimited);
        dims.put(in_group.dims.len() as c_int);
        vars.put(in_group.vars.len() as c_int);
        if !attrs_count.is_null() {
            attrs_count.put(attrs(&model, Owner::Group(group))?.len() as c_int);
        }
        unlimited.put(first.map_or(-1, |dim| dim.0 as c_int));
        Ok(())
    })
}

/// Defines a function that returns one of the numbers of [`nc_inq`].
macro_rules! part_of_inq {
    ($name:ident, $dims:expr, $vars:expr, $attrs:expr, $unlimited:expr) => {
        pub extern "C" fn $name(ncid: c_int, number: Out<c_int>) -> c_int {
            let pick = |this: bool| if this { number } else { Out::NULL };
            nc_inq(ncid, pick($dims), pick($vars), pick($attrs), pick($unlimited))
        }
    };
}

part_of_inq!(nc_inq_ndims, true, false, false, false);
part_of_inq!(nc_inq_nvars, false, true, false, false);
part_of_inq!(nc_inq_natts, false, false, true, false);
part_of_inq!(nc_inq_unlimdim, false, false, false, true);

pub extern "C" fn nc_inq_format(ncid: c_int, format: Out<c_int>) -> c_int {
    answer(|| {
        let number = find_file(ncid)?.file().format().number();
        format.put(number);
        Ok(())
    })
}

pub extern "C" fn nc_inq_format_extended(ncid: c_int, format: Out<c_int>, mode: Out<c_int>) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        let number = file.file().format().container().number();
        format.put(number);
        mode.put(file.mode);
        Ok(())
    })
}

/// # Safety
/// `path` is null or has room for the path and a zero byte.
pub unsafe extern "C" fn nc_inq_path(ncid: c_int, len: Out<usize>, path: *mut c_char) -> c_int {
    answer(|| {
        let file = find_file(ncid)?;
        let text = text_of(&file.location);
        len.put(text.len());
        // SAFETY: `path` is null or has room for the path, whose length the caller gets from `len` of an earlier call,
        // and a zero byte.
        unsafe { put_text(path, &text) };
        Ok(())
    })
}
