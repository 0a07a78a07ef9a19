//! The error every layer answers with.
//!
//! `code` is the contract with C (the number netCDF callers compare with), `kind` is what Rust programs decide by, and `what` is for
//! people: where, what, why. One error type serves all crates, so that a message made at the bottom reaches the user unshortened.

mod code;
mod kind;

pub use code::{Code, errno};
pub use kind::ErrorKind;

use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The result of every fallible operation in ferrocdf.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: a netCDF error code and a sentence that says where and why. It has the size of a pointer, so results are
/// returned in registers.
#[derive(Clone)]
pub struct Error(Box<Details>);

/// The content of an [`Error`].
#[derive(Clone)]
pub struct Details {
    /// The number C callers see.
    pub code: Code,
    /// Path inside the dataset, structure, field, byte offset, reason; outermost context first.
    pub what: Box<str>,
    /// Kind of the error where it is another one than that of the code.
    kind: Option<ErrorKind>,
    /// Bytes of `what` that are a path inside the dataset.
    path: Option<Range<usize>>,
    source: Option<Arc<io::Error>>,
}

impl Deref for Error {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl Error {
    /// Makes an error with its explanation.
    #[cold]
    pub fn new(code: Code, what: impl Into<String>) -> Self {
        Error(Box::new(Details {
            code,
            what: what.into().into_boxed_str(),
            kind: None,
            path: None,
            source: None,
        }))
    }

    /// Makes an error of a change that was not stored because another writer had changed the same object. Its code is `ESTALE`, which
    /// network file systems also return for files of theirs.
    #[cold]
    pub fn conflict(what: impl Into<String>) -> Self {
        Error::new(errno::STALE, what).with_kind(ErrorKind::Conflict)
    }

    /// Makes an error of the operating system; keeps `errno` as the code, as netCDF does.
    #[cold]
    pub fn system(error: io::Error, what: impl fmt::Display) -> Self {
        let code = errno::code(&error).unwrap_or(Code::EIO);
        let mut made = Error::new(code, what.to_string());
        made.0.source = Some(Arc::new(error));
        made
    }

    /// Returns the kind of the error, which programs decide by.
    pub fn kind(&self) -> ErrorKind {
        self.kind.unwrap_or_else(|| self.code.kind())
    }

    /// Returns the path inside the dataset of the group or variable that the error is about, such as `/model/wind`, where it is known.
    pub fn path(&self) -> Option<&str> {
        self.what.get(self.path.clone()?)
    }

    /// Puts the place of the error before its text.
    #[must_use]
    #[cold]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        let mut what = place.to_string();
        if !self.what.is_empty() {
            what.push_str(": ");
            let moved = |at: usize| at + what.len();
            self.0.path = self.0.path.map(|path| moved(path.start)..moved(path.end));
            what.push_str(&self.what);
        }
        self.0.what = what.into_boxed_str();
        self
    }

    /// Puts the path of a group or variable before its text. [`Error::path`] returns the innermost path.
    #[must_use]
    #[cold]
    pub fn at_path(self, path: impl fmt::Display) -> Self {
        let path = path.to_string();
        let mut error = self.at(&path);
        error.0.path.get_or_insert(0..path.len());
        error
    }

    /// Replaces the code that C callers see; the kind stays.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        let kind = self.kind();
        self.0.code = code;
        self.with_kind(kind)
    }

    /// Replaces the kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = (kind != self.code.kind()).then_some(kind);
        self
    }

    /// Replaces the text, and removes the path.
    #[must_use]
    pub fn with_words(mut self, what: impl Into<String>) -> Self {
        self.0.what = what.into().into_boxed_str();
        self.0.path = None;
        self
    }

    /// True if the operating system or a server refused a request, so that the same call may succeed later.
    pub fn is_of_system(&self) -> bool {
        // Requests to a file whose name another file has taken never succeed again.
        let of_servers = [Code::EACCESS, Code::EAUTH];
        let is_refused = self.code.0 > 0
            || of_servers.contains(&self.code)
            || matches!(self.kind(), ErrorKind::Io | ErrorKind::Network);
        self.code != errno::STALE && is_refused
    }

    /// True if the bytes of the source could not be read: the system or a server refused, or the file or object was replaced or removed
    /// since it was opened. The content of the bytes is not the cause.
    pub fn is_of_source(&self) -> bool {
        self.code.0 > 0 || self.code == Code::ENOOBJECT || self.is_of_system()
    }
}

/// Errors are equal if they have the same code, kind and text.
impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        (self.code, self.kind(), &self.what) == (other.code, other.kind(), &other.what)
    }
}

impl Eq for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.what.is_empty() {
            return f.write_str(&self.code.text());
        }
        write!(f, "{} ({})", self.what, self.code.text())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.code, self.what)
    }
}

/// The source is the error of the system, where there is one.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| &**error as _)
    }
}

/// Adds the place to an error on its way up.
pub trait Context<T> {
    /// Puts `place` before the text of the error, if there is one.
    fn at<D: fmt::Display>(self, place: impl FnOnce() -> D) -> Result<T>;

    /// Puts the path of a group or variable before the text of the error, if there is one.
    fn at_path<D: fmt::Display>(self, path: impl FnOnce() -> D) -> Result<T>;
}

impl<T> Context<T> for Result<T> {
    fn at<D: fmt::Display>(self, place: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.at(place()))
    }

    fn at_path<D: fmt::Display>(self, path: impl FnOnce() -> D) -> Result<T> {
        self.map_err(|error| error.at_path(path()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_goes_in_front() {
        let error = Error::new(Code::ENOTNC, "magic number at byte 0").at("a.nc");
        assert_eq!(error.to_string(), "a.nc: magic number at byte 0 (NetCDF: Unknown file format)");
    }

    #[test]
    fn path_is_the_innermost_one_and_moves_with_its_text() {
        let error = Error::new(Code::EHDFERR, "chunk (3, 0)").at_path("/north/energy");
        assert_eq!(error.path(), Some("/north/energy"));
        let error = error.at_path("/north").at("a.nc");
        assert_eq!(
            (&*error.what, error.path()),
            ("a.nc: /north: /north/energy: chunk (3, 0)", Some("/north/energy"))
        );
        assert_eq!(Error::new(Code::EHDFERR, "").at_path("/v").path(), Some("/v"));
        assert_eq!(error.with_words("it failed").path(), None);
    }

    #[test]
    fn kind_stays_when_the_code_is_replaced() {
        let error = Error::new(Code::EIO, "refused").with_code(Code::EATTMETA);
        assert_eq!((error.code, error.kind()), (Code::EATTMETA, ErrorKind::Io));
        assert!(error.is_of_system());
        assert_eq!(Error::conflict("changed").kind(), ErrorKind::Conflict);
        assert_eq!(Error::new(errno::STALE, "replaced").kind(), ErrorKind::Io);
    }

    #[test]
    fn source_is_the_error_of_the_system() {
        let error = Error::system(io::Error::from_raw_os_error(errno::NOENT.0), "a.nc").at("open");
        assert_eq!((error.code, error.kind()), (errno::NOENT, ErrorKind::NotFound));
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::NotFound));
        assert!(std::error::Error::source(&Error::new(Code::EIO, "")).is_none());
    }
}
