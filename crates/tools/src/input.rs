//! Files that are read whole before they are looked at (`nccopy -r`, `ncdump -Xm`).

use std::io::ErrorKind;
use std::path::Path;

use ferrocdf::{Code, Error, File, Result};

/// Reads a file into memory and opens it there.
pub fn open_in_memory(path: &Path) -> Result<File> {
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory => Error::new(Code::ENOTNC, "it is a folder").at(path.display()),
        _ => Error::system(&error, path.display()),
    })?;
    File::from_bytes(bytes).map_err(|error| error.at(path.display()))
}
