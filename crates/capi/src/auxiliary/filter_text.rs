//! Filters as text: the functions of `netcdf_aux.h` over the one reader, `ferrocdf::spec`.
//!
//! What follows a number, and numbers that are too large, count as they do in the reference.

use std::ffi::{c_char, c_int, c_uint};

use ferrocdf::Result;
use ferrocdf::spec::{List, Spec, Syntax, fix8, parse_parameter};

use crate::abi::answer::answer;
use crate::abi::memory::{allocate, copy_of, free};
use crate::abi::pointers::{put, put_all, text};

/// `NC_H5_Filterspec` of `netcdf_aux.h`: a filter and its parameters, which are from `malloc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Filterspec {
    filterid: c_uint,
    nparams: usize,
    params: *mut c_uint,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_fix8(bytes: *mut u8, _decode: c_int) {
    if !bytes.is_null() {
        // SAFETY: there are 8 bytes by the contract of the interface.
        fix8(unsafe { &mut *bytes.cast() }, cfg!(target_endian = "big"));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse(
    text_: *const c_char,
    id: *mut c_uint,
    count: *mut usize,
    parameters: *mut *mut c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let spec = Spec::parse(unsafe { text(text_) }?, Syntax::NetcdfC)?;
        let (found, params) = (spec.hdf5_id()?, spec.params);
        // SAFETY: the contract of the interface.
        unsafe {
            if !parameters.is_null() {
                put(parameters, copy_of(&params)?);
            }
            put(id, found);
            put(count, params.len());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse_parameter(
    text_: *const c_char,
    count: *mut usize,
    words: *mut c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let parameter = parse_parameter(unsafe { text(text_) }?, Syntax::NetcdfC)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, parameter.len());
            put_all(words, parameter);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parselist(
    text_: *const c_char,
    format: *mut c_int,
    count: *mut usize,
    list: *mut *mut *mut Filterspec,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let found = List::parse(unsafe { text(text_) }?, Syntax::NetcdfC)?;
        // SAFETY: the contract of the interface.
        unsafe {
            if !list.is_null() {
                put(list, new_list(&found.specs)?);
            }
            put(format, found.format);
            put(count, found.specs.len());
        }
        Ok(())
    })
}

/// A list of filters in memory of `malloc`; null for none.
fn new_list(filters: &[Spec]) -> Result<*mut *mut Filterspec> {
    if filters.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    let ids = filters.iter().map(Spec::hdf5_id).collect::<Result<Vec<u32>>>()?;
    let list = allocate::<*mut Filterspec>(filters.len())?;
    for (at, (filterid, Spec { params, .. })) in ids.into_iter().zip(filters).enumerate() {
        let spec = Filterspec { filterid, nparams: params.len(), params: copy_of(params)? };
        // SAFETY: there is room for all.
        unsafe { list.add(at).write(copy_of(&[spec])?) };
    }
    Ok(list)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_free(spec: *mut Filterspec) {
    if !spec.is_null() {
        // SAFETY: both are from `malloc` by the contract of the interface.
        unsafe {
            free((*spec).params);
            free(spec);
        }
    }
}
