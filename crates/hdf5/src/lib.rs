//! The HDF5 file format, read with no C library inside. Folders follow the chapters of the HDF5 File Format Specification.
#![forbid(unsafe_code)]

mod cache_image;
mod chunks;
mod file;
pub mod groups;
mod heaps;
pub mod messages;
pub mod objects;
mod sohm;
mod source;
mod superblock;
mod trees;
mod wire;

pub use file::{File, Neighbours, OpenOptions};
pub use groups::{Charset, Link, LinkTarget, Links};
pub use objects::attribute::{Attribute, Attributes, Order};
pub use objects::header::{Message, Object, ObjectKind, Times, kind};
pub use source::{Address, Sizes, Source};
pub use superblock::Superblock;
