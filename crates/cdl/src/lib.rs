//! CDL, the text form of netCDF: text to model, and model to text, without files.
#![forbid(unsafe_code)]

pub mod parse;
pub mod print;
pub mod times;
