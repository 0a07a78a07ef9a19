//! Lookup of model objects by ids, names and type numbers of C.

pub(crate) mod entities;
pub(crate) mod names;
pub(crate) mod type_numbers;
