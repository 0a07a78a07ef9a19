//! Functions of `netcdf_aux.h` that do not use a dataset: filters as text, whole files, plugin folders.

pub(crate) mod filter_text;
pub(crate) mod plugin_path;
pub(crate) mod whole_files;
