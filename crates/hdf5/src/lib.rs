//! The HDF5 file format, read with no C library inside. Folders follow the chapters of the HDF5 File Format Specification.
#![forbid(unsafe_code)]

pub mod messages;
mod source;
mod wire;

pub use source::{Address, Sizes, Source};
