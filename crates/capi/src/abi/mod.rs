//! Common parts of the interface to C: constants of the headers, pointers, results, memory, and `fork`.

pub(crate) mod answer;
pub(crate) mod constants;
pub(crate) mod forks;
pub(crate) mod memory;
pub(crate) mod pointers;
pub(crate) mod transfer;
