//! Chunked arrays: an index locates the chunks, and filters may have encoded them.
//!
//! Chunks that can be written have a [`ChunkStore`], which allocates space for each encoded chunk. A chunk of which a part was
//! written stays decoded in memory ("pending") until it is complete, and is encoded once.
//!
//! The files import each other in one direction only: `index`, `decoded`, `dim_chunks` and `fetch_plan` know none of the others;
//! `cache` and `rows` know these; `encode` and `pending` know `cache` too, and `pending` knows `encode`; `layout` joins them, `shifted` wraps its stores.
//! `read`, `write` and `copy` share `locate`, `objects`, `optimistic`, `selected` and `stored`; `coverage` uses the index alone.

mod cache;
mod changes;
mod copy;
mod coverage;
mod decoded;
mod dim_chunks;
mod encode;
mod fetch_plan;
mod index;
mod layout;
mod locate;
mod objects;
mod optimistic;
mod pending;
mod read;
mod rows;
mod selected;
mod shifted;
mod stored;
mod stored_boxes;
mod write;

pub use changes::Changes;
pub use copy::copy_chunks;
pub use index::{ChunkBatch, ChunkIndex, ChunkLocation, ChunkObjects, ChunkStore, IndexSnapshot};
pub use layout::Chunks;
pub(crate) use read::read;
pub use stored_boxes::count_in_box;
pub use write::flush;
pub(crate) use write::write;
