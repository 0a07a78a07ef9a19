//! Opening what a tool reads.

use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ferrocdf::{Code, Error, File, Location, OpenOptions, Result};

use crate::progress::RemoteProgress;

/// The most bytes that may be missing at the end of a file; they read as zeros, as the reference reads any number.
pub const ALLOWED_MISSING: u64 = 1 << 20;

/// A file open for reading.
pub struct Input {
    pub file: File,
    /// How many bytes are missing at its end.
    pub missing: u64,
}

impl Input {
    /// Opens a dataset, whose attributes are shown or copied if `all_attributes`; `in_memory` reads a file whole first.
    pub fn open(path: &Path, in_memory: bool, all_attributes: bool) -> Result<Input> {
        Input::open_with(path, in_memory, &OpenOptions::default().all_attributes(all_attributes))
    }

    /// [`Input::open`] with options; bytes may be missing as for any tool.
    pub fn open_with(path: &Path, in_memory: bool, options: &OpenOptions) -> Result<Input> {
        let options = options.clone().allow_missing(ALLOWED_MISSING);
        let location = location(path)?;
        let _shown = RemoteProgress::of(&location, "reading");
        let whole = match &location {
            Location::Path(path) if in_memory => Some(path),
            _ => None,
        };
        let file = match whole {
            None => File::open_location(&location, &options)?,
            Some(path) => from_bytes(path, read(path)?, &options)?,
        };
        let missing = file.missing_bytes()?;
        let Some(path) = whole.filter(|_| (1..=ALLOWED_MISSING).contains(&missing)) else {
            return Ok(Input { file, missing });
        };
        let mut bytes = read(path)?;
        bytes.resize(bytes.len() + missing as usize, 0);
        Ok(Input { file: from_bytes(path, bytes, &options)?, missing })
    }

    /// Says that bytes are missing and read as zeros, where they do. `consequence` says what becomes of them.
    pub fn warn_of_missing(&self, program: &str, path: &Path, consequence: &str, errors: &mut dyn Write) {
        let missing = self.missing;
        if (1..=ALLOWED_MISSING).contains(&missing) {
            let what = format!("the file is cut off: its last {missing} bytes are missing and {consequence}");
            // There is nowhere to tell that this failed.
            let _ = writeln!(errors, "{program}: warning: {}: {what}", path.display());
        }
    }
}

/// Whether two names are of the same file, through whatever links. The reference compares names only and would empty its
/// own input.
pub fn is_same(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => a == b || is_same_object(a, b),
    }
}

/// True if two URLs name the same object, or the same folder of a store.
fn is_same_object(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| match location(path).ok()?.resolved().ok()?.into_owned() {
        Location::Object { store, key } => Some((store.name(), key.trim_end_matches('/').to_string())),
        _ => None,
    };
    place(a).is_some_and(|place_of_a| place(b) == Some(place_of_a))
}

/// What a user means by an argument. A URL that there is a file of is the path of that file.
pub fn location(path: &Path) -> Result<Location> {
    match Location::parse(path.as_os_str().as_bytes())? {
        Location::Url(_) if path.exists() => Ok(Location::Path(path.to_path_buf())),
        found => Ok(found),
    }
}

/// The path of a file that a `file:` URL names; all else as it is.
pub fn local(path: PathBuf) -> PathBuf {
    // Opening says why a URL is refused.
    location(&path).and_then(Location::into_path).unwrap_or(path)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory => Error::new(Code::ENOTNC, "it is a folder").at(path.display()),
        _ => Error::system(&error, path.display()),
    })
}

fn from_bytes(path: &Path, bytes: Vec<u8>, options: &OpenOptions) -> Result<File> {
    File::from_bytes_with(bytes, &options.clone().beside(Location::Path(path.to_path_buf())))
        .map_err(|error| error.at(path.display()))
}
