//! Arrays made of parts of other arrays.

use std::fmt::Debug;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::Blob;

use crate::{Array, Selection};

/// An array made of parts of other arrays: an HDF5 virtual dataset.
#[derive(Clone, Debug)]
pub struct Mosaic {
    /// The parts. Where two overlap, the later one is seen.
    pub parts: Arc<[Part]>,
    /// The bytes of one element, as this array has it, that is in no part; zeros if it is empty.
    pub fill: Arc<[u8]>,
}

/// A part of a mosaic.
#[derive(Clone, Debug)]
pub struct Part {
    /// The elements of the mosaic that it gives.
    pub here: Selection,
    /// The elements of the source that it takes: as many, in the same order. Dimensions of count 1 aside, the counts are
    /// the same as those of `here`, so that a piece of one is a piece of the other.
    pub there: Selection,
    /// Where they are taken from.
    pub source: Arc<dyn Source>,
}

/// An array that a mosaic takes parts of.
pub trait Source: Debug + Send + Sync {
    /// Opens it; called when a part of it is first needed, and again each time, so it should remember. `None` says that it
    /// is not there: its elements are fill values. Elements of `there` outside its shape are fill values too.
    fn open(&self) -> Result<Option<(Arc<dyn Blob>, Arc<Array>)>>;
}
