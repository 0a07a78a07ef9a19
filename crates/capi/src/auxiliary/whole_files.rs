//! Reading and writing of whole files, and parsing of `_NCProperties`.

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::io::{Error as IoError, Read, Write};

use ferrocdf::{Code, Error, Result};

use crate::abi::answer::{answer, fail};
use crate::abi::memory::{allocate, copy_of_text};
use crate::abi::pointers::{Out, Str, list};
use crate::open::paths::as_path;

/// Returns the error of the system for a file that cannot be opened.
fn opening(name: &[u8], error: IoError) -> Error {
    Error::system(error, name.escape_ascii())
}

fn moving(name: &[u8], error: IoError) -> Error {
    Error::new(Code::EIO, format!("{}: {error}", name.escape_ascii()))
}

/// Reads a file into memory from `malloc`, with a zero byte after it.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_readfile(name: Str, size: Out<usize>, content: Out<*mut c_void>) -> c_int {
    answer(|| {
        let name = name.bytes()?;
        let mut bytes = Vec::new();
        let mut file = File::open(as_path(name)).map_err(|error| opening(name, error))?;
        file.read_to_end(&mut bytes).map_err(|error| moving(name, error))?;
        if !content.is_null() {
            content.put(copy_of_text(&bytes)?.cast());
        }
        size.put(bytes.len());
        Ok(())
    })
}

/// Writes a file, or overwrites an existing one. Without content the file is empty.
///
/// # Safety
/// `content` is null or has `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ncaux_writefile(name: Str, size: usize, content: *mut c_void) -> c_int {
    answer(|| {
        // SAFETY: `content` is null or has `size` bytes.
        let (name, bytes) = unsafe { (name.bytes()?, list(content.cast::<u8>(), size)) };
        let mut file = File::create(as_path(name)).map_err(|error| opening(name, error))?;
        file.write_all(bytes).map_err(|error| moving(name, error))
    })
}

/// Parses the attribute `_NCProperties` into keys and values. A backslash escapes the next byte.
fn provenance(text: &[u8]) -> Result<Vec<[Vec<u8>; 2]>> {
    let mut pairs = vec![[Vec::new(), Vec::new()]];
    let (mut in_value, mut is_empty) = (0, true);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            // Version 1 of the attribute separates pairs by `|`.
            b',' | b'|' if is_empty => return fail(Code::EINVAL, "a pair of _NCProperties is empty"),
            b',' | b'|' => {
                pairs.push([Vec::new(), Vec::new()]);
                (in_value, is_empty) = (0, true);
                continue;
            }
            b'=' if in_value == 0 => in_value = 1,
            byte => {
                let byte = if *byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte };
                pairs.last_mut().expect("one was begun")[in_value].push(*byte);
            }
        }
        is_empty = false;
    }
    if is_empty { fail(Code::EINVAL, "a pair of _NCProperties is empty") } else { Ok(pairs) }
}

/// Stores alternating keys and values with two null pointers at the end, all in memory from `malloc`; null for an empty
/// text.
#[unsafe(no_mangle)]
pub extern "C" fn ncaux_parse_provenance(text: Str, place: Out<*mut *mut c_char>) -> c_int {
    answer(|| {
        if place.is_null() {
            return Ok(());
        }
        place.put(std::ptr::null_mut());
        let text = if text.is_null() { b"" } else { text.bytes()? };
        if text.is_empty() {
            return Ok(());
        }
        let pairs = provenance(text)?;
        let strings = allocate::<*mut c_char>(pairs.len() * 2 + 2)?;
        for (at, part) in pairs.iter().flatten().enumerate() {
            // SAFETY: `strings` has room for all parts and the two null pointers.
            unsafe { strings.add(at).write(copy_of_text(part)?) };
        }
        place.put(strings);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Result<String> {
        let pairs = provenance(text.as_bytes())?;
        let pairs = pairs.iter().map(|pair| pair.each_ref().map(|part| String::from_utf8_lossy(part)));
        Ok(pairs.map(|[key, value]| format!("<{key}:{value}>")).collect())
    }

    /// Results of netCDF-C 4.10.1, except for the last one, from which it removes all backslashes.
    #[test]
    fn provenance_in_parts() {
        for (text, expected) in [
            ("version=2,netcdf=4.9.0,hdf5=1.10", "<version:2><netcdf:4.9.0><hdf5:1.10>"),
            ("a", "<a:>"),
            ("a=", "<a:>"),
            ("=b", "<:b>"),
            ("a,b=c", "<a:><b:c>"),
            ("a|b=1=2", "<a:><b:1=2>"),
            (r"a\,b=c\=d", "<a,b:c=d>"),
            (r"a=b\", r"<a:b\>"),
            (r"a=b\\c", r"<a:b\c>"),
        ] {
            assert_eq!(parts(text).expect(text), expected);
        }
        for text in [",a", "a,", "a,,b"] {
            assert!(parts(text).is_err_and(|error| error.code == Code::EINVAL), "{text}");
        }
    }
}
