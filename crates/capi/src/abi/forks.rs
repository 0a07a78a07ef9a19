//! `fork` while other threads are in calls: the child has one thread, which must find every process-wide lock free.
//!
//! A process-wide lock is a [`ProcessMutex`] or a [`ProcessRwLock`]. It is added to the list of these locks before it
//! is locked for the first time. The forking thread takes the list and all its locks before the fork, and releases them
//! after it, in the parent and in the child. Calls hold each lock for a short time, and no call takes one of them while
//! it holds another. Locks of a single open file or plugin are not in the list: a child must not use a file or a plugin
//! that another thread was using during the fork.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Guard of a lock.
trait Guard {}

impl<T: ?Sized> Guard for MutexGuard<'static, T> {}
impl<T> Guard for RwLockWriteGuard<'static, T> {}
impl Guard for ferrocdf::plugins::Locks {}
impl Guard for ferrocdf::run_control::Held {}

/// Lock that the forking thread takes.
trait ProcessLock: Sync {
    fn hold(&'static self) -> Box<dyn Guard>;

    /// Runs in the child after the locks are released.
    fn in_child(&self) {}
}

thread_local! {
    /// Guards that the forking thread holds during the fork.
    static HELD: RefCell<Vec<Box<dyn Guard>>> = const { RefCell::new(vec![]) };
}

/// All locks that were ever locked.
static LOCKS: Mutex<Vec<&'static dyn ProcessLock>> = Mutex::new(Vec::new());

/// Registers, once, the functions that run around each `fork`. A function that takes a lock of the facade calls it first.
pub(crate) fn make_safe() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions take no argument and do not unwind: they only take locks, which are static.
        unsafe { libc::pthread_atfork(Some(before), Some(release), Some(in_child)) };
    });
}

/// Adds a lock to the list, unless it is in it. Not with a `Once`: the child would wait forever if a thread of the
/// parent was inside it.
fn register(lock: &'static dyn ProcessLock, is_registered: &AtomicBool) {
    if is_registered.load(Ordering::Acquire) {
        return;
    }
    make_safe();
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_registered.swap(true, Ordering::AcqRel) {
        locks.push(lock);
    }
}

/// Mutex of the whole process.
pub(crate) struct ProcessMutex<T> {
    mutex: Mutex<T>,
    is_registered: AtomicBool,
    in_child: fn(),
}

impl<T: Send> ProcessMutex<T> {
    pub(crate) const fn new(value: T) -> ProcessMutex<T> {
        ProcessMutex::with_child(value, || {})
    }

    /// Creates a mutex with a function that runs in each child process before its first call.
    pub(crate) const fn with_child(value: T, in_child: fn()) -> ProcessMutex<T> {
        ProcessMutex { mutex: Mutex::new(value), is_registered: AtomicBool::new(false), in_child }
    }

    /// Takes the lock. Poison is ignored: a panic of another holder leaves no half-made change.
    pub(crate) fn lock(&'static self) -> MutexGuard<'static, T> {
        register(self, &self.is_registered);
        self.mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send> ProcessLock for ProcessMutex<T> {
    fn hold(&'static self) -> Box<dyn Guard> {
        Box::new(self.lock())
    }

    fn in_child(&self) {
        (self.in_child)();
    }
}

/// Reader-writer lock of the whole process.
pub(crate) struct ProcessRwLock<T> {
    lock: RwLock<T>,
    is_registered: AtomicBool,
}

impl<T: Send + Sync> ProcessRwLock<T> {
    pub(crate) const fn new(value: T) -> ProcessRwLock<T> {
        ProcessRwLock { lock: RwLock::new(value), is_registered: AtomicBool::new(false) }
    }

    /// Takes the lock to read. Poison is ignored: a panic of another holder leaves no half-made change.
    pub(crate) fn read(&'static self) -> RwLockReadGuard<'static, T> {
        register(self, &self.is_registered);
        self.lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock to write.
    pub(crate) fn write(&'static self) -> RwLockWriteGuard<'static, T> {
        register(self, &self.is_registered);
        self.lock.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Send + Sync> ProcessLock for ProcessRwLock<T> {
    fn hold(&'static self) -> Box<dyn Guard> {
        Box::new(self.write())
    }
}

extern "C" fn before() {
    let locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut held: Vec<Box<dyn Guard>> = locks.iter().map(|lock| lock.hold()).collect();
    held.push(Box::new(ferrocdf::plugins::lock_all()));
    if let Some(settings) = ferrocdf::run_control::lock() {
        held.push(Box::new(settings));
    }
    held.push(Box::new(locks));
    // A thread that is ending does not fork.
    let _ = HELD.try_with(|place| place.replace(held));
}

extern "C" fn release() {
    let _ = HELD.try_with(RefCell::take);
}

extern "C" fn in_child() {
    release();
    let locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    locks.iter().for_each(|lock| lock.in_child());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    static RESET: AtomicBool = AtomicBool::new(false);
    static LOCK: ProcessMutex<u64> = ProcessMutex::with_child(0, || RESET.store(true, Ordering::Relaxed));

    #[test]
    fn child_finds_a_lock_free_that_another_thread_takes_all_the_time() {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    *LOCK.lock() += 1;
                    let held = LOCK.lock();
                    std::thread::sleep(Duration::from_micros(200));
                    drop(held);
                }
            });
            while !LOCK.is_registered.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let all_well = (0..20).all(|_| {
                let mut status = -1;
                // SAFETY: the child takes the lock and ends; the alarm kills a child that waits for the lock forever.
                unsafe {
                    match libc::fork() {
                        0 => {
                            libc::alarm(20);
                            drop(LOCK.lock());
                            libc::_exit(if RESET.load(Ordering::Relaxed) { 7 } else { 1 });
                        }
                        child => assert_eq!(libc::waitpid(child, &mut status, 0), child),
                    }
                }
                libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7
            });
            is_over.store(true, Ordering::Relaxed);
            assert!(all_well);
        });
    }
}
