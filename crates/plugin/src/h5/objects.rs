//! Objects to which handles refer.

use ferrocdf_codec::{ElementType, Step};

/// Object to which a handle refers.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    /// Creation property list of a dataset.
    List(Definition),
    /// Datatype.
    Type(ElementType),
    /// Dataspace.
    Space(Space),
}

/// Definition of a dataset that is being created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Filters in order.
    pub steps: Vec<Step>,
    /// Shape of a chunk.
    pub chunk: Vec<u64>,
}

/// Dataspace as filters see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    /// Length of each dimension, slowest first.
    pub shape: Vec<u64>,
}
