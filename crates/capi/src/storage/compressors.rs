//! Filters with functions of their own: bzip2, zstd, blosc.

use std::ffi::{c_int, c_uint};

use ferrocdf::model::Filter;
use ferrocdf::{Code, Result, check_available};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;
use crate::open::ids::find;
use crate::storage::definition::{add_filter, filtered};
use crate::user_formats::user_file;

/// Fails with `NC_ENOFILTER` for a filter that is not available, and for every filter in a classic file.
fn check_usable(ncid: c_int, id: c_uint) -> Result<()> {
    let (file, _) = find(ncid)?;
    if file.is_classic() {
        return fail(Code::ENOFILTER, "classic files have no filters");
    }
    check_available(id)
}

/// Sets a filter, which must be available. `right` is false if the parameters are invalid.
fn set_named(ncid: c_int, varid: c_int, id: c_uint, right: bool, params: &[c_uint]) -> c_int {
    answer(|| {
        check_usable(ncid, id)?;
        if !right {
            return fail(Code::EINVAL, format!("{params:?} are no parameters of filter {id}"));
        }
        add_filter(ncid, varid, id, Some(params))
    })
}

/// Returns the parameters of a filter, which must be available; `None` if the variable does not have it. Sets `has` in
/// any case, also before an error.
fn named<const COUNT: usize>(
    ncid: c_int,
    varid: c_int,
    id: c_uint,
    has: Out<c_int>,
) -> Result<Option<[c_uint; COUNT]>> {
    has.put(0);
    let found = match user_file(ncid) {
        Some(file) => file.filter(ncid, varid, id)?,
        None => {
            check_usable(ncid, id)?;
            filtered(ncid, varid)?.filter(id).map(<[c_uint]>::to_vec)
        }
    };
    let Some(found) = found else { return Ok(None) };
    has.put(1);
    match found.try_into() {
        Ok(found) => Ok(Some(found)),
        Err(found) => fail(Code::EFILTER, format!("filter {id} has {} parameters", found.len())),
    }
}

pub extern "C" fn nc_def_var_bzip2(ncid: c_int, varid: c_int, level: c_int) -> c_int {
    set_named(ncid, varid, Filter::BZIP2, (1..=9).contains(&level), &[level as c_uint])
}

pub extern "C" fn nc_def_var_zstandard(ncid: c_int, varid: c_int, level: c_int) -> c_int {
    set_named(ncid, varid, Filter::ZSTD, (-131072..=22).contains(&level), &[level as c_uint])
}

/// Defines a function that returns whether a variable has a filter, and its level.
macro_rules! inquire_level {
    ($($function:ident => $id:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub extern "C" fn $function(ncid: c_int, varid: c_int, has: Out<c_int>, level: Out<c_int>) -> c_int {
            answer(|| {
                level.put(0);
                let found = named(ncid, varid, $id, has)?;
                level.put(found.map_or(0, |[level]| level as c_int));
                Ok(())
            })
        }
    )*};
}

/// Largest valid compressor number, level and shuffle mode of blosc.
const LAST_COMPRESSOR: c_uint = 5;

const LAST_LEVEL: c_uint = 9;

const LAST_SHUFFLE: c_uint = 2;

pub extern "C" fn nc_def_var_blosc(
    ncid: c_int,
    varid: c_int,
    compressor: c_uint,
    level: c_uint,
    block: c_uint,
    shuffle: c_uint,
) -> c_int {
    let right = compressor <= LAST_COMPRESSOR && level <= LAST_LEVEL && shuffle <= LAST_SHUFFLE;
    set_named(ncid, varid, Filter::BLOSC, right, &[0, 0, 0, block, level, shuffle, compressor])
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_inq_var_blosc(
    ncid: c_int,
    varid: c_int,
    has: Out<c_int>,
    compressor: Out<c_uint>,
    level: Out<c_uint>,
    block: Out<c_uint>,
    shuffle: Out<c_uint>,
) -> c_int {
    answer(|| {
        if let Some(found) = named::<7>(ncid, varid, Filter::BLOSC, has)? {
            block.put(found[3]);
            level.put(found[4]);
            shuffle.put(found[5]);
            compressor.put(found[6]);
        }
        Ok(())
    })
}

pub extern "C" fn nc_inq_filter_avail(ncid: c_int, id: c_uint) -> c_int {
    answer(|| check_usable(ncid, id))
}

inquire_level! {
    nc_inq_var_bzip2 => Filter::BZIP2;
    nc_inq_var_zstandard => Filter::ZSTD;
}
