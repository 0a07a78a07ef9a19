//! The Zarr format, versions 2 and 3: arrays in chunks, in stores of objects.
//!
//! This crate knows no netCDF. [`Hierarchy`] finds groups and arrays, [`ArrayMetadata`] is what is known of an array and makes the
//! array of the engine from it, or reads [`Elements`] that have no fixed size. Sources: the Zarr specifications of version 2 and of
//! version 3 with its codecs and registered extensions, and numcodecs.

mod array;
mod blocks;
mod chunk_puts;
mod codecs;
mod conflicts;
mod data_type;
mod elements;
mod hierarchy;
mod json;
mod kept;
mod metadata;
mod shards;
mod whole_objects;
mod whole_shards;
mod written_chunks;
mod written_elements;

pub use array::StoredObjects;
pub use blocks::Block;
pub use chunk_puts::ChunkPuts;
pub use codecs::{ElementForm, Pipeline, Shards};
pub use conflicts::Conflicts;
pub use data_type::{DataType, Element, Field, FillValue, TimeUnit};
pub use elements::{Elements, without_zeros};
pub use hierarchy::{ChildNames, Content, Hierarchy, Node};
pub use json::{Json, Members};
pub use metadata::{ArrayMetadata, ChunkKeys, NewArray, Version, group, with_member, with_shape, within};
pub use whole_shards::MAX_SHARD;
pub use written_chunks::WriteOptions;
pub use written_elements::WrittenElements;
