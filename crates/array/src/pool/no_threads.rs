//! No pool: everything runs on the thread of the caller.

use ferrocdf_bytes::Result;

/// The threads of the pool, which this build does not have: no value of this type exists.
#[derive(Clone, Copy, Debug)]
pub enum NoWorkers {}

impl NoWorkers {
    /// Returns the number of threads.
    pub fn count(self) -> usize {
        match self {}
    }

    /// Runs a function in the pool.
    pub fn install<R: Send>(self, _work: impl FnOnce() -> R + Send) -> R {
        match self {}
    }

    /// Runs two functions in parallel.
    pub fn join<A: Send, B: Send>(
        self,
        _one: impl FnOnce() -> A + Send,
        _other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        match self {}
    }

    /// Maps items in parallel, as far as no error comes.
    pub(crate) fn try_map<T: Sync, R: Send>(
        self,
        _items: &[T],
        _work: impl Fn((usize, &T)) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        match self {}
    }

    /// Maps items in parallel.
    pub(crate) fn map<T: Sync, R: Send>(self, _items: &[T], _work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        match self {}
    }

    /// Changes items in parallel, as far as no error comes.
    pub(crate) fn try_each<T: Send>(
        self,
        _items: &mut [T],
        _work: impl Fn((usize, &mut T)) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        match self {}
    }

    /// Does jobs in parallel, as far as no error comes.
    pub(crate) fn try_all<J: Send>(
        self,
        _jobs: Vec<J>,
        _work: impl Fn((usize, J)) -> Result<bool> + Sync + Send,
    ) -> Result<bool> {
        match self {}
    }
}

/// Returns no pool.
pub fn get() -> Option<NoWorkers> {
    None
}

/// Runs two functions, one after the other.
pub(crate) fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    (one(), other())
}
