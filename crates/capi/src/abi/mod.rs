//! What all calls share with C: numbers of the headers, pointers, answers, memory, and `fork`.

pub(crate) mod answer;
pub(crate) mod constants;
pub(crate) mod forks;
pub(crate) mod memory;
pub(crate) mod pointers;
pub(crate) mod transfer;
