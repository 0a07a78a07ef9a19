//! Requests that operating systems answer in different ways: one file per concern.
//!
//! Each file has a part for the systems that know the request, and one for the others. The latter does nothing where only speed
//! or disk space is lost, and answers [`Unsupported`](std::io::ErrorKind::Unsupported) or `None` where the caller needs another way.

pub(crate) mod access;
pub(crate) mod beneath;
mod exchange;
pub(crate) mod identity;
pub(crate) mod locks;
pub(crate) mod nameless;
mod paths;
pub(crate) mod positional;
pub(crate) mod prealloc;
pub(crate) mod sync;

pub use access::copy_access;
pub use exchange::exchange;
pub use paths::path_of;
