//! "Fractal Heap Header": the shape of a heap, and the identifiers that follow from it.
//!
//! Every number that later code shifts or divides by is checked here.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Error, Record, Result, ToUsize};
use ferrocdf_codec::Chain;

use crate::fields::{self, Fields};
use crate::messages::pipeline;
use crate::wire::{self, CHECKSUM, bad, width_of};
use crate::{Address, Sizes, Source};

pub const WHAT: &str = "fractal heap header";

/// "Fractal Heap Header" without what only filtered heaps have.
#[derive(Debug)]
pub(crate) struct FractalHeapHeader {
    pub sizes: Sizes,
    pub id_length: u64,
    pub filters_length: u64,
    pub flags: u64,
    pub max_managed: u64,
    pub next_huge: u64,
    pub huge_index: Option<Address>,
    pub free: u64,
    pub free_space: Option<Address>,
    pub managed_size: u64,
    pub allocated: u64,
    pub iterator: u64,
    pub managed_count: u64,
    pub huge_size: u64,
    pub huge_count: u64,
    pub tiny_size: u64,
    pub tiny_count: u64,
    pub table_width: u64,
    pub starting_block: u64,
    pub max_direct: u64,
    pub max_heap_size: u64,
    pub starting_rows: u64,
    pub root_block: Option<Address>,
    pub root_rows: u64,
}

impl Record for FractalHeapHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        let length = sizes.length;
        c.signature(b"FRHP")?;
        c.version(0..=0, &mut 0)?;
        c.uint("heap ID length", 2, &mut self.id_length)?;
        c.uint("I/O filters' encoded length", 2, &mut self.filters_length)?;
        c.uint("flags", 1, &mut self.flags)?;
        c.uint("maximum size of managed objects", 4, &mut self.max_managed)?;
        c.uint("next huge object ID", length, &mut self.next_huge)?;
        c.address("v2 B-tree address of huge objects", sizes, &mut self.huge_index)?;
        c.uint("amount of free space in managed blocks", length, &mut self.free)?;
        c.address("address of managed block free space manager", sizes, &mut self.free_space)?;
        c.uint("amount of managed space in heap", length, &mut self.managed_size)?;
        c.uint("amount of allocated managed space in heap", length, &mut self.allocated)?;
        c.uint("offset of direct block allocation iterator", length, &mut self.iterator)?;
        c.uint("number of managed objects in heap", length, &mut self.managed_count)?;
        c.uint("size of huge objects in heap", length, &mut self.huge_size)?;
        c.uint("number of huge objects in heap", length, &mut self.huge_count)?;
        c.uint("size of tiny objects in heap", length, &mut self.tiny_size)?;
        c.uint("number of tiny objects in heap", length, &mut self.tiny_count)?;
        c.uint("table width", 2, &mut self.table_width)?;
        c.uint("starting block size", length, &mut self.starting_block)?;
        c.uint("maximum direct block size", length, &mut self.max_direct)?;
        c.uint("maximum heap size", 2, &mut self.max_heap_size)?;
        c.uint("starting # of rows in root indirect block", 2, &mut self.starting_rows)?;
        c.address("address of root block", sizes, &mut self.root_block)?;
        c.uint("current # of rows in root indirect block", 2, &mut self.root_rows)
    }
}

/// What the header of a filtered heap has besides.
#[derive(Debug)]
pub(crate) struct Filters {
    pub sizes: Sizes,
    /// "I/O Filters' Encoded Length".
    pub len: u64,
    /// Stored bytes and filter mask of a root direct block.
    pub root: (u64, u32),
    /// "I/O Filter Information", a filter pipeline message.
    pub pipeline: Vec<u8>,
}

impl Record for Filters {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.length("size of filtered root direct block", self.sizes, &mut self.root.0)?;
        c.int("I/O filter mask", &mut self.root.1)?;
        c.bytes("I/O filter information", self.len, &mut self.pipeline)
    }
}

impl FractalHeapHeader {
    /// A header of an empty heap.
    pub fn new(sizes: Sizes) -> FractalHeapHeader {
        FractalHeapHeader {
            sizes,
            id_length: 0,
            filters_length: 0,
            flags: 0,
            max_managed: 0,
            next_huge: 0,
            huge_index: None,
            free: 0,
            free_space: None,
            managed_size: 0,
            allocated: 0,
            iterator: 0,
            managed_count: 0,
            huge_size: 0,
            huge_count: 0,
            tiny_size: 0,
            tiny_count: 0,
            table_width: 0,
            starting_block: 0,
            max_direct: 0,
            max_heap_size: 0,
            starting_rows: 0,
            root_block: None,
            root_rows: 0,
        }
    }

    /// Bytes of the header, with filters and checksum.
    pub fn whole_len(&self) -> u64 {
        let filters = match self.filters_length {
            0 => 0,
            len => (self.sizes.length as u64).saturating_add(4).saturating_add(len),
        };
        filters.saturating_add(Self::len(self.sizes) as u64)
    }

    /// Reads the header at an address, and its filters if it has some.
    pub fn read(source: &Source, at: Address) -> Result<(FractalHeapHeader, Option<Filters>)> {
        let sizes = source.sizes;
        let mut stored = FractalHeapHeader::new(sizes);
        let bytes = source.read_some(WHAT, at, Self::len(sizes) as u64)?;
        let taken = fields::read(&mut stored, WHAT, &bytes).map_err(|error| error.at(at))?;
        let bytes = source.read_on(WHAT, at, bytes, stored.whole_len())?;
        let body = wire::checked(WHAT, at, &bytes)?;
        if stored.filters_length == 0 {
            return Ok((stored, None));
        }
        let mut filters = Filters { sizes, len: stored.filters_length, root: (0, 0), pipeline: vec![] };
        wire::decode(&mut filters, WHAT, at, body.get(taken..).unwrap_or_default())?;
        Ok((stored, Some(filters)))
    }

    /// Bytes of a header without filters.
    pub fn len(sizes: Sizes) -> usize {
        const NUMBERS: usize = 4 + 1 + 2 + 2 + 1 + 4 + 8 + CHECKSUM;
        let widths = sizes.offset.saturating_mul(3).saturating_add(sizes.length.saturating_mul(12));
        widths.saturating_add(NUMBERS)
    }
}

/// What a heap's header says, checked.
#[derive(Debug)]
pub struct FractalHeapShape {
    /// Where it is; the blocks of the heap repeat it.
    pub at: Address,
    /// How wide numbers are in the file.
    pub sizes: Sizes,
    /// Bytes of an identifier.
    pub id_length: usize,
    /// Whether direct blocks carry a checksum.
    pub direct_checksums: bool,
    /// The B-tree of huge objects that an identifier cannot address itself.
    pub huge_index: Option<Address>,
    /// Blocks in a row of an indirect block; a power of two.
    pub width: u64,
    /// Bytes of a block in the first two rows; a power of two.
    pub starting_block: u64,
    /// Bytes of the largest direct block; a power of two, not less than the starting size.
    pub max_direct: u64,
    /// Bits of an offset in the heap, 1 to 64.
    pub offset_bits: u32,
    /// Bytes of a managed object's length in its identifier.
    pub length_width: usize,
    /// The block that is the heap, or points at its blocks.
    pub root: Option<Address>,
    /// Rows of the root block if it is an indirect one, else 0.
    pub root_rows: u64,
    /// The filters of blocks and huge objects.
    pub chain: Option<Chain>,
    /// Stored bytes and filter mask of a filtered root direct block.
    pub root_filtered: (u64, u32),
}

impl FractalHeapShape {
    /// Reads the header at an address.
    pub fn read(source: &Source, at: Address) -> Result<FractalHeapShape> {
        let (stored, filters) = FractalHeapHeader::read(source, at)?;
        let mut header =
            Self::check(&stored, at, source.sizes).map_err(|why| why.at(format_args!("{WHAT} at {at}")))?;
        if let Some(filters) = filters {
            header.root_filtered = filters.root;
            header.chain = Some(Chain::new(pipeline::decode(&filters.pipeline)?, &source.codecs));
        }
        Ok(header)
    }

    /// The header from what is stored, checked.
    pub(crate) fn check(stored: &FractalHeapHeader, at: Address, sizes: Sizes) -> Result<FractalHeapShape> {
        let power = |what: &str, number: u64| match number.is_power_of_two() {
            true => Ok(number),
            false => Err(bad(format!("{what} {number} is not a power of two"))),
        };
        // The reference cuts its usual size, 2^16, to what two bytes hold.
        let cut = sizes.length == 2 && stored.max_direct == 0;
        let max_direct = power("maximum direct block size", if cut { 1 << 16 } else { stored.max_direct })?;
        let starting_block = power("starting block size", stored.starting_block)?;
        if starting_block > max_direct {
            return Err(bad(format!(
                "starting block size {starting_block} is beyond the largest {max_direct}"
            )));
        }
        if stored.max_heap_size == 0 || stored.max_heap_size > 64 {
            return Err(bad(format!("an offset in the heap has {} bits", stored.max_heap_size)));
        }
        if stored.id_length == 0 {
            return Err(bad("the length of identifiers is 0"));
        }
        // Bits, not bytes, are counted here: a power of two needs one more than its logarithm.
        let block_width = (max_direct.ilog2() as usize).div_ceil(8);
        Ok(FractalHeapShape {
            at,
            sizes,
            id_length: stored.id_length.saturate(),
            direct_checksums: stored.flags & 0x02 != 0,
            huge_index: stored.huge_index,
            width: power("table width", stored.table_width)?,
            starting_block,
            max_direct,
            offset_bits: stored.max_heap_size as u32,
            length_width: block_width.min(width_of(stored.max_managed)),
            root: stored.root_block,
            root_rows: stored.root_rows,
            chain: None,
            root_filtered: (0, 0),
        })
    }

    /// Bytes of an offset in the heap.
    pub fn offset_width(&self) -> usize {
        self.offset_bits.div_ceil(8) as usize
    }

    /// Bytes of the head of a direct block; objects lie behind it.
    pub fn direct_head(&self) -> usize {
        let checksum = if self.direct_checksums { CHECKSUM } else { 0 };
        self.block_head().saturating_add(checksum)
    }

    /// Bytes of what all blocks begin with: signature, version, heap header address, block offset.
    pub fn block_head(&self) -> usize {
        self.sizes.offset.saturating_add(self.offset_width()).saturating_add(5)
    }

    /// The number of direct blocks that an indirect block with so many rows has as children, and that of all its children.
    pub fn children(&self, rows: u64) -> (u64, u64) {
        let of_rows = |rows: u64| rows.saturating_mul(self.width);
        (of_rows(rows.min(self.direct_rows())), of_rows(rows))
    }

    /// Bytes of a block in this row; `None` beyond 2^63.
    pub fn row_size(&self, row: u64) -> Option<u64> {
        let doubled = u32::try_from(row.saturating_sub(1)).ok()?;
        1u64.checked_shl(doubled).and_then(|times| self.starting_block.checked_mul(times))
    }

    /// Where a row begins, counted from the start of its indirect block.
    pub fn row_start(&self, row: u64) -> u64 {
        // All rows before have together as many bytes as the row's blocks, but for the first.
        let size = if row == 0 { 0 } else { self.row_size(row).unwrap_or(u64::MAX) };
        size.saturating_mul(self.width)
    }

    /// Rows of an indirect block whose blocks are direct ones.
    pub fn direct_rows(&self) -> u64 {
        u64::from(self.max_direct.ilog2().saturating_sub(self.starting_block.ilog2())).saturating_add(2)
    }

    /// Rows that an indirect block of so many bytes in the heap has.
    pub fn rows_of(&self, size: u64) -> u64 {
        let first_row = self.starting_block.saturating_mul(self.width);
        u64::from(size.ilog2().saturating_sub(first_row.ilog2())).saturating_add(1)
    }

    /// The row, the column and the start of the block in which an offset lies, counted in an indirect block's span.
    pub fn place(&self, offset: u64) -> (u64, u64, u64) {
        let first_row = self.starting_block.saturating_mul(self.width);
        if offset < first_row {
            let column = offset >> self.starting_block.ilog2();
            return (0, column, column << self.starting_block.ilog2());
        }
        // Row `r` starts where all rows before it end: at the first row's bytes times 2^(r-1). All sizes are powers of two.
        let doubled = offset.ilog2().saturating_sub(first_row.ilog2());
        let size_bits = self.starting_block.ilog2().saturating_add(doubled);
        let start = first_row << doubled;
        let column = offset.saturating_sub(start) >> size_bits;
        (u64::from(doubled).saturating_add(1), column, start.saturating_add(column << size_bits))
    }

    /// Returns the row of block `index` of an indirect block.
    pub fn row_of(&self, index: u64) -> u64 {
        index >> self.width.ilog2()
    }

    /// An error about this heap.
    pub fn error(&self, why: impl std::fmt::Display) -> Error {
        bad(format!("fractal heap at {}: {why}", self.at))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "numbers that the tests choose")]
mod tests {
    use super::*;

    #[test]
    fn the_doubling_table() {
        let sizes = Sizes { offset: 8, length: 8 };
        let stored = FractalHeapHeader {
            id_length: 8,
            table_width: 4,
            starting_block: 512,
            max_direct: 65_536,
            max_heap_size: 40,
            max_managed: 4096,
            ..FractalHeapHeader::new(sizes)
        };
        let header = FractalHeapShape::check(&stored, Address(0), sizes).unwrap();
        assert_eq!((header.offset_width(), header.length_width, header.direct_rows()), (5, 2, 9));
        assert_eq!([0, 1, 2, 3].map(|row| header.row_size(row).unwrap()), [512, 512, 1024, 2048]);
        // Every block of the first rows, one behind the other.
        let mut start = 0;
        for row in 0..12 {
            let size = header.row_size(row).unwrap();
            for column in 0..4 {
                assert_eq!(header.place(start), (row, column, start));
                assert_eq!(header.row_start(row) + column * size, start);
                assert_eq!(header.place(start + size - 1), (row, column, start));
                start += size;
            }
        }
    }
}
