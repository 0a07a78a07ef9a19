//! The tools, run as functions and as they are called.

mod ferrocdf;
mod info;
mod join;
mod nccopy;
mod nccopy_sparse;
mod ncdump;
mod ncgen;
mod other_containers;
mod plugins;
mod refs;
mod remote;
mod repack;
mod round_trip;
mod target;
mod web_server;
mod zarr_copies;
mod zarr_damaged;
mod zarr_fidelity;
mod zarr_forms;
mod zarr_kept;
mod zarr_unreadable;
