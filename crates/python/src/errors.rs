//! Errors of the engine as exceptions of Python.
//!
//! The classes are written in Python (`ferrocdf/_errors.py`), since most have two bases: `ferrocdf.Error` and what Python programs expect,
//! such as `FileNotFoundError`.

use std::io;

use ferrocdf::{Error, ErrorKind};
use pyo3::exceptions::{PyException, PyIndexError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// Returns the name of the class of exceptions of a kind of errors.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "NotFound",
        ErrorKind::AlreadyExists => "AlreadyExists",
        ErrorKind::InvalidArgument | ErrorKind::OutOfRange => "InvalidArgument",
        ErrorKind::WrongType => "WrongType",
        ErrorKind::OutOfBounds => "OutOfBounds",
        ErrorKind::InvalidState => "InvalidState",
        ErrorKind::UnknownFormat => "UnknownFormat",
        ErrorKind::Corrupt => "Corrupt",
        ErrorKind::Filter => "FilterError",
        ErrorKind::Unsupported => "Unsupported",
        ErrorKind::PermissionDenied => "PermissionDenied",
        ErrorKind::Conflict => "Conflict",
        ErrorKind::Io => "IoError",
        ErrorKind::Network => "NetworkError",
        ErrorKind::OutOfMemory => "OutOfMemory",
        _ => "Error",
    }
}

/// Turns an error into an exception with its text, its code in `netcdf.h` and the path inside the dataset.
pub(crate) fn exception(error: Error) -> PyErr {
    Python::attach(|py| {
        static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let made = || -> PyResult<PyErr> {
            let module = MODULE
                .get_or_try_init(py, || py.import("ferrocdf._errors").map(|m| m.into_any().unbind()))?;
            let class = module.bind(py).getattr(class(error.kind()))?;
            let exception = class.call1((error.to_string(), error.code.0, error.path()))?;
            let exception = PyErr::from_value(exception);
            match cause(py, &error) {
                // Such as that of Ctrl-C, which no program takes for a failure to read.
                Some(cause) if !cause.is_instance_of::<PyException>(py) => Ok(cause),
                cause => {
                    exception.set_cause(py, cause);
                    Ok(exception)
                }
            }
        };
        made().unwrap_or_else(|failure| failure)
    })
}

/// Returns the exception of a file object that an error comes from.
fn cause(py: Python<'_>, error: &Error) -> Option<PyErr> {
    let system = std::error::Error::source(error)?.downcast_ref::<io::Error>()?;
    system.get_ref()?.downcast_ref::<PyErr>().map(|cause| cause.clone_ref(py))
}

/// Returns the exception for an index that a variable does not have.
pub(crate) fn index_error(what: impl Into<String>) -> PyErr {
    PyIndexError::new_err(what.into())
}
