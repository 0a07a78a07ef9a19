//! What tools and people ask of a dataset, and reading its data does not need.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use ferrocdf_bytes::{Error, Result};
use ferrocdf_hdf5::{ChunkCounts, DatasetExtents, Lack};
use ferrocdf_model::{Attr, Model, Owner, VarId};

/// Facts about a dataset beside its model. The defaults are those of a format in which every byte belongs to the model.
pub trait Inspect {
    /// Returns the attributes of an owner that are shown only on request: which library wrote the file, and how.
    fn hidden_attributes(&self, _owner: Owner) -> Vec<Attr> {
        vec![]
    }

    /// Returns the size of a variable in the file, where its array does not tell it. Reads the whole chunk index.
    fn stored_size(&self, _var: VarId) -> Result<StoredSize> {
        Ok(StoredSize::default())
    }

    /// Returns the extents of metadata and elements in the file; `None` if the arrays and the end of the header tell all that is known.
    fn extents(&self) -> Result<Option<StoredExtents>> {
        Ok(None)
    }

    /// Returns where the data of a variable comes from.
    fn sources(&self, _var: VarId) -> Result<DataSources> {
        Ok(DataSources::default())
    }

    /// Returns the sources that lack elements of a variable, which have the fill value then. Opens all sources.
    fn missing_sources(&self, _var: VarId) -> Result<Vec<MissingSource>> {
        Ok(vec![])
    }

    /// Returns the path of the dataset of a variable in an HDF5 file; `None` in other formats, and if the model's path does not lead to it.
    fn dataset_path(&self, _model: &Model, _var: VarId) -> Result<Option<String>> {
        Ok(None)
    }

    /// True if the values of a variable are not in the file, but computed when they are read.
    fn is_computed(&self, _var: VarId) -> bool {
        false
    }

    /// True unless another program than a netCDF library can have written the file.
    fn is_written_by_netcdf(&self) -> bool {
        true
    }

    /// Returns whether one object has the metadata of all groups and arrays of a Zarr store; `None` for other formats.
    fn is_consolidated(&self) -> Option<bool> {
        None
    }

    /// Returns the objects that the model does not express.
    fn skipped(&self, _model: &Model) -> Skipped {
        Skipped::default()
    }

    /// Returns the error of the first object that cannot be read and is missing from the model.
    fn unreadable(&self) -> Option<Error> {
        None
    }

    /// Returns the reason why the data of a variable cannot be read, if the metadata tells one.
    fn unreadable_data(&self, _var: VarId) -> Option<Error> {
        None
    }

    /// Returns the number of bytes that the file is shorter than its metadata says.
    fn missing_bytes(&self) -> Result<u64> {
        Ok(0)
    }
}

/// The answers of a driver that has nothing to add to its model.
pub(super) struct NoDetails;

impl Inspect for NoDetails {}

/// The size of a variable in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSize {
    /// Bytes of the elements as the file has them, before and after the filters.
    pub bytes: Option<(u64, u64)>,
    /// The numbers of chunks, if the variable is chunked and the file tells them.
    pub chunks: Option<ChunkCounts>,
}

/// The extents of metadata and elements in a file, in ranges as of [`ferrocdf_store::ranges`].
#[derive(Clone, Debug, Default)]
pub struct StoredExtents {
    /// Metadata but for the chunk indexes.
    pub metadata: Vec<Range<u64>>,
    /// Chunk indexes and elements of variables.
    pub variables: HashMap<VarId, DatasetExtents>,
    /// Elements that are in no array of a variable: those of variable length, and datasets that are no variables, with their indexes.
    pub other_data: Vec<Range<u64>>,
    /// Page size of a file with paged aggregation.
    pub page: Option<u64>,
    /// An error about structures that cannot be read, and are missing here.
    pub unreadable: Option<Error>,
}

/// The objects of a file that are not in its model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skipped {
    /// A line for each object: its path and the reason.
    pub reasons: Vec<String>,
    /// A line for each object of a kind that netCDF-C does not look at, so that nothing is missing to its users: tables, rasters and
    /// annotations of HDF4.
    pub other_kinds: Vec<String>,
    /// Datasets that have attributes and no shape.
    pub shapeless: Vec<Shapeless>,
}

/// Where the data of a variable comes from, if not all of it is in its own file and its own shape, and what the model does not tell of how
/// it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataSources {
    /// The names of the files that hold its raw data, in their order.
    pub external: Vec<String>,
    /// File and path of each dataset that a virtual dataset takes elements of. The file `.` is the same one; `%b` stands for
    /// a number.
    pub virtual_sources: Vec<(String, String)>,
    /// The shape that the file has, where it is known. It may be shorter than the dimensions, which other variables made
    /// longer: what is beyond was never written.
    pub stored_shape: Option<Vec<u64>>,
    /// The names of the codecs that are no filters of the model, since HDF5 has no number for them.
    pub codecs: Vec<String>,
    /// True if the data is compressed as a whole and the file has no chunks; the model says one chunk then.
    pub is_one_piece: bool,
}

/// A source of a virtual dataset that lacks elements, which have the fill value then.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingSource {
    /// The name of its file, as in [`DataSources::virtual_sources`].
    pub file: String,
    /// The path of the dataset in its file.
    pub path: String,
    /// What is missing.
    pub lack: Lack,
}

impl fmt::Display for MissingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingSource { file, path, lack } = self;
        match lack {
            Lack::File => write!(f, "the file {file:?}, which is not there"),
            Lack::Dataset => write!(f, "{path} of the file {file:?}, which has no such dataset"),
            Lack::Elements => write!(f, "{path} of the file {file:?}, which is shorter now"),
        }
    }
}

/// A dataset without a shape (a null dataspace), which is no variable.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shapeless {
    /// Its path in the file.
    pub path: String,
    /// The name of its type, if netCDF has one.
    pub type_name: Option<String>,
    /// Its attributes.
    pub attributes: Vec<Attr>,
    /// Its line in [`crate::File::skipped`].
    pub reason: String,
}
