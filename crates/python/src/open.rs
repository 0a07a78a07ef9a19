//! Opening, making and appending to datasets.

use std::ffi::OsStr;
use std::sync::Arc;

use ferrocdf::{AppendOptions, Code, CreateOptions, Error, File, FileMut, Location, OpenOptions, Result};
use ferrocdf_tools::kinds;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::exception;
use crate::open_file::OpenFile;
use crate::python_file::PythonFile;
use crate::python_store::PythonStore;

/// Returns the location that Python names: a text, the bytes of a file, or an object with `read`, `seek` and `tell`.
pub(crate) fn location(source: &Bound<'_, PyAny>) -> PyResult<Location> {
    if let Ok(bytes) = source.cast::<PyBytes>() {
        return Ok(Location::bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(text) = source.extract::<std::ffi::OsString>() {
        return parse(&text).map_err(exception);
    }
    Ok(Location::Blob(Arc::new(PythonFile::new(source)?)))
}

/// Returns the location that a path or a URL names.
pub(crate) fn parse(text: &OsStr) -> Result<Location> {
    Location::parse(text.as_encoded_bytes())
}

/// Opens a dataset for reading; in a store, whose adapter is given, `source` is its key.
#[pyfunction]
#[pyo3(signature = (source, *, store = None, all_attributes = false, shared = false, hdf_eos = false, hdf4_all = false))]
pub(crate) fn open(
    source: &Bound<'_, PyAny>,
    store: Option<&Bound<'_, PyAny>>,
    all_attributes: bool,
    shared: bool,
    hdf_eos: bool,
    hdf4_all: bool,
) -> PyResult<OpenFile> {
    let location = match store {
        Some(adapter) => {
            Location::Object { store: Arc::new(PythonStore::new(adapter)?), key: source.extract()? }
        }
        None => location(source)?,
    };
    let options = OpenOptions::default().all_attributes(all_attributes).shared(shared);
    let options = options.hdf_eos(hdf_eos).hdf4_all(hdf4_all);
    let opened = source.py().detach(|| File::open_location(&location, &options));
    opened.map(OpenFile::reading).map_err(exception)
}

/// Opens a dataset for reading and writing; one in memory where the bytes of a file are given.
#[pyfunction]
#[pyo3(signature = (source, *, durable = None, merge = false))]
pub(crate) fn append(source: &Bound<'_, PyAny>, durable: Option<bool>, merge: bool) -> PyResult<OpenFile> {
    let py = source.py();
    let opened = if let Ok(bytes) = source.cast::<PyBytes>() {
        let bytes = bytes.as_bytes().to_vec();
        py.detach(|| FileMut::append_bytes(bytes))
    } else {
        let location = source.extract::<std::ffi::OsString>()?;
        let mut options = AppendOptions::default().merge(merge);
        options.durable = durable.unwrap_or(options.durable);
        py.detach(|| FileMut::append_at(&parse(&location)?, &options))
    };
    opened.map(OpenFile::writing).map_err(exception)
}

/// Makes a dataset; in memory without a location.
#[pyfunction]
#[pyo3(signature = (location, *, kind = "netCDF-4", clobber = true, fill = true, durable = None))]
pub(crate) fn create(
    py: Python<'_>,
    location: Option<std::ffi::OsString>,
    kind: &str,
    clobber: bool,
    fill: bool,
    durable: Option<bool>,
) -> PyResult<OpenFile> {
    let made = py.detach(|| {
        let mut options = options_of(kind)?;
        (options.clobber, options.no_fill) = (clobber, !fill);
        options.durable = durable.unwrap_or(options.durable);
        match location {
            Some(location) => FileMut::create_at(&parse(&location)?, &options),
            None => FileMut::in_memory(&options),
        }
    });
    made.map(OpenFile::writing).map_err(exception)
}

/// Returns the options for a kind of dataset, called as by `nccopy -k`.
fn options_of(kind: &str) -> Result<CreateOptions> {
    if let Some(format) = kinds::find(kind.as_bytes()) {
        return Ok(CreateOptions::format(format));
    }
    if let Some((format, zarr)) = kinds::find_zarr(kind.as_bytes()) {
        let mut options = CreateOptions::format(format);
        options.zarr = zarr;
        return Ok(options);
    }
    let what = format!("\"{kind}\" is no kind of dataset; there are {}", kinds::names().join(", "));
    Err(Error::new(Code::EINVAL, what))
}
