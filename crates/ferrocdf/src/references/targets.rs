//! The files and objects that references point to.
//!
//! A path means one file: an absolute path that file, a relative path the file in the folder of the references, or the object there if the
//! references are an object of a store. A missing file is not looked for in other folders, as `location::resolver` does for HDF5: the
//! referenced bytes of another file of this name would decode to wrong values. A URL stands for itself, without settings of requests.
//! References that are an object of a store must not read files of this machine, and bytes that turn out to be references must not either.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Code, Error, Result, errno};
use ferrocdf_hdf5::Resolver;
use ferrocdf_store::{Blob, Cost, FileBlob, ReadAhead, Store};

use crate::location::{Location, Url};

/// Most targets that are kept open: each may take a file descriptor.
const MAX_OPEN: usize = 128;

/// What a reference points to.
#[derive(Clone)]
pub(super) enum ReferenceTarget {
    /// A file, or an object beside the references.
    Blob(Arc<dyn Blob>),
    /// An object of a store.
    Object { store: Arc<dyn Store>, key: Arc<str> },
}

/// What paths in references mean.
pub(super) enum Base {
    /// Relative paths begin at this folder of the system.
    Folder(PathBuf),
    /// Relative paths begin at a folder of a store, whose objects the resolver opens. Files of this machine are refused.
    Store { store: Arc<dyn Store>, resolver: Option<Arc<dyn Resolver>> },
    /// References in memory have no folder: relative paths are refused, and absolute ones unless `has_files`.
    Memory { has_files: bool },
}

impl Base {
    /// The folder of references at a location. References in memory name no files of this machine.
    ///
    /// # Errors
    /// Those of a URL that is malformed.
    pub(super) fn beside(location: &Location) -> Result<Base> {
        Ok(match &*location.resolved()? {
            Location::Path(path) => Base::Folder(path.parent().unwrap_or(Path::new("")).to_path_buf()),
            object @ Location::Object { store, .. } => {
                Base::Store { store: store.clone(), resolver: object.resolver() }
            }
            _ => Base::Memory { has_files: false },
        })
    }

    /// The folder that the folder of references at a location is in.
    ///
    /// # Errors
    /// Those of a URL that is malformed.
    pub(super) fn around(location: &Location) -> Result<Base> {
        Base::beside(&match &*location.resolved()? {
            // The name of a folder like `..` says nothing about that around it.
            Location::Path(path) if path.file_name().is_none() => {
                Location::Path(std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
            }
            Location::Object { store, key } => {
                Location::Object { store: store.clone(), key: key.trim_end_matches('/').to_string() }
            }
            other => other.clone(),
        })
    }

    /// The folder at a location.
    ///
    /// # Errors
    /// Those of a URL that is malformed.
    pub(super) fn folder(location: &Location) -> Result<Base> {
        match &*location.resolved()? {
            Location::Path(path) => Ok(Base::Folder(path.clone())),
            Location::Object { store, key } => {
                let key = format!("{}/", key.trim_end_matches('/'));
                Base::beside(&Location::Object { store: store.clone(), key })
            }
            other => Base::beside(other),
        }
    }

    /// Returns the cost of a request for a target.
    pub(super) fn cost(&self, url: &str) -> Cost {
        match (Url::parse(url.as_bytes()), self) {
            (Some(url), _) if !url.is_file() => Cost::REMOTE,
            (None, Base::Store { store, .. }) => store.cost(),
            _ => Cost::LOCAL,
        }
    }
}

/// Opens targets.
pub(super) struct Targets {
    base: Base,
    open: Mutex<HashMap<Arc<str>, ReferenceTarget>>,
}

impl Targets {
    /// Those of references with a base.
    pub(super) fn new(base: Base) -> Targets {
        Targets { base, open: Mutex::default() }
    }

    /// Returns the cost of a request for a target.
    pub(super) fn cost(&self, url: &str) -> Cost {
        self.base.cost(url)
    }

    /// Sets the target of a URL.
    #[cfg(test)]
    pub(super) fn insert(&self, url: &str, target: ReferenceTarget) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(url.into(), target);
    }

    /// Returns the target of a URL or a path.
    ///
    /// # Errors
    /// `NC_ENOOBJECT` for a path that leads to no file; `NC_EPERM` for a file of this machine that references in a store name; those of
    /// opening it.
    pub(super) fn get(&self, url: &Arc<str>) -> Result<ReferenceTarget> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(target) = open.get(url) {
            return Ok(target.clone());
        }
        let target = self.open(url).map_err(|error| error.at(url))?;
        if open.len() >= MAX_OPEN {
            open.clear();
        }
        open.insert(url.clone(), target.clone());
        Ok(target)
    }

    fn open(&self, url: &str) -> Result<ReferenceTarget> {
        let path = match Url::parse(url.as_bytes()) {
            Some(file) if file.is_file() && matches!(self.base, Base::Store { .. }) => {
                return Err(file_of_this_machine());
            }
            Some(file) if file.is_file() => {
                let path = file.local_path()?;
                String::from_utf8(path).map_err(|_| Error::new(Code::EDAPURL, "the path is not UTF-8"))?
            }
            Some(_) if url.starts_with('[') || url.contains('#') => {
                // They could have the keys of the user sent to another host.
                return Err(Error::new(Code::EPERM, "a URL in references must not have settings"));
            }
            Some(remote) => {
                return match Location::Url(remote).resolved()?.into_owned() {
                    Location::Object { store, key } => Ok(ReferenceTarget::Object { store, key: key.into() }),
                    _ => Err(Error::new(Code::EDAPURL, "it is the URL of no object")),
                };
            }
            None => url.to_string(),
        };
        self.open_path(&path).map(ReferenceTarget::Blob)
    }

    /// Opens the file or the object that a path means.
    fn open_path(&self, path: &str) -> Result<Arc<dyn Blob>> {
        let is_absolute = Path::new(path).has_root();
        match &self.base {
            // Joined to a folder, an absolute path stays the same.
            Base::Folder(folder) => open_file(&folder.join(path)),
            Base::Memory { has_files: true } if is_absolute => open_file(Path::new(path)),
            Base::Memory { .. } => {
                let what = "references in memory are in no folder, where the file could be looked for; say where they come from, or open them from a file";
                Err(Error::new(Code::EINVAL, what))
            }
            Base::Store { .. } if is_absolute => Err(file_of_this_machine()),
            Base::Store { resolver, .. } => {
                let found = resolver.as_ref().map(|resolver| resolver.open(path)).transpose()?.flatten();
                found.ok_or_else(|| Error::new(Code::ENOOBJECT, "there is no such object"))
            }
        }
    }
}

/// Opens a file. A folder, a pipe and a device are no files: reading from a device may never end.
fn open_file(path: &Path) -> Result<Arc<dyn Blob>> {
    let missing = || Error::new(Code::ENOOBJECT, format!("there is no file {}", path.display()));
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(missing());
    }
    match FileBlob::open(path) {
        Ok(blob) => Ok(Arc::new(ReadAhead::new(blob))),
        Err(error) if matches!(error.code, errno::NOENT | errno::NOTDIR) => Err(missing()),
        Err(error) => Err(error),
    }
}

fn file_of_this_machine() -> Error {
    Error::new(Code::EPERM, "it is a file of this machine, which references in a store must not name")
}
