//! What groups and variables have in common: an open file, and an id in its model.

use ferrocdf::{Code, Error, ErrorKind, File, FileMut, GroupId, Result};
use pyo3::prelude::*;

use crate::errors::exception;
use crate::open_file::OpenFile;

/// An object of an open file: its id, which counts until something is removed from the file.
pub(crate) struct Handle<I> {
    open: Py<OpenFile>,
    /// The number of removals when it was found; `None` for the root group, which cannot be removed.
    removals: Option<u64>,
    id: I,
}

impl Handle<GroupId> {
    /// Returns a handle on the root group.
    pub(crate) fn root(open: Py<OpenFile>) -> Handle<GroupId> {
        Handle { open, removals: None, id: GroupId::ROOT }
    }
}

impl<I: Copy + Send + Sync> Handle<I> {
    /// Returns a handle on another object of the same file, found just now through this one.
    pub(crate) fn other<J: Copy + Send + Sync>(&self, py: Python<'_>, id: J) -> Handle<J> {
        let removals = self.removals.or_else(|| Some(self.open.bind(py).get().removals()));
        Handle { open: self.open.clone_ref(py), removals, id }
    }

    /// Returns another handle on the same object.
    pub(crate) fn again(&self, py: Python<'_>) -> Handle<I> {
        Handle { open: self.open.clone_ref(py), removals: self.removals, id: self.id }
    }

    pub(crate) fn open(&self) -> &Py<OpenFile> {
        &self.open
    }

    pub(crate) fn id(&self) -> I {
        self.id
    }

    /// Runs `work` on the file and the id, with the interpreter detached.
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&File, I) -> Result<R> + Send,
    ) -> PyResult<R> {
        let (open, id) = (self.checked(py)?, self.id);
        open.read(py, |file| work(file, id))
    }

    /// Runs `work` on the file, if it can be written, and the id, with the interpreter detached.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&FileMut, I) -> Result<R> + Send,
    ) -> PyResult<R> {
        let (open, id) = (self.checked(py)?, self.id);
        open.write(py, |file| work(file, id))
    }

    fn checked<'py>(&'py self, py: Python<'py>) -> PyResult<&'py OpenFile> {
        let open = self.open.bind(py).get();
        if self.removals.is_none_or(|removals| removals == open.removals()) {
            return Ok(open);
        }
        let what = "something was removed from the dataset since this object was looked up; look it up again";
        Err(exception(Error::new(Code::EBADID, what).with_kind(ErrorKind::InvalidState)))
    }
}
