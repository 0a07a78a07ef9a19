//! Files: creation, opening, closing, modes and inquiry in `netcdf.h`, and the functions of `netcdf_mem.h`.

pub(crate) mod close;
pub(crate) mod cray;
pub(crate) mod default_format;
pub(crate) mod define_mode;
pub(crate) mod delete;
pub(crate) mod in_memory;
pub(crate) mod inquire;
pub(crate) mod memory_calls;
pub(crate) mod open;
