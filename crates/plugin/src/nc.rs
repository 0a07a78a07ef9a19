//! Functions of the netCDF library that plugins call: codecs inquire about the variable whose parameters are derived,
//! and filters with 64-bit parameters reorder bytes.
//!
//! Each thread has one variable in one file while [`Asked`] lives; any other id gets the error that netCDF-C returns
//! for an unknown id. As in [`crate::h5`] no name is exported.

use std::cell::RefCell;
use std::ffi::{c_char, c_int};

use ferrocdf_bytes::Code;
use ferrocdf_codec::spec::fix8;

use crate::h5::{guard, put};

/// Variable as codecs see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecVariable {
    /// Name of the variable.
    pub name: String,
    /// Number of the type in `netcdf.h`.
    pub kind: i32,
    /// Size of an element in bytes.
    pub size: usize,
    /// True if the elements are stored in big-endian order.
    pub big_endian: bool,
    /// Lengths of the dimensions.
    pub shape: Vec<usize>,
    /// Shape of a chunk.
    pub chunk: Vec<usize>,
}

/// Ids of the file and of the variable.
pub(crate) const NCID: c_int = 0x0001_0000;
pub(crate) const VARID: c_int = 0;

const NC_CHUNKED: c_int = 0;
const NC_ENDIAN_LITTLE: c_int = 1;
const NC_ENDIAN_BIG: c_int = 2;

thread_local! {
    static CURRENT: RefCell<Option<CodecVariable>> = const { RefCell::new(None) };
}

/// Guard that makes a variable the current one of this thread. Holds the previous one.
#[derive(Debug)]
pub(crate) struct Asked(Option<CodecVariable>);

impl Asked {
    pub(crate) fn about(variable: &CodecVariable) -> Asked {
        Asked(CURRENT.replace(Some(variable.clone())))
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        CURRENT.replace(self.0.take());
    }
}

/// Answers an inquiry about the current variable.
fn answer(ncid: c_int, varid: c_int, body: impl FnOnce(&CodecVariable) -> Result<(), Code>) -> c_int {
    guard(Code::EINTERNAL.0, || {
        let variable = CURRENT.with_borrow(Clone::clone);
        let done = match variable {
            Some(variable) if ncid == NCID && varid == VARID => body(&variable),
            Some(_) if ncid == NCID => Err(Code::ENOTVAR),
            _ => Err(Code::EBADID),
        };
        Some(done.map_or_else(|code| code.0, |()| 0))
    })
}

/// # Safety
/// The place is null or has room for the longest netCDF name, 257 bytes with its zero byte.
unsafe fn put_name(place: *mut c_char, name: &str) {
    let len = name.len().min(256);
    if !place.is_null() {
        // SAFETY: as the caller says.
        unsafe {
            place.cast::<u8>().copy_from_nonoverlapping(name.as_ptr(), len);
            place.add(len).write(0);
        }
    }
}

fn count(len: usize) -> Result<c_int, Code> {
    c_int::try_from(len).map_err(|_| Code::EINTERNAL)
}

/// # Safety
/// The places are null or valid; `dimids` has room for all dimensions.
unsafe extern "C" fn nc_inq_var(
    ncid: c_int,
    varid: c_int,
    name: *mut c_char,
    kind: *mut c_int,
    ndims: *mut c_int,
    dimids: *mut c_int,
    natts: *mut c_int,
) -> c_int {
    answer(ncid, varid, |variable| {
        let rank = count(variable.shape.len())?;
        // SAFETY: as the caller says.
        unsafe {
            put_name(name, &variable.name);
            put(kind, variable.kind);
            put(ndims, rank);
            put(natts, 0);
            if !dimids.is_null() {
                (0..rank).for_each(|dim| dimids.add(dim as usize).write(dim));
            }
        }
        Ok(())
    })
}

/// # Safety
/// As for [`nc_inq_var`].
unsafe extern "C" fn nc_inq_vartype(ncid: c_int, varid: c_int, kind: *mut c_int) -> c_int {
    let none: *mut c_int = std::ptr::null_mut();
    // SAFETY: as the caller says.
    unsafe { nc_inq_var(ncid, varid, none.cast(), kind, none, none, none) }
}

/// # Safety
/// As for [`nc_inq_var`].
unsafe extern "C" fn nc_inq_varndims(ncid: c_int, varid: c_int, ndims: *mut c_int) -> c_int {
    let none: *mut c_int = std::ptr::null_mut();
    // SAFETY: as the caller says.
    unsafe { nc_inq_var(ncid, varid, none.cast(), none, ndims, none, none) }
}

/// # Safety
/// As for [`nc_inq_var`].
unsafe extern "C" fn nc_inq_vardimid(ncid: c_int, varid: c_int, dimids: *mut c_int) -> c_int {
    let none: *mut c_int = std::ptr::null_mut();
    // SAFETY: as the caller says.
    unsafe { nc_inq_var(ncid, varid, none.cast(), none, none, dimids, none) }
}

/// # Safety
/// The places are null or valid.
unsafe extern "C" fn nc_inq_type(ncid: c_int, kind: c_int, name: *mut c_char, size: *mut usize) -> c_int {
    const ATOMIC: [(&str, usize); 12] = [
        ("byte", 1),
        ("char", 1),
        ("short", 2),
        ("int", 4),
        ("float", 4),
        ("double", 8),
        ("ubyte", 1),
        ("ushort", 2),
        ("uint", 4),
        ("int64", 8),
        ("uint64", 8),
        ("string", size_of::<usize>()),
    ];
    answer(ncid, VARID, |variable| {
        let at = usize::try_from(kind).ok().and_then(|kind| kind.checked_sub(1));
        let (text, len) = match at.and_then(|at| ATOMIC.get(at)) {
            Some(atomic) => *atomic,
            None if kind == variable.kind => ("", variable.size),
            None => return Err(Code::EBADTYPE),
        };
        // SAFETY: as the caller says.
        unsafe {
            put_name(name, text);
            put(size, len);
        }
        Ok(())
    })
}

/// # Safety
/// The places are null or valid; there is room for as many sizes as there are dimensions.
unsafe extern "C" fn nc_inq_var_chunking(
    ncid: c_int,
    varid: c_int,
    storage: *mut c_int,
    sizes: *mut usize,
) -> c_int {
    answer(ncid, varid, |variable| {
        // SAFETY: as the caller says.
        unsafe {
            put(storage, NC_CHUNKED);
            if !sizes.is_null() {
                sizes.copy_from_nonoverlapping(variable.chunk.as_ptr(), variable.chunk.len());
            }
        }
        Ok(())
    })
}

/// # Safety
/// The place is null or valid.
unsafe extern "C" fn nc_inq_var_endian(ncid: c_int, varid: c_int, endian: *mut c_int) -> c_int {
    answer(ncid, varid, |variable| {
        // SAFETY: as the caller says.
        unsafe { put(endian, if variable.big_endian { NC_ENDIAN_BIG } else { NC_ENDIAN_LITTLE }) };
        Ok(())
    })
}

/// # Safety
/// The places are null or valid.
unsafe extern "C" fn nc_inq_dim(ncid: c_int, dimid: c_int, name: *mut c_char, len: *mut usize) -> c_int {
    answer(ncid, VARID, |variable| {
        let at = usize::try_from(dimid).map_err(|_| Code::EBADDIM)?;
        let dim = *variable.shape.get(at).ok_or(Code::EBADDIM)?;
        // SAFETY: as the caller says.
        unsafe {
            put_name(name, &format!("dim{dimid}"));
            put(len, dim);
        }
        Ok(())
    })
}

/// # Safety
/// The place is null or valid.
unsafe extern "C" fn nc_inq_dimlen(ncid: c_int, dimid: c_int, len: *mut usize) -> c_int {
    // SAFETY: as the caller says.
    unsafe { nc_inq_dim(ncid, dimid, std::ptr::null_mut(), len) }
}

/// # Safety
/// The place is null or has 8 bytes.
unsafe extern "C" fn ncaux_h5filterspec_fix8(bytes: *mut u8, _decode: c_int) {
    if !bytes.is_null() {
        // SAFETY: as the caller says.
        fix8(unsafe { &mut *bytes.cast() }, cfg!(target_endian = "big"));
    }
}

/// Returns the address of the function of this name; `None` if this module has none.
pub(crate) fn address(name: &str) -> Option<usize> {
    let function = match name {
        "nc_inq_var" => nc_inq_var as *const (),
        "nc_inq_vartype" => nc_inq_vartype as *const (),
        "nc_inq_varndims" => nc_inq_varndims as *const (),
        "nc_inq_vardimid" => nc_inq_vardimid as *const (),
        "nc_inq_type" => nc_inq_type as *const (),
        "nc_inq_var_chunking" => nc_inq_var_chunking as *const (),
        "nc_inq_var_endian" => nc_inq_var_endian as *const (),
        "nc_inq_dim" => nc_inq_dim as *const (),
        "nc_inq_dimlen" => nc_inq_dimlen as *const (),
        "ncaux_h5filterspec_fix8" => ncaux_h5filterspec_fix8 as *const (),
        _ => return None,
    };
    Some(function as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_variable_is_told() {
        let variable = CodecVariable {
            name: "v".into(),
            kind: 5,
            size: 4,
            big_endian: true,
            shape: vec![7, 8],
            chunk: vec![3, 4],
        };
        let (mut kind, mut size, mut endian, mut dims, mut chunk) = (0, 0, 0, [9; 2], [0; 2]);
        let none: *mut c_int = std::ptr::null_mut();
        // SAFETY: all places have room for the results.
        unsafe {
            assert_eq!(nc_inq_vartype(NCID, VARID, &mut kind), Code::EBADID.0);
            let asked = Asked::about(&variable);
            assert_eq!((nc_inq_vartype(NCID, VARID, &mut kind), kind), (0, 5));
            assert_eq!((nc_inq_type(NCID, 5, none.cast(), &mut size), size), (0, 4));
            assert_eq!(nc_inq_type(NCID, 13, none.cast(), &mut size), Code::EBADTYPE.0);
            assert_eq!((nc_inq_vardimid(NCID, VARID, dims.as_mut_ptr()), dims), (0, [0, 1]));
            assert_eq!((nc_inq_dimlen(NCID, 1, &mut size), size), (0, 8));
            assert_eq!(nc_inq_dimlen(NCID, 2, &mut size), Code::EBADDIM.0);
            assert_eq!((nc_inq_var_chunking(NCID, VARID, none, chunk.as_mut_ptr()), chunk), (0, [3, 4]));
            assert_eq!((nc_inq_var_endian(NCID, VARID, &mut endian), endian), (0, NC_ENDIAN_BIG));
            assert_eq!(nc_inq_vartype(NCID, 1, &mut kind), Code::ENOTVAR.0);
            assert_eq!(nc_inq_vartype(5, VARID, &mut kind), Code::EBADID.0);
            drop(asked);
            assert_eq!(nc_inq_vartype(NCID, VARID, &mut kind), Code::EBADID.0);
        }
    }

    #[test]
    fn bytes_are_put_in_order() {
        let mut bytes = *b"lowwhigh";
        // SAFETY: the place has 8 bytes, or is null.
        unsafe {
            ncaux_h5filterspec_fix8(bytes.as_mut_ptr(), 0);
            ncaux_h5filterspec_fix8(std::ptr::null_mut(), 0);
        }
        assert_eq!(&bytes, if cfg!(target_endian = "big") { b"highloww" } else { b"lowwhigh" });
        assert!(address("ncaux_h5filterspec_fix8").is_some());
        assert_eq!(address("ncaux_h5filterspec_parse"), None);
    }
}
