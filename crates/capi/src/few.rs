//! Calls that move a few values: the short way through the facade.
//!
//! `None` says that nothing was done, and the call goes the long way, which also has the errors.

use std::ffi::{c_int, c_void};

use ferrocdf::array::Kind;
use ferrocdf::{Fit, GroupId, Result};

use crate::constants::NC_SHARE;
use crate::data::Part;
use crate::open_files::find_root;

/// Start and count of each dimension, behind pointers that are not null.
fn bounds(part: Part) -> Option<impl Fn(usize) -> (u64, u64)> {
    let (start, count) = match part {
        Part::One { start } if !start.is_null() => (start, None),
        Part::Slab { start, count } if !start.is_null() && !count.is_null() => (start, Some(count)),
        _ => return None,
    };
    Some(move |dim| {
        // SAFETY: both have a number for each dimension, by the contract of the interface.
        unsafe { (*start.add(dim) as u64, count.map_or(1, |count| *count.add(dim) as u64)) }
    })
}

/// Reads into the memory at `values`.
///
/// # Safety
/// The contract of the interface.
pub(crate) unsafe fn get(
    ncid: c_int,
    varid: c_int,
    part: Part,
    kind: Kind,
    values: *mut c_void,
) -> Option<Result<Fit>> {
    let (bounds, var) = (bounds(part)?, usize::try_from(varid).ok()?);
    if values.is_null() {
        return None;
    }
    let open = find_root(ncid).filter(|open| !open.is_defining())?;
    // SAFETY: there is room for the elements that are asked for, by the contract of the interface.
    let memory = |count| unsafe { std::slice::from_raw_parts_mut(values.cast(), count * kind.size()) };
    open.file().read_few((GroupId::ROOT, var), kind, bounds, memory)
}

/// Writes from the memory at `values`.
///
/// # Safety
/// The contract of the interface.
pub(crate) unsafe fn put(
    ncid: c_int,
    varid: c_int,
    part: Part,
    kind: Kind,
    values: *const c_void,
) -> Option<Result<Fit>> {
    let (bounds, var) = (bounds(part)?, usize::try_from(varid).ok()?);
    if values.is_null() {
        return None;
    }
    let open = find_root(ncid)?;
    let is_short = open.is_classic() && open.mode & NC_SHARE == 0;
    if !is_short || open.is_defining() {
        return None;
    }
    // SAFETY: the elements are there, by the contract of the interface.
    let memory = |count| unsafe { std::slice::from_raw_parts(values.cast(), count * kind.size()) };
    open.writable().ok()?.write_few((GroupId::ROOT, var), kind, bounds, memory)
}
