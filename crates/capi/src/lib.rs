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

mod any_types;
mod attribute_values;
mod attributes;
mod attributes_hidden;
mod attributes_netcdf4;
mod aux_texts;
mod boundary;
mod caches;
mod caches_ints;
mod chunk_caches;
mod chunk_shapes;
mod compound_parts;
mod constants;
mod copy_var;
mod data;
mod data_checks;
mod data_netcdf4;
mod data_table;
mod dimensions;
mod dispatch;
mod dump;
mod entities;
mod few;
mod file_table;
mod files;
mod filter_text;
mod filters;
mod forks;
mod forward;
mod groups;
mod inquire;
mod instances;
mod library;
mod memory;
mod memory_calls;
mod memory_files;
mod names;
mod number_bytes;
mod open_file;
mod open_files;
#[cfg(test)]
mod other_containers;
mod parallel;
mod paths;
mod plugin_path;
mod rc;
#[cfg(all(test, feature = "remote"))]
mod remote_files;
mod storage;
mod storage_wishes;
mod transfer;
mod trees;
mod type_numbers;
mod types;
mod user_formats;
mod user_types;
mod v2;
mod v2_data;
mod v2_entities;
mod variables;
#[cfg(test)]
mod zarr_files;
