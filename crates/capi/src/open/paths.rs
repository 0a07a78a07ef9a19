//! Paths and URLs from C callers.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ferrocdf::{Code, Location, Result};

use crate::abi::answer::fail;
use crate::abi::forks;
use crate::abi::pointers::Str;

/// Parses the location of a caller: leading blanks are ignored, and a `file:` URL gives its path.
pub(crate) fn location(path: Str) -> Result<Location> {
    let location = Location::parse(path.bytes()?.trim_ascii_start())?;
    if path_of(&location).is_some_and(|path| path.as_os_str().is_empty()) {
        return fail(Code::EDAPURL, "the path is empty");
    }
    // Another thread may fork while this one opens the location.
    forks::make_safe();
    Ok(location)
}

/// Returns the path of a local file; `None` for other locations.
pub(crate) fn path_of(location: &Location) -> Option<&Path> {
    match location {
        Location::Path(path) => Some(path),
        _ => None,
    }
}

/// Returns the path or URL of a location, as `nc_inq_path` returns it.
pub(crate) fn text_of(location: &Location) -> Vec<u8> {
    match location {
        Location::Url(url) => url.to_string().into_bytes(),
        other => path_of(other).map_or(Vec::new(), |path| path.as_os_str().as_bytes().to_vec()),
    }
}

/// Converts bytes to a path.
pub(crate) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
