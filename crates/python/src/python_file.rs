//! Datasets in file objects of Python: of `open`, `io.BytesIO`, fsspec and their like.

use std::io;
use std::sync::{Mutex, PoisonError};

use ferrocdf::store::{Blob, Cost};
use ferrocdf::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The bytes behind an object with `seek` and `read`.
pub(crate) struct PythonFile {
    object: Py<PyAny>,
    name: String,
    size: u64,
    /// Held from seeking to reading: the position is one for all threads.
    position: Mutex<()>,
}

impl PythonFile {
    /// Wraps a file object, and asks for its size.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> PyResult<PythonFile> {
        let size = object.call_method1("seek", (0, 2)).and_then(|_| object.call_method0("tell")?.extract());
        let size = size.map_err(|error: PyErr| {
            let what = format!(
                "a dataset is opened by a path, a URL, bytes, a store, or an object with read, seek and tell; this is {}",
                object.get_type()
            );
            let wrong = pyo3::exceptions::PyTypeError::new_err(what);
            wrong.set_cause(object.py(), Some(error));
            wrong
        })?;
        let name = object
            .getattr("name")
            .and_then(|name| name.extract())
            .unwrap_or_else(|_| "file object".to_string());
        Ok(PythonFile { object: object.clone().unbind(), name, size, position: Mutex::new(()) })
    }
}

impl Blob for PythonFile {
    fn size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        // No thread waits for this lock while it holds the interpreter: reads come from threads that are detached.
        let _position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        Python::attach(|py| {
            let object = self.object.bind(py);
            object.call_method1("seek", (at,))?;
            let mut filled = 0;
            while filled < into.len() {
                let got = object.call_method1("read", (into.len() - filled,))?;
                let got = got.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
                if got.is_empty() {
                    break;
                }
                let room = into.len() - filled;
                let part = &got[..got.len().min(room)];
                into[filled..filled + part.len()].copy_from_slice(part);
                filled += part.len();
            }
            Ok(filled)
        })
        .map_err(|error: PyErr| {
            let what = format!("{}: reading at byte {at} failed: {error}", self.name);
            Error::system(io::Error::other(error), what)
        })
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn cost(&self) -> Cost {
        // The object may ask another machine, and each call into the interpreter costs as much as reading some kilobytes.
        Cost { in_flight: 1, ..Cost::REMOTE }
    }
}
