//! Formats that programs bring along: tables of functions, under the modes `NC_UDF0` to `NC_UDF9`.
//!
//! They are not taken: this version does not run their functions. A program learns it when it defines the format, and not
//! only when it opens a file.

use std::ffi::{c_char, c_int, c_void};

use ferrocdf::{Code, Result};

use crate::boundary::{answer, fail, put, put_text, text};
use crate::constants::{NC_NOERR, UDF_FLAGS};

/// Bytes of the longest magic number that a program may bring along.
const MAGIC_LEN: usize = 8;
/// The version of `NC_Dispatch` that the headers describe.
const DISPATCH_VERSION: c_int = 5;

/// Fails with `NC_EINVAL` for a mode that does not name one such format.
fn check_one(mode: c_int) -> Result<()> {
    match UDF_FLAGS.iter().filter(|flag| mode & *flag != 0).count() {
        1 => Ok(()),
        _ => fail(Code::EINVAL, format!("{mode:#x} does not name one NC_UDF")),
    }
}

/// Checks the table of a format, and how its files begin.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_def_user_format(
    mode: c_int,
    table: *const c_void,
    magic: *const c_char,
) -> c_int {
    answer(|| {
        check_one(mode)?;
        if table.is_null() {
            return fail(Code::EINVAL, "the table is a null pointer");
        }
        // SAFETY: the contract of the interface.
        let magic = if magic.is_null() { b"" } else { unsafe { text(magic) }? };
        if magic.len() > MAGIC_LEN {
            return fail(Code::EINVAL, format!("a magic number has at most {MAGIC_LEN} bytes"));
        }
        // SAFETY: a table begins with its model and its version, both `int`, by the contract of the interface.
        let [_model, version] = unsafe { table.cast::<[c_int; 2]>().read() };
        if version != DISPATCH_VERSION {
            return fail(Code::EINVAL, format!("the table has version {version}, not {DISPATCH_VERSION}"));
        }
        fail(Code::ENOTBUILT, "this version does not run formats that programs bring along")
    })
}

/// Gives no table and no magic number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nc_inq_user_format(
    mode: c_int,
    table: *mut *const c_void,
    magic: *mut c_char,
) -> c_int {
    answer(|| {
        check_one(mode)?;
        // SAFETY: the contract of the interface.
        unsafe {
            put(table, std::ptr::null());
            put_text(magic, b"");
        }
        Ok(())
    })
}

/// Loads nothing: this version does not look for formats in libraries that settings name.
#[unsafe(no_mangle)]
pub extern "C" fn NC_udf_load_plugins() -> c_int {
    NC_NOERR
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference crashes unless the format is defined, and defining is refused here.
    #[test]
    fn files_are_not_made_in_such_formats() {
        let table = [8 as c_int, DISPATCH_VERSION];
        for flag in UDF_FLAGS {
            let mut id = 0;
            // SAFETY: the pointers are valid, and the path ends in a zero byte.
            let codes = unsafe {
                [
                    nc_def_user_format(flag, table.as_ptr().cast(), std::ptr::null()),
                    crate::files::nc_create(c"/nowhere/x".as_ptr(), flag, &mut id),
                    crate::files::nc_open(c"/nowhere/x".as_ptr(), flag, &mut id),
                ]
            };
            assert_eq!(codes, [Code::ENOTBUILT.0; 3]);
        }
    }
}
