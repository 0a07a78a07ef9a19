//! Blocks of metadata that were made and are to be written: what the builders of heaps, trees and indexes give.
//!
//! Each is one entry of the reference's metadata cache, and has the bytes that such an entry has, so that it can go into a
//! cache image as it is.

use ferrocdf_bytes::Result;

use crate::Address;

/// Gives a place in the file for so many bytes.
pub(crate) type Alloc<'a> = dyn FnMut(u64) -> Result<Address> + 'a;

/// A block of metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Where it belongs. The pages of an array lie inside of what was taken for the block in front of them.
    pub at: Address,
    /// What it is.
    pub kind: BlockKind,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BlockKind {
    /// A node of a version 1 B-tree.
    Tree1Node,
    /// A collection of the global heap.
    GlobalHeap,
    /// The first chunk of an object header.
    Header,
    /// Another chunk of an object header.
    HeaderChunk,
    /// The header of a version 2 B-tree.
    Tree2Header,
    /// An internal node of a version 2 B-tree.
    Tree2Internal,
    /// A leaf of a version 2 B-tree.
    Tree2Leaf,
    /// The header of a fractal heap.
    FractalHeader,
    /// A direct block of a fractal heap.
    FractalDirect,
    /// An indirect block of a fractal heap.
    FractalIndirect,
    /// The header of an extensible array.
    ExtensibleHeader,
    /// The index block of an extensible array.
    ExtensibleIndex,
    /// A secondary block of an extensible array.
    ExtensibleSecondary,
    /// A data block of an extensible array, without its pages.
    ExtensibleData,
    /// A page of a data block of an extensible array.
    ExtensiblePage,
    /// The header of a fixed array.
    FixedHeader,
    /// The data block of a fixed array, without its pages.
    FixedData,
    /// A page of the data block of a fixed array.
    FixedPage,
    /// A huge object of a fractal heap, which no cache holds.
    Huge,
}

impl BlockKind {
    /// The number of its type in a metadata cache image ("Type" of an entry), which is that of the reference's cache;
    /// `None` for what the cache does not hold.
    pub fn cache_type(self) -> Option<u8> {
        match self {
            BlockKind::Tree1Node => Some(0),
            BlockKind::GlobalHeap => Some(4),
            BlockKind::Header => Some(5),
            BlockKind::HeaderChunk => Some(6),
            BlockKind::Tree2Header => Some(7),
            BlockKind::Tree2Internal => Some(8),
            BlockKind::Tree2Leaf => Some(9),
            BlockKind::FractalHeader => Some(10),
            BlockKind::FractalDirect => Some(11),
            BlockKind::FractalIndirect => Some(12),
            BlockKind::ExtensibleHeader => Some(17),
            BlockKind::ExtensibleIndex => Some(18),
            BlockKind::ExtensibleSecondary => Some(19),
            BlockKind::ExtensibleData => Some(20),
            BlockKind::ExtensiblePage => Some(21),
            BlockKind::FixedHeader => Some(22),
            BlockKind::FixedData => Some(23),
            BlockKind::FixedPage => Some(24),
            BlockKind::Huge => None,
        }
    }
}

/// A file of nothing but blocks, for tests: places are given one behind the other.
#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use ferrocdf_store::MemoryBlob;

    use super::*;
    use crate::{Sizes, Source};

    /// What has been taken.
    pub struct BlockSpace {
        end: u64,
    }

    impl BlockSpace {
        pub fn new() -> BlockSpace {
            // Address 0 would look right by chance.
            BlockSpace { end: 64 }
        }

        pub fn take(&mut self, len: u64) -> Result<Address> {
            let at = Address(self.end);
            self.end += len;
            Ok(at)
        }

        /// The file with the blocks, which neither overlap nor lie where nothing was taken. Other bytes are 0xAA.
        pub fn file(&self, blocks: &[Block], sizes: Sizes) -> Source {
            let mut bytes = vec![0xaa; self.end as usize];
            let mut spans: Vec<_> = blocks.iter().map(|b| (b.at.0, b.at.0 + b.bytes.len() as u64)).collect();
            spans.sort_unstable();
            assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{spans:?}");
            assert!(spans.iter().all(|span| span.0 >= 64 && span.1 <= self.end), "{spans:?} {}", self.end);
            for block in blocks {
                bytes[block.at.0 as usize..][..block.bytes.len()].copy_from_slice(&block.bytes);
            }
            Source { blob: Arc::new(MemoryBlob::new(bytes)), base: 0, sizes, codecs: Default::default() }
        }
    }
}
