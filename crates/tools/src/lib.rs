//! The tools `ncdump`, `ncgen` and `nccopy` as functions; the programs are a few lines each.
#![forbid(unsafe_code)]

pub mod getopt;
mod kinds;
pub mod nccopy;
pub mod ncdump;
mod progress;
mod version;
