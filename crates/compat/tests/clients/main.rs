//! Programs that others wrote, on our C library.
//!
//! `cargo xtask clients` makes what these tests need: an installed ferrocdf in the folder that `FERROCDF_PREFIX` names,
//! the sources of the reference and of its interfaces for Fortran and C++ in those that `FERROCDF_REFERENCE`,
//! `FERROCDF_FORTRAN` and `FERROCDF_CXX` name, and two releases of the `netcdf` crate in those of `FERROCDF_CRATE` and
//! `FERROCDF_CRATE_TESTED`. `FERROCDF_ZARR_PYTHON` names an interpreter with the newest zarr-python, `FERROCDF_ZARR2_PYTHON` one with
//! zarr-python 2.

mod bindings;
mod crates;
mod hdf4;
mod joins;
mod nczarr;
mod our_filters;
mod plugins;
mod programs;
mod references;
mod remote;
mod shell;
mod standard_filters;
mod stress;
mod suite;
mod zarr;
mod zarr_copies;
mod zarr_defects;
mod zarr_structures;
mod zarr_types;
mod zarr_writers;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder that the task named.
fn folder(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask clients`"))
}

/// Returns true if a program loads a netCDF library; panics if it finds one in other folders than these, with `search` as
/// the loader's search path. A program that finds the reference's library would pass its tests and show nothing.
fn loads_only(program: &Path, search: &OsStr, folders: &[&Path]) -> bool {
    let ldd = Command::new("ldd").arg(program).env("LD_LIBRARY_PATH", search).output().expect("there is ldd");
    let out = String::from_utf8_lossy(&ldd.stdout);
    let found = out.lines().filter_map(|line| line.trim().split_once(" => "));
    let found: Vec<(&str, &str)> = found.filter(|(name, _)| name.starts_with("libnetcdf")).collect();
    let is_ours = |path: &str| folders.iter().any(|folder| Path::new(path).starts_with(folder));
    assert!(
        ldd.status.success() && found.iter().all(|(_, path)| is_ours(path)),
        "{}: {out}",
        program.display()
    );
    found.iter().any(|(name, _)| name.starts_with("libnetcdf.so"))
}
