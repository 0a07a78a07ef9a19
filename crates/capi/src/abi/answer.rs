//! Conversion of results and errors of Rust to codes of C.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use ferrocdf::{Code, Error, RangeCheck, Result};

use crate::abi::constants::NC_NOERR;

thread_local! {
    /// Message of the last error on this thread.
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function of the interface, and returns its code. A panic is reported as an error.
pub(crate) fn answer(body: impl FnOnce() -> Result<()>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => NC_NOERR,
        Ok(Err(error)) => remember(error),
        Err(panic) => remember(defect(&*panic)),
    }
}

/// Runs the body of a function that does not return a code. Returns `otherwise` if the body fails.
pub(crate) fn give<T>(otherwise: T, body: impl FnOnce() -> Result<T>) -> T {
    let error = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(given)) => return given,
        Ok(Err(error)) => error,
        Err(panic) => defect(&*panic),
    };
    remember(error);
    otherwise
}

#[cold]
fn defect(panic: &(dyn Any + Send)) -> Error {
    let what = format!("a defect of ferrocdf, please report it: {}", words_of(panic));
    Error::new(Code::EINTERNAL, what)
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(words), _) => words,
        (_, Some(words)) => words,
        _ => "a panic",
    }
}

/// Stores the message of an error for [`ferrocdf_last_error`]; returns its code.
#[cold]
fn remember(error: Error) -> c_int {
    let message = CString::new(error.to_string().replace('\0', " ")).unwrap_or_default();
    // A thread that is ending stores no message.
    let _ = MESSAGE.try_with(|last| last.replace(message));
    error.code.0
}

/// Returns the whole message of the last error on this thread: what, where, why. The text is valid until the next error
/// on this thread. An extension: netCDF-C has no such function.
#[unsafe(no_mangle)]
pub extern "C" fn ferrocdf_last_error() -> *const c_char {
    MESSAGE.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns an error with a code and a message.
pub(crate) fn fail<T>(code: Code, what: impl Into<String>) -> Result<T> {
    Err(Error::new(code, what.into()))
}

/// Fails with `NC_ERANGE` for numbers that are out of range in the other type.
pub(crate) fn in_range(fit: RangeCheck) -> Result<()> {
    match fit {
        RangeCheck::InRange => Ok(()),
        RangeCheck::OutOfRange => fail(Code::ERANGE, "a number cannot be represented in the other type"),
    }
}
