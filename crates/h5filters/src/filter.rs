//! Packing and unpacking for HDF5 (`H5Z_func_t`).
//!
//! HDF5 does not tell what a chunk should become. What is made never exceeds what so many stored bytes of this filter
//! can become, nor [`LARGEST`]; a buffer that must be guessed begins with the size of the last chunk.

use std::cell::Cell;
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use ferrocdf_bytes::{Code, Error, Result};

use crate::{guarded, host, own_id};

/// A buffer larger than this is given back after each chunk.
const LARGEST_KEPT: usize = 64 << 20;

thread_local! {
    /// What was made last, whose memory the next chunk uses: new memory costs as much as unpacking.
    static MADE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// `H5Z_func_t`.
pub type Callback =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// `H5Z_FLAG_REVERSE`: unpack.
const REVERSE: c_uint = 0x100;

/// The most bytes of a chunk: its size was kept in 32 bits before HDF5 2.
const LARGEST: usize = u32::MAX as usize;

/// More parameters than this are none that anybody wrote.
const MOST_PARAMS: usize = 1 << 16;

/// What the last chunk became.
static LAST: AtomicUsize = AtomicUsize::new(0);

/// Packs or unpacks `len` bytes of `*buffer`, which has room for `*room`; a larger buffer takes its place if need be.
/// Gives the number of bytes made, 0 on failure; the buffer is then as it was.
///
/// # Safety
/// As HDF5 calls it: `params` has `count` numbers, and `*buffer` is from `malloc` and has `*room` bytes.
pub unsafe extern "C" fn run(
    flags: c_uint,
    count: usize,
    params: *const c_uint,
    len: usize,
    room: *mut usize,
    buffer: *mut *mut c_void,
) -> usize {
    guarded(0, || {
        let Some(id) = own_id() else { return 0 };
        if room.is_null() || buffer.is_null() || count > MOST_PARAMS {
            return 0;
        }
        // SAFETY: the caller has `count` parameters.
        let params = unsafe { slice(params, count) };
        // HDF5 writes what is left at the end of a process, when the thread keeps nothing any more.
        let mut made = MADE.try_with(Cell::take).unwrap_or_default();
        // SAFETY: the caller's buffer has `len` bytes, and nobody else uses it now.
        let done = unsafe { slice((*buffer).cast::<u8>(), len) }
            .ok_or_else(|| Error::new(Code::EINVAL, "there is no buffer"))
            .and_then(|bytes| make(id, params.unwrap_or(&[]), bytes, flags & REVERSE != 0, &mut made))
            // SAFETY: `room` and `buffer` are the caller's, and nothing borrows from them any more.
            .and_then(|()| unsafe { hand_over(&made, &mut *room, &mut *buffer) });
        if made.capacity() <= LARGEST_KEPT {
            let _ = MADE.try_with(|kept| kept.set(made));
        }
        done.unwrap_or_else(|error| {
            host::push_error(&error);
            0
        })
    })
}

/// What the caller has at an address; `None` if it has nothing there.
///
/// # Safety
/// If `at` is not null, `len` values are there and stay.
unsafe fn slice<'a, T>(at: *const T, len: usize) -> Option<&'a [T]> {
    // SAFETY: promised by the caller.
    (!at.is_null()).then(|| unsafe { std::slice::from_raw_parts(at, len) })
}

fn make(id: u32, params: &[u32], bytes: &[u8], unpack: bool, made: &mut Vec<u8>) -> Result<()> {
    let none = || Error::new(Code::ENOFILTER, format!("filter {id} is not built in"));
    let filter = ferrocdf_codec::built_in(&id.into(), params).ok_or_else(none)??;
    if unpack {
        let guess = Some(LAST.load(Ordering::Relaxed)).filter(|&last| last > bytes.len());
        filter.decode(bytes, made, guess, LARGEST)?;
        LAST.store(made.len(), Ordering::Relaxed);
    } else if filter.encode(bytes, made)?.is_none() {
        return Err(Error::new(Code::EFILTER, format!("{} bytes do not become fewer", bytes.len())));
    }
    Ok(())
}

/// Puts what was made into the caller's buffer, or a larger one in its place.
///
/// # Safety
/// `buffer` is from `malloc` and has `room` bytes.
unsafe fn hand_over(made: &[u8], room: &mut usize, buffer: &mut *mut c_void) -> Result<usize> {
    if made.len() > *room {
        // SAFETY: a size that a Vec has.
        let larger = unsafe { libc::malloc(made.len()) };
        if larger.is_null() {
            return Err(Error::new(Code::ENOMEM, format!("there is no memory for {} bytes", made.len())));
        }
        // SAFETY: the caller gives up its buffer for the new one.
        unsafe { libc::free(*buffer) };
        (*buffer, *room) = (larger, made.len());
    }
    // SAFETY: the buffer has room for so many bytes, and Rust's are elsewhere.
    unsafe { std::ptr::copy_nonoverlapping(made.as_ptr(), (*buffer).cast::<u8>(), made.len()) };
    Ok(made.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer as HDF5 has it.
    struct Buffer {
        at: *mut c_void,
        room: usize,
    }

    impl Buffer {
        fn new(room: usize) -> Buffer {
            // SAFETY: any size is fine.
            Buffer { at: unsafe { libc::malloc(room.max(1)) }, room }
        }

        fn take(&mut self, made: &[u8]) -> usize {
            // SAFETY: the buffer is from malloc, with that room.
            unsafe { hand_over(made, &mut self.room, &mut self.at) }.unwrap()
        }

        fn bytes(&self, len: usize) -> &[u8] {
            // SAFETY: so many were written.
            unsafe { std::slice::from_raw_parts(self.at.cast(), len) }
        }
    }

    impl Drop for Buffer {
        fn drop(&mut self) {
            // SAFETY: from malloc.
            unsafe { libc::free(self.at) }
        }
    }

    #[test]
    fn a_buffer_that_is_large_enough_stays() {
        let mut buffer = Buffer::new(8);
        let was = buffer.at;
        assert_eq!(buffer.take(b"12345678"), 8);
        assert_eq!((buffer.at, buffer.room, buffer.bytes(8)), (was, 8, &b"12345678"[..]));
        assert_eq!(buffer.take(b"abc"), 3);
        assert_eq!((buffer.at, buffer.room), (was, 8));
        assert_eq!(buffer.take(b"123456789"), 9);
        assert_eq!((buffer.room, buffer.bytes(9)), (9, &b"123456789"[..]));
    }

    fn make(id: u32, params: &[u32], bytes: &[u8], unpack: bool) -> Result<Vec<u8>> {
        // What was there must not matter.
        let mut made = vec![0x55; 5];
        super::make(id, params, bytes, unpack, &mut made).map(|()| made)
    }

    #[test]
    fn what_is_packed_comes_back() {
        let plain: Vec<u8> = (0..40_000u32).flat_map(|at| (at / 7).to_le_bytes()).collect();
        for (id, params) in
            [(32015, &[3][..]), (307, &[9]), (32004, &[]), (32008, &[0, 4, 4, 0, 2]), (32001, &[])]
        {
            let stored = make(id, params, &plain, false).unwrap();
            assert!(stored.len() < plain.len(), "{id}");
            assert!(make(id, params, &stored, true).unwrap() == plain, "{id}");
            let cut = make(id, params, &stored[..stored.len() / 2], true);
            assert!(cut.is_err(), "{id}: half of it is damaged");
        }
        assert_eq!(make(32015, &[99], &plain, false).unwrap_err().code, Code::EFILTER);
    }

    /// A few bytes that claim to become very many.
    #[test]
    fn claims_are_not_believed() {
        let mut lz4 = (1u64 << 40).to_be_bytes().to_vec();
        lz4.extend([0; 40]);
        assert!(make(32004, &[], &lz4, true).is_err());
        let mut blosc = vec![2, 1, 0x22, 4];
        blosc.extend([0xff, 0xff, 0xff, 0x7f, 0, 0, 1, 0, 16, 0, 0, 0]);
        assert!(make(32001, &[], &blosc, true).is_err());
    }
}
