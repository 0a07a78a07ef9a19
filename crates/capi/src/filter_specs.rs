//! Filters as text (`netcdf_aux.h`): `id,parameter,...`, several with `|` between them. Numbers are read by the scanner
//! of the C library, so that every text means what it means to the reference.

use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_uint};

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail, put, put_all, text};
use crate::c_memory::{free, room};

/// `NC_H5_Filterspec`
#[repr(C)]
pub struct NcFilterSpec {
    id: c_uint,
    count: usize,
    params: *mut c_uint,
}

/// A filter and its parameters.
type Spec = (c_uint, Vec<c_uint>);

fn bad<T>(given: &[u8]) -> Result<T> {
    fail(Code::EINVAL, format!("\"{}\" is no filter", given.escape_ascii()))
}

/// A number at the start of a text.
fn scan<T: Default>(text: &[u8], format: &CStr) -> Result<T> {
    let Ok(whole) = CString::new(text) else { return bad(text) };
    let mut number = T::default();
    // SAFETY: the text ends in a zero byte, and all callers give the format of `T`.
    match unsafe { libc::sscanf(whole.as_ptr(), format.as_ptr(), &raw mut number) } {
        1 => Ok(number),
        _ => bad(text),
    }
}

/// The two halves of 8 bytes, in the order of this machine.
fn halves(bytes: [u8; 8]) -> Vec<c_uint> {
    bytes.as_chunks().0.iter().map(|half| c_uint::from_le_bytes(*half)).collect()
}

/// One parameter, as one or two numbers. Letters at its end say what it is.
fn parameter(given: &[u8]) -> Result<Vec<c_uint>> {
    let start = given.iter().position(|byte| !b" \t".contains(byte)).unwrap_or(given.len());
    let given = &given[start..];
    let (before, last) = match given {
        [] => return bad(given),
        [last] | [_, last] => (None, *last),
        [.., before, last] => (Some(before.to_ascii_lowercase()), *last),
    };
    let last = last.to_ascii_lowercase();
    let unsigned = before.unwrap_or(last) == b'u';
    match last {
        b'f' | b'.' => Ok(vec![(scan::<f64>(given, c"%lf")? as f32).to_bits()]),
        b'd' => Ok(halves(scan::<f64>(given, c"%lf")?.to_le_bytes())),
        b'l' if unsigned => Ok(halves(scan::<u64>(given, c"%llu")?.to_le_bytes())),
        b'l' => Ok(halves(scan::<i64>(given, c"%lld")?.to_le_bytes())),
        b'b' | b's' | b'u' | b'0'..=b'9' => {
            let number = match given[0] {
                b'-' => scan::<c_int>(given, c"%d")? as c_uint,
                _ => scan::<c_uint>(given, c"%u")?,
            };
            Ok(vec![match last {
                b'b' => number & 0xff,
                b's' => number & 0xffff,
                _ => number,
            }])
        }
        _ => bad(given),
    }
}

/// One filter.
fn spec(given: &[u8]) -> Result<Spec> {
    if given.is_empty() {
        return bad(given);
    }
    let mut parts = given.split(|&byte| byte == b',');
    let id = scan(parts.next().unwrap_or_default(), c"%u")?;
    let mut params = vec![];
    for part in parts {
        params.extend(parameter(part)?);
    }
    Ok((id, params))
}

/// Parameters in memory of `malloc`.
fn given_away(params: Vec<c_uint>) -> Result<*mut c_uint> {
    let place = room(params.len())?;
    // SAFETY: there is room for all.
    unsafe { put_all(place, params) };
    Ok(place)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse(
    given: *const c_char,
    id: *mut c_uint,
    count: *mut usize,
    params: *mut *mut c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let (number, found) = spec(unsafe { text(given) }?)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(id, number);
            put(count, found.len());
            if !params.is_null() {
                put(params, given_away(found)?);
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parse_parameter(
    given: *const c_char,
    count: *mut usize,
    params: *mut c_uint,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let found = parameter(unsafe { text(given) }?)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(count, found.len());
            put_all(params, found);
        }
        Ok(())
    })
}

/// Reads filters with `|` between them, and `[number]` before them all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_parselist(
    given: *const c_char,
    format: *mut c_int,
    count: *mut usize,
    specs: *mut *mut *mut NcFilterSpec,
) -> c_int {
    answer(|| {
        // SAFETY: the contract of the interface.
        let mut rest = unsafe { text(given) }?;
        let mut number = 0;
        if let Some(tag) = rest.strip_prefix(b"[") {
            let Some(end) = tag.iter().position(|&byte| byte == b']') else { return bad(rest) };
            number = scan::<c_int>(&tag[..end], c"%d")?;
            rest = &tag[end + 1..];
        }
        // An end behind the last filter is not the begin of another.
        let filters = rest.strip_suffix(b"|").unwrap_or(rest);
        let texts = filters.split(|&byte| byte == b'|').filter(|_| !rest.is_empty());
        let found = texts.map(spec).collect::<Result<Vec<Spec>>>()?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(format, number);
            put(count, found.len());
            if !specs.is_null() {
                put(specs, give_specs(found)?);
            }
        }
        Ok(())
    })
}

/// Filters in memory of `malloc`; null for none.
fn give_specs(found: Vec<Spec>) -> Result<*mut *mut NcFilterSpec> {
    if found.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    let places = room::<*mut NcFilterSpec>(found.len())?;
    for (at, (id, params)) in found.into_iter().enumerate() {
        let place = room::<NcFilterSpec>(1)?;
        // SAFETY: there is room for all.
        unsafe {
            place.write(NcFilterSpec { id, count: params.len(), params: given_away(params)? });
            places.add(at).write(place);
        }
    }
    Ok(places)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_free(spec: *mut NcFilterSpec) {
    // SAFETY: the contract of the interface.
    unsafe {
        if let Some(spec) = spec.as_ref() {
            free(spec.params);
        }
        free(spec);
    }
}

/// Swaps a parameter of 8 bytes between this machine's order and the file's, whose halves are little-endian.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_fix8(bytes: *mut c_uchar, _decode: c_int) {
    if cfg!(target_endian = "big") && !bytes.is_null() {
        // SAFETY: the contract of the interface: there are 8 bytes.
        unsafe { std::slice::from_raw_parts_mut(bytes, 8) }.rotate_left(4);
    }
}
