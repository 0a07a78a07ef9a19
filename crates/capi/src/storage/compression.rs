//! How variables are stored: chunks, byte order, checksums, quantization. Classic files leave no choice: they answer
//! `NC_ENOTNC4` to wishes, and tell how they store.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::Filter;
use ferrocdf::{Code, define_filter};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::put;
use crate::storage::definition::{add_filter, filtered, storage_of, wish};
use crate::storage::filters::nc_def_var_filter;

pub extern "C" fn nc_def_var_deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: c_int,
    deflate: c_int,
    level: c_int,
) -> c_int {
    answer(|| {
        wish(ncid, varid, |model, var| {
            if shuffle != 0 {
                define_filter(model, var, Filter::SHUFFLE, &[])?;
            }
            Ok(())
        })?;
        // Level 0 is a valid one, of which nobody has anything.
        if deflate == 0 || level == 0 {
            return Ok(());
        }
        add_filter(ncid, varid, Filter::DEFLATE, Some(&[level as c_uint]))
    })
}

/// A classic variable need not exist to be said not to be deflated, unless it is asked whether it is shuffled.
pub unsafe extern "C" fn nc_inq_var_deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: *mut c_int,
    deflate: *mut c_int,
    level: *mut c_int,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let found = storage.filter(Filter::DEFLATE);
        // SAFETY: the contract of the interface.
        unsafe {
            put(deflate, c_int::from(found.is_some()));
            put(level, found.and_then(|found| found.first().copied()).unwrap_or(0) as c_int);
        }
        if !shuffle.is_null() {
            let shuffled = storage_of(ncid, varid)?.filter(Filter::SHUFFLE).is_some();
            // SAFETY: the contract of the interface.
            unsafe { put(shuffle, c_int::from(shuffled)) };
        }
        Ok(())
    })
}

pub extern "C" fn nc_def_var_fletcher32(ncid: c_int, varid: c_int, checksum: c_int) -> c_int {
    answer(|| {
        wish(ncid, varid, |model, var| {
            if checksum != 0 { define_filter(model, var, Filter::FLETCHER32, &[]) } else { Ok(()) }
        })
    })
}

pub unsafe extern "C" fn nc_inq_var_fletcher32(ncid: c_int, varid: c_int, checksum: *mut c_int) -> c_int {
    answer(|| {
        let found = storage_of(ncid, varid)?.filter(Filter::FLETCHER32).is_some();
        // SAFETY: the contract of the interface.
        unsafe { put(checksum, c_int::from(found)) };
        Ok(())
    })
}

pub extern "C" fn nc_def_var_szip(ncid: c_int, varid: c_int, mask: c_int, pixels: c_int) -> c_int {
    let parameters = [mask as c_uint, pixels as c_uint];
    // SAFETY: there are two parameters.
    unsafe { nc_def_var_filter(ncid, varid, Filter::SZIP, parameters.len(), parameters.as_ptr()) }
}

pub unsafe extern "C" fn nc_inq_var_szip(
    ncid: c_int,
    varid: c_int,
    mask: *mut c_int,
    pixels: *mut c_int,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let found = match storage.filter(Filter::SZIP) {
            None => &[0, 0],
            Some(found) if found.len() < 2 => return fail(Code::EFILTER, "szip has too few parameters"),
            Some(found) => found,
        };
        // SAFETY: the contract of the interface.
        unsafe {
            put(mask, found[0] as c_int);
            put(pixels, found[1] as c_int);
        }
        Ok(())
    })
}
