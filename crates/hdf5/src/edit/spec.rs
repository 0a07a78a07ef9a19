//! Descriptions of datasets and attributes that are to be made.

use ferrocdf_codec::Step;

use super::Node;
pub use crate::dataset::virtual_layout::mapping::VirtualBox;
use crate::messages::{Dataspace, Datatype};

/// The datatype of a new dataset or attribute.
#[derive(Clone, Debug)]
pub enum TypeRef {
    /// Its own.
    Inline(Datatype),
    /// A committed one.
    Committed(Node),
}

/// The storage of the elements of a new dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewLayout {
    /// In the object header; less than 64 KiB. See [`Editor::write_compact`](super::Editor::write_compact).
    Compact,
    /// In one range of the file.
    Contiguous,
    /// In chunks of this shape, a length for each dimension, none 0.
    Chunked(Vec<u64>),
    /// In datasets of other files. Elements outside the boxes have the fill value.
    Virtual(Vec<VirtualBox>),
}

/// The time at which fill values are written ("Fill Value Write Time").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FillTime {
    /// When space is allocated.
    Allocation,
    /// Never.
    Never,
    /// When space is allocated, if there is a value.
    #[default]
    IfSet,
}

/// The time at which space is allocated ("Space Allocation Time").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocTime {
    /// The default of the layout: early for compact, late for contiguous, incremental for chunked ones.
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
    /// The type of its elements.
    pub datatype: TypeRef,
    /// Its shape and its maximum shape.
    pub space: Dataspace,
    /// Its storage.
    pub layout: NewLayout,
    /// The filters of its chunks, in the order of encoding.
    pub filters: Vec<Step>,
    /// The fill value as stored, the bytes of one element; zeros if `None`.
    pub fill: Option<Vec<u8>>,
    /// The time at which the fill value is written.
    pub fill_time: FillTime,
    /// The time at which space is allocated.
    pub alloc_time: AllocTime,
    /// True if the creation order of attributes is tracked and indexed.
    pub attribute_order: bool,
}

/// An attribute to be set.
#[derive(Clone, Debug)]
pub struct AttributeSpec {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub datatype: TypeRef,
    /// Its shape.
    pub space: Dataspace,
    /// The elements as stored: variable-length ones as ids in the global heap, references as addresses.
    pub data: Vec<u8>,
}
