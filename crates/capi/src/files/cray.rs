//! Deprecated functions for Cray computers: every file has the processing element 0.

use std::ffi::c_int;

use crate::abi::answer::answer;
use crate::abi::pointers::{Out, Str};
use crate::files::open::{create, open};
use crate::open::ids::find_file;

#[unsafe(no_mangle)]
pub extern "C" fn nc__create_mp(
    path: Str,
    mode: c_int,
    size: usize,
    basepe: c_int,
    hint: Out<usize>,
    id: Out<c_int>,
) -> c_int {
    create(path, mode, size, basepe, hint, id)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc__open_mp(
    path: Str,
    mode: c_int,
    basepe: c_int,
    hint: Out<usize>,
    id: Out<c_int>,
) -> c_int {
    open(path, mode, basepe, hint, id)
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_base_pe(ncid: c_int, pe: Out<c_int>) -> c_int {
    answer(|| {
        find_file(ncid)?;
        pe.put(0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_base_pe(ncid: c_int, _pe: c_int) -> c_int {
    answer(|| find_file(ncid).map(drop))
}
