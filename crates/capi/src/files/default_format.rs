//! Default format of files that are created without a format flag.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

use ferrocdf::{Code, Format};

use crate::abi::answer::{answer, fail};
use crate::abi::pointers::Out;

/// `NC_FORMAT_*` of files that are created without a format flag; 0 until a program sets it.
static DEFAULT_FORMAT: AtomicI32 = AtomicI32::new(0);

/// Returns the default format that the program has set.
pub(crate) fn default_format() -> Option<Format> {
    Format::from_number(DEFAULT_FORMAT.load(Ordering::Relaxed))
}

/// Resets the default format to its state before a program sets one.
#[cfg(test)]
pub(crate) fn forget_default_format() {
    DEFAULT_FORMAT.store(0, Ordering::Relaxed);
}

#[unsafe(no_mangle)]
pub extern "C" fn nc_set_default_format(format: c_int, old: Out<c_int>) -> c_int {
    answer(|| {
        let before = default_format().unwrap_or(Format::CLASSIC);
        old.put(before.number());
        if Format::from_number(format).is_none() {
            return fail(Code::EINVAL, format!("{format} is no NC_FORMAT"));
        }
        DEFAULT_FORMAT.store(format, Ordering::Relaxed);
        Ok(())
    })
}
