//! CDL, the text form of netCDF: text to model, and model to text.
#![forbid(unsafe_code)]

pub mod parse;
