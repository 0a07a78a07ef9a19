//! Stores of named objects: a directory, memory, a zip file, and in another crate buckets.
//!
//! A key is a path of names, `a/b/c`. An object is read by ranges and written whole. A missing object is a value, `None`, not an
//! error: readers of sparse arrays request many chunks that were never written. The decision that shaped the trait: no method
//! asks only for a size or for existence, since each costs a round trip to a remote store; the size comes with the bytes.

mod blob;
mod directory;
mod draft;
mod file_draft;
mod memory;
mod nameless;
mod steps;
mod zip;
mod zip_draft;
mod zip_pending;
mod zip_write;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::Bound;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use crate::{Blob, Buffer, Cost};

pub use blob::ObjectBlob;
pub use directory::DirectoryStore;
pub use draft::ObjectDraft;
pub use file_draft::FileDraft;
pub use memory::MemoryStore;
pub use nameless::folder_of;
pub use zip::{ZIP_SIGNATURES, ZipStore};
pub use zip_draft::ZipDraft;

/// Named objects that any number of threads may read and write at once.
pub trait Store: Debug + Send + Sync {
    /// Reads a range of an object; `None` if the object does not exist.
    ///
    /// # Errors
    /// `NC_EINVAL` for a name that is no key, and those of the store: a refusal is an error and never `None`.
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>>;

    /// Reads a range as [`get`](Store::get) does; the bytes are in a buffer that the caller uses for many requests. Stores that copy
    /// bytes themselves can spare memory that is touched for the first time.
    fn get_buffered<'b>(
        &self,
        key: &str,
        range: ByteRange,
        buffer: &'b mut Buffer,
    ) -> Result<Option<(Filled, &'b [u8])>> {
        Ok(self.get(key, range)?.map(|found| {
            let (filled, bytes) = found.into_parts();
            (filled, buffer.replace(bytes))
        }))
    }

    /// Reads several ranges, in as few rounds as the store can. The answers are in the order of the requests; a failed request
    /// does not affect the others.
    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        requests.iter().map(|&(key, range)| self.get(key, range)).collect()
    }

    /// Reads several ranges as [`get_many`](Store::get_many) does, into memory of the caller. The memory of a failed request has
    /// unspecified bytes. Stores that receive bytes in pieces can spare a copy and memory that is touched for the first time.
    fn get_many_into(&self, requests: &mut [GetInto<'_>]) -> Vec<Result<Option<Filled>>> {
        let ranges: Vec<_> = requests.iter().map(|request| (request.key, request.range())).collect();
        let answers = self.get_many(&ranges);
        let filled = answers
            .into_iter()
            .zip(requests)
            .map(|(answer, request)| answer.map(|found| found.map(|found| found.copy_to(request.into))));
        filled.collect()
    }

    /// Makes `bytes` the content of an object. Readers see the old content or the new one, never a mixture.
    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version>;

    /// Puts several objects, each as [`put`](Store::put) does, in as few rounds as the store can. The answers are in the order of the
    /// objects; a failed put does not affect the others.
    fn put_many(&self, objects: &[(&str, &[u8])]) -> Vec<Result<Version>> {
        objects.iter().map(|&(key, bytes)| self.put(key, bytes)).collect()
    }

    /// Puts as [`put`](Store::put) does if the object is in the expected state, which no other conditional put can change in
    /// between; `None`, and nothing is done, if it is not.
    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>>;

    /// Puts several objects, each as [`put_if`](Store::put_if) does, in as few rounds as the store can. The answers are in the order of
    /// the objects; a failed put does not affect the others.
    fn put_many_if(&self, objects: &[(&str, &[u8], Expected<'_>)]) -> Vec<Result<Option<Version>>> {
        objects.iter().map(|&(key, bytes, expected)| self.put_if(key, bytes, expected)).collect()
    }

    /// Makes the bytes of a blob the content of an object, as [`put`](Store::put) does. Stores that take an object in parts have only
    /// some of them in memory at once.
    ///
    /// # Errors
    /// Those of the blob and of the store. An object that was there stays as it was.
    fn put_blob(&self, key: &str, blob: &dyn Blob) -> Result<Version> {
        check_key(key)?;
        let size = blob.size()?.saturate();
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| {
            Error::new(Code::ENOMEM, format!("{}/{key}: no memory for its {size} bytes", self.name()))
        })?;
        bytes.resize(size, 0);
        blob.read_exact_at(0, &mut bytes)?;
        self.put(key, &bytes)
    }

    /// Removes an object; it need not exist.
    fn delete(&self, key: &str) -> Result<()>;

    /// Makes what was put visible to others, for stores that gather objects; nothing to do for all others.
    ///
    /// # Errors
    /// Those of the store. What was committed before stays as it was, and what was put since is not lost: the next commit tries again.
    fn commit(&self) -> Result<()> {
        Ok(())
    }

    /// Waits until the disk has what was committed, for stores that can do that.
    ///
    /// # Errors
    /// Those of the system.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    /// Lists the objects and folders directly in a folder; `""` is the outermost one. A folder without anything in it has an
    /// empty listing.
    fn list(&self, folder: &str) -> Result<Listing>;

    /// Lists several folders, each as [`list`](Store::list) does, in as few rounds as the store can. The answers are in the order of the
    /// folders; a failed request does not affect the others.
    fn list_many(&self, folders: &[&str]) -> Vec<Result<Listing>> {
        folders.iter().map(|folder| self.list(folder)).collect()
    }

    /// Returns what a request costs.
    fn cost(&self) -> Cost;

    /// Returns the name of the store for messages: its path or URL.
    fn name(&self) -> String;

    /// Returns the error of a caller that needs an object which does not exist: `NC_ENOOBJECT`.
    fn no_such_object(&self, key: &str) -> Error {
        Error::new(Code::ENOOBJECT, format!("{}/{key}: the object does not exist", self.name()))
    }
}

/// The range of an object that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// All bytes.
    All,
    /// `len` bytes from `start` on, or as many of them as the object has.
    Bounded {
        /// Position of the first byte.
        start: u64,
        /// Number of bytes.
        len: u64,
    },
    /// The last bytes, or all if the object has no more.
    Suffix(u64),
}

impl ByteRange {
    /// Returns the first position and the position behind the last one in an object of `total` bytes.
    pub fn within(self, total: u64) -> (u64, u64) {
        match self {
            ByteRange::All => (0, total),
            ByteRange::Bounded { start, len } => (start.min(total), start.saturating_add(len).min(total)),
            ByteRange::Suffix(len) => (total.saturating_sub(len), total),
        }
    }
}

/// The answer to a request for an object that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes of the range.
    pub bytes: Vec<u8>,
    /// Position of the first of them in the object.
    pub start: u64,
    /// Size of the whole object in bytes.
    pub total: u64,
    /// Version of the object that the bytes are of.
    pub version: Version,
}

impl Fetched {
    /// Checks that the answer has the whole requested range.
    ///
    /// # Errors
    /// `NC_ETRUNC` if bytes are missing: a connection that ended early looks like this.
    pub fn check(self, key: &str, range: ByteRange) -> Result<Fetched> {
        check_range(key, range, self.start, self.bytes.len() as u64, self.total).map(|()| self)
    }

    /// Returns the answer without the bytes, and the bytes.
    pub fn into_parts(self) -> (Filled, Vec<u8>) {
        let len = self.bytes.len() as u64;
        (Filled { len, start: self.start, total: self.total, version: self.version }, self.bytes)
    }

    /// Copies the bytes to the begin of `into`, as many as fit, and returns the answer without them.
    pub fn copy_to(self, into: &mut [u8]) -> Filled {
        let (filled, bytes) = self.into_parts();
        let fitting = bytes.len().min(into.len());
        into[..fitting].copy_from_slice(&bytes[..fitting]);
        filled
    }
}

/// A request for a range of an object, and the memory for its bytes.
#[derive(Debug)]
pub struct GetInto<'a> {
    /// Key of the object.
    pub key: &'a str,
    /// Position of the first byte.
    pub start: u64,
    /// Memory for the bytes; its length is that of the range.
    pub into: &'a mut [u8],
}

impl GetInto<'_> {
    /// Returns the range of the request.
    pub fn range(&self) -> ByteRange {
        ByteRange::Bounded { start: self.start, len: self.into.len() as u64 }
    }
}

/// The answer to a request for an object that exists, without the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filled {
    /// Number of bytes that arrived.
    pub len: u64,
    /// Position of the first of them in the object.
    pub start: u64,
    /// Size of the whole object in bytes.
    pub total: u64,
    /// Version of the object that the bytes are of.
    pub version: Version,
}

impl Filled {
    /// Checks that the answer has the whole requested range.
    ///
    /// # Errors
    /// `NC_ETRUNC` if bytes are missing: a connection that ended early looks like this.
    pub fn check(self, key: &str, range: ByteRange) -> Result<Filled> {
        check_range(key, range, self.start, self.len, self.total).map(|()| self)
    }
}

/// Checks that an answer of `len` bytes from `have` on has the whole requested range of an object of `total` bytes.
fn check_range(key: &str, range: ByteRange, have: u64, len: u64, total: u64) -> Result<()> {
    let (start, end) = range.within(total);
    if (have, len) == (start, end - start) {
        return Ok(());
    }
    let what = format!(
        "{key}: bytes {have} to {} of {total} arrived, bytes {start} to {end} were asked for",
        have.saturating_add(len)
    );
    Err(Error::new(Code::ETRUNC, what))
}

/// The opaque version of an object, equal only for equal content: the time and size of a file, or an ETag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Box<str>);

impl Version {
    /// Makes a version of the text that the store gives it.
    pub fn new(text: impl Into<Box<str>>) -> Version {
        Version(text.into())
    }

    /// Returns the text that the store gave.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for a strong entity tag (RFC 9110, 8.8.3) and for a number that the store counts up; false for a time, which two contents
    /// may share.
    pub fn is_strong(&self) -> bool {
        let is_number = !self.0.is_empty() && self.0.bytes().all(|byte| byte.is_ascii_digit());
        is_number || self.0.len() > 2 && self.0.starts_with('"') && self.0.ends_with('"')
    }
}

/// The state that an object must be in for a conditional put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected<'a> {
    /// It does not exist.
    Absent,
    /// It has this version.
    Version(&'a Version),
}

/// The contents of a folder, both in the order of their bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Names of objects.
    pub objects: Vec<String>,
    /// Names of folders.
    pub folders: Vec<String>,
}

/// Lists what is directly in a folder, from a map by the keys of all objects.
pub fn list_in<T>(objects: &BTreeMap<String, T>, folder: &str) -> Listing {
    list_from(folder, |from| objects.range::<str, _>((from, Bound::Unbounded)).next().map(|(key, _)| &**key))
}

/// Lists what is directly in a folder. `first` returns the first key within a bound. Each name takes one call, however many objects a folder
/// has.
fn list_from<'k>(folder: &str, first: impl Fn(Bound<&str>) -> Option<&'k str>) -> Listing {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut listing = Listing::default();
    let mut from = Bound::Included(prefix.clone());
    while let Some(key) = first(from.as_ref().map(|from| &**from))
        && let Some(rest) = key.strip_prefix(&prefix)
    {
        from = match rest.split_once('/') {
            None => {
                listing.objects.push(rest.to_string());
                Bound::Excluded(key.to_string())
            }
            Some((name, _)) => {
                listing.folders.push(name.to_string());
                // The first text behind all that begin with the name and a slash.
                Bound::Included(format!("{prefix}{name}{}", char::from(b'/' + 1)))
            }
        };
    }
    // Keys are ordered by their bytes, in which `-` comes before the slash behind a folder.
    listing.folders.sort();
    listing
}

/// Checks that a name is a key: names between single slashes, none of them `.` or `..`, without a zero byte.
///
/// # Errors
/// `NC_EINVAL`.
pub fn check_key(key: &str) -> Result<()> {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('\0');
    match key.split('/').all(is_name) {
        true => Ok(()),
        false => Err(Error::new(Code::EINVAL, format!("{key:?} is not the key of an object"))),
    }
}

/// Checks the name of a folder as [`check_key`] does; `""` is the outermost folder.
///
/// # Errors
/// `NC_EINVAL`.
pub fn check_folder(folder: &str) -> Result<()> {
    if folder.is_empty() { Ok(()) } else { check_key(folder) }
}
