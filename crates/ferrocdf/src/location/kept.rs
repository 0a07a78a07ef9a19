//! The folder in which pages of objects are kept from one process to the next: `FERROCDF_REMOTE_CACHE=FOLDER`, or `FOLDER:SIZE`.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{PageFolder, path_of};

const VARIABLE: &str = "FERROCDF_REMOTE_CACHE";

/// Bytes that the pages take at most, unless the user says otherwise.
const USUAL: u64 = 1 << 30;

/// Returns the folder; `None` if no pages are kept.
///
/// # Errors
/// `NC_EINVAL` for a size that is none; those of the system if the folder cannot be made.
pub(super) fn folder() -> Result<Option<Arc<PageFolder>>> {
    static FOLDER: OnceLock<Result<Option<Arc<PageFolder>>>> = OnceLock::new();
    let open = || {
        let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
            return Ok(None);
        };
        let (folder, limit) = parse(value.as_encoded_bytes())?;
        PageFolder::open(folder, limit)
            .map(|folder| Some(Arc::new(folder)))
            .map_err(|error| error.at(VARIABLE))
    };
    FOLDER.get_or_init(open).clone()
}

/// Takes a value apart: the folder, and the bytes that its pages may take.
fn parse(value: &[u8]) -> Result<(&Path, u64)> {
    let Some(at) = value.iter().rposition(|&byte| byte == b':') else { return Ok((path_of(value)?, USUAL)) };
    let size = String::from_utf8_lossy(&value[at + 1..]);
    let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match size[digits.len()..].to_ascii_uppercase().trim_end_matches('B').trim_end_matches('I') {
        "" => Some(1),
        "K" => Some(1 << 10),
        "M" => Some(1 << 20),
        "G" => Some(1 << 30),
        "T" => Some(1 << 40),
        _ => None,
    };
    let bytes = unit.zip(digits.parse::<u64>().ok()).and_then(|(unit, number)| number.checked_mul(unit));
    let wrong = || {
        let what = format!("{VARIABLE}: {size:?} behind the last colon is not a size, such as 500M or 2G");
        Error::new(Code::EINVAL, what)
    };
    Ok((path_of(&value[..at])?, bytes.ok_or_else(wrong)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_a_folder_and_perhaps_a_size() {
        for (value, folder, bytes) in [
            ("/c", "/c", USUAL),
            ("/c:500M", "/c", 500 << 20),
            ("/a:b:2GiB", "/a:b", 2 << 30),
            ("c:7kb", "c", 7 << 10),
            ("c:8", "c", 8),
        ] {
            assert_eq!(parse(value.as_bytes()).unwrap(), (Path::new(folder), bytes), "{value}");
        }
        for value in ["/c:", "/c:x", "/c:1X", "/c:-1", "/c:99999999999T", "/a:/b"] {
            let error = parse(value.as_bytes()).unwrap_err();
            assert!(error.code == Code::EINVAL && error.what.contains(VARIABLE), "{value}: {error}");
        }
    }
}
