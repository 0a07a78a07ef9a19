//! References: making them of datasets, and opening the datasets that they make.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use ferrocdf::Location;
use ferrocdf::references::{ReferenceOptions, References};
use ferrocdf_tools::refs::{RefsOptions, skipped};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::open::{location, parse};
use crate::open_file::OpenFile;
use crate::python_store::PythonStore;

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
        let (format, record_size, merge) = (None, References::RECORD_SIZE, false);
        let options = RefsOptions { output, format, record_size, inline, base, concat, merge, inputs };
        let made = options.make()?;
        let mut text = vec![];
        options.write(&made.references, &mut text)?;
        Ok((text, skipped(&made)))
    });
    done.map_err(exception)
}

/// Makes references of the dataset with a key in a store, whose adapter is given. They name it by a URL, and no chunk is inline that can be a
/// range. Returns their text, and a line for each variable and attribute that is missing in it.
#[pyfunction]
pub(crate) fn references_in_store(
    adapter: &Bound<'_, PyAny>,
    key: String,
    url: String,
) -> PyResult<(String, Vec<String>)> {
    let location = Location::Object { store: Arc::new(PythonStore::new(adapter)?), key };
    let options = ReferenceOptions { url: Some(url), inline: 0 };
    let made = adapter.py().detach(|| References::of(&location, &options)).map_err(exception)?;
    Ok((made.references.to_json(), skipped(&made)))
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
