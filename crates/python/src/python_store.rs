//! Datasets in stores of Python: of fsspec and obstore.

use std::fmt;
use std::io;

use ferrocdf::store::{ByteRange, Cost, Expected, Fetched, Listing, Store, Version, check_folder, check_key};
use ferrocdf::{Code, Error, ErrorKind, Result};
use pyo3::exceptions::{PyException, PyPermissionError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The objects behind an adapter of the module `ferrocdf._stores`.
pub(crate) struct PythonStore {
    adapter: Py<PyAny>,
    name: String,
}

impl PythonStore {
    /// Wraps an adapter.
    pub(crate) fn new(adapter: &Bound<'_, PyAny>) -> PyResult<PythonStore> {
        Ok(PythonStore { name: adapter.getattr("name")?.extract()?, adapter: adapter.clone().unbind() })
    }

    /// Returns an error with the first line of the message of an exception.
    fn failed(&self, place: &str, exception: PyErr) -> Error {
        let is_denied = Python::attach(|py| exception.is_instance_of::<PyPermissionError>(py));
        let text = exception.to_string();
        let what = format!("{}/{place}: {}", self.name, text.lines().next().unwrap_or_default());
        let error = Error::system(io::Error::other(exception), what);
        if is_denied { error.with_kind(ErrorKind::PermissionDenied) } else { error }
    }

    fn only_read(&self, key: &str) -> Error {
        Error::new(Code::EPERM, "stores of Python are only read").at(key).at(&self.name)
    }

    /// Sends requests, and returns their answers.
    fn send(&self, py: Python<'_>, requests: &[(&str, ByteRange)]) -> PyResult<Vec<Result<Option<Fetched>>>> {
        let slices: Vec<_> = requests.iter().map(|&(key, range)| slice(key, range)).collect();
        let answers = self.adapter.bind(py).call_method1("get_many", (slices,))?;
        let answers = answers.try_iter()?.zip(requests).map(|(answer, (key, _))| {
            let answer = answer?;
            if let Ok(error) = answer.cast::<PyException>() {
                return Ok(Err(self.failed(key, PyErr::from_value(error.clone().into_any()))));
            }
            fetched(&answer).map(Ok)
        });
        answers.collect()
    }
}

/// Returns a key with a range as that of a slice.
fn slice(key: &str, range: ByteRange) -> (&str, Option<i128>, Option<u64>) {
    match range {
        ByteRange::All => (key, None, None),
        ByteRange::Bounded { start, len } => (key, Some(start.into()), Some(start.saturating_add(len))),
        ByteRange::Suffix(len) => (key, Some(-i128::from(len)), None),
    }
}

/// Returns an answer: bytes, the position of the first of them, the size of the object, and its version.
fn fetched(answer: &Bound<'_, PyAny>) -> PyResult<Option<Fetched>> {
    let Some((bytes, start, total, version)) =
        answer.extract::<Option<(Bound<'_, PyBytes>, u64, u64, String)>>()?
    else {
        return Ok(None);
    };
    Ok(Some(Fetched { bytes: bytes.as_bytes().to_vec(), start, total, version: Version::new(version) }))
}

impl Store for PythonStore {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.get_many(&[(key, range)]).pop().unwrap_or(Ok(None))
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        let checked: Vec<_> =
            requests.iter().map(|&(key, range)| check_key(key).map(|()| (key, range))).collect();
        let sent: Vec<_> = checked.iter().filter_map(|request| request.as_ref().ok().copied()).collect();
        let answers = match &sent[..] {
            [] => Ok(vec![]),
            sent => Python::attach(|py| self.send(py, sent)),
        };
        let answers = answers.map_err(|error| self.failed("", error));
        let mut answers = answers.map(Vec::into_iter);
        let answer = |request: Result<(&str, ByteRange)>| {
            let (key, _) = request?;
            let next = answers.as_mut().map_err(|error| error.clone())?.next();
            next.unwrap_or_else(|| Err(Error::new(Code::EINTERNAL, "no answer").at(key).at(&self.name)))
        };
        checked.into_iter().map(answer).collect()
    }

    fn put(&self, key: &str, _bytes: &[u8]) -> Result<Version> {
        Err(self.only_read(key))
    }

    fn put_if(&self, key: &str, _bytes: &[u8], _expected: Expected<'_>) -> Result<Option<Version>> {
        Err(self.only_read(key))
    }

    fn delete(&self, key: &str) -> Result<()> {
        Err(self.only_read(key))
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        check_folder(folder)?;
        let listed = Python::attach(|py| self.adapter.bind(py).call_method1("list", (folder,))?.extract());
        let (mut objects, mut folders): (Vec<String>, Vec<String>) =
            listed.map_err(|error: PyErr| self.failed(folder, error))?;
        objects.sort();
        folders.sort();
        Ok(Listing { objects, folders })
    }

    fn cost(&self) -> Cost {
        // The store may be on another machine, and each call into the interpreter costs as much as reading some kilobytes.
        Cost::REMOTE
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl fmt::Debug for PythonStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonStore").field("name", &self.name).finish_non_exhaustive()
    }
}
