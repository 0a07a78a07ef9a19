//! "Data Object Header Messages" (IV.A.2) that more than one part of the crate reads.

pub mod dataspace;
pub mod datatype;
pub mod pipeline;
