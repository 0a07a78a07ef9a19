//! Functions of `netcdf_aux.h` that touch no dataset: filters as text, whole files, folders of plugins.

pub(crate) mod filter_text;
pub(crate) mod plugin_path;
pub(crate) mod whole_files;
