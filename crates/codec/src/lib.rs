//! Filters: what packs and unpacks blocks of data, and chains of them.
#![forbid(unsafe_code)]

mod chain;
mod filter;

pub use chain::{Chain, Step};
pub use filter::{Filter, built_in};
