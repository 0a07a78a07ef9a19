//! Filters: what packs and unpacks blocks of data, and chains of them.
//!
//! Bytes are those that HDF5 and the registered plugins store ("Filters" in the HDF5 user guide, the filter pipeline
//! message in the format specification, and each plugin's own description). A filter is a value that holds its
//! parameters; a [`Chain`] is what a dataset has. Not here: filters loaded at run time, and quantization.
#![forbid(unsafe_code)]

mod chain;
mod filter;
mod filters;
mod json;
mod provider;
mod registry;
mod scratch;
pub mod spec;

pub use chain::{Chain, Step};
pub use filter::{Filter, built_in, is_built_in};
pub use filters::unshuffle_part;
pub use json::{codec_id, codec_of, filter_of};
pub use provider::{
    Dataset, ElementType, Provider, find, is_available, prefer_provided, prefers_provided, provide, provider,
};
pub use registry::{built_in_ids, by_name, learn, learns, names, registered_name};
