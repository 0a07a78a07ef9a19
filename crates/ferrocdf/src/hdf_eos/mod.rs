//! HDF-EOS2: what the attribute `StructMetadata.0` of an HDF4 file says of its grids, swaths and points, as groups, dimensions and
//! coordinates. An option of opening: names and dimensions differ from those that netCDF-C shows.
//!
//! | module | holds |
//! |---|---|
//! | `odl`, `structure` | the text, and what it says of the file |
//! | `spheroid`, `projection`, `grid`, `computed` | the coordinates of the cells of a grid |
//! | `members`, `tables` | the Vgroups of grids, swaths and points, and the tables in them |
//! | `view` | the model that is made of all these |
//! | `driver` | the driver that shows it |

mod computed;
mod driver;
mod grid;
mod members;
mod odl;
mod projection;
mod spheroid;
mod structure;
mod tables;
mod view;

pub(crate) use driver::wrap;
