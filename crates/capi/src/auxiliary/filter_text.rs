//! Filter specifications as text: the functions of `netcdf_aux.h`, which use the parser `ferrocdf::spec`.
//!
//! Text after a number, and numbers out of range, are read as by netCDF-C.

use std::ffi::{c_int, c_uint};

use ferrocdf::Result;
use ferrocdf::spec::{List, Spec, Syntax, fix8, parse_parameter};

use crate::abi::answer::answer;
use crate::abi::memory::{allocate, copy_of, free};
use crate::abi::pointers::{Out, Str, put_all};

/// `NC_H5_Filterspec` of `netcdf_aux.h`: a filter and its parameters; the parameters are from `malloc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Filterspec {
    filterid: c_uint,
    nparams: usize,
    params: *mut c_uint,
}

/// # Safety
/// `bytes` is null or has 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_fix8(bytes: *mut u8, _decode: c_int) {
    if !bytes.is_null() {
        // SAFETY: the pointer is not null, so there are 8 bytes.
        fix8(unsafe { &mut *bytes.cast() }, cfg!(target_endian = "big"));
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ncaux_h5filterspec_parse(
    text: Str,
    id: Out<c_uint>,
    count: Out<usize>,
    parameters: Out<*mut c_uint>,
) -> c_int {
    answer(|| {
        let spec = Spec::parse(text.bytes()?, Syntax::NetcdfC)?;
        let (found, params) = (spec.hdf5_id()?, spec.params);
        if !parameters.is_null() {
            parameters.put(copy_of(&params)?);
        }
        id.put(found);
        count.put(params.len());
        Ok(())
    })
}

/// # Safety
/// `words` is null or has room for two words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse_parameter(
    text: Str,
    count: Out<usize>,
    words: *mut c_uint,
) -> c_int {
    answer(|| {
        let parameter = parse_parameter(text.bytes()?, Syntax::NetcdfC)?;
        count.put(parameter.len());
        // SAFETY: `words` is null or has room for two words, the size of a 64-bit parameter.
        unsafe { put_all(words, parameter) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn ncaux_h5filterspec_parselist(
    text: Str,
    format: Out<c_int>,
    count: Out<usize>,
    list: Out<*mut *mut Filterspec>,
) -> c_int {
    answer(|| {
        let found = List::parse(text.bytes()?, Syntax::NetcdfC)?;
        if !list.is_null() {
            list.put(new_list(&found.specs)?);
        }
        format.put(found.format);
        count.put(found.specs.len());
        Ok(())
    })
}

/// Returns a list of filters in memory from `malloc`; null if there are none.
fn new_list(filters: &[Spec]) -> Result<*mut *mut Filterspec> {
    if filters.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    let ids = filters.iter().map(Spec::hdf5_id).collect::<Result<Vec<u32>>>()?;
    let list = allocate::<*mut Filterspec>(filters.len())?;
    for (at, (filterid, Spec { params, .. })) in ids.into_iter().zip(filters).enumerate() {
        let spec = Filterspec { filterid, nparams: params.len(), params: copy_of(params)? };
        // SAFETY: the list has room for all filters.
        unsafe { list.add(at).write(copy_of(&[spec])?) };
    }
    Ok(list)
}

/// # Safety
/// `spec` is null, or from `malloc`, as are its parameters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_free(spec: *mut Filterspec) {
    if !spec.is_null() {
        // SAFETY: both pointers are from `malloc`, as the function says.
        unsafe {
            free((*spec).params);
            free(spec);
        }
    }
}
