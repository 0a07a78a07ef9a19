//! The tools `ncdump`, `ncgen`, `nccopy` and `ferrocdf` as functions; the programs are a few lines each.
#![forbid(unsafe_code)]

mod date;
pub mod getopt;
pub mod info;
mod input;
mod join;
pub mod kinds;
pub mod nccopy;
pub mod ncdump;
pub mod ncgen;
pub mod plugins;
pub mod program;
mod progress;
pub mod refs;
pub mod repack;
mod says;
mod sources;
pub mod structure;
mod target;
mod temporary;
pub mod umbrella;
mod version;
pub mod zarr_conformance;
mod zarr_readers;
