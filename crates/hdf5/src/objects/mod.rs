//! "Data Objects" (IV): object headers, their messages, and attributes.

pub mod attribute;
pub mod header;
mod shared;
