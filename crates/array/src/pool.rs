//! The threads that large requests are shared among.
//!
//! One pool for the process, made when first needed, and not rayon's global one: that belongs to the program. Its size
//! is the environment variable `FERROCDF_THREADS`, else the number of cores this process may run on. A process made by
//! `fork` has none of its parent's threads; there, and where threads cannot be made, requests run on the caller's.

use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Pool {
    process: u32,
    threads: Option<ThreadPool>,
}

static POOL: OnceLock<Pool> = OnceLock::new();

/// The pool, if sharing work is possible.
pub fn get() -> Option<&'static ThreadPool> {
    let process = std::process::id();
    let pool = POOL.get_or_init(|| Pool { process, threads: make() });
    pool.threads.as_ref().filter(|_| pool.process == process)
}

/// What some work makes of each item, shared among the threads.
pub fn share<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match get() {
        Some(pool) => pool.install(|| items.par_iter().map(&work).collect()),
        None => items.iter().map(work).collect(),
    }
}

fn make() -> Option<ThreadPool> {
    let wished = std::env::var("FERROCDF_THREADS").ok().and_then(|text| text.trim().parse().ok());
    let size = wished.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    if size < 2 {
        return None;
    }
    ThreadPoolBuilder::new().num_threads(size).thread_name(|n| format!("ferrocdf-{n}")).build().ok()
}
