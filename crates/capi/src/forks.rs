//! `fork` while other threads are in calls: the child has one thread, which must find every process-wide lock free.
//!
//! The forking thread takes these locks before the fork and releases them after it, in the parent and in the child. Calls
//! hold each of them for a moment, and no call takes one of them while it holds another. The locks of a single open file or
//! plugin are not among them: a child must not use a file or a plugin that another thread was using during the fork.

use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, RwLockWriteGuard};

use crate::{any_types, caches, file_table, library, user_formats};

/// A guard of a lock.
trait Guard {}

impl<T> Guard for MutexGuard<'static, T> {}
impl<T> Guard for RwLockWriteGuard<'static, T> {}
impl Guard for ferrocdf::plugins::Locks {}
impl Guard for ferrocdf::run_control::Held {}

thread_local! {
    /// Guards that the forking thread holds.
    static HELD: RefCell<Vec<Box<dyn Guard>>> = const { RefCell::new(vec![]) };
}

/// Registers, once, the functions that run around each `fork`. Every function that takes one of the locks calls it first.
pub(crate) fn make_safe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions take no argument and do not unwind: they only take locks, which are there for all time.
        unsafe { libc::pthread_atfork(Some(before), Some(release), Some(in_child)) };
    });
}

/// Takes a process-wide lock. A panic of another holder leaves no half-made change behind.
pub(crate) fn lock<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    make_safe();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn before() {
    let mut held: Vec<Box<dyn Guard>> = vec![
        Box::new(file_table::lock()),
        Box::new(user_formats::formats()),
        Box::new(user_formats::files()),
        Box::new(caches::wishes()),
        Box::new(library::texts()),
        Box::new(any_types::builders()),
        Box::new(ferrocdf::plugins::lock_all()),
    ];
    if let Some(settings) = ferrocdf::run_control::lock() {
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
