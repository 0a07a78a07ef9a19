//! The Python package: datasets as NumPy arrays.
//!
//! This crate is the module `ferrocdf._ferrocdf`, which holds open files (`open_file`), their groups and variables, and moves data
//! between files and NumPy arrays (`read`, `write`). What needs no speed is written in Python, in the folder `python/ferrocdf`.
//!
//! Three rules hold everywhere. The interpreter is detached before a file is locked or its data touched, so other Python threads go on
//! meanwhile, and no thread that waits for a lock of a file keeps others from the interpreter. No Python object gets into the engine, but
//! for the file objects and stores that datasets are read from (`python_file`, `python_store`). Objects hold ids of the model, not references
//! into a file.

mod attributes;
mod data_types;
mod errors;
mod group;
mod handles;
mod indexing;
mod memory;
mod open;
mod open_file;
mod parts;
mod python_file;
mod python_store;
mod read;
mod references;
mod settings;
mod tools;
mod values;
mod variable;
mod write;

use pyo3::prelude::*;

/// The native part of the package `ferrocdf`. Import `ferrocdf` instead.
#[pymodule(gil_used = false)]
mod _ferrocdf {
    #[pymodule_export]
    use super::group::Group;
    #[pymodule_export]
    use super::open::{append, create, open};
    #[pymodule_export]
    use super::open_file::OpenFile;
    #[pymodule_export]
    use super::parts::{PartWriter, join_parts, part_key};
    #[pymodule_export]
    use super::references::{open_references, references_in_store, write_references};
    #[pymodule_export]
    use super::settings::configure;
    #[pymodule_export]
    use super::tools::{copy, dump, dump_as_reference, facts, run_tool};
    #[pymodule_export]
    use super::variable::Variable;
}
