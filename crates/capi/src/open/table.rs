//! The table of open files: a call finds its file with one atomic increment, and no lock.
//!
//! Each position has a pointer and a count of calls that use the file (its *pins*). A call increments the count before
//! it loads the pointer; a close replaces the pointer before it loads the count. All four operations are sequentially
//! consistent, so after a close has read 0, no call has the pointer, and no call gets it later. Each position has a
//! cache line of its own, so threads on different files share none.

use std::ops::Deref;
use std::ptr::{self, null_mut};
use std::sync::MutexGuard;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicUsize};
use std::time::{Duration, Instant};

use crate::abi::forks::ProcessMutex;
use crate::open::file::OpenFile;

/// Number of bits of an id that are the group.
pub(crate) const GROUP_BITS: u32 = 16;
/// Largest number of open files, plus one: position 0 is never used.
pub(crate) const POSITIONS: usize = 1 << 15;

/// Longest time that a close waits for calls on other threads.
const MOST_WAITING: Duration = Duration::from_secs(10);

/// Position of the table.
#[repr(align(64))]
struct TablePosition {
    /// Pointer to the file; null if there is none, [`closing`] while the close waits for calls.
    file: AtomicPtr<OpenFile>,
    /// Number of calls that use the file, or are about to find that there is none.
    pins: AtomicUsize,
}

/// All positions. The memory of positions that were never used is never touched.
static SLOTS: [TablePosition; POSITIONS] =
    [const { TablePosition { file: AtomicPtr::new(null_mut()), pins: AtomicUsize::new(0) } }; POSITIONS];

/// Lock for adding and removing files. The number is the first position that was never used.
static CHANGES: ProcessMutex<usize> = ProcessMutex::with_child(1, forget_calls);

/// Threads share files through raw pointers, which the compiler does not check; so this checks that files may be
/// shared.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<OpenFile>();
};

/// Returns the mark of a position whose file is being closed. It is not the address of a file.
fn closing() -> *mut OpenFile {
    ptr::dangling_mut()
}

fn is_file(file: *mut OpenFile) -> bool {
    !file.is_null() && file != closing()
}

fn lock() -> MutexGuard<'static, usize> {
    CHANGES.lock()
}

/// File in use by a call; it is not closed while this guard lives.
pub(crate) struct PinnedFile {
    slot: &'static TablePosition,
    file: ptr::NonNull<OpenFile>,
}

impl Deref for PinnedFile {
    type Target = OpenFile;

    fn deref(&self) -> &OpenFile {
        // SAFETY: the file lives while its position has a pin; see `pin`.
        unsafe { self.file.as_ref() }
    }
}

impl Drop for PinnedFile {
    fn drop(&mut self) {
        self.slot.pins.fetch_sub(1, Release);
    }
}

/// Pins the file at a position.
pub(crate) fn pin(at: usize) -> Option<PinnedFile> {
    let slot = SLOTS.get(at)?;
    slot.pins.fetch_add(1, SeqCst);
    let file = slot.file.load(SeqCst);
    match ptr::NonNull::new(file) {
        // A close that replaces the pointer after this load reads the pin, and waits for it.
        Some(file) if is_file(file.as_ptr()) => Some(PinnedFile { slot, file }),
        _ => {
            slot.pins.fetch_sub(1, Release);
            None
        }
    }
}

/// Returns all files, pinned one at a time.
pub(crate) fn all() -> impl Iterator<Item = PinnedFile> {
    let end = *lock();
    (1..end).filter_map(pin)
}

/// Inserts a file at the first free position below `end`; `None` if there is none. Position 0 is never used.
pub(crate) fn insert(file: OpenFile, end: usize) -> Option<usize> {
    let mut first_unused = lock();
    let at = (1..end.min(POSITIONS)).find(|&at| SLOTS[at].file.load(Relaxed).is_null())?;
    *first_unused = (at + 1).max(*first_unused);
    SLOTS[at].file.store(Box::into_raw(Box::new(file)), SeqCst);
    Some(at)
}

/// File that was removed from the table.
pub(crate) enum RemovedFile {
    /// File without users.
    Alone(Box<OpenFile>),
    /// File that calls still use after [`MOST_WAITING`]. It stays in memory, and its position is never reused.
    InUse(&'static OpenFile),
}

impl Deref for RemovedFile {
    type Target = OpenFile;

    fn deref(&self) -> &OpenFile {
        match self {
            RemovedFile::Alone(file) => file,
            RemovedFile::InUse(file) => file,
        }
    }
}

/// Removes a file from the table after calls on other threads have ended. The wait is limited, since a call may never
/// end.
pub(crate) fn remove(at: usize) -> Option<RemovedFile> {
    let slot = SLOTS.get(at)?;
    let file = {
        let _changes = lock();
        let file = slot.file.load(SeqCst);
        if !is_file(file) {
            return None;
        }
        slot.file.store(closing(), SeqCst);
        file
    };
    let limit = Instant::now() + MOST_WAITING;
    while slot.pins.load(SeqCst) > 0 {
        if Instant::now() >= limit {
            // SAFETY: the pointer is from a box that is never freed.
            return Some(RemovedFile::InUse(unsafe { &*file }));
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    slot.file.store(null_mut(), SeqCst);
    // SAFETY: the pointer is from a box; no call has the pointer, and none can get it.
    Some(RemovedFile::Alone(unsafe { Box::from_raw(file) }))
}

/// Resets all pins in a child of `fork`: the threads of the parent do not exist in the child, and the thread that
/// forked is in no call.
fn forget_calls() {
    let end = *lock();
    for slot in &SLOTS[..end] {
        slot.pins.store(0, SeqCst);
    }
}
