//! The tools as they are called.

mod ncgen;
