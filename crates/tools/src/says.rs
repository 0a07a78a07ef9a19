//! Errors in the words of the tools: each place named once.

use std::path::Path;

use ferrocdf::{Code, Error};

/// Where and why, without the places that a layer below named again.
pub fn once(error: &Error) -> String {
    let mut places: Vec<&str> = vec![];
    for place in error.what.split(": ") {
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.join(": ")
}

/// The same for a message that names the file itself. Empty if there is nothing else to say.
pub fn without_path(error: &Error, path: &Path) -> String {
    let (text, path) = (once(error), path.display().to_string());
    match text.strip_prefix(&path) {
        Some("") => String::new(),
        Some(rest) => rest.strip_prefix(": ").unwrap_or(&text).to_string(),
        None => text,
    }
}

/// Codes whose texts say nothing to people that an explanation does not say better.
const VAGUE: [Code; 4] = [Code::EINVAL, Code::EHDFERR, Code::EUNLIMIT, Code::EUNLIMPOS];

/// An error as the commands of `ferrocdf` print theirs: where and why, and the text of the code if that may be the only reason.
pub fn sentence(error: &Error) -> String {
    let text = once(error);
    match text.is_empty() {
        true => error.code.text(),
        false if VAGUE.contains(&error.code) => text,
        false => format!("{text} ({})", error.code.text()),
    }
}

/// An error as the reference's tools print theirs.
pub fn at_location(error: &Error) -> String {
    format!("{}\nLocation: {}", error.code.text(), once(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(what: &str) -> Error {
        Error::new(Code::EINVAL, what)
    }

    #[test]
    fn places_are_named_once() {
        assert_eq!(once(&error("a.nc: /v: a.nc: 3 bytes")), "a.nc: /v: 3 bytes");
        assert_eq!(without_path(&error("a.nc: a.nc: 3 bytes"), Path::new("a.nc")), "3 bytes");
        assert_eq!(without_path(&error("a.nc: a.nc"), Path::new("a.nc")), "");
        assert_eq!(without_path(&error("a.nc2: header"), Path::new("a.nc")), "a.nc2: header");
        assert_eq!(at_location(&error("")), "NetCDF: Invalid argument\nLocation: ");
        assert_eq!(sentence(&error("a.nc: /v: a.nc: 3 bytes")), "a.nc: /v: 3 bytes");
        assert_eq!(sentence(&error("")), "NetCDF: Invalid argument");
        assert_eq!(sentence(&Error::new(Code::ENOTVAR, "v")), "v (NetCDF: Variable not found)");
    }
}
