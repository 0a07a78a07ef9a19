//! What the host has: functions are looked up when they are needed.
//!
//! A process may hold two libraries of one kind (h5py and netCDF4 bring their own libhdf5 each), and handles of one mean
//! nothing to the other, or something else. So the object that called comes first; it is found by walking up the stack.
//! Then what any object sees, then a library of that name that was loaded for its user alone.

use std::ffi::{CStr, CString, OsString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStringExt;

use ferrocdf_bytes::Error;

/// What `dladdr` says of an address: where its object begins, and the file of it.
fn object_at(address: *const c_void) -> Option<(usize, CString)> {
    // SAFETY: a struct of pointers, for which null is fine.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address may be asked for.
    let known = unsafe { libc::dladdr(address, &mut found) } != 0 && !found.dli_fname.is_null();
    // SAFETY: text of the loader, which stays as long as the object.
    known.then(|| (found.dli_fbase as usize, unsafe { CStr::from_ptr(found.dli_fname) }.to_owned()))
}

fn own_object() -> Option<(usize, CString)> {
    object_at(own_object as fn() -> _ as *const c_void)
}

/// The file that this object was loaded from.
pub fn own_file() -> Option<OsString> {
    own_object().map(|(_, file)| OsString::from_vec(file.into_bytes()))
}

type Step = extern "C" fn(*mut c_void, *mut c_void) -> c_int;

// Of the compiler's own library, which every Rust object needs.
unsafe extern "C" {
    fn _Unwind_Backtrace(step: Step, data: *mut c_void) -> c_int;
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

/// What a walk up the stack looks for, and what it found.
struct Walk {
    own: usize,
    caller: Option<CString>,
}

/// Goes on while the frame is in this object.
extern "C" fn step(frame: *mut c_void, walk: *mut c_void) -> c_int {
    const GO_ON: c_int = 0;
    const END: c_int = 5;
    // SAFETY: the walk is that of `caller`, which waits; the frame is the unwinder's.
    let (walk, address) = unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(frame)) };
    match object_at(address as *const c_void) {
        Some((base, _)) if base == walk.own => GO_ON,
        other => {
            walk.caller = other.map(|(_, file)| file);
            END
        }
    }
}

/// The file of the object that called this one.
fn caller() -> Option<CString> {
    let mut walk = Walk { own: own_object()?.0, caller: None };
    // SAFETY: `step` takes a walk, which outlives the call.
    unsafe { _Unwind_Backtrace(step, (&raw mut walk).cast()) };
    walk.caller
}

/// Where functions are looked up.
pub struct Place(*mut c_void);

impl Place {
    /// An object that is loaded.
    fn object(file: &CStr) -> Option<Place> {
        // SAFETY: nothing is loaded that is not there. It stays for as long as whoever called or loaded it needs it.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        (!handle.is_null()).then_some(Place(handle))
    }

    fn address(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: a handle of `dlopen`, or what any object sees.
        let address = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    /// A function of this name.
    ///
    /// # Safety
    /// `F` is the type of that function.
    pub unsafe fn function<F: Copy>(&self, name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: the caller knows its type, a pointer.
        self.address(name).map(|address| unsafe { std::mem::transmute_copy(&address) })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.0 != libc::RTLD_DEFAULT {
            // SAFETY: a handle of `dlopen`, which was counted.
            unsafe { libc::dlclose(self.0) };
        }
    }
}

/// The files of loaded objects whose name contains `library`. Not known on macOS, where the caller or anybody has them.
#[cfg(target_os = "macos")]
fn loaded(_library: &str) -> Vec<CString> {
    vec![]
}

/// The files of loaded objects whose name contains `library`.
#[cfg(not(target_os = "macos"))]
fn loaded(library: &str) -> Vec<CString> {
    struct Search<'a> {
        library: &'a [u8],
        found: Vec<CString>,
    }
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader's description of an object, and the search below, which waits.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<'_>>()) };
        if !info.dlpi_name.is_null() {
            // SAFETY: text of the loader.
            let file = unsafe { CStr::from_ptr(info.dlpi_name) };
            let name = file.to_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            if name.windows(search.library.len()).any(|part| part == search.library) {
                search.found.push(file.to_owned());
            }
        }
        0
    }
    let mut search = Search { library: library.as_bytes(), found: vec![] };
    // SAFETY: `each` takes a search, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut search).cast()) };
    search.found
}

/// What `find` finds in the first place that has it: in the object that called, in what any object sees, in a loaded library
/// of this name.
pub fn find<T>(library: &str, find: impl Fn(&Place) -> Option<T>) -> Option<T> {
    let of = |file: &CString| Place::object(file).and_then(|place| find(&place));
    let anywhere = || find(&Place(libc::RTLD_DEFAULT));
    caller().as_ref().and_then(of).or_else(anywhere).or_else(|| loaded(library).iter().find_map(of))
}

type Push = unsafe extern "C" fn(
    i64,
    *const c_char,
    *const c_char,
    c_uint,
    i64,
    i64,
    i64,
    *const c_char,
    ...
) -> c_int;

/// Tells HDF5 why a filter failed, if it is HDF5 that called.
pub fn push_error(error: &Error) {
    let Some(place) = caller().and_then(|file| Place::object(&file)) else { return };
    // SAFETY: the types of HDF5 since 1.10; handles of error classes are variables of it.
    let (push, numbers) = unsafe {
        let number = |name| place.address(name).map(|at| *at.cast::<i64>());
        let numbers = [number(c"H5E_ERR_CLS_g"), number(c"H5E_PLINE_g"), number(c"H5E_CANTFILTER_g")];
        (place.function::<Push>(c"H5Epush2"), numbers)
    };
    let (Some(push), [Some(class), Some(major), Some(minor)]) = (push, numbers) else { return };
    let what: Vec<u8> = error.what.bytes().filter(|&byte| byte != 0).collect();
    let Ok(what) = CString::new(what) else { return };
    // SAFETY: HDF5 copies the text; the names stay as long as this object.
    unsafe {
        push(
            0,
            c"ferrocdf".as_ptr(),
            c"filter".as_ptr(),
            0,
            class,
            major,
            minor,
            c"%s".as_ptr(),
            what.as_ptr(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found() {
        let own = own_file().unwrap();
        assert!(own.to_string_lossy().contains("h5filters"), "{own:?}");
        let libc = loaded("libc.so");
        assert_eq!(libc.len(), 1, "{libc:?}");
        let place = Place::object(&libc[0]).unwrap();
        assert!(place.address(c"strlen").is_some() && place.address(c"H5open").is_none());
        assert!(loaded("libhdf5-of-nobody").is_empty());
    }

    #[test]
    fn functions_are_found_where_they_are() {
        type Abs = unsafe extern "C" fn(c_int) -> c_int;
        // SAFETY: that is the type of `abs`.
        let abs = find("libc.so", |place| unsafe { place.function::<Abs>(c"abs") }).unwrap();
        // SAFETY: it takes any small number.
        assert_eq!(unsafe { abs(-3) }, 3);
        // SAFETY: there is none.
        assert!(find("libc.so", |place| unsafe { place.function::<Abs>(c"H5Pget_chunk") }).is_none());
    }
}
