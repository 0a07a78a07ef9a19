//! The thread pool for large requests, the only place that knows rayon.
//!
//! The process has one pool, made on first use. It is not rayon's global pool, which belongs to the program; `settings` has the number
//! of its threads. With fewer than two threads, in a process made by `fork` (which has none of its parent's threads), where threads
//! cannot be made, and without the feature `threads`, requests run on the thread of the caller.

#[cfg(not(feature = "threads"))]
mod no_threads;
#[cfg(feature = "threads")]
mod threads;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

#[cfg(not(feature = "threads"))]
pub(crate) use no_threads::join;
#[cfg(not(feature = "threads"))]
pub use no_threads::{NoWorkers as Workers, get};
#[cfg(feature = "threads")]
pub(crate) use threads::join;
#[cfg(feature = "threads")]
pub use threads::{Workers, get};

/// Runs `io` on a new thread while this thread runs `work`, which may use the pool; one after the other if no thread can be made.
/// A panic of either is resumed on this thread.
pub(crate) fn overlap<A: Send, B>(io: impl FnOnce() -> A + Send, work: impl FnOnce() -> B) -> (A, B) {
    let io = Mutex::new(Some(io));
    let run = || {
        let io = io.lock().unwrap_or_else(PoisonError::into_inner).take();
        io.expect("it is run once")()
    };
    let builder = std::thread::Builder::new().name("ferrocdf-io".to_string());
    std::thread::scope(|scope| match builder.spawn_scoped(scope, run) {
        Ok(thread) => {
            let worked = work();
            (thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), worked)
        }
        Err(_) => (run(), work()),
    })
}

/// Maps items in parallel.
pub fn map_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    match get() {
        Some(pool) => pool.map(items, work),
        None => items.iter().map(work).collect(),
    }
}

/// Maps items in parallel within a cost budget: `work` returns a result and its cost, and no item is begun once the sum of costs
/// exceeds `most`. Items that other threads have begun by then are finished. Items that were not begun are `None`.
pub fn map_within_budget<T: Sync, R: Send>(
    most: u64,
    items: &[T],
    work: impl Fn(&T) -> (R, u64) + Sync,
) -> Vec<Option<R>> {
    let spent = AtomicU64::new(0);
    map_parallel(items, |item| {
        (spent.load(Relaxed) <= most).then(|| {
            let (made, cost) = work(item);
            spent.fetch_add(cost, Relaxed);
            made
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_item_is_begun_once_the_budget_is_spent() {
        let items: Vec<u64> = (0..10_000).collect();
        let made = map_within_budget(100, &items, |&item| (item, 10));
        let begun = made.iter().flatten().count();
        let threads = get().map_or(1, Workers::count);
        assert!((11..11 + threads).contains(&begun), "{begun}");
        assert!(made.iter().zip(&items).all(|(made, item)| made.is_none_or(|made| made == *item)));
        assert_eq!(
            map_within_budget(0, &items, |&item| (item, 0)).into_iter().flatten().collect::<Vec<_>>(),
            items
        );
    }
}
