//! Errors in the words of the tools: each place named once.

use std::path::Path;

use ferrocdf::Error;

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

/// An error as the reference's tools print theirs.
pub fn at_location(error: &Error) -> String {
    format!("{}\nLocation: {}", error.code.text(), once(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrocdf::Code;

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
    }
}
