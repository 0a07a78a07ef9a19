//! The tests of the array engine.

mod conversion;
mod engine;
mod errors;
mod requests;
