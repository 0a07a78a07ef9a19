//! The programs, as a function that the installed program calls (`crates/capi/package/ferrocdf.c`).

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::panic::catch_unwind;

/// What Rust programs end with after a panic, whose message is printed by then.
const PANICKED: u8 = 101;

/// Runs the program that `argv[0]` names with the streams of this process, which should end then; gives its exit code.
///
/// # Safety
/// `argv` has `argc` pointers to texts that end in a zero byte, as those of `main` of a program in C; none is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrocdf_main(argc: c_int, argv: *const *const c_char) -> c_int {
    let argument = |at: usize| -> OsString {
        // SAFETY: the caller gives `argc` texts, and `at` is less.
        let text = unsafe { CStr::from_ptr(*argv.add(at)) };
        OsStr::from_bytes(text.to_bytes()).to_owned()
    };
    let args: Vec<OsString> = (0..usize::try_from(argc).unwrap_or(0)).map(argument).collect();
    let code = catch_unwind(|| ferrocdf_tools::program::run(args)).unwrap_or(PANICKED);
    // No Rust program ends here, which would do it. Who reads the output has closed it, if this fails.
    let _ = std::io::stdout().flush();
    code.into()
}
