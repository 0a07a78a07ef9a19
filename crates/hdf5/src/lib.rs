//! The HDF5 file format, read with no C library inside. Folders follow the chapters of the HDF5 File Format Specification.
#![forbid(unsafe_code)]

mod source;

pub use source::{Address, Sizes, Source};
