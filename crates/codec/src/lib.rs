//! Filters, which encode and decode chunks of data, and chains of filters.
//!
//! The encoded bytes are the ones that HDF5 and the registered plugins store ("Filters" in the HDF5 user guide, the filter
//! pipeline message in the format specification, and each plugin's own description), and the ones of Zarr's codecs. A filter
//! is a value that holds its parameters; a [`Chain`] holds the filters of a dataset. Filters loaded at run time and
//! quantization are in other crates.
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
mod stream;

pub use chain::{Chain, Step};
pub use codecs::{ArrayInfo, ChunkInfo, Codecs, DatasetInfo, ElementType, Provider};
pub use filter::Filter;
pub use filters::{NumberKind, NumberType, decode_snappy, szip_params, unshuffle_part};
pub use identity::FilterId;
pub use json::{
    from_numcodecs, from_zarr_v3, numcodecs_id, readers_without_numcodecs, to_numcodecs, to_zarr_v3,
};
pub use registry::{built_in, built_in_ids, by_name, derive, derives, is_built_in, names, registered_name};
pub use stream::{Progress, StreamDecoder};
