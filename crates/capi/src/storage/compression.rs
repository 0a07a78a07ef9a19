//! Compression and checksums of variables. In classic files they cannot be set: a definition fails with `NC_ENOTNC4`,
//! and an inquiry returns that there are none.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::Filter;
use ferrocdf::{Code, define_filter};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;
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
        // Level 0 is valid and has no effect.
        if deflate == 0 || level == 0 {
            return Ok(());
        }
        add_filter(ncid, varid, Filter::DEFLATE, Some(&[level as c_uint]))
    })
}

/// Inquires about deflate and shuffle. In a classic file the variable is looked up only if `shuffle` is requested.
pub extern "C" fn nc_inq_var_deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: Out<c_int>,
    deflate: Out<c_int>,
    level: Out<c_int>,
) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let found = storage.filter(Filter::DEFLATE);
        deflate.put(c_int::from(found.is_some()));
        level.put(found.and_then(|found| found.first().copied()).unwrap_or(0) as c_int);
        if !shuffle.is_null() {
            let shuffled = storage_of(ncid, varid)?.filter(Filter::SHUFFLE).is_some();
            shuffle.put(c_int::from(shuffled));
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

pub extern "C" fn nc_inq_var_fletcher32(ncid: c_int, varid: c_int, checksum: Out<c_int>) -> c_int {
    answer(|| {
        let found = storage_of(ncid, varid)?.filter(Filter::FLETCHER32).is_some();
        checksum.put(c_int::from(found));
        Ok(())
    })
}

pub extern "C" fn nc_def_var_szip(ncid: c_int, varid: c_int, mask: c_int, pixels: c_int) -> c_int {
    let parameters = [mask as c_uint, pixels as c_uint];
    // SAFETY: `parameters` has two numbers.
    unsafe { nc_def_var_filter(ncid, varid, Filter::SZIP, parameters.len(), parameters.as_ptr()) }
}

pub extern "C" fn nc_inq_var_szip(ncid: c_int, varid: c_int, mask: Out<c_int>, pixels: Out<c_int>) -> c_int {
    answer(|| {
        let storage = filtered(ncid, varid)?;
        let found = match storage.filter(Filter::SZIP) {
            None => &[0, 0],
            Some(found) if found.len() < 2 => return fail(Code::EFILTER, "szip has too few parameters"),
            Some(found) => found,
        };
        mask.put(found[0] as c_int);
        pixels.put(found[1] as c_int);
        Ok(())
    })
}
