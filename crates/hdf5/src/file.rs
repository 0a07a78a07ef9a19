//! An open file: its superblock, what the whole file shares, and the way to its objects.
//!
//! A metadata cache image is laid over the bytes of the file when it is opened: nobody else knows of it. Files that are
//! reached from one another form a family, so that links in a circle between files open each file once.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::Result;
use ferrocdf_codec::Codecs;
use ferrocdf_store::{Blob, ChangeToken, InRounds, is_stale};

use crate::Source;
use crate::cache_image;
use crate::heaps::{GlobalHeap, HeapObject};
use crate::messages::small::DriverInfo;
use crate::messages::{HeapId, SpaceInfo};
use crate::objects::header::ObjectHeader;
use crate::objects::kind;
use crate::sohm::SharedMessages;
use crate::superblock::{DriverBlock, Superblock, check_driver};
use crate::wire::{self, bad};

/// Opens the files that a file refers to: those of external links, external raw data and virtual dataset sources.
pub trait Resolver: Send + Sync {
    /// Returns the bytes of the file of this name, as the referring file spells it; `None` if there is none.
    fn open(&self, file_name: &str) -> Result<Option<Arc<dyn Blob>>>;
}

/// How to open a file.
#[derive(Clone, Default)]
pub struct OpenOptions {
    /// Opens referenced files; without it there are none.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// The filters that its datasets can use; the built-in ones by default.
    pub codecs: Codecs,
    /// The same bytes, for elements of chunked and contiguous datasets: where the blob that the file is opened from keeps metadata.
    pub elements: Option<Arc<dyn Blob>>,
}

/// An open HDF5 file. Cheap to clone, and of use to many threads at once.
#[derive(Clone)]
pub struct File {
    parts: Arc<Parts>,
    family: Arc<Family>,
}

/// A file without its family.
struct Parts {
    /// The bytes as they are.
    blob: Arc<dyn Blob>,
    /// The same, as elements are read: in rounds where they are slow, without the metadata cache image.
    elements: Arc<dyn Blob>,
    /// The change token of the bytes before they were read.
    seen: Option<ChangeToken>,
    source: Source,
    superblock: Superblock,
    shared: Option<SharedMessages>,
    heap: GlobalHeap,
}

/// Files that are reached from one another, by the names they are reached by.
#[derive(Default)]
struct Family {
    resolver: Option<Arc<dyn Resolver>>,
    codecs: Codecs,
    blobs: Mutex<HashMap<String, Arc<dyn Blob>>>,
    files: Mutex<HashMap<String, Arc<Parts>>>,
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.parts.source)
    }
}

impl Parts {
    fn open(blob: Arc<dyn Blob>, elements: Option<Arc<dyn Blob>>, codecs: Codecs) -> Result<Parts> {
        let seen = blob.change_token();
        if seen.is_some() && blob.cost().is_near() {
            // What was read ahead may be older than the change. The token of a blob far away is that of its last answer.
            blob.forget();
        }
        let superblock = Superblock::find(&blob)?;
        let metadata: Arc<dyn Blob> = match blob.cost().is_near() {
            true => blob.clone(),
            false => Arc::new(InRounds::new(blob.clone())),
        };
        let elements = elements.unwrap_or_else(|| metadata.clone());
        let mut source = Source { blob: metadata, base: superblock.base, sizes: superblock.sizes, codecs };
        if let Some(at) = superblock.driver {
            let mut block = DriverBlock::default();
            let bytes = source.read(DriverBlock::WHAT, at, DriverBlock::HEAD)?;
            wire::decode(&mut block, DriverBlock::WHAT, at, &bytes)?;
            check_driver(&block.name)?;
        }
        let mut shared = None;
        if let Some(at) = superblock.extension {
            let extension =
                ObjectHeader::read(&source, at).map_err(|error| error.at("superblock extension"))?;
            let message = |kind| extension.messages.iter().find(|message| message.kind == kind);
            if let Some(space) = message(kind::SPACE_INFO)
                && let Some(info) = SpaceInfo::decode(&space.body, superblock.sizes)?
            {
                blob.expect_pages(info.page);
            }
            if let Some(driver) = message(kind::DRIVER_INFO) {
                check_driver(&DriverInfo::decode(&driver.body)?.name)?;
            }
            if let Some(image) = message(kind::CACHE_IMAGE) {
                source.blob = cache_image::laid_over(&source, &image.body)?;
            }
            if let Some(table) = message(kind::SHARED_TABLE) {
                shared = Some(SharedMessages::read(&source, &table.body)?);
            }
        }
        Ok(Parts { blob, elements, seen, source, superblock, shared, heap: GlobalHeap::default() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl File {
    /// Opens a file that names no others, or whose others are not wanted. `NC_ENOTNC` if it is no HDF5 file.
    pub fn open(blob: Arc<dyn Blob>) -> Result<File> {
        Self::open_with(blob, OpenOptions::default())
    }

    /// Opens a file.
    pub fn open_with(blob: Arc<dyn Blob>, options: OpenOptions) -> Result<File> {
        let OpenOptions { resolver, codecs, elements } = options;
        let parts = Arc::new(Parts::open(blob, elements, codecs.clone())?);
        Ok(File { parts, family: Arc::new(Family { resolver, codecs, ..Family::default() }) })
    }

    /// The same file as it is now, if somebody may have changed it since it was opened.
    ///
    /// # Errors
    /// Those of opening it, perhaps half-way through a change.
    pub(crate) fn changed(&self) -> Result<Option<File>> {
        let Parts { blob, elements, seen, .. } = &*self.parts;
        if !is_stale(seen.as_ref(), blob) {
            return Ok(None);
        }
        blob.forget();
        let parts = Parts::open(blob.clone(), Some(elements.clone()), self.family.codecs.clone());
        let parts = Arc::new(parts?);
        Ok(Some(File { parts, family: self.family.clone() }))
    }

    /// Whether it was changed so short a time before it was opened that another change since would look the same.
    pub(crate) fn is_fresh(&self) -> bool {
        self.parts.seen.as_ref().is_some_and(ChangeToken::is_volatile)
    }

    /// Whether somebody else may change it.
    pub(crate) fn is_watched(&self) -> bool {
        self.parts.seen.is_some()
    }

    /// Its bytes.
    pub fn source(&self) -> &Source {
        &self.parts.source
    }

    /// Its bytes as elements are read from them: without the metadata cache image, which has nothing of elements, and may be one of a
    /// commit that is long over by then.
    pub fn elements(&self) -> &Arc<dyn Blob> {
        &self.parts.elements
    }

    /// What its superblock says.
    pub fn superblock(&self) -> &Superblock {
        &self.parts.superblock
    }

    /// The bytes of another file that this one names; `None` if there is none.
    pub fn neighbour_blob(&self, name: &[u8]) -> Result<Option<Arc<dyn Blob>>> {
        let name = String::from_utf8_lossy(name).into_owned();
        let known = lock(&self.family.blobs).get(&name).cloned();
        let Some(resolver) = self.family.resolver.as_ref().filter(|_| known.is_none()) else {
            return Ok(known);
        };
        let found = resolver.open(&name).map_err(|error| error.at(format_args!("file {name:?}")))?;
        Ok(found.map(|blob| lock(&self.family.blobs).entry(name).or_insert(blob).clone()))
    }

    /// Another HDF5 file that this one names; `None` if there is none.
    pub fn neighbour(&self, name: &[u8]) -> Result<Option<File>> {
        let key = String::from_utf8_lossy(name).into_owned();
        let family = self.family.clone();
        let known = lock(&family.files).get(&key).cloned();
        if let Some(parts) = known {
            return Ok(Some(File { parts, family }));
        }
        let Some(blob) = self.neighbour_blob(name)? else { return Ok(None) };
        let parts = Parts::open(blob, None, self.family.codecs.clone())
            .map_err(|error| error.at(format_args!("file {key:?}")))?;
        let parts = lock(&family.files).entry(key).or_insert(Arc::new(parts)).clone();
        Ok(Some(File { parts, family }))
    }

    /// An object of the global heap.
    pub fn heap_object(&self, id: HeapId) -> Result<HeapObject> {
        self.parts.heap.object(&self.parts.source, id)
    }

    /// The message of a kind in the shared message table, under this identifier.
    pub(crate) fn shared_message(&self, kind: u16, id: &[u8]) -> Result<Vec<u8>> {
        match &self.parts.shared {
            Some(shared) => shared.message(&self.parts.source, kind, id),
            None => Err(bad("the file has no shared message table")),
        }
    }
}
