//! Buffers that each thread keeps, so that a block costs no allocation once the thread is warm.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Buffers larger than this are given back to the system.
const KEPT_SIZE: usize = 64 << 20;

/// Buffers a thread keeps: two for a chain, and two for a filter that encodes in two turns or needs room.
const KEPT: usize = 4;

thread_local! {
    static FREE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with what this thread keeps. Where it keeps nothing any more, as in functions that run at the end of a
/// process, with a new one.
pub fn with_kept<T, R>(
    kept: &'static LocalKey<RefCell<T>>,
    new: impl FnOnce() -> T,
    work: impl FnOnce(&mut T) -> R,
) -> R {
    match kept.try_with(|_| ()) {
        Ok(()) => kept.with_borrow_mut(work),
        Err(_) => work(&mut new()),
    }
}

/// Runs `work` with a buffer of this thread. What it holds at first is left from earlier work.
pub fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut buffer = with_kept(&FREE, Vec::new, Vec::pop).unwrap_or_default();
    let result = work(&mut buffer);
    if buffer.capacity() <= KEPT_SIZE {
        with_kept(&FREE, Vec::new, |free| {
            if free.len() < KEPT {
                free.push(buffer);
            }
        });
    }
    result
}

/// Runs `work` with that many bytes of this thread, which hold what earlier work left.
pub fn with_bytes<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    with_buffer(|buffer| {
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        work(&mut buffer[..len])
    })
}
