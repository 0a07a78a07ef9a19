//! The tests of the array engine.

mod blocks;
mod conversion;
mod engine;
mod errors;
mod moving;
mod requests;
mod writing;
