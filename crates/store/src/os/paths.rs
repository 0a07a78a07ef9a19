//! Paths that come as bytes, as in URLs and in the environment.

use std::path::Path;

use ferrocdf_bytes::Result;

/// Returns the path of these bytes.
///
/// # Errors
/// None: paths are bytes.
#[cfg(unix)]
pub fn path_of(bytes: &[u8]) -> Result<&Path> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// Returns the path of these bytes.
///
/// # Errors
/// `NC_EINVAL` for bytes that are not UTF-8: the system's paths are text.
#[cfg(not(unix))]
pub fn path_of(bytes: &[u8]) -> Result<&Path> {
    use ferrocdf_bytes::{Code, Error};
    let wrong = |_| Error::new(Code::EINVAL, format!("the path {bytes:?} is not UTF-8"));
    std::str::from_utf8(bytes).map(Path::new).map_err(wrong)
}
