//! Settings of the process.

use ferrocdf::Config;
use pyo3::prelude::*;

use crate::errors::exception;

/// Sets the number of threads for large requests, and the bytes that decoded chunks may take.
#[pyfunction]
pub(crate) fn configure(threads: Option<usize>, cache: Option<usize>) -> PyResult<()> {
    Config { threads, cache, filters: None }.apply().map_err(exception)
}
