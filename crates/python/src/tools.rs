//! The command-line tools, which the package brings along.

use std::ffi::OsString;

use pyo3::prelude::*;

/// The names by which the tools are called.
#[pyfunction]
pub(crate) fn tool_names() -> [&'static str; 5] {
    ["ferrocdf", "ncdump", "ncgen", "ncgen3", "nccopy"]
}

/// Runs a tool with its arguments, the first of which is its name. Returns its exit code.
#[pyfunction]
pub(crate) fn run_tool(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ferrocdf_tools::program::run(arguments))
}
