//! An open file, which all Python objects of it share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use ferrocdf::{Code, Error, ErrorKind, File, FileMut, Model, Result, SpaceOptions};
use pyo3::prelude::*;

use crate::errors::exception;

/// An open file. Programs use the class `ferrocdf.Dataset`, which wraps it.
#[pyclass(frozen, module = "ferrocdf._ferrocdf")]
pub(crate) struct OpenFile {
    access: RwLock<Access>,
    /// Number of changes until now that gave objects of the model new ids. It changes while nobody else has the lock.
    renumberings: AtomicU64,
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
        OpenFile::new(Access::Read(file))
    }

    pub(crate) fn writing(file: FileMut) -> OpenFile {
        OpenFile::new(Access::Write(file))
    }

    fn new(access: Access) -> OpenFile {
        OpenFile { access: RwLock::new(access), renumberings: AtomicU64::new(0) }
    }

    /// Runs `work` on the file, with the interpreter detached. `known` is the number of renumberings when ids that `work` uses were found;
    /// those of another number are refused. Returns the number with the result.
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        known: Option<u64>,
        work: impl FnOnce(&File) -> Result<R> + Send,
    ) -> PyResult<(R, u64)> {
        let done = py.detach(|| {
            let access = self.lock();
            let number = self.check(known)?;
            Ok((work(access.file()?)?, number))
        });
        done.map_err(exception)
    }

    /// Runs `work` on the file if it can be written, as [`OpenFile::read`] does.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        known: Option<u64>,
        work: impl FnOnce(&FileMut) -> Result<R> + Send,
    ) -> PyResult<(R, u64)> {
        let done = py.detach(|| {
            let access = self.lock();
            let number = self.check(known)?;
            match &*access {
                Access::Write(file) => Ok((work(file)?, number)),
                Access::Read(_) => Err(read_only()),
                Access::Closed => Err(closed()),
            }
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
            self.renumberings.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        done.map_err(exception)
    }

    /// Returns the number of renumberings; an error if ids were found at another one. Called with the lock held, so that it stays true.
    fn check(&self, known: Option<u64>) -> Result<u64> {
        let number = self.renumberings.load(Ordering::Relaxed);
        if known.is_none_or(|known| known == number) {
            return Ok(number);
        }
        let what = "objects were removed from the dataset, or replaced, since this one was looked up; look it up again";
        Err(Error::new(Code::EBADID, what).with_kind(ErrorKind::InvalidState))
    }

    // A panic leaves a handle that is whole: the file behind it has a lock of its own.
    fn lock(&self) -> RwLockReadGuard<'_, Access> {
        self.access.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_alone(&self) -> RwLockWriteGuard<'_, Access> {
        self.access.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_detached(&self) -> Result<()> {
        match std::mem::replace(&mut *self.lock_alone(), Access::Closed) {
            Access::Write(file) => file.close(),
            Access::Read(_) | Access::Closed => Ok(()),
        }
    }
}

/// True if all groups and variables of a model have the same ids in another one.
fn keeps_ids(old: &Model, new: &Model) -> bool {
    let groups = || {
        old.group_ids().all(|id| id.index() < new.groups().len() && old.group_path(id) == new.group_path(id))
    };
    let vars =
        || old.var_ids().all(|id| id.index() < new.vars().len() && old.var_path(id) == new.var_path(id));
    std::ptr::eq(old, new) || groups() && vars()
}

/// A dataset that nobody holds any more is closed. What was written is committed without the interpreter, which a file object or a server in
/// this process may need for it.
impl Drop for OpenFile {
    fn drop(&mut self) {
        let closed = Python::try_attach(|py| {
            if let Err(error) = py.detach(|| self.close_detached()) {
                exception(error).write_unraisable(py, None);
            }
        });
        // The interpreter ends: nobody can be told of an error.
        if closed.is_none() {
            let _ = self.close_detached();
        }
    }
}

#[pymethods]
impl OpenFile {
    /// Closes the file; what was written is committed. Closing it again does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.close_detached()).map_err(exception)
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
        self.write(py, None, FileMut::sync).map(|(done, _)| done)
    }

    /// Sets whether elements that are never written hold fill values, for all variables there are and those to come.
    fn set_fill(&self, py: Python<'_>, fill: bool) -> PyResult<()> {
        self.write(py, None, |file| file.set_no_fill(!fill)).map(|(done, _)| done)
    }

    /// Aligns what a netCDF-4 file stores from now on: pieces of at least `threshold` bytes begin at multiples of `alignment` bytes.
    fn set_alignment(&self, py: Python<'_>, threshold: u64, alignment: u64) -> PyResult<()> {
        let space = SpaceOptions { threshold, alignment, ..SpaceOptions::default() };
        let done = self.write(py, None, |file| {
            file.set_space(&space);
            Ok(())
        });
        done.map(|(done, _)| done)
    }

    /// Looks for what another process has written since.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| {
            let access = self.lock_alone();
            let file = access.file()?;
            let before = file.model();
            file.refresh()?;
            if !keeps_ids(&before, &file.model()) {
                self.renumberings.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        done.map_err(exception)
    }

    /// Whether the file is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> bool {
        py.detach(|| matches!(*self.lock(), Access::Closed))
    }

    /// The data model and the container: `("netCDF-4", "HDF5")`.
    #[getter]
    fn format(&self, py: Python<'_>) -> PyResult<(&'static str, &'static str)> {
        let found = self.read(py, None, |file| {
            let format = file.format();
            Ok((format.kind_name(), format.container().name()))
        });
        found.map(|(format, _)| format)
    }

    /// What the file holds that netCDF has no name for, a line each.
    fn skipped(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.read(py, None, |file| Ok(file.skipped())).map(|(lines, _)| lines)
    }
}
