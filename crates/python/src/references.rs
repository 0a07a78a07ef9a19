//! References: making them of datasets, and opening the datasets that they make.

use std::ffi::OsString;
use std::path::PathBuf;

use ferrocdf::Location;
use ferrocdf::references::References;
use ferrocdf_tools::refs::{RefsOptions, skipped};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::open::{location, parse};
use crate::open_file::OpenFile;

/// Makes references of datasets. Returns their text, which is empty if there is an output that it was written to, and a line for each variable
/// and attribute that is missing in it.
#[pyfunction]
#[pyo3(signature = (inputs, output, concat, base, inline))]
pub(crate) fn write_references(
    py: Python<'_>,
    inputs: Vec<PathBuf>,
    output: Option<PathBuf>,
    concat: Option<String>,
    base: Option<String>,
    inline: u64,
) -> PyResult<(Vec<u8>, Vec<String>)> {
    let done = py.detach(|| {
        let options = RefsOptions { output, inline, base, concat, inputs };
        let made = options.make()?;
        let mut text = vec![];
        options.write(&made.references, &mut text)?;
        Ok((text, skipped(&made)))
    });
    done.map_err(exception)
}

/// Opens the dataset that references make. They are in JSON: at a location, in bytes, or in a file object.
#[pyfunction]
#[pyo3(signature = (source, base))]
pub(crate) fn open_references(source: &Bound<'_, PyAny>, base: Option<OsString>) -> PyResult<OpenFile> {
    let source_location = location(source)?;
    let opened = source.py().detach(|| {
        let base: Option<Location> = base.as_deref().map(parse).transpose()?;
        References::read(&source_location)?.open(base.as_ref())
    });
    opened.map(OpenFile::reading).map_err(exception)
}
