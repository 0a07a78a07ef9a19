//! The pool, made of rayon's threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use ferrocdf_bytes::Result;

use crate::per_process::PerProcess;
use crate::settings;

static POOL: PerProcess<Option<ThreadPool>> = PerProcess::new();

/// The threads of the pool.
#[derive(Clone, Copy, Debug)]
pub struct Workers(&'static ThreadPool);

impl Workers {
    /// Returns the number of threads.
    pub fn count(self) -> usize {
        self.0.current_num_threads()
    }

    /// Runs a function in the pool and waits for it.
    ///
    /// A thread of another rayon pool that waits here would run other jobs of its own pool meanwhile. Such a job may need a lock
    /// that the caller holds, for example the lock of a file: a deadlock. So on such a thread the call is made from a new thread,
    /// and the caller blocks until that thread ends.
    pub fn install<R: Send>(self, work: impl FnOnce() -> R + Send) -> R {
        if rayon::current_thread_index().is_none() || self.0.current_thread_index().is_some() {
            return self.0.install(work);
        }
        let work = Mutex::new(Some(work));
        let run = || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.0.install(work.expect("it is run once"))
        };
        std::thread::scope(|scope| match std::thread::Builder::new().spawn_scoped(scope, run) {
            Ok(waiting) => waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => run(),
        })
    }

    /// Runs two functions in parallel.
    pub fn join<A: Send, B: Send>(
        self,
        one: impl FnOnce() -> A + Send,
        other: impl FnOnce() -> B + Send,
    ) -> (A, B) {
        self.install(|| join(one, other))
    }

    /// Maps items in parallel, as far as no error comes; `work` gets their numbers too.
    pub(crate) fn try_map<T: Sync, R: Send>(
        self,
        items: &[T],
        work: impl Fn((usize, &T)) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        self.install(|| items.par_iter().enumerate().map(work).collect())
    }

    /// Maps items in parallel.
    pub(crate) fn map<T: Sync, R: Send>(self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        self.install(|| items.par_iter().map(&work).collect())
    }

    /// Changes items in parallel, as far as no error comes. Each is a job of its own; `work` gets their numbers too.
    pub(crate) fn try_each<T: Send>(
        self,
        items: &mut [T],
        work: impl Fn((usize, &mut T)) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        self.install(|| items.par_iter_mut().enumerate().with_max_len(1).try_for_each(work))
    }

    /// Does jobs in parallel, as far as no error comes. Each is taken alone; `work` gets their numbers too. True if `work` returned
    /// true for all.
    pub(crate) fn try_all<J: Send>(
        self,
        jobs: Vec<J>,
        work: impl Fn((usize, J)) -> Result<bool> + Sync + Send,
    ) -> Result<bool> {
        self.install(|| {
            let jobs = jobs.into_par_iter().enumerate().with_max_len(1);
            jobs.map(work).try_reduce(|| true, |a, b| Ok(a & b))
        })
    }
}

/// Returns the pool; `None` if requests run on the caller's thread.
pub fn get() -> Option<Workers> {
    POOL.get_or_init(make)?.as_ref().map(Workers)
}

/// Runs two functions, in parallel on a thread of the pool.
pub(crate) fn join<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    rayon::join(one, other)
}

fn make() -> Option<ThreadPool> {
    let size = settings::threads();
    if size < 2 {
        return None;
    }
    ThreadPoolBuilder::new().num_threads(size).thread_name(|n| format!("ferrocdf-{n}")).build().ok()
}
