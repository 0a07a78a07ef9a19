//! CDL, the text form of netCDF: parsing into a model and data, and printing of both, without file access.
#![forbid(unsafe_code)]

pub mod parse;
pub mod print;
pub mod times;
