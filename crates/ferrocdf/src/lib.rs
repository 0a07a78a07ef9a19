//! netCDF in Rust: one engine for every format, safe from any thread, with no C library inside.
//!
//! ```
//! # fn main() -> ferrocdf::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("crabs.nc");
//! let file = ferrocdf::create(&path)?;
//! file.add_unlimited_dimension("time")?;
//! file.add_dimension("crab", 3)?;
//! let coolness = file.add_variable::<f32>("coolness", &["time", "crab"])?;
//! coolness.put_attribute("units", "kelvin")?;
//! coolness.put_values(&[1.0, 2.5, 4.0f32], (0, ..))?;
//! coolness.put_values(&[0.5, 0.5, 0.5f32], (1, ..))?;
//! file.close()?;
//!
//! let file = ferrocdf::open(&path)?;
//! let coolness = file.variable("coolness")?;
//! let units: String = coolness.attribute("units")?;
//! assert_eq!(coolness.shape(), [2, 3]);
//! assert_eq!(coolness.get_values::<f64, _>((.., 1))?, [2.5, 0.5]);
//! assert_eq!(coolness.get_value::<i32, _>([0, 2])?, 4);
//! # Ok(())
//! # }
//! ```
//!
//! [`File`] reads, [`FileMut`] writes; [`Group`], [`Variable`] and their writable kin are the usual way to what is in them, with extents
//! given as ranges, indices, tuples or slices (see [`Extents`]). [`VariableBuilder`] has chunks, filters and fill values. Below them lie the model ([`model`]) and the array engine
//! ([`mod@array`]), which tools use directly.
//!
//! This version reads and writes the classic formats CDF-1, CDF-2 and CDF-5, and netCDF-4; of other HDF5 files it reads and
//! edits what netCDF has names for.
#![forbid(unsafe_code)]

mod config;
mod copy;
mod data;
pub mod driver;
mod drivers;
mod elements;
mod extents;
mod file;
mod handles;
mod hdf4;
mod hdf_eos;
pub mod join;
pub mod layout;
mod location;
mod nc4;
mod nczarr;
pub mod nested;
mod options;
pub mod parts;
pub mod plugins;
mod quantize;
pub mod references;
pub mod run_control;
mod short_access;
mod storage;
#[cfg(any(test, feature = "testing"))]
pub mod suite;
mod tiles;
mod unique_names;
mod variable_errors;
mod zarr_options;

use std::path::Path;

pub use ferrocdf_array as array;
pub use ferrocdf_array::{Element, In, Out, RangeCheck, Selection};
pub use ferrocdf_bytes::{Code, Context, Error, ErrorKind, Result, errno};
pub use ferrocdf_classic::{Alignment, kind_of};
pub use ferrocdf_codec::{readers_without_numcodecs, registered_name as filter_name, spec};
pub use ferrocdf_hdf5::{ChunkCounts, Lack};
pub use ferrocdf_model as model;
pub use ferrocdf_model::{
    Atomic, Attr, Class, Container, DataModel, DimId, Endian, Format, GroupId, Model, Name, Owner,
    Quantization, Quantize, Type, UserType, Value, Values, VarId,
};
#[cfg(feature = "remote")]
pub use ferrocdf_remote as remote;
pub use ferrocdf_store as store;

pub use config::{Config, FilterChoice};
pub use copy::{Pair, copy_data, find_definition_difference, find_difference, keep_unwritten};
pub use driver::{DataSources, MissingSource, Shapeless};
pub use elements::atomic_of;
pub use extents::{Extent, Extents, every};
pub use file::{File, FileMut};
pub use handles::{
    Dimension, FromValues, Group, GroupMut, NetcdfType, Variable, VariableBuilder, VariableFilter,
    VariableMut,
};
pub use location::{Location, Url};
pub use nc4::{
    check_available, check_filter, chosen_chunks, chunk_fits, define_filter, is_reserved_attribute,
};
pub use nczarr::{can_have_codec, define_codecs, is_zarr_store, no_store_to_replace, remove_zarr_store};
pub use options::{AppendOptions, CreateOptions, OpenOptions, SpaceOptions};
pub use plugins::has_filter;
pub use storage::{Arrangement, StorageInfo};
pub use zarr_options::ZarrOptions;

/// Opens a file for reading, as what its content says it is.
pub fn open(path: impl AsRef<Path>) -> Result<File> {
    File::open(path)
}

/// Makes a new netCDF-4 file, replacing one of that name. [`FileMut::create`] has the other kinds.
pub fn create(path: impl AsRef<Path>) -> Result<FileMut> {
    FileMut::create(path, &CreateOptions::default())
}

/// Opens an existing file for reading and writing.
pub fn append(path: impl AsRef<Path>) -> Result<FileMut> {
    FileMut::append(path)
}

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!(concat!("../", env!("CARGO_PKG_README")))]
struct Readme;
