//! How a driver is found: entries that recognise a container and open it.

use std::sync::{Arc, PoisonError, RwLock};

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::Resolver;
use ferrocdf_model::{Container, Format, Model};
use ferrocdf_store::{Blob, BlobMut, MetadataViews};

use super::{Driver, WriteDriver};
use crate::location::Location;

/// Opens a dataset for reading: its driver and its model.
pub type OpenFn = fn(Arc<dyn Blob>, &Context<'_>) -> Result<(Box<dyn Driver>, Model)>;
/// Opens a dataset for reading and writing: its driver and its model.
pub type OpenMutFn = fn(Box<dyn BlobMut>, &Context<'_>) -> Result<(Box<dyn WriteDriver>, Model)>;
/// Makes the driver of a new dataset of a format.
pub type CreateFn = fn(Box<dyn BlobMut>, Format) -> Result<Box<dyn WriteDriver>>;

/// A container: how it is recognised, and what opens it. The containers of this crate are one table of these; programs add
/// others with [`register`].
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// The container.
    pub container: Container,
    /// Returns true if a dataset is in this container.
    pub recognises: fn(&Candidate<'_>) -> Result<bool>,
    /// Opens a dataset for reading. Fails with `NC_ENOTNC` for a container that has no driver yet.
    pub open: OpenFn,
    /// What writes datasets; `None` for a container that is only read.
    pub write: Option<WriteProbe>,
}

/// What writes the datasets of a container.
#[derive(Clone, Copy, Debug)]
pub struct WriteProbe {
    /// Opens a dataset for reading and writing.
    pub open: OpenMutFn,
    /// Makes a new dataset of a format in empty bytes.
    pub create: CreateFn,
    /// True if a commit may replace the file as a whole. Other files are locked, since two writers would damage them; a driver that
    /// needs a lock all the same takes it itself.
    pub replaces_file: bool,
}

/// A dataset whose container is not known yet.
pub struct Candidate<'a> {
    /// The first bytes, [`Candidate::HEAD`] of them if there are so many; none of a folder.
    pub head: &'a [u8],
    /// All bytes.
    pub blob: &'a dyn Blob,
    /// Where the dataset is: in a store or in a folder, other objects may tell the container.
    pub location: &'a Location,
}

impl Candidate<'_> {
    /// Number of bytes of a whole head: the longest signature of a known container has 8.
    pub const HEAD: usize = 16;
}

/// The location of a dataset and the options with which a driver opens it.
pub struct Context<'a> {
    /// Where the dataset is.
    pub location: &'a Location,
    /// The location beside which the files are that the dataset refers to: `location`, or, for bytes in memory, the one that
    /// [`OpenOptions::beside`](crate::OpenOptions) says.
    pub beside: &'a Location,
    /// The bytes for a driver that reads metadata as many small structures: of a local file whose attributes are all going to be read,
    /// and that is not shared with writers.
    pub views: Option<MetadataViews>,
    /// Opens the files that the dataset refers to; `None` if there are none around it.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// The most bytes that may be missing at the end; they read as zeros.
    pub allow_missing: u64,
    /// True if all attributes are going to be read, see [`OpenOptions::all_attributes`](crate::OpenOptions).
    pub all_attributes: bool,
    /// True if HDF4 files are shown as what their HDF-EOS2 metadata says, see [`OpenOptions::hdf_eos`](crate::OpenOptions).
    pub hdf_eos: bool,
    /// True if all of an HDF4 file is shown, see [`OpenOptions::hdf4_all`](crate::OpenOptions).
    pub hdf4_all: bool,
    /// True if commits wait for the disk, see [`AppendOptions::durable`](crate::AppendOptions).
    pub durable: bool,
}

/// The entries that programs registered.
static REGISTERED: RwLock<Vec<Probe>> = RwLock::new(Vec::new());

/// Adds a container to those that this process opens, in every face of the library: the Rust API, the tools and the C
/// library. Containers that this crate knows are probed first. Returns false, and changes nothing, if the container is
/// registered already.
pub fn register(probe: Probe) -> bool {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let is_new = registered.iter().all(|known| known.container != probe.container);
    if is_new {
        registered.push(probe);
    }
    is_new
}

/// Returns the entries that programs registered.
pub(crate) fn registered() -> Vec<Probe> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone()
}
