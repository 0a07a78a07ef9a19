//! The C interface of netCDF (`netcdf.h`) over ferrocdf: the functions, for the library that takes the place of
//! `libnetcdf.so`.
//!
//! Every function answers with a code of `netcdf.h` and checks its arguments in the order in which the reference does,
//! so that the same mistake gives the same code. Any thread may call any function at any time, on any file. A panic
//! never reaches the caller: it becomes `NC_EINTERNAL`. `abi` holds the ways across: pointers, names, errors.
//!
//! Where the reference's rules are those of the classic formats alone, they are marked so; other formats answer by the
//! model's own rules.
//!
//! # Safety
//! A pointer that a function takes is of a type that carries its contract, or the function says what the pointer points to:
//! `abi::pointers` has the types, and what holds for all of them.
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(clippy::undocumented_unsafe_blocks)]

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
