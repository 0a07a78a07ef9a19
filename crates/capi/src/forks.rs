//! `fork` while other threads are in calls: the child has one thread, which must find every lock of this library free.
//!
//! The thread that forks holds the locks from before to after, so that none belongs to a thread that the child does not have.
//! Calls hold them for a moment, and no call takes one while it holds another.

use std::cell::RefCell;
use std::sync::{MutexGuard, Once, RwLockWriteGuard};

use crate::{caches, file_table, library, rc, user_formats};

/// A lock that is held.
trait Held {}

impl<T> Held for MutexGuard<'static, T> {}
impl<T> Held for RwLockWriteGuard<'static, T> {}

thread_local! {
    /// What the thread that forks holds.
    static HELD: RefCell<Vec<Box<dyn Held>>> = const { RefCell::new(vec![]) };
}

/// Sees to it, once, that the locks are free on both sides of a `fork`. To be called before any of them is taken.
pub(crate) fn make_safe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions take no argument and do not unwind: they only take locks, which are there for all time.
        unsafe { libc::pthread_atfork(Some(before), Some(release), Some(in_child)) };
    });
}

extern "C" fn before() {
    let mut held: Vec<Box<dyn Held>> = vec![
        Box::new(file_table::lock()),
        Box::new(user_formats::formats()),
        Box::new(user_formats::files()),
        Box::new(caches::wishes()),
        Box::new(library::texts()),
    ];
    if let Some(settings) = rc::settings() {
        held.push(Box::new(settings));
    }
    // A thread that is ending does not fork.
    let _ = HELD.try_with(|place| place.replace(held));
}

extern "C" fn release() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn in_child() {
    release();
    // The thread of the child is the one that forked, which is in no call.
    file_table::forget_calls();
}
