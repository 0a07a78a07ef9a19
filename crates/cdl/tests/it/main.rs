//! The public face of the crate, through models made in memory.

mod memory;
mod print;
mod rich;
