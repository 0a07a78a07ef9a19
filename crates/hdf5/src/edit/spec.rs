//! Descriptions of datasets and attributes that are to be made.

use ferrocdf_codec::Step;

use super::Node;
use crate::messages::{Dataspace, Datatype};

/// The datatype of a new dataset or attribute.
#[derive(Clone, Debug)]
pub enum TypeRef {
    /// Its own.
    Inline(Datatype),
    /// A committed one.
    Committed(Node),
}

/// How the elements of a new dataset are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewLayout {
    /// In its header; less than 64 KiB. See [`Editor::write_compact`].
    Compact,
    /// Side by side.
    Contiguous,
    /// In chunks of this shape, a length for each dimension, none 0.
    Chunked(Vec<u64>),
}

/// When fill values are written ("Fill Value Write Time").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillTime {
    /// When space is taken.
    Allocation,
    /// Never.
    Never,
    /// When space is taken, if there is a value.
    #[default]
    IfSet,
}

/// When space is taken ("Space Allocation Time").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocTime {
    /// What is usual for the layout: early for compact, late for contiguous, by and by for chunked ones.
    #[default]
    Usual,
    /// At creation.
    Early,
    /// At the first write.
    Late,
    /// At the first write of each chunk.
    Incremental,
}

/// A dataset to be made.
#[derive(Clone, Debug)]
pub struct DatasetSpec {
    /// What its elements are.
    pub datatype: TypeRef,
    /// Its shape, and what that may grow to.
    pub space: Dataspace,
    /// How it is stored.
    pub layout: NewLayout,
    /// What packs its chunks, in the order of writing.
    pub filters: Vec<Step>,
    /// The fill value as stored, the bytes of one element; zeros if `None`.
    pub fill: Option<Vec<u8>>,
    /// When it is written.
    pub fill_time: FillTime,
    /// When space is taken.
    pub alloc_time: AllocTime,
    /// Whether the order in which attributes are made is kept and indexed.
    pub attribute_order: bool,
}

/// An attribute to be set.
#[derive(Clone, Debug)]
pub struct AttributeSpec {
    /// Its name.
    pub name: String,
    /// What its elements are.
    pub datatype: TypeRef,
    /// Its shape.
    pub space: Dataspace,
    /// The elements as stored: sequences as places in the global heap, references as addresses.
    pub data: Vec<u8>,
}
