//! Filters as text: `id,parameter,parameter|id,...`, with parameters as in CDL.
//!
//! Numbers are read by C's own functions, so that what follows a number, and numbers that are too large, count as they do
//! in the reference.

use std::ffi::{CString, c_char, c_int, c_uint};

use ferrocdf::{Code, Result};
use smallvec::SmallVec;

use crate::boundary::{answer, fail, put, put_all, text};
use crate::memory::{allocate, copy_of, free};

/// `NC_H5_Filterspec` of `netcdf_aux.h`: a filter and its parameters, which are from `malloc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Filterspec {
    filterid: c_uint,
    nparams: usize,
    params: *mut c_uint,
}

/// A filter: its id and its parameters.
type Filter = (c_uint, Vec<c_uint>);

/// One parameter as HDF5 takes it: one or two numbers of 32 bits.
type Words = SmallVec<[c_uint; 2]>;

/// A number at the start of a text, blanks before it allowed.
macro_rules! number {
    ($text:expr, $function:ident $(, $base:expr)?) => {{
        let text = CString::new($text).unwrap_or_default();
        let mut end = std::ptr::null_mut();
        // SAFETY: the text ends in a zero byte.
        let number = unsafe { libc::$function(text.as_ptr(), &mut end $(, $base)?) };
        if end.cast_const() == text.as_ptr() {
            fail(Code::EINVAL, format!("\"{}\" is no number", text.as_bytes().escape_ascii()))
        } else {
            Ok(number)
        }
    }};
}

fn trim_start(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &text[blanks..]
}

/// Reads a parameter. Its last letters say its type: `b`, `s`, `l` and their `u` forms, `f`, `d`; else it has 32 bits.
fn parameter(text: &[u8]) -> Result<Words> {
    let text = trim_start(text);
    let (before, last) = match text {
        [] => return fail(Code::EINVAL, "a filter parameter is empty"),
        [.., before, last] if text.len() > 2 => (*before, *last),
        [.., last] => (*last, *last),
    };
    let wide = |bits: u64| {
        let mut bytes = bits.to_ne_bytes();
        swap_halves(&mut bytes);
        let (low, high) = bytes.split_at(4);
        let word = |bytes: &[u8]| c_uint::from_ne_bytes(bytes.try_into().expect("four bytes"));
        Words::from_slice(&[word(low), word(high)])
    };
    match last.to_ascii_lowercase() {
        kind @ (b'b' | b's' | b'u' | b'0'..=b'9') => {
            let number = if text[0] == b'-' {
                number!(text, strtol, 10)? as c_uint
            } else {
                number!(text, strtoul, 10)? as c_uint
            };
            let mask = match kind {
                b'b' => 0xff,
                b's' => 0xffff,
                _ => c_uint::MAX,
            };
            Ok(Words::from_slice(&[number & mask]))
        }
        b'f' | b'.' => Ok(Words::from_slice(&[(number!(text, strtod)? as f32).to_bits()])),
        b'd' => Ok(wide(number!(text, strtod)?.to_bits())),
        b'l' if before.eq_ignore_ascii_case(&b'u') => Ok(wide(number!(text, strtoull, 10)?)),
        b'l' => Ok(wide(number!(text, strtoll, 10)? as u64)),
        other => fail(Code::EINVAL, format!("no parameter has the type \"{}\"", other.escape_ascii())),
    }
}

/// Reads a filter.
fn filter(text: &[u8]) -> Result<Filter> {
    let mut parts = text.split(|byte| *byte == b',');
    let id = number!(parts.next().unwrap_or_default(), strtoul, 10)? as c_uint;
    let mut words = Vec::new();
    for part in parts {
        words.extend(parameter(part)?);
    }
    Ok((id, words))
}

/// Reads filters with `|` between them, and what stands in brackets before them: a number for their format.
fn filters(text: &[u8]) -> Result<(c_int, Vec<Filter>)> {
    let (format, text) = match text.strip_prefix(b"[") {
        None => (0, text),
        Some(rest) => {
            let Some(end) = rest.iter().position(|byte| *byte == b']') else {
                return fail(Code::EINVAL, "the bracket is not closed");
            };
            (number!(&rest[..end], strtol, 10)? as c_int, &rest[end + 1..])
        }
    };
    if text.is_empty() {
        return Ok((format, Vec::new()));
    }
    let text = text.strip_suffix(b"|").unwrap_or(text);
    let filters: Result<Vec<_>> = text.split(|byte| *byte == b'|').map(filter).collect();
    Ok((format, filters?))
}

/// Between the order in which HDF5 stores the halves of 64 bits, and that of this machine.
fn swap_halves(bytes: &mut [u8; 8]) {
    if cfg!(target_endian = "big") {
        bytes.rotate_left(4);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_h5filterspec_fix8(bytes: *mut u8, _decode: c_int) {
    if !bytes.is_null() {
        // SAFETY: there are 8 bytes by the contract of the interface.
        swap_halves(unsafe { &mut *bytes.cast() });
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
        let (id_, words) = filter(unsafe { text(text_) }?)?;
        // SAFETY: the contract of the interface.
        unsafe {
            if !parameters.is_null() {
                put(parameters, copy_of(&words)?);
            }
            put(id, id_);
            put(count, words.len());
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
        let parameter = parameter(unsafe { text(text_) }?)?;
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
        let (format_, filters) = filters(unsafe { text(text_) }?)?;
        // SAFETY: the contract of the interface.
        unsafe {
            if !list.is_null() {
                put(list, new_list(&filters)?);
            }
            put(format, format_);
            put(count, filters.len());
        }
        Ok(())
    })
}

/// A list of filters in memory of `malloc`; null for none.
fn new_list(filters: &[Filter]) -> Result<*mut *mut Filterspec> {
    if filters.is_empty() {
        return Ok(std::ptr::null_mut());
    }
    let list = allocate::<*mut Filterspec>(filters.len())?;
    for (at, (filterid, words)) in filters.iter().enumerate() {
        let spec = Filterspec { filterid: *filterid, nparams: words.len(), params: copy_of(words)? };
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference stops the program here.
    #[test]
    fn lists_may_name_their_format() {
        assert_eq!(filters(b"[3]1,2|4").expect("a list"), (3, vec![(1, vec![2]), (4, vec![])]));
        assert_eq!(filters(b"[3]").expect("a list"), (3, vec![]));
        for text in [&b"[3"[..], b"[]1", b"[x]1"] {
            assert!(filters(text).is_err_and(|error| error.code == Code::EINVAL));
        }
    }

    /// The reference reads on behind the text.
    #[test]
    fn parameters_are_not_empty() {
        for text in [&b"1,"[..], b"1, ,2", b"1,,2"] {
            assert!(filter(text).is_err_and(|error| error.code == Code::EINVAL));
        }
    }
}
