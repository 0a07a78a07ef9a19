//! The C interface of netCDF (`netcdf.h`) over ferrocdf: the functions of the library that replaces `libnetcdf.so`.
//!
//! Every function returns a code of `netcdf.h`, and checks its arguments in the order of netCDF-C, so that the same
//! mistake gives the same code. Any thread may call any function at any time, on any file. A panic never reaches the
//! caller: it becomes `NC_EINTERNAL`. `abi` converts pointers, names and errors.
//!
//! Rules of netCDF-C that hold for the classic formats only are marked as such; other formats follow the rules of the
//! model.
//!
//! # Safety
//! The type of each pointer argument carries its contract, or the documentation of the function states what the pointer
//! refers to: `abi::pointers` has the types and their common contract.
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
