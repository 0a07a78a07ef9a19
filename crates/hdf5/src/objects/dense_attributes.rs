//! Attributes that are not in the header of their object: their index by name, and the heap with their messages.

use std::sync::OnceLock;

use ferrocdf_bytes::Result;

use crate::heaps::FractalHeap;
use crate::trees::btree2::BTree2;
use crate::wire::bad;
use crate::{Address, Source};

/// "Attribute Name" records of the index (III.A.2, type 8).
const BY_NAME: u8 = 8;

/// The attributes of an object that are not in its header. The heap is opened when an attribute is there: most questions
/// are about one that is not.
#[derive(Debug)]
pub(super) struct DenseAttributes {
    /// The index by name.
    pub tree: BTree2,
    heap_at: Address,
    heap: OnceLock<FractalHeap>,
}

impl DenseAttributes {
    /// Opens the index by name; the heap is opened later.
    pub fn open(source: &Source, by_name: Address, heap_at: Address) -> Result<DenseAttributes> {
        let tree = BTree2::open(source, by_name)?;
        match tree.record_type() {
            BY_NAME => Ok(DenseAttributes { tree, heap_at, heap: OnceLock::new() }),
            other => Err(bad(format!("the B-tree of attributes at {by_name} has records of type {other}"))),
        }
    }

    /// The heap with the messages.
    pub fn heap(&self, source: &Source) -> Result<&FractalHeap> {
        if let Some(heap) = self.heap.get() {
            return Ok(heap);
        }
        let heap = FractalHeap::open(source, self.heap_at)?;
        Ok(self.heap.get_or_init(|| heap))
    }
}
