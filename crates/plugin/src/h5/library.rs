//! `H5` and `H5Z`: the library as a whole, memory, and the available filters.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::OnceLock;

use super::{DONE, FAILED, functions, guard, put};

/// `H5Z_FILTER_CONFIG_ENCODE_ENABLED` and `H5Z_FILTER_CONFIG_DECODE_ENABLED`.
pub(super) const BOTH_WAYS: c_uint = 3;

/// Version that plugins see: the newest whose interface is implemented here.
const VERSION: [c_uint; 3] = [1, 14, 6];

extern "C" fn H5open() -> c_int {
    DONE
}

extern "C" fn H5close() -> c_int {
    DONE
}

extern "C" fn H5dont_atexit() -> c_int {
    DONE
}

extern "C" fn H5garbage_collect() -> c_int {
    DONE
}

/// # Safety
/// The places are null or valid.
unsafe extern "C" fn H5get_libversion(major: *mut c_uint, minor: *mut c_uint, release: *mut c_uint) -> c_int {
    for (place, number) in [major, minor, release].into_iter().zip(VERSION) {
        // SAFETY: as the caller says.
        unsafe { put(place, number) };
    }
    DONE
}

/// Accepts all versions: no structure here depends on a version.
extern "C" fn H5check_version(_major: c_uint, _minor: c_uint, _release: c_uint) -> c_int {
    DONE
}

/// # Safety
/// The place is null or valid.
unsafe extern "C" fn H5is_library_threadsafe(place: *mut bool) -> c_int {
    // SAFETY: as the caller says.
    unsafe { put(place, true) };
    DONE
}

/// # Safety
/// The place is null or valid.
unsafe extern "C" fn H5is_library_terminating(place: *mut bool) -> c_int {
    // SAFETY: as the caller says.
    unsafe { put(place, false) };
    DONE
}

thread_local! {
    /// Largest memory request of a plugin in this thread, in bytes.
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs a call into a plugin, in which the functions of this module allocate at most `most` bytes per request. Memory
/// that the plugin takes from the system itself, or in other threads, is not limited.
pub(crate) fn with_most<T>(most: usize, body: impl FnOnce() -> T) -> T {
    // A thread that is ending has no limit.
    let before = MOST.try_with(|kept| kept.replace(most));
    let made = body();
    if let Ok(before) = before {
        let _ = MOST.try_with(|kept| kept.set(before));
    }
    made
}

fn is_too_much(len: usize) -> bool {
    MOST.try_with(Cell::get).is_ok_and(|most| len > most)
}

/// Allocates with `malloc`: filter buffers are from `malloc`.
extern "C" fn H5allocate_memory(len: usize, clear: u8) -> *mut c_void {
    if len == 0 || is_too_much(len) {
        return std::ptr::null_mut();
    }
    // SAFETY: both take any size.
    unsafe { if clear == 0 { libc::malloc(len) } else { libc::calloc(len, 1) } }
}

/// # Safety
/// The memory is null or from `malloc`.
unsafe extern "C" fn H5resize_memory(memory: *mut c_void, len: usize) -> *mut c_void {
    if len == 0 {
        // SAFETY: as the caller says.
        unsafe { libc::free(memory) };
        return std::ptr::null_mut();
    }
    if is_too_much(len) {
        return std::ptr::null_mut();
    }
    // SAFETY: as the caller says.
    unsafe { libc::realloc(memory, len) }
}

/// # Safety
/// The memory is null or from `malloc`.
unsafe extern "C" fn H5free_memory(memory: *mut c_void) -> c_int {
    // SAFETY: as the caller says.
    unsafe { libc::free(memory) };
    DONE
}

/// Does nothing: a plugin that registers itself is known by its file.
extern "C" fn H5Zregister(class: *const c_void) -> c_int {
    if class.is_null() { FAILED } else { DONE }
}

extern "C" fn H5Zunregister(_id: c_int) -> c_int {
    DONE
}

extern "C" fn H5Zfilter_avail(id: c_int) -> c_int {
    guard(FAILED, || {
        let id = u32::try_from(id).ok()?;
        Some(c_int::from(is_available(id)))
    })
}

/// Function that tells whether the plugin of a filter is loaded. The catalog of plugins sets it before it loads the
/// first plugin, so that this module does not depend on the catalog.
pub(crate) static IS_LOADED: OnceLock<fn(u32) -> bool> = OnceLock::new();

/// True if a filter is built in or loaded. Loads nothing: the caller may be a plugin that is being loaded.
pub(super) fn is_available(id: u32) -> bool {
    ferrocdf_codec::is_built_in(&id.into()) || IS_LOADED.get().is_some_and(|is_loaded| is_loaded(id))
}

/// # Safety
/// The place is null or valid.
unsafe extern "C" fn H5Zget_filter_info(id: c_int, config: *mut c_uint) -> c_int {
    guard(FAILED, || {
        if !is_available(u32::try_from(id).ok()?) {
            return None;
        }
        // SAFETY: as the caller says.
        unsafe { put(config, BOTH_WAYS) };
        Some(DONE)
    })
}

functions![
    H5open,
    H5close,
    H5dont_atexit,
    H5garbage_collect,
    H5get_libversion,
    H5check_version,
    H5is_library_threadsafe,
    H5is_library_terminating,
    H5allocate_memory,
    H5resize_memory,
    H5free_memory,
    H5Zregister,
    H5Zunregister,
    H5Zfilter_avail,
    H5Zget_filter_info,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_given_than_a_block_may_need() {
        let (few, many) = (1000, 1001);
        let freed = |memory: *mut c_void| {
            // SAFETY: the memory is from `H5allocate_memory` or `H5resize_memory`, or null.
            unsafe { H5free_memory(memory) };
            !memory.is_null()
        };
        with_most(few, || {
            assert!(freed(H5allocate_memory(few, 0)) && !freed(H5allocate_memory(many, 1)));
            with_most(many, || assert!(freed(H5allocate_memory(many, 1))));
            let memory = H5allocate_memory(1, 0);
            // SAFETY: a failed request leaves the memory valid.
            assert!(unsafe { H5resize_memory(memory, many) }.is_null());
            // SAFETY: as above.
            assert!(freed(unsafe { H5resize_memory(memory, few) }));
        });
        assert!(freed(H5allocate_memory(many, 0)));
    }
}
