//! Thread-local buffers, so that encoding and decoding a chunk needs no allocation after the first chunks of a thread.

use std::cell::RefCell;
use std::thread::LocalKey;

/// Capacity in bytes above which a buffer is freed after use.
const MAX_RETAINED_CAPACITY: usize = 64 << 20;

/// Number of buffers that a thread retains: two for a chain, and two for a filter that encodes in two passes or needs
/// scratch space.
const MAX_RETAINED_BUFFERS: usize = 4;

thread_local! {
    static FREE: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `work` with the value of a thread-local key, or with a new value if the key is destroyed already, as in functions
/// that run when the process exits.
pub fn with_thread_local<T, R>(
    key: &'static LocalKey<RefCell<T>>,
    new: impl FnOnce() -> T,
    work: impl FnOnce(&mut T) -> R,
) -> R {
    match key.try_with(|_| ()) {
        Ok(()) => key.with_borrow_mut(work),
        Err(_) => work(&mut new()),
    }
}

/// Runs `work` with a thread-local buffer, which still contains bytes of its previous use.
pub fn with_buffer<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut buffer = with_thread_local(&FREE, Vec::new, Vec::pop).unwrap_or_default();
    let result = work(&mut buffer);
    if buffer.capacity() <= MAX_RETAINED_CAPACITY {
        with_thread_local(&FREE, Vec::new, |free| {
            if free.len() < MAX_RETAINED_BUFFERS {
                free.push(buffer);
            }
        });
    }
    result
}

/// Runs `work` with a thread-local slice of `len` bytes, which still contains bytes of its previous use.
pub fn with_bytes<T>(len: usize, work: impl FnOnce(&mut [u8]) -> T) -> T {
    with_buffer(|buffer| {
        if buffer.len() < len {
            buffer.resize(len, 0);
        }
        work(&mut buffer[..len])
    })
}
