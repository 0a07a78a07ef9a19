//! What the comparison with the reference implementation stands on.
//!
//! A test writes a [`script`] of netCDF calls; [`Reference`] runs it on libnetcdf through a small C program, and
//! [`script::run`] on ferrocdf. Both give a transcript, one line for each call with its code and what it read, so that
//! "the same" is one comparison of text. The reference is a need, not an option: without it these tests fail.
#![forbid(unsafe_code)]

mod reference;

pub mod script;

pub use reference::{Reference, Transcript};
