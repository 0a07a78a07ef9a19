//! CDL, the text form of netCDF: from a model to text and back, without files.
#![forbid(unsafe_code)]

pub mod print;
pub mod times;
