//! Arrays of blocks, each of equal chunks: those with a rectilinear grid.

use std::sync::Arc;

use ferrocdf_array::{
    Array, Layout, OpenSource, PastEnd, Selection, SourceMapping, VirtualLayout, VirtualSource,
};
use ferrocdf_bytes::Result;
use ferrocdf_store::MemoryBlob;

use crate::metadata::ArrayMetadata;

/// A part of an array in which all chunks have one shape.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its first element.
    pub start: Vec<u64>,
    /// The part as an array.
    pub metadata: ArrayMetadata,
}

/// The array of a block as a source of the whole one.
#[derive(Debug)]
struct BlockSource(Arc<Array>);

impl VirtualSource for BlockSource {
    fn open(&self) -> Result<Option<OpenSource>> {
        // All chunks are in objects.
        Ok(Some((Arc::new(MemoryBlob::default()), self.0.clone())))
    }

    fn writable(&self) -> Option<&Array> {
        match &self.0.layout {
            Layout::Chunked(chunks) if chunks.is_writable() => Some(&self.0),
            _ => None,
        }
    }
}

impl ArrayMetadata {
    /// Returns the array of the blocks, each of which `open` makes of its metadata.
    pub(crate) fn array_of_blocks(&self, open: impl Fn(&ArrayMetadata) -> Result<Array>) -> Result<Array> {
        let mut mappings = vec![];
        let (mut stored, mut shape) = (None, self.shape.clone());
        for Block { start, metadata } in &self.blocks {
            let array = open(metadata)?;
            let mut start = start.clone();
            // Elements that are no numbers have one more dimension, of bytes.
            start.resize(array.shape.len(), 0);
            shape.extend_from_slice(array.shape.get(shape.len()..).unwrap_or_default());
            stored = Some(array.stored);
            mappings.push(SourceMapping {
                virtual_selection: Selection::slab(&start, &array.shape),
                source_selection: Selection::all(&array.shape),
                source: Arc::new(BlockSource(Arc::new(array))),
            });
        }
        let layout = Layout::Virtual(VirtualLayout { mappings: mappings.into(), fill: Arc::default() });
        let stored = stored.unwrap_or(ferrocdf_array::Stored::native(ferrocdf_array::Kind::U8));
        Ok(Array { shape, stored, decoder: None, layout, past_end: PastEnd::Error })
    }
}
