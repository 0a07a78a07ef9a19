//! Filters, which encode and decode chunks of data, and chains of them.
//!
//! The encoded bytes are those that HDF5 and the registered plugins store ("Filters" in the HDF5 user guide, the filter
//! pipeline message in the format specification, and each plugin's own description), and those of Zarr's codecs. A filter is
//! a value that holds its parameters; a [`Chain`] is the filters of a dataset. Not here: filters loaded at run time, and
//! quantization.
#![forbid(unsafe_code)]

mod chain;
mod codecs;
mod filter;
mod filters;
mod identity;
mod json;
mod registry;
mod scratch;
pub mod spec;

pub use chain::{Chain, Step};
pub use codecs::{ChunkInfo, Codecs, Dataset, ElementType, Provider};
pub use filter::Filter;
pub use filters::unshuffle_part;
pub use identity::FilterId;
pub use json::{from_numcodecs, from_zarr_v3, numcodecs_id, to_numcodecs, to_zarr_v3};
pub use registry::{built_in, built_in_ids, by_name, derive, derives, is_built_in, names, registered_name};
