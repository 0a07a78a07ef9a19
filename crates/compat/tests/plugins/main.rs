//! Filter plugins that others wrote, loaded by us: `cargo xtask models`.
//!
//! A binary of its own, since the folders that plugins are looked for in are those of the whole process.

mod bombs;
mod codecs;
mod compiled;
mod debian;
mod files;
mod folders;
mod hdf5plugin;
#[path = "../it/nccopy_tool.rs"]
#[allow(dead_code, reason = "another test binary uses the rest")]
mod nccopy_tool;
#[path = "../it/ncdump_tool.rs"]
#[allow(dead_code, reason = "another test binary uses the rest")]
mod ncdump_tool;
mod zarr;
