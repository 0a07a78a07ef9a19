//! An open file, which all Python objects of it share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrocdf::{Code, Error, ErrorKind, File, FileMut, Result};
use pyo3::prelude::*;

use crate::errors::exception;

/// An open file. Programs use the class `ferrocdf.Dataset`, which wraps it.
#[pyclass(frozen, module = "ferrocdf._ferrocdf")]
pub(crate) struct OpenFile {
    access: RwLock<Access>,
    /// Number of removals until now. Each gives the objects of the model new ids.
    removals: AtomicU64,
}

enum Access {
    Read(File),
    Write(FileMut),
    Closed,
}

impl Access {
    fn file(&self) -> Result<&File> {
        match self {
            Access::Read(file) => Ok(file),
            Access::Write(file) => Ok(file),
            Access::Closed => Err(closed()),
        }
    }

    fn file_mut(&mut self) -> Result<&mut FileMut> {
        match self {
            Access::Write(file) => Ok(file),
            Access::Read(_) => Err(read_only()),
            Access::Closed => Err(closed()),
        }
    }
}

fn closed() -> Error {
    Error::new(Code::EBADID, "the dataset is closed").with_kind(ErrorKind::InvalidState)
}

fn read_only() -> Error {
    Error::new(Code::EPERM, "the dataset is open for reading only; open it with mode \"a\" to change it")
}

impl OpenFile {
    pub(crate) fn reading(file: File) -> OpenFile {
        OpenFile { access: RwLock::new(Access::Read(file)), removals: AtomicU64::new(0) }
    }

    pub(crate) fn writing(file: FileMut) -> OpenFile {
        OpenFile { access: RwLock::new(Access::Write(file)), removals: AtomicU64::new(0) }
    }

    /// Runs `work` on the file, with the interpreter detached.
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&File) -> Result<R> + Send,
    ) -> PyResult<R> {
        py.detach(|| work(self.lock().file()?)).map_err(exception)
    }

    /// Runs `work` on the file if it can be written, with the interpreter detached.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&FileMut) -> Result<R> + Send,
    ) -> PyResult<R> {
        let done = py.detach(|| match &*self.lock() {
            Access::Write(file) => work(file),
            Access::Read(_) => Err(read_only()),
            Access::Closed => Err(closed()),
        });
        done.map_err(exception)
    }

    /// Runs `work`, which removes something from the file. Python objects that were made before are stale afterwards.
    pub(crate) fn remove(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut FileMut) -> Result<()> + Send,
    ) -> PyResult<()> {
        let done = py.detach(|| {
            let mut access = self.lock_alone();
            work(access.file_mut()?)?;
            self.removals.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        done.map_err(exception)
    }

    /// Number of removals until now, which objects keep to find out whether their ids still count.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Relaxed)
    }

    // A panic leaves a handle that is whole: the file behind it has a lock of its own.
    fn lock(&self) -> RwLockReadGuard<'_, Access> {
        self.access.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_alone(&self) -> RwLockWriteGuard<'_, Access> {
        self.access.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl OpenFile {
    /// Closes the file; what was written is committed. Closing it again does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| match std::mem::replace(&mut *self.lock_alone(), Access::Closed) {
            Access::Write(file) => file.close(),
            Access::Read(_) | Access::Closed => Ok(()),
        });
        done.map_err(exception)
    }

    /// Closes a file that was made in memory, and returns its bytes.
    fn close_to_bytes(&self, py: Python<'_>) -> PyResult<Option<Vec<u8>>> {
        let done = py.detach(|| match std::mem::replace(&mut *self.lock_alone(), Access::Closed) {
            Access::Write(file) => file.into_bytes(),
            Access::Read(_) => Ok(None),
            Access::Closed => Err(closed()),
        });
        done.map_err(exception)
    }

    /// Commits what was written.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.write(py, FileMut::sync)
    }

    /// Looks for records that another process has written since.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        self.read(py, File::refresh)
    }

    /// Whether the file is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| matches!(*self.lock(), Access::Closed))
    }

    /// The data model and the container: `("netCDF-4", "HDF5")`.
    #[getter]
    fn format(&self, py: Python<'_>) -> PyResult<(&'static str, &'static str)> {
        self.read(py, |file| {
            let format = file.format();
            Ok((format.kind_name(), format.container().name()))
        })
    }

    /// What the file holds that netCDF has no name for, a line each.
    fn left_out(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.read(py, |file| Ok(file.left_out()))
    }
}
