//! Programs that others wrote, on our C library.
//!
//! `cargo xtask clients` makes what these tests need: an installed ferrocdf in the folder that `FERROCDF_PREFIX` names,
//! and the source of the reference in the one that `FERROCDF_REFERENCE` names.

mod our_filters;
mod plugins;
mod programs;
mod shell;
mod standard_filters;
mod stress;
mod suite;

use std::path::PathBuf;

/// A folder that the task named.
fn folder(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask clients`"))
}
