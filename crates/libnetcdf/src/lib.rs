//! The library that takes the place of `libnetcdf.so`: the functions of `ferrocdf-capi`, and nothing else.
pub use ferrocdf_capi::*;
