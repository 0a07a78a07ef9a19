//! The classic file formats: CDF-1, CDF-2 (64-bit offset) and CDF-5 (64-bit data).
//!
//! Source: netCDF file format specifications, Appendix B of the netCDF documentation. A file is a header, then the
//! variables without the record dimension one after another, then records, each holding one slab of every record
//! variable. [`Header`] is what is stored; [`Layout`] is where data lies; [`ClassicFile`] keeps both true while a file
//! is defined, written and grown. Data itself is moved by the array engine, never here.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::cast_possible_truncation))]

mod access;
mod convert;
mod file;
mod fill;
mod header;
mod layout;
mod rewrite;
mod values;
mod windows;

pub use file::{ClassicFile, kind_of};
pub use header::{Header, RawDim, RawVar, Version};
pub use layout::{Alignment, Layout, Place};
