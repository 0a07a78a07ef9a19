//! The interface of netCDF version 2: errors are printed and end the process, as `ncopts` says, and functions give what
//! they find, or -1. Here are the errors, files and dimensions.

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
/// What `ncerr` says of all errors of the system.
const NC_SYSERR: c_int = -31;

/// What errors do: bits of `NC_FATAL` and `NC_VERBOSE`. C has it as an `int`, which is what an atomic one is.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static ncopts: AtomicI32 = AtomicI32::new(NC_FATAL | NC_VERBOSE);

/// The code of the last error.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static ncerr: AtomicI32 = AtomicI32::new(NC_NOERR);

/// Takes note of an error, prints it, and ends the process, as `ncopts` says.
fn advise(routine: &[u8], code: c_int, message: &[u8]) {
    ncerr.store(if code > 0 { NC_SYSERR } else { code }, Ordering::Relaxed);
    let options = ncopts.load(Ordering::Relaxed);
    if options & NC_VERBOSE != 0 {
        let mut line = [routine, b": ", message].concat();
        if code != NC_NOERR {
            line.extend_from_slice(b": ");
            // SAFETY: the texts of codes end in a zero byte and stay.
            line.extend_from_slice(unsafe { CStr::from_ptr(nc_strerror(code)) }.to_bytes());
        }
        line.push(b'\n');
        // Where standard error is closed there is nobody to tell.
        let _ = std::io::stderr().write_all(&line);
    }
    if options & NC_FATAL != 0 && code != NC_NOERR {
        std::process::exit(options);
    }
}

/// Returns `given` if `code` is none of an error; else reports the error as `ncopts` says, and returns -1.
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

/// Functions whose errors are told with the id of the file. A body gives a code, and what the function gives without
/// an error.
macro_rules! version_2 {
    ($(fn $name:ident($ncid:ident $(, $argument:ident: $type:ty)* $(,)?) $body:block)*) => {$(
        /// # Safety
        /// That of the function of version 3 with the same arguments.
        #[unsafe(no_mangle)]
        #[allow(unused_unsafe, reason = "some of what the bodies call takes no raw pointers")]
        pub unsafe extern "C" fn $name($ncid: c_int $(, $argument: $type)*) -> c_int {
            // SAFETY: the body hands on the arguments, whose contract is that of the function of version 3 with the same
            // arguments.
            let (code, given): (c_int, c_int) = unsafe { $body };
            $crate::v2::outcome(stringify!($name), code, given, || format!("ncid {}", $ncid).into_bytes())
        }
    )*};
}
pub(crate) use version_2;

/// Prints an error of the caller's: `format` and what follows are as for `printf`, without floating-point numbers.
///
/// C passes any number of arguments behind `format`. Rust has no such functions, but on Linux (x86-64, aarch64) integers
/// and pointers arrive in the same places as if they were declared, so as many as anybody uses are declared; those
/// that were not passed are whatever is there, and are not looked at.
///
/// # Safety
/// `format` asks for no more arguments than were passed, and for strings only where they are null or end in a zero byte.
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
    // SAFETY: `format` ends in a zero byte and asks for no more than was passed; nothing is written to memory of no bytes.
    let len = unsafe { libc::snprintf(std::ptr::null_mut(), 0, format.as_ptr(), a, b, c, d, e, f, g, h) };
    let mut message = vec![0u8; usize::try_from(len).unwrap_or(0) + 1];
    // SAFETY: the same arguments; the memory is as large as `snprintf` asked for.
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
            // The reference has it through an `int`.
            len.put(c_long::from(found as c_int));
        }
        (code, id)
    }

    fn ncdimrename(ncid, id: c_int, name: Str) {
        (nc_rename_dim(ncid, id, name), id)
    }
}
