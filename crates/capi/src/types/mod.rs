//! Types: definition and inquiry in `netcdf.h`, and compound types with the layout of C (`netcdf_aux.h`).

pub(crate) mod c_layout;
pub(crate) mod compound_parts;
pub(crate) mod compounds;
pub(crate) mod define;
pub(crate) mod enumerations;
pub(crate) mod equality;
pub(crate) mod inquire;
pub(crate) mod opaque;
pub(crate) mod sequences;
