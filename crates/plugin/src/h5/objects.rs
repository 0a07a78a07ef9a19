//! What handles stand for.

use ferrocdf_codec::{ElementType, Step};

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    /// The property list of a dataset that is to be made.
    List(Definition),
    /// A type.
    Type(ElementType),
    /// A shape.
    Space(Space),
}

/// A dataset that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Its filters.
    pub steps: Vec<Step>,
    /// The shape of a chunk.
    pub chunk: Vec<u64>,
}

/// A shape as filters learn of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    /// Elements along each dimension; the slowest first.
    pub shape: Vec<u64>,
}
