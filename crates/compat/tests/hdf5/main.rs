//! Files made at random by others, read by all: `cargo xtask models`.
//!
//! h5py and netCDF4-python make them, h5py lists what is in them, and so do we; the netCDF-4 ones are printed by the
//! reference's `ncdump` too. `FERROCDF_MODELS` says how many files of each kind to make, and from which seed on after a
//! colon; without it there are few.

mod alternate;
mod attribute_order;
mod cut_off;
#[path = "../it/filter_stories.rs"]
mod filter_stories;
mod filters;
mod killed;
mod large;
mod made_up_dims;
mod many_chunks;
mod models;
#[allow(dead_code, reason = "another test binary uses the rest")]
#[path = "../it/nccopy_tool.rs"]
mod nccopy_tool;
#[allow(dead_code, reason = "another test binary uses the rest")]
#[path = "../it/ncdump_tool.rs"]
mod ncdump_tool;
#[allow(dead_code, reason = "another test binary uses the rest")]
#[path = "../it/ncgen_tool.rs"]
mod ncgen_tool;
mod sparse;
mod tools;
mod written;
