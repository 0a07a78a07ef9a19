//! "Fractal Heap Direct Block", "Fractal Heap Indirect Block", identifiers of objects, and records of huge objects (III.G).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use super::header::FractalHeapShape;
use crate::fields::Fields;
use crate::wire::CHECKSUM;
use crate::{Address, Sizes};

/// Signatures of blocks.
pub(crate) const DIRECT: &[u8; 4] = b"FHDB";
pub(crate) const INDIRECT: &[u8; 4] = b"FHIB";

/// What direct and indirect blocks begin with.
pub(crate) struct BlockHead {
    pub signature: &'static [u8; 4],
    sizes: Sizes,
    heap: Address,
    offset_width: usize,
    offset: u64,
}

impl Record for BlockHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (mut heap, mut offset) = (self.heap, self.offset);
        c.signature(self.signature)?;
        c.version(0..=0, &mut 0)?;
        c.defined("heap header address", self.sizes, &mut heap)?;
        // It has up to 8 bytes.
        c.uint("block offset", self.offset_width, &mut offset)?;
        if (heap, offset) != (self.heap, self.offset) {
            return Err(c.wrong("the block is another heap's, or of another place in this"));
        }
        Ok(())
    }
}

impl BlockHead {
    /// The head of the block of a heap that begins at an offset in it.
    pub fn new(header: &FractalHeapShape, signature: &'static [u8; 4], offset: u64) -> BlockHead {
        let (sizes, heap, offset_width) = (header.sizes, header.at, header.offset_width());
        BlockHead { signature, sizes, heap, offset_width, offset }
    }
}

/// Bytes of an indirect block with so many rows.
pub(crate) fn indirect_len(header: &FractalHeapShape, rows: u64, is_filtered: bool) -> u64 {
    let (direct, all) = header.children(rows);
    let pointers = |count: u64, len: usize| count.saturating_mul(len as u64);
    let to_direct = pointers(direct, FractalHeapChildPointer::len(header.sizes, is_filtered));
    let to_indirect = pointers(all.saturating_sub(direct), FractalHeapChildPointer::len(header.sizes, false));
    let own = header.block_head().saturating_add(CHECKSUM) as u64;
    to_direct.saturating_add(to_indirect).saturating_add(own)
}

/// What an indirect block has for each child.
pub(crate) struct FractalHeapChildPointer {
    pub sizes: Sizes,
    pub at: Option<Address>,
    /// Stored bytes and filter mask of a direct block of a filtered heap.
    pub filtered: Option<(u64, u32)>,
}

impl Record for FractalHeapChildPointer {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.address("child block address", self.sizes, &mut self.at)?;
        if let Some((len, mask)) = &mut self.filtered {
            c.length("size of filtered direct block", self.sizes, len)?;
            c.int("filter mask for direct block", mask)?;
        }
        Ok(())
    }
}

impl FractalHeapChildPointer {
    /// Bytes of a pointer.
    pub fn len(sizes: Sizes, is_filtered: bool) -> usize {
        let filtered = if is_filtered { sizes.length.saturating_add(4) } else { 0 };
        sizes.offset.saturating_add(filtered)
    }
}

/// "Fractal Heap ID for Managed Objects" behind its first byte.
pub(crate) struct ManagedId {
    pub offset_width: usize,
    pub length_width: usize,
    pub offset: u64,
    pub len: u64,
}

impl Record for ManagedId {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("offset", self.offset_width, &mut self.offset)?;
        c.uint("length", self.length_width, &mut self.len)
    }
}

/// Where a huge object is: in an identifier that has room for it, or in a record of the version 2 B-tree of huge objects (types
/// 1 to 4).
pub(crate) struct HugeObject {
    pub sizes: Sizes,
    pub at: Address,
    /// Stored bytes.
    pub len: u64,
    /// Filter mask and bytes without filters, in a filtered heap.
    pub filtered: Option<(u32, u64)>,
    /// "Huge Object ID", in records of types 1 and 2.
    pub number: Option<u64>,
}

impl Record for HugeObject {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        c.defined("huge object address", sizes, &mut self.at)?;
        c.length("huge object length", sizes, &mut self.len)?;
        if let Some((mask, plain)) = &mut self.filtered {
            c.int("filter mask", mask)?;
            c.length("huge object memory size", sizes, plain)?;
        }
        if let Some(number) = &mut self.number {
            c.length("huge object ID", sizes, number)?;
        }
        Ok(())
    }
}

impl HugeObject {
    /// A place to be read.
    pub fn unread(sizes: Sizes, is_filtered: bool, is_numbered: bool) -> HugeObject {
        let (filtered, number) = (is_filtered.then_some((0, 0)), is_numbered.then_some(0));
        HugeObject { sizes, at: Address(0), len: 0, filtered, number }
    }
}
