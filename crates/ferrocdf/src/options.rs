//! How files are made and opened.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_classic::Alignment;
use ferrocdf_model::Format;

use crate::location::Location;
use crate::zarr_options::ZarrOptions;

/// How a file is opened for reading.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Data past the end of a file that is cut off reads as zeros if no more than this many bytes are missing; otherwise
    /// it is an error, `NC_ETRUNC`. [`File::missing_bytes`](crate::File::missing_bytes) tells how many are.
    pub allow_missing: u64,
    /// Whether another process may write to the file meanwhile: nothing is read ahead, so that every read gives what the
    /// file holds then. New records are seen by [`File::refresh`](crate::File::refresh).
    pub shared: bool,
    /// True if all attributes are going to be read: the attributes of a variable are then read together with its object, when the
    /// file is opened, if their types are atomic. Otherwise the attributes of an object are read when they are first looked at.
    pub all_attributes: bool,
    /// Where bytes in memory, or of another blob, come from: files that they name (virtual datasets, external data and
    /// links) are looked for beside the file or object at this location. Without it they are not looked for.
    pub beside: Option<Location>,
    /// True if HDF4 files with HDF-EOS2 metadata are shown as what it says: a group for each grid, swath and point, with named
    /// dimensions and coordinates. Otherwise they have the names and dimensions that netCDF-C shows. The word `hdfeos` in the
    /// fragment of a URL sets it too.
    pub hdf_eos: bool,
    /// True if all of an HDF4 file is shown: Vdatas as variables of a compound type and rasters as variables too, beside the datasets
    /// that netCDF-C shows. Then [`hdf_eos`](OpenOptions::hdf_eos) does not count. `#hdf4=all` in a URL asks for it as well.
    pub hdf4_all: bool,
}

impl OpenOptions {
    /// These options for bytes that come from a location.
    #[must_use]
    pub fn beside(self, location: Location) -> Self {
        OpenOptions { beside: Some(location), ..self }
    }

    /// These options with another limit of missing bytes.
    #[must_use]
    pub fn allow_missing(self, bytes: u64) -> Self {
        OpenOptions { allow_missing: bytes, ..self }
    }

    /// These options for a reader of all attributes, or not.
    #[must_use]
    pub fn all_attributes(self, all: bool) -> Self {
        OpenOptions { all_attributes: all, ..self }
    }

    /// These options with HDF4 files shown as what their HDF-EOS2 metadata says, or not.
    #[must_use]
    pub fn hdf_eos(self, hdf_eos: bool) -> Self {
        OpenOptions { hdf_eos, ..self }
    }

    /// These options with all of HDF4 files shown, or only their datasets.
    #[must_use]
    pub fn hdf4_all(self, hdf4_all: bool) -> Self {
        OpenOptions { hdf4_all, ..self }
    }

    /// These options for a file that another process may write to, or not.
    #[must_use]
    pub fn shared(self, shared: bool) -> Self {
        OpenOptions { shared, ..self }
    }
}

/// How space is taken in a file that is written. Each format heeds what concerns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceOptions {
    /// netCDF-4: pieces of at least so many bytes are aligned (`nc_set_alignment`).
    pub threshold: u64,
    /// netCDF-4: they begin at a multiple of this many bytes.
    pub alignment: u64,
    /// netCDF-4: metadata is kept together in pieces of this many bytes (`nc_set_meta_block_size`).
    pub meta_block: u64,
    /// Classic files: free space and alignment at the end of define mode (`nc__enddef`).
    pub classic: Alignment,
}

impl Default for SpaceOptions {
    /// No alignment, no free space, pieces of 2 KiB.
    fn default() -> Self {
        SpaceOptions { threshold: 1, alignment: 1, meta_block: 2048, classic: Alignment::default() }
    }
}

/// How a file is made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateOptions {
    /// The kind of file.
    pub format: Format,
    /// Whether a file of that name may be replaced; otherwise creating it again is an error (`NC_EEXIST`).
    pub clobber: bool,
    /// Whether elements that are never written stay undefined instead of holding fill values.
    pub no_fill: bool,
    /// Whether what is committed (by the end of define mode, a sync, the close) survives a power failure; see
    /// [`AppendOptions::durable`].
    pub durable: bool,
    /// What kind of Zarr store is made, where the format is one.
    pub zarr: ZarrOptions,
}

/// How an existing file is opened for reading and writing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppendOptions {
    /// Whether what is committed (by the end of define mode, a sync, the close) survives a power failure: each commit then
    /// waits for the disk, and orders its writes there. Without it what is committed survives the end of the process in any
    /// way, and reaches the disk when the system thinks fit, in any order. The environment variable `FERROCDF_SYNC=disk`
    /// sets it for all files.
    pub durable: bool,
    /// Zarr stores: what becomes of a chunk of which a part is written, if another writer has changed it since it was read here. Without
    /// it that is an error of the write, the sync or the close (`ESTALE`). With it both changes are kept: what was written here
    /// is written into the chunk of the other writer. The word `merge` in the fragment of a URL sets it too.
    pub merge: bool,
}

impl AppendOptions {
    /// These options with chunks merged that others change too, or not.
    #[must_use]
    pub fn merge(self, merge: bool) -> Self {
        AppendOptions { merge, ..self }
    }
}

impl Default for AppendOptions {
    /// As the environment says; not durable if it says nothing. Chunks are not merged.
    fn default() -> Self {
        AppendOptions { durable: is_durable(), merge: false }
    }
}

/// The environment variable that makes commits survive a power failure, and its only word.
const SYNC: &str = "FERROCDF_SYNC";
const DISK: &str = "disk";

/// Whether the environment asks for commits that survive a power failure.
fn is_durable() -> bool {
    std::env::var_os(SYNC).is_some_and(|word| word == DISK)
}

/// Checks the environment variable `FERROCDF_SYNC`: no file is opened for writing while it holds an unknown word.
///
/// Fails with `NC_EINVAL`, and names the word that there is.
pub(crate) fn check_sync_setting() -> Result<()> {
    match std::env::var_os(SYNC) {
        Some(word) if !word.is_empty() && word != DISK => {
            let what = format!("the environment variable {SYNC} is {word:?}; its only word is {DISK:?}");
            Err(Error::new(Code::EINVAL, what))
        }
        _ => Ok(()),
    }
}

impl Default for CreateOptions {
    /// A netCDF-4 file with fill values, replacing what was there.
    fn default() -> Self {
        let zarr = ZarrOptions::default();
        CreateOptions { format: Format::NETCDF4, clobber: true, no_fill: false, durable: is_durable(), zarr }
    }
}

impl CreateOptions {
    /// Options for a kind of file, otherwise as by default.
    pub fn format(format: Format) -> Self {
        CreateOptions { format, ..Self::default() }
    }
}
