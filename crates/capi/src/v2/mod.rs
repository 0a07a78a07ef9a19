//! The interface of netCDF version 2: errors are printed and end the process, depending on `ncopts`; functions return
//! their result, or -1. This module has the error handling, files and dimensions.

pub(crate) mod data;
pub(crate) mod entities;

use std::ffi::{CStr, c_int, c_long};
use std::io::Write;
use std::sync::atomic::{AtomicI32, Ordering};

use ferrocdf::Code;

use crate::abi::constants::NC_NOERR;
use crate::abi::pointers::{NameOut, Out, Str};
use crate::files::open::{nc_create, nc_open};
use crate::forward::{
    nc_abort, nc_close, nc_def_dim, nc_enddef, nc_inq, nc_inq_dim, nc_inq_dimid, nc_redef, nc_rename_dim,
    nc_set_fill, nc_sync,
};
use crate::library::nc_strerror;

const NC_FATAL: c_int = 1;
const NC_VERBOSE: c_int = 2;
/// Value of `ncerr` for all errors of the system.
const NC_SYSERR: c_int = -31;

/// Effect of errors: the bits `NC_FATAL` and `NC_VERBOSE`. An `int` in C, with the same representation.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static ncopts: AtomicI32 = AtomicI32::new(NC_FATAL | NC_VERBOSE);

/// Code of the last error.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static ncerr: AtomicI32 = AtomicI32::new(NC_NOERR);

/// Records an error, prints it, and ends the process, depending on `ncopts`.
fn advise(routine: &[u8], code: c_int, message: &[u8]) {
    ncerr.store(if code > 0 { NC_SYSERR } else { code }, Ordering::Relaxed);
    let options = ncopts.load(Ordering::Relaxed);
    if options & NC_VERBOSE != 0 {
        let mut line = [routine, b": ", message].concat();
        if code != NC_NOERR {
            line.extend_from_slice(b": ");
            // SAFETY: the texts of codes end in a zero byte and are valid until the process ends.
            line.extend_from_slice(unsafe { CStr::from_ptr(nc_strerror(code)) }.to_bytes());
        }
        line.push(b'\n');
        // Failures are ignored: standard error may be closed.
        let _ = std::io::stderr().write_all(&line);
    }
    if options & NC_FATAL != 0 && code != NC_NOERR {
        std::process::exit(options);
    }
}

/// Returns `given` if `code` is no error; otherwise reports the error depending on `ncopts`, and returns -1.
pub(crate) fn outcome(routine: &str, code: c_int, given: c_int, about: impl FnOnce() -> Vec<u8>) -> c_int {
    if code == NC_NOERR {
        return given;
    }
    advise(routine.as_bytes(), code, &about());
    -1
}

/// Returns text of C for a message.
pub(crate) fn quoted(text: Str<'_>) -> &[u8] {
    text.c_str().map_or(b"(null)", CStr::to_bytes)
}

/// Defines functions whose errors are reported with the id of the file. A body returns a code, and the result of the
/// function if there is no error.
macro_rules! version_2 {
    ($(fn $name:ident($ncid:ident $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => {$(
        /// # Safety
        /// The contract of the function of version 3 with the same arguments.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some of what the bodies call takes no raw pointers")]
        pub unsafe extern "C" fn $name($ncid: c_int $(, $argument: $type)*) -> c_int {
            // SAFETY: the body passes on the arguments, whose contract is that of the function of version 3 with the
            // same arguments.
            let (code, given): (c_int, c_int) = unsafe { $body };
            $crate::v2::outcome(stringify!($name), code, given, || format!("ncid {}", $ncid).into_bytes())
        }
    )*};
}
pub(crate) use version_2;

/// Reports an error of the caller: `format` and the arguments after it are as for `printf`, without floating-point
/// numbers.
///
/// A variadic function in C. Rust cannot define one, but on Linux (x86-64, aarch64) variadic integers and pointers are
/// passed like declared ones, so eight are declared. Arguments that the caller did not pass have arbitrary values, and
/// are not used.
///
/// # Safety
/// `format` uses at most the passed arguments, and `%s` only for null or text that ends in a zero byte.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn nc_advise(
    routine: Str,
    code: c_int,
    format: Str,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    g: usize,
    h: usize,
) {
    // SAFETY: `format` ends in a zero byte and uses at most the passed arguments; nothing is written to a buffer of
    // size 0.
    let len = unsafe { libc::snprintf(std::ptr::null_mut(), 0, format.as_ptr(), a, b, c, d, e, f, g, h) };
    let mut message = vec![0u8; usize::try_from(len).unwrap_or(0) + 1];
    // SAFETY: the arguments are the same; the memory has the size that `snprintf` returned.
    unsafe {
        libc::snprintf(message.as_mut_ptr().cast(), message.len(), format.as_ptr(), a, b, c, d, e, f, g, h)
    };
    message.pop();
    advise(quoted(routine), code, &message);
}

/// Returns a message about a file that has no id.
fn file_name(path: Str) -> Vec<u8> {
    [b"filename \"".as_slice(), quoted(path), b"\""].concat()
}

#[unsafe(no_mangle)]
pub extern "C" fn nccreate(path: Str, mode: c_int) -> c_int {
    let mut id = -1;
    let code = nc_create(path, mode, Out::from(&mut id));
    outcome("nccreate", code, id, || file_name(path))
}

#[unsafe(no_mangle)]
pub extern "C" fn ncopen(path: Str, mode: c_int) -> c_int {
    let mut id = -1;
    let code = nc_open(path, mode, Out::from(&mut id));
    outcome("ncopen", code, id, || file_name(path))
}

version_2! {
    fn ncredef(ncid) {
        (nc_redef(ncid), 0)
    }

    fn ncendef(ncid) {
        (nc_enddef(ncid), 0)
    }

    fn ncclose(ncid) {
        (nc_close(ncid), 0)
    }

    fn ncsync(ncid) {
        (nc_sync(ncid), 0)
    }

    fn ncabort(ncid) {
        (nc_abort(ncid), 0)
    }

    fn ncsetfill(ncid, mode: c_int) {
        let mut old = -1;
        (nc_set_fill(ncid, mode, Out::from(&mut old)), old)
    }

    fn ncinquire(ncid, dims: Out<c_int>, vars: Out<c_int>, attrs: Out<c_int>, unlimited: Out<c_int>) {
        (nc_inq(ncid, dims, vars, attrs, unlimited), ncid)
    }

    fn ncdimdef(ncid, name: Str, len: c_long) {
        let mut id = -1;
        match usize::try_from(len) {
            Ok(len) => (nc_def_dim(ncid, name, len, Out::from(&mut id)), id),
            Err(_) => (Code::EDIMSIZE.0, -1),
        }
    }

    fn ncdimid(ncid, name: Str) {
        let mut id = -1;
        (nc_inq_dimid(ncid, name, Out::from(&mut id)), id)
    }

    fn ncdiminq(ncid, id: c_int, name: NameOut, len: Out<c_long>) {
        let mut found = 0;
        let code = nc_inq_dim(ncid, id, name, Out::from(&mut found));
        if code == NC_NOERR {
            // netCDF-C converts the length to `int` first.
            len.put(c_long::from(found as c_int));
        }
        (code, id)
    }

    fn ncdimrename(ncid, id: c_int, name: Str) {
        (nc_rename_dim(ncid, id, name), id)
    }
}
