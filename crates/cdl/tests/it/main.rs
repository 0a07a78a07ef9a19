//! The public face of the crate: CDL as users write it, and as it is printed from models made in memory.

mod memory;
mod parse;
mod parse_data;
mod parse_faults;
mod print;
mod rich;
