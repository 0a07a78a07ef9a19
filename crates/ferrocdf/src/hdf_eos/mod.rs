//! HDF-EOS2: what the attribute `StructMetadata.0` of an HDF4 file says of its grids, swaths and points, as groups, dimensions and
//! coordinates.

mod computed;
mod grid;
mod odl;
mod projection;
mod spheroid;
mod structure;
