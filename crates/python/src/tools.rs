//! The command-line tools, which the package brings along, as commands and as functions.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use ferrocdf::{Code, Error, ErrorKind, OpenOptions, Result};
use ferrocdf_tools::nccopy::Foreign;
use ferrocdf_tools::{info, nccopy, ncdump, program};
use pyo3::prelude::*;

use crate::errors::exception;

/// Runs a tool with its arguments, the first of which is its name. Returns its exit code.
#[pyfunction]
pub(crate) fn run_tool(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| program::run(arguments))
}

/// Returns what `ferrocdf dump` prints with these arguments, the last of which is the dataset.
#[pyfunction]
pub(crate) fn dump(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Vec<u8>> {
    printed(py, "dump", arguments, ncdump::dump)
}

/// Returns what `ncdump` prints with these arguments: as `dump`, with names as netCDF-C escapes them.
#[pyfunction]
pub(crate) fn dump_as_reference(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Vec<u8>> {
    printed(py, "ncdump", arguments, ncdump::main)
}

/// A tool with its arguments, where it prints, and where it says what failed; returns its exit code.
type Tool = fn(Vec<OsString>, &mut dyn Write, &mut dyn Write) -> i32;

fn printed(py: Python<'_>, name: &str, arguments: Vec<OsString>, tool: Tool) -> PyResult<Vec<u8>> {
    let done = py.detach(|| {
        let (mut text, mut errors) = (vec![], vec![]);
        match tool([vec![name.into()], arguments].concat(), &mut text, &mut errors) {
            0 => Ok(text),
            _ => Err(failure(&errors)),
        }
    });
    done.map_err(exception)
}

/// Copies a dataset as `ferrocdf copy` does with these arguments. Returns what it says, a line each.
#[pyfunction]
pub(crate) fn copy(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<Vec<String>> {
    let done = py.detach(|| {
        let mut said = vec![];
        let arguments = std::iter::once("copy".into()).chain(arguments);
        match nccopy::run_with(Foreign::Mapped, &OpenOptions::default(), arguments, &mut said) {
            0 => Ok(String::from_utf8_lossy(&said).lines().map(str::to_string).collect()),
            _ => Err(failure(&said)),
        }
    });
    done.map_err(exception)
}

/// Returns what `ferrocdf info --json` prints of a dataset.
#[pyfunction]
pub(crate) fn facts(py: Python<'_>, location: OsString) -> PyResult<String> {
    let found: Result<String> = py.detach(|| info::json(Path::new(&location), &OpenOptions::default()));
    found.map_err(exception)
}

/// Returns the error of a tool that said why it failed.
fn failure(said: &[u8]) -> Error {
    // The text is for people. No code tells programs what failed, so the kind is none of those that have a meaning.
    Error::new(Code::EIO, String::from_utf8_lossy(said).trim().to_string()).with_kind(ErrorKind::Other)
}
