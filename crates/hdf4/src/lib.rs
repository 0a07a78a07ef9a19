//! The HDF4 file format, to be read.
//!
//! This crate knows no netCDF. A [`File`] is a list of data descriptors: each object has a tag (its kind) and a reference number,
//! and its [`Element`] is a range of bytes, or a special element: linked blocks, another file, compressed bytes, chunks.
//! [`Vgroup`]s are lists of objects, [`Vdata`]s are tables, and [`sd`] has the Scientific Datasets, which become arrays of the engine.
//! Sources: "HDF Specification and Developer's Guide", version 4.2, and the behaviour of the HDF4 library where the guide is silent.
//!
//! The decision that shaped it: opening reads the descriptors and nothing else. What several objects need is read in rounds
//! ([`File::for_each`]), so a slow source is waited for once for all of them.
//!
//! Not done: writing; rasters that are compressed as JPEG.
#![forbid(unsafe_code)]

mod budget;
mod chunks;
mod decoded;
mod descriptors;
mod element;
mod file;
mod kept;
mod large_chunks;
mod lazy;
mod number;
mod pieces;
pub mod sd;
mod special;
pub mod tags;
mod vdata;
mod vgroup;
mod wire;

pub use chunks::ChunkedElement;
pub use descriptors::Descriptor;
pub use element::{Element, Storage};
pub use file::{File, OpenNamed, SIGNATURE};
pub use number::NumberType;
pub use pieces::{Piece, Place};
pub use special::Compression;
pub use vdata::{Field, Vdata, VdataAttribute};
pub use vgroup::Vgroup;
