//! Storage of variables in netCDF-4 files (`netcdf.h`, `netcdf_filter.h`).

pub(crate) mod byte_order;
pub(crate) mod caches;
pub(crate) mod caches_ints;
pub(crate) mod chunk_shapes;
pub(crate) mod chunking;
pub(crate) mod compression;
pub(crate) mod compressors;
pub(crate) mod definition;
pub(crate) mod filters;
pub(crate) mod quantization;
