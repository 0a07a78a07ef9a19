//! What groups and variables have in common: an open file, and an id in its model.

use ferrocdf::{File, FileMut, GroupId, Result};
use pyo3::prelude::*;

use crate::open_file::OpenFile;

/// An object of an open file: its id, which counts until a change gives objects new ids.
pub(crate) struct Handle<I> {
    open: Py<OpenFile>,
    /// The number of renumberings of the file when it was found; `None` for the root group, whose id stays.
    known: Option<u64>,
    id: I,
}

impl Handle<GroupId> {
    /// Returns a handle on the root group.
    pub(crate) fn root(open: Py<OpenFile>) -> Handle<GroupId> {
        Handle { open, known: None, id: GroupId::ROOT }
    }
}

impl<I: Copy + Send + Sync> Handle<I> {
    /// Returns another handle on the same object.
    pub(crate) fn again(&self, py: Python<'_>) -> Handle<I> {
        Handle { open: self.open.clone_ref(py), known: self.known, id: self.id }
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
        let id = self.id;
        self.open.bind(py).get().read(py, self.known, |file| work(file, id)).map(|(done, _)| done)
    }

    /// Runs `work` on the file, if it can be written, and the id, with the interpreter detached.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&FileMut, I) -> Result<R> + Send,
    ) -> PyResult<R> {
        let id = self.id;
        self.open.bind(py).get().write(py, self.known, |file| work(file, id)).map(|(done, _)| done)
    }

    /// Returns a handle on the object of the file whose id `work` finds, if it finds one.
    pub(crate) fn find<J: Copy + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&File, I) -> Result<Option<J>> + Send,
    ) -> PyResult<Option<Handle<J>>> {
        let id = self.id;
        let (found, number) = self.open.bind(py).get().read(py, self.known, |file| work(file, id))?;
        Ok(found.map(|id| Handle { open: self.open.clone_ref(py), known: Some(number), id }))
    }

    /// Returns a handle on the object that `work` makes.
    pub(crate) fn make<J: Copy + Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&FileMut, I) -> Result<J> + Send,
    ) -> PyResult<Handle<J>> {
        let id = self.id;
        let (made, number) = self.open.bind(py).get().write(py, self.known, |file| work(file, id))?;
        Ok(Handle { open: self.open.clone_ref(py), known: Some(number), id: made })
    }
}
