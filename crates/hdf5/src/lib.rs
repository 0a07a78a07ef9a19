//! The HDF5 file format, read, made and edited with no C library inside. Folders follow the chapters of the HDF5 File
//! Format Specification.
#![forbid(unsafe_code)]

#[cfg(test)]
mod assembled;
mod block;
mod cache_image;
mod chunks;
mod dataset;
mod dump;
pub mod edit;
mod elements;
mod external;
mod fields;
mod file;
pub mod groups;
mod heaps;
pub mod messages;
mod numbers;
pub mod objects;
#[cfg(test)]
mod reencoded;
pub mod selection;
mod sohm;
mod source;
mod superblock;
mod trees;
pub mod values;
mod wire;

pub use dataset::{ChunkCounts, Dataset, Lack, MissingSource, Placed};
pub use dump::extents::{DatasetExtents, ElementExtent, FileExtents, extents};
pub use dump::structure;
pub use elements::{ObjectReference, VariableElement};
pub use ferrocdf_codec::Step;
pub use file::{File, OpenOptions, Resolver};
pub use groups::{Charset, Link, LinkTarget, Links};
pub use heaps::HeapObject;
pub use numbers::Number;
pub use objects::attribute::{Attribute, Attributes, Order};
pub use objects::committed_datatype;
pub use objects::header::HeaderMessage;
pub use objects::kind;
pub use objects::object::{Object, ObjectKind};
pub use objects::prefix::Times;
pub use source::{Address, Sizes, Source};
pub use superblock::{SIGNATURE, Superblock, is_hdf5};
pub use values::{Value, Values};
