//! The array engine: copies elements between a blob and memory, whatever the selection and the number types.
//!
//! An [`Array`] says where the elements of one variable lie and how they are stored; it knows no file format. [`read`],
//! [`write()`] and [`fill`] turn a [`Selection`] of it into few large transfers, convert the numbers, and use all cores
//! when there is enough to do. [`oracle`] does the same an element at a time and is the judge of the engine in tests.
//!
//! The decision that shaped it: a request is cut into tiles, each one window of the blob and one gapless piece of the
//! dense result. Splitting the result at tile borders hands disjoint slices to the workers, so that no unsafe code is
//! needed. Compressed chunks and virtual datasets will be further layouts.
#![forbid(unsafe_code)]

mod array;
mod convert;
mod kernels;
mod kind;
mod memory;
pub mod oracle;
mod pick;
mod plan;
mod pool;
mod read;
mod scratch;
mod selection;
mod write;

pub use array::{Array, Layout, PastEnd};
pub use convert::{Direction, convert};
pub use kind::{Element, Kind, Stored};
pub use memory::{Fit, In, Map, Out};
pub use read::read;
pub use selection::{Index, Selection};
pub use write::{fill, write};
