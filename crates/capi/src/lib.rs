//! The C interface of netCDF (`netcdf.h`) over ferrocdf: the functions, for the library that takes the place of
//! `libnetcdf.so`.
//!
//! Every function answers with a code of `netcdf.h` and checks its arguments in the order in which the reference does,
//! so that the same mistake gives the same code. Any thread may call any function at any time, on any file. A panic
//! never reaches the caller: it becomes `NC_EINTERNAL`. `boundary` holds the ways across: pointers, names, errors.
//!
//! Where the reference's rules are those of the classic formats alone, they are marked so; other formats answer by the
//! model's own rules.
//!
//! # Safety
//! All functions of the interface are `unsafe` in the way all of C is: pointers that are not null must point to what the
//! documentation of netCDF says, names must end in a zero byte, and memory for values must be as large as the request.
#![deny(unsafe_op_in_unsafe_fn)]
// The contract of every function is the one above.
#![allow(clippy::missing_safety_doc)]

mod abi;
mod attributes;
mod auxiliary;
mod data;
mod dimensions;
mod files;
mod forward;
mod given_away;
mod groups;
mod library;
mod model;
mod open;
mod storage;
#[cfg(test)]
mod tests;
mod types;
mod user_formats;
mod v2;
mod values;
mod variables;
