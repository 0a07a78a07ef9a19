//! The files and objects that references point to.
//!
//! A path is resolved as that of a file which a dataset refers to (`location::resolver`): beside the references, and never out of their
//! store if they are an object of one. A URL stands for itself, without settings of requests; references that are an object of a store must
//! not read files of this machine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_hdf5::Resolver;
use ferrocdf_store::{Blob, Cost, Store};

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

/// Opens targets.
pub(super) struct Targets {
    /// Opens the files beside the references; `None` if there are none.
    resolver: Option<Arc<dyn Resolver>>,
    /// True if the references are an object of a store.
    are_in_store: bool,
    open: Mutex<HashMap<Arc<str>, ReferenceTarget>>,
}

impl Targets {
    /// Those of references at a location.
    pub(super) fn new(location: &Location, resolver: Option<Arc<dyn Resolver>>) -> Targets {
        let are_in_store = matches!(location, Location::Object { .. });
        Targets { resolver, are_in_store, open: Mutex::default() }
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
            Some(file) if file.is_file() && self.are_in_store => {
                let what = "it is a file of this machine, which references in a store must not name";
                return Err(Error::new(Code::EPERM, what));
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
        let resolver = self.resolver.as_ref();
        let found = resolver.map(|resolver| resolver.open(&path)).transpose()?.flatten();
        found.map(ReferenceTarget::Blob).ok_or_else(|| Error::new(Code::ENOOBJECT, "there is no such file"))
    }
}

/// Returns what a request for a target costs, as its URL tells; references with a path are at a location.
pub(super) fn cost(url: &str, location: &Location) -> Cost {
    match (Url::parse(url.as_bytes()), location) {
        (Some(url), _) if !url.is_file() => Cost::REMOTE,
        (None, Location::Object { store, .. }) => store.cost(),
        _ => Cost::LOCAL,
    }
}
