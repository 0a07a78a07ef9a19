//! Opening what a tool reads.

use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ferrocdf::store::resolve_links;
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

/// How the output of a tool touches its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// The output takes the place of the input, or of a folder that it is in.
    Overwrites,
    /// The output is in the folder that the input is.
    Within,
}

/// # Errors
/// `NC_EINVAL` for an output that is one of the inputs, or in the folder of one.
pub fn check_output(inputs: &[PathBuf], output: &Path) -> Result<()> {
    match inputs.iter().find(|input| overlap(input, output).is_some()) {
        None => Ok(()),
        Some(input) => {
            let what = format!("the output would overwrite {}", input.display());
            Err(Error::new(Code::EINVAL, what).at(output.display()))
        }
    }
}

/// Returns how an output touches an input, through whatever links and URLs; `None` if it does not. The reference compares names only and
/// would empty its own input.
pub fn overlap(input: &Path, output: &Path) -> Option<Overlap> {
    let (from, to) = (place(input)?, place(output)?);
    let is_same_file = || match (std::fs::metadata(&from.path), std::fs::metadata(&to.path)) {
        (Ok(from), Ok(to)) => (from.dev(), from.ino()) == (to.dev(), to.ino()),
        _ => false,
    };
    let is_local_file = || from.store.is_none() && from.path.is_file();
    match from.store == to.store {
        true if from.path.starts_with(&to.path) => Some(Overlap::Overwrites),
        // Nothing can be within a file, as the system says when it is tried.
        true if to.path.starts_with(&from.path) && !is_local_file() => Some(Overlap::Within),
        true if from.store.is_none() && is_same_file() => Some(Overlap::Overwrites),
        _ => None,
    }
}

/// Where a dataset is, so that two places can be compared.
struct Place {
    /// The store that it is an object of, or below a key of; `None` for the file system.
    store: Option<String>,
    /// The key, or the path without symbolic links.
    path: PathBuf,
}

fn place(path: &Path) -> Option<Place> {
    match location(path).ok()?.resolved().ok()?.into_owned() {
        Location::Path(path) => Some(Place { store: None, path: without_links(&path) }),
        Location::Object { store, key } => Some(Place { store: Some(store.name()), path: key.into() }),
        _ => None,
    }
}

/// Returns a path without symbolic links, of which the last names need not exist.
fn without_links(path: &Path) -> PathBuf {
    let path = resolve_links(path).unwrap_or_else(|| path.to_path_buf());
    let absolute = std::path::absolute(&path).unwrap_or(path);
    let known = absolute.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)));
    match known.map(|(known, real)| (absolute.strip_prefix(known), real)) {
        Some((Ok(rest), real)) if rest.as_os_str().is_empty() => real,
        Some((Ok(rest), real)) => real.join(rest),
        _ => absolute,
    }
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
        _ => Error::system(error, path.display()),
    })
}

fn from_bytes(path: &Path, bytes: Vec<u8>, options: &OpenOptions) -> Result<File> {
    File::from_bytes_with(bytes, &options.clone().beside(Location::Path(path.to_path_buf())))
        .map_err(|error| error.at(path.display()))
}
