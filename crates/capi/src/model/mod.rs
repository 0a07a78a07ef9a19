//! What ids, names and numbers of C stand for in a model.

pub(crate) mod entities;
pub(crate) mod names;
pub(crate) mod type_numbers;
