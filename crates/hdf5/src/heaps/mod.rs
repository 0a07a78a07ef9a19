//! Heaps: names of symbol table groups (III.D), elements of variable length (III.E), and dense links, attributes and
//! shared messages (III.G).

pub(crate) mod fractal;
pub(crate) mod free_space;
pub(crate) mod global;
pub(crate) mod local;

pub use fractal::FractalHeap;
pub(crate) use fractal::NewHeap;
pub(crate) use global::GlobalHeap;
pub use local::LocalHeap;

use std::ops::{Deref, Range};
use std::sync::Arc;

/// The bytes of an object of a heap, in a block that is kept with it.
#[derive(Clone, Debug)]
pub struct HeapObject {
    block: Arc<Vec<u8>>,
    /// Where it is in the block.
    range: Range<usize>,
}

impl HeapObject {
    /// An object of its own.
    pub(crate) fn of(bytes: Vec<u8>) -> HeapObject {
        let range = 0..bytes.len();
        HeapObject { block: Arc::new(bytes), range }
    }
}

impl Deref for HeapObject {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.block[self.range.clone()]
    }
}
