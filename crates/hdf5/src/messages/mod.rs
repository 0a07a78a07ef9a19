//! Header messages (specification, section IV.A.2): each a value made of a slice.

pub mod dataspace;
pub mod datatype;
pub mod external;
pub mod fill;
pub mod layout;
pub mod pipeline;
pub(crate) mod small;
pub mod space;

pub use dataspace::{Dataspace, SpaceKind};
pub use datatype::{Class, Datatype, HeapId};
pub use external::{ExternalFiles, ExternalSlot};
pub use fill::{Fill, FillMessage};
pub use layout::{ChunkIndex, ChunkedLayout, DataLayout};
pub use space::SpaceInfo;
