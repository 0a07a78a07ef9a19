//! Open files as programs use them.

mod build;
mod concurrency;
mod damaged;
mod dimension_ids;
mod formats;
mod groups;
mod hdf4;
mod hdf4_build;
mod hdf_eos;
mod hostile;
mod made_up_dims;
mod netcdf4;
mod objects;
mod refusals;
mod removing;
mod replaced;
mod requests;
mod sparse_copies;
mod toy;
mod unnamed_types;
mod zarr;
mod zarr_renames;
mod zarr_shared;
mod zarr_types;
mod zarr_written;
mod zarr_zip;
