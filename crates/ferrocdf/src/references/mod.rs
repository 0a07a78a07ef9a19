//! References: the chunks of a dataset named by URL, offset and length, as the objects of a Zarr store of version 2.
//!
//! Source: "References specification" of kerchunk, versions 0 and 1. The decision that shaped it: metadata, and data that no range of a file
//! can stand for, is written by the Zarr writer to a store in memory, whose objects become inline references. Only encoded chunks that
//! the codecs of Zarr decode as they are become references to bytes of the file. Reading goes through a store of references (`store.rs`).

mod concat;
mod json;
mod make;
mod merge;
mod parquet;
mod plan;
mod records;
mod requests;
mod store;
mod targets;
mod template;
mod write_tables;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Store, check_key};

use crate::File;
use crate::location::Location;
use targets::Base;

use make::check_urls;
pub use make::{MadeReferences, ReferenceOptions};
pub(crate) use store::{open, open_tables, recognises};

/// Keys of a Zarr store, each with bytes or with the place where its bytes are.
///
/// ```
/// use ferrocdf::references::{ReferenceOptions, References};
/// use ferrocdf::{File, Location};
///
/// # fn main() -> ferrocdf::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("tides.nc");
/// # let file = ferrocdf::create(&path)?;
/// # file.add_dimension("time", 500)?;
/// # file.add_variable::<f32>("level", &["time"])?.put_values(&[1.5f32; 500], ..)?;
/// # file.close()?;
/// let made = References::of(&Location::Path(path), &ReferenceOptions::default())?;
/// assert!(made.skipped.is_empty());
/// let json = folder.path().join("tides.json");
/// # let _ = std::fs::write(&json, made.references.to_json());
/// assert_eq!(File::open(&json)?.variable("level")?.get_values::<f32, _>(..)?, [1.5; 500]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct References {
    entries: BTreeMap<String, Reference>,
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reference {
    /// The bytes themselves.
    Inline(Box<[u8]>),
    /// All bytes of a file or an object.
    Whole {
        /// URL or path.
        url: Arc<str>,
    },
    /// A range of a file or an object.
    Range {
        /// URL or path.
        url: Arc<str>,
        /// Position of the first byte.
        start: u64,
        /// Number of bytes.
        len: u64,
    },
}

impl Reference {
    /// Returns the URL or path of the target; `None` for bytes that are inline.
    pub fn url(&self) -> Option<&Arc<str>> {
        match self {
            Reference::Inline(_) => None,
            Reference::Whole { url } | Reference::Range { url, .. } => Some(url),
        }
    }
}

impl References {
    /// Reads the references at a location: JSON of version 0 or 1.
    ///
    /// # Errors
    /// `NC_ENOTNC` for what is no such text, with the place or the key in it; those of the location.
    pub fn read(location: &Location) -> Result<References> {
        let location = &*location.resolved()?;
        let read = location.blob(false).and_then(|blob| store::read(&*blob));
        read.map_err(|error| error.at(location.name().display()))
    }

    /// Opens the dataset that the references make. Relative paths in them begin at `base`, a folder of the system or of a store. References
    /// with a base in a store name no files of this machine; all others name those that have an absolute path or a `file:` URL.
    ///
    /// A target is opened when its bytes are asked for. It is an error then if its path is relative and there is no base.
    ///
    /// # Errors
    /// `NC_ENOTNC` for keys that make no Zarr store; those of opening a Zarr store, and those of a base that is a malformed URL.
    pub fn open(self, base: Option<&Location>) -> Result<File> {
        let name = base.map_or_else(|| "references".into(), Location::name);
        let base = base.map_or(Ok(Base::Memory { has_files: true }), Base::folder)?;
        let opened = store::open_with(self, base, name.display().to_string());
        let (driver, model) = opened.map_err(|error| error.at(name.display()))?;
        Ok(File::of_driver(&name, driver, model))
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Reference> {
        self.entries.get(key)
    }

    /// Iterates over keys and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Reference)> {
        self.entries.iter().map(|(key, reference)| (&**key, reference))
    }

    /// Iterates over the keys that begin with a text, and their values.
    fn iter_from(&self, prefix: String) -> impl Iterator<Item = (&str, &Reference)> {
        let behind = self.entries.range::<str, _>((Bound::Included(&*prefix), Bound::Unbounded));
        behind
            .map(|(key, reference)| (&**key, reference))
            .take_while(move |(key, _)| key.starts_with(&prefix))
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// `NC_EINVAL` for a name that is no key of an object, and for a range that ends behind byte 2^64.
    pub fn insert(&mut self, key: String, reference: Reference) -> Result<()> {
        check_key(&key)?;
        if let Reference::Range { start, len, .. } = reference {
            checked_end(start, len).map_err(|error| error.at(&key))?;
        }
        self.entries.insert(key, reference);
        Ok(())
    }
}

/// Checks that a range ends before byte 2^64.
fn checked_end(start: u64, len: u64) -> Result<u64> {
    let what = || format!("{len} bytes at byte {start} end behind byte 2^64");
    start.checked_add(len).ok_or_else(|| Error::new(Code::EINVAL, what()))
}

/// Returns the error of a range that reaches past the end of its file or object.
fn past_end(start: u64, len: u64) -> Error {
    Error::new(Code::ETRUNC, format!("{len} bytes at byte {start} reach past the end of the file"))
}

/// Adds all objects of a store, from a folder on, as inline references.
fn insert_objects(references: &mut References, store: &dyn Store, folder: &str) -> Result<()> {
    let within = ferrocdf_zarr::within;
    let listing = store.list(folder)?;
    for name in listing.objects {
        let key = within(folder, &name);
        let found = store.get(&key, ferrocdf_store::ByteRange::All)?;
        let found = found.ok_or_else(|| store.no_such_object(&key))?;
        references.insert(key, Reference::Inline(found.bytes.into()))?;
    }
    listing.folders.iter().try_for_each(|name| insert_objects(references, store, &within(folder, name)))
}
