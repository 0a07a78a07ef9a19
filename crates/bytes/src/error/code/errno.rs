//! Errors of the operating system as codes.
//!
//! The only place that knows their numbers, which differ between systems. Systems without `errno` (Windows numbers its errors in
//! another way) get the numbers of Linux, so that a code means the same to all callers there.

use std::io;

use super::Code;

macro_rules! errnos {
    ($($name:ident = $c:ident, $number:literal, $kind:ident, $text:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($c), "`: ", $text)]
            #[cfg(unix)]
            pub const $name: Code = Code(libc::$c);
            #[doc = concat!("`", stringify!($c), "`: ", $text)]
            #[cfg(not(unix))]
            pub const $name: Code = Code($number);
        )*

        /// Kind and text of each code, in the words of Linux.
        #[cfg(any(test, not(unix)))]
        const KNOWN: &[(Code, io::ErrorKind, &str)] = &[$(($name, io::ErrorKind::$kind, $text)),*];
    };
}

errnos! {
    NOENT = ENOENT, 2, NotFound, "No such file or directory";
    IO = EIO, 5, Other, "Input/output error";
    AGAIN = EAGAIN, 11, WouldBlock, "Resource temporarily unavailable";
    ACCES = EACCES, 13, PermissionDenied, "Permission denied";
    EXIST = EEXIST, 17, AlreadyExists, "File exists";
    NOTDIR = ENOTDIR, 20, NotADirectory, "Not a directory";
    ISDIR = EISDIR, 21, IsADirectory, "Is a directory";
    NOSPC = ENOSPC, 28, StorageFull, "No space left on device";
    MLINK = EMLINK, 31, TooManyLinks, "Too many links";
    NOTEMPTY = ENOTEMPTY, 39, DirectoryNotEmpty, "Directory not empty";
    CONNREFUSED = ECONNREFUSED, 111, ConnectionRefused, "Connection refused";
    STALE = ESTALE, 116, StaleNetworkFileHandle, "Stale file handle";
    DQUOT = EDQUOT, 122, QuotaExceeded, "Disk quota exceeded";
}

/// Returns the code of an error of the system; `None` if the error has no number.
#[cfg(unix)]
pub(crate) fn code(error: &io::Error) -> Option<Code> {
    error.raw_os_error().map(Code)
}

/// Returns the code of an error of the system, by its kind; `None` for kinds without a code.
#[cfg(not(unix))]
pub(crate) fn code(error: &io::Error) -> Option<Code> {
    KNOWN.iter().find(|(_, kind, _)| *kind == error.kind()).map(|(code, ..)| *code)
}

/// Returns the kind of the errors of the system with a code.
#[cfg(unix)]
pub(crate) fn kind(code: Code) -> io::ErrorKind {
    io::Error::from_raw_os_error(code.0).kind()
}

/// Returns the kind of the errors of the system with a code.
#[cfg(not(unix))]
pub(crate) fn kind(code: Code) -> io::ErrorKind {
    KNOWN.iter().find(|(known, ..)| *known == code).map_or(io::ErrorKind::Other, |(_, kind, _)| *kind)
}

/// Returns the words of the system for a code, without the number that `std` appends.
#[cfg(unix)]
pub(crate) fn text(code: Code) -> String {
    let full = io::Error::from_raw_os_error(code.0).to_string();
    match full.rfind(" (os error") {
        Some(end) => full[..end].to_string(),
        None => full,
    }
}

/// Returns the words for a code.
#[cfg(not(unix))]
pub(crate) fn text(code: Code) -> String {
    let known = KNOWN.iter().find(|(known, ..)| *known == code);
    known.map_or_else(|| format!("Unknown error {}", code.0), |(.., text)| (*text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn kinds_and_texts_are_those_of_the_system() {
        for &(code, known, words) in KNOWN {
            assert_eq!(text(code), words);
            // The standard library has no name for the kind of `EIO`.
            assert!(kind(code) == known || code == IO, "{code:?}");
        }
    }

    #[test]
    fn errors_of_the_system_have_their_codes() {
        let missing = std::fs::metadata("no/such/file").unwrap_err();
        assert_eq!(code(&missing), Some(NOENT));
        assert_eq!(code(&io::ErrorKind::UnexpectedEof.into()), None);
    }
}
