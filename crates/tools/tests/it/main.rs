//! The tools, run as functions and as they are called.

mod ncdump;
mod ncgen;
