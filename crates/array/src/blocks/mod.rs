//! Arrays cut into blocks: chunks that are found through an index and may be packed by filters.
//!
//! Blocks that can be written have a [`BlockStore`], which allocates space for each encoded block. A block of which a part was
//! written is kept decoded ("pending") until it is complete, and is packed once.
//!
//! The files import each other in one direction only: `index`, `decoded`, `hits` and `tries` know none of the others;
//! `cache` and `encode` know these; `pending` knows `cache` and `encode`; `layout` joins them; `read`, `write` and `copy`
//! stand on top.

mod cache;
mod copy;
mod coverage;
mod decoded;
mod encode;
mod fetch_plan;
mod hits;
mod index;
mod layout;
mod part;
mod pending;
mod places;
mod read;
mod selected;
mod stored;
mod tries;
mod write;

pub use copy::copy_blocks;
pub use index::{BlockIndex, BlockStore, LastLook, Place};
pub use layout::Blocks;
pub(crate) use read::read;
pub use write::flush;
pub(crate) use write::write;
