//! What the comparison with the reference implementation stands on.
//!
//! A test writes a [`script`] of netCDF calls; [`Reference`] runs it on libnetcdf through a small C program, and
//! [`script::run`] on ferrocdf. Both give a transcript, one line for each call with its code and what it read, so that
//! "the same" is one comparison of text. [`both`] loads the reference and our C library into one process and runs the
//! same calls through each. [`listing`] tells what is in an HDF5 file, for comparison with h5py. The reference is a need, not an option: without it these tests fail.
#![deny(unsafe_code)]
// The arguments of `call!` are those of a C function: all of it is unsafe, and its users are tests.
#![allow(clippy::macro_metavars_in_unsafe)]

// Calls across the C interface are unsafe by nature.
#[allow(unsafe_code)]
pub mod ask;
#[allow(unsafe_code)]
pub mod both;
pub mod hdf4;
pub mod listing;
pub mod python;
mod reference;
pub mod script;
pub mod servers;

pub use reference::{Reference, Transcript};

use std::process::Command;

/// Returns a command that runs the cargo which runs these tests, without the variables that it sets for the programs of a package: some build
/// scripts (that of `ring`) run again where these are others, and a third of the workspace is built anew.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    cargo
}
