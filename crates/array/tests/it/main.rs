//! The tests of the array engine.

mod chunk_objects;
mod chunk_writing;
mod chunks;
mod conversion;
mod engine;
mod errors;
mod requests;
mod slow_sources;
mod volatile_index;
