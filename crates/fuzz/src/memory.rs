//! How much memory is in use, and the most that was.
//!
//! Requests beyond [`LIMIT`] in total are refused, so that a target which asks for too much meets an error, or ends
//! the run, before it takes the machine with it.
//!
//! The one module with unsafe code: a global allocator has no other form. It passes each request on to the system's.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The input that is being run: a request that is refused mostly ends the process, and the driver with it.
static INPUT: Mutex<(String, Vec<u8>)> = Mutex::new((String::new(), Vec::new()));

/// Notes an input, to be saved as this file if a request for memory is refused.
pub fn keep(path: String, input: &[u8]) {
    if let Ok(mut kept) = INPUT.lock() {
        kept.0 = path;
        kept.1.clear();
        kept.1.extend_from_slice(input);
    }
}

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Bytes that may be in use at once.
const LIMIT: usize = 512 << 20;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: each method passes its arguments unchanged to the system's allocator, which upholds the contract; counting
// touches two atomics and never allocates, and a null pointer says that a request is refused.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !add(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !add(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !add(size) {
            return std::ptr::null_mut();
        }
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}

/// Counts a request. False if it is refused, and not counted.
fn add(size: usize) -> bool {
    let now = NOW.fetch_add(size, Relaxed).saturating_add(size);
    if now > LIMIT {
        NOW.fetch_sub(size, Relaxed);
        if let Ok(kept) = INPUT.try_lock() {
            // It may be no more than a refusal that the target takes well.
            let _ = std::fs::write(&kept.0, &kept.1);
        }
        return false;
    }
    PEAK.fetch_max(now, Relaxed);
    true
}

/// Forgets the peak. Gives what is in use now.
pub fn restart_peak() -> usize {
    let now = NOW.load(Relaxed);
    PEAK.store(now, Relaxed);
    now
}

/// The most that was in use since the peak was forgotten.
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}
