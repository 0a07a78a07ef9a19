//! Old functions for the Cray: a file has a processing element, which is 0.

use std::ffi::{c_char, c_int};

use crate::abi::answer::answer;
use crate::abi::pointers::put;
use crate::files::open::{create, open};
use crate::open::ids::find_file;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__create_mp(
    path: *const c_char,
    mode: c_int,
    size: usize,
    basepe: c_int,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { create(path, mode, size, basepe, hint, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc__open_mp(
    path: *const c_char,
    mode: c_int,
    basepe: c_int,
    hint: *mut usize,
    id: *mut c_int,
) -> c_int {
    // SAFETY: the contract of the interface.
    unsafe { open(path, mode, basepe, hint, id) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_base_pe(ncid: c_int, pe: *mut c_int) -> c_int {
    answer(|| {
        find_file(ncid)?;
        // SAFETY: the contract of the interface.
        unsafe { put(pe, 0) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_base_pe(ncid: c_int, _pe: c_int) -> c_int {
    answer(|| find_file(ncid).map(drop))
}
