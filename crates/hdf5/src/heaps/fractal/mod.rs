//! "Fractal Heap" (III.G): variable-size objects under one identifier each.
//!
//! Blocks are read whole and kept until they take `KEPT` bytes: neighbours in an index are mostly neighbours in the
//! heap. The place of an object follows from its offset alone, so nothing is read but the blocks on the way to it.
#![deny(clippy::arithmetic_side_effects)]

#[allow(clippy::arithmetic_side_effects, reason = "sizes of what is in memory")]
mod build;
pub(crate) mod header;
mod huge;
pub(crate) mod stored;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Result, ToUsize, lookup3};

use crate::wire::{self, number};
use crate::{Address, Source, fields};

use super::HeapObject;
pub(crate) use build::NewHeap;
use header::FractalHeapShape;
use stored::{BlockHead, FractalHeapChildPointer, ManagedId};

const DIRECT: &str = "fractal heap direct block";
const INDIRECT: &str = "fractal heap indirect block";
/// Bytes of blocks that an open heap keeps.
const KEPT: usize = 32 << 20;

/// A heap whose header is read. Any number of threads may use it.
#[derive(Debug)]
pub struct FractalHeap {
    source: Source,
    header: FractalHeapShape,
    blocks: Mutex<CachedBlocks>,
}

/// Blocks by their address and their offset in the heap, direct ones without their filters.
#[derive(Debug, Default)]
struct CachedBlocks {
    bytes: usize,
    by_place: BTreeMap<(Address, u64), Arc<Vec<u8>>>,
    /// The direct block with the last object, and its offset in the heap: the next object is mostly there too.
    last: Option<(u64, Arc<Vec<u8>>)>,
}

/// Where a block is stored.
#[derive(Clone, Copy, Debug)]
struct StoredBlock {
    at: Address,
    /// Stored bytes and filter mask, in a filtered heap.
    filtered: (u64, u32),
}

impl FractalHeap {
    /// Reads the header of the heap at an address.
    pub fn open(source: &Source, at: Address) -> Result<FractalHeap> {
        let header = FractalHeapShape::read(source, at)?;
        Ok(FractalHeap { source: source.clone(), header, blocks: Mutex::default() })
    }

    /// The most bytes that all objects together can have.
    pub fn most(&self) -> Result<u64> {
        // Filters seldom pack descriptions better than this.
        let times = if self.header.chain.is_some() { 256 } else { 1 };
        Ok(self.source.blob.size()?.saturating_mul(times))
    }

    /// The object under an identifier ("Fractal Heap ID").
    pub fn object(&self, id: &[u8]) -> Result<HeapObject> {
        let Some((&first, rest)) = id.get(..self.header.id_length).and_then(|id| id.split_first()) else {
            let why = format!("an identifier has {} bytes, not {}", id.len(), self.header.id_length);
            return Err(self.header.error(why));
        };
        match first >> 4 {
            0 => self.managed(rest),
            1 => self.huge(rest).map(HeapObject::of),
            2 => self.tiny(first, rest).map(HeapObject::of),
            _ => Err(self.header.error(format!("an identifier begins with {first:#04x}"))),
        }
    }

    /// An object in a direct block; `id` says its offset in the heap and its length.
    fn managed(&self, id: &[u8]) -> Result<HeapObject> {
        let (offset_width, length_width) = (self.header.offset_width(), self.header.length_width.min(8));
        let mut place = ManagedId { offset_width, length_width, offset: 0, len: 0 };
        fields::read(&mut place, "fractal heap ID", id)?;
        let ManagedId { offset, len, .. } = place;
        let lies = || self.header.error(format!("the object of {len} bytes at {offset} is not in a block"));
        // An object lies in one block, behind its head.
        let within = |start: u64, block: &[u8]| {
            let from = usize::try_from(offset.checked_sub(start)?).ok()?;
            let end = from.checked_add(usize::try_from(len).ok()?)?;
            (from >= self.header.direct_head() && end <= block.len()).then_some(from..end)
        };
        let last = self.blocks().last.clone();
        if let Some((start, block)) = last
            && let Some(range) = within(start, &block)
        {
            return Ok(HeapObject { block, range });
        }
        let (block, start) = self.block_with(offset)?;
        let range = within(start, &block).ok_or_else(lies)?;
        self.blocks().last = Some((start, block.clone()));
        Ok(HeapObject { block, range })
    }

    fn blocks(&self) -> MutexGuard<'_, CachedBlocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object in its own identifier.
    fn tiny(&self, first: u8, rest: &[u8]) -> Result<Vec<u8>> {
        let short = usize::from(first & 0x0f);
        // Longer identifiers have twelve bits for the length.
        let (len, data) = match (self.header.id_length > 18, rest.split_first()) {
            (true, Some((&low, data))) => (short << 8 | usize::from(low), data),
            _ => (short, rest),
        };
        let why = || self.header.error("a tiny object is longer than its identifier");
        Ok(data.get(..len.saturating_add(1)).ok_or_else(why)?.to_vec())
    }

    /// The direct block in which an offset in the heap lies, and its own offset.
    fn block_with(&self, offset: u64) -> Result<(Arc<Vec<u8>>, u64)> {
        let header = &self.header;
        let nowhere = || header.error(format!("no block holds offset {offset}"));
        let root = header.root.ok_or_else(nowhere)?;
        if header.root_rows == 0 {
            let stored = StoredBlock { at: root, filtered: header.root_filtered };
            return Ok((self.direct(stored, 0, header.starting_block)?, 0));
        }
        let (mut at, mut rows, mut start) = (root, header.root_rows, 0);
        loop {
            let block = self.indirect(at, rows, start)?;
            let (row, column, within) = header.place(offset.saturating_sub(start));
            if row >= rows {
                return Err(nowhere());
            }
            let size = header.row_size(row).ok_or_else(nowhere)?;
            let index = row.saturating_mul(header.width).saturating_add(column);
            let child = self.entry(&block, rows, index)?.ok_or_else(nowhere)?;
            start = start.saturating_add(within);
            if row < header.direct_rows() {
                return Ok((self.direct(child, start, size)?, start));
            }
            at = child.at;
            // A block in this row spans `size` bytes: as many rows as add up to that. Fewer than this block has.
            rows = header.rows_of(size);
        }
    }

    /// The pointer number `index` of an indirect block with this many rows.
    fn entry(&self, block: &[u8], rows: u64, index: u64) -> Result<Option<StoredBlock>> {
        let header = &self.header;
        let sizes = header.sizes;
        let filtered = header.chain.is_some();
        let (direct, _) = header.children(rows);
        let to_direct = FractalHeapChildPointer::len(sizes, filtered) as u64;
        let to_indirect = FractalHeapChildPointer::len(sizes, false) as u64;
        let before = index.min(direct).saturating_mul(to_direct);
        let before = before.saturating_add(index.saturating_sub(direct).saturating_mul(to_indirect));
        let at = before.saturating_add(header.block_head() as u64);
        let filtered = (filtered && index < direct).then_some((0, 0));
        let mut pointer = FractalHeapChildPointer { sizes, at: None, filtered };
        fields::read(&mut pointer, INDIRECT, block.get(at.saturate()..).unwrap_or_default())?;
        Ok(pointer.at.map(|at| StoredBlock { at, filtered: pointer.filtered.unwrap_or_default() }))
    }

    /// An indirect block, which starts at this offset in the heap.
    fn indirect(&self, at: Address, rows: u64, start: u64) -> Result<Arc<Vec<u8>>> {
        let header = &self.header;
        self.kept(at, start, || {
            let len = stored::indirect_len(header, rows, header.chain.is_some());
            let bytes = self.source.read(INDIRECT, at, len)?;
            fields::read_checked(&mut BlockHead::new(header, stored::INDIRECT, start), INDIRECT, at, &bytes)?;
            Ok(bytes)
        })
    }

    /// A direct block without its filters; it has `size` bytes and starts at this offset in the heap.
    fn direct(&self, block: StoredBlock, start: u64, size: u64) -> Result<Arc<Vec<u8>>> {
        let header = &self.header;
        let at = block.at;
        self.kept(at, start, || {
            let mut bytes = match &header.chain {
                None => self.source.read(DIRECT, at, size)?,
                Some(_) => self.unfilter(DIRECT, at, block.filtered, size)?,
            };
            wire::decode(&mut BlockHead::new(header, stored::DIRECT, start), DIRECT, at, &bytes)?;
            if header.direct_checksums {
                let field = header.block_head()..header.direct_head();
                let Some(field) = bytes.get_mut(field) else {
                    return Err(header.error("a direct block is too short for its head"));
                };
                let checksum = number(field) as u32;
                // It counts as zero while it is computed; nobody looks at it afterwards.
                field.fill(0);
                wire::check(DIRECT, at, lookup3(&bytes, 0), checksum)?;
            }
            Ok(bytes)
        })
    }

    /// `len` bytes that are stored with the heap's filters: so many bytes, all but the filters in the mask.
    fn unfilter(&self, what: &str, at: Address, (stored, mask): (u64, u32), len: u64) -> Result<Vec<u8>> {
        let bytes = self.source.read(what, at, stored)?;
        // No filter packs better than this; memory is taken only for what can be there.
        let most = stored.saturating_mul(1 << 11).saturating_add(1 << 20);
        if len > most {
            return Err(self.header.error(format!("{what} at {at}: {stored} bytes cannot hold {len}")));
        }
        let mut plain = vec![0; len.to_usize("decoded bytes")?];
        match &self.header.chain {
            Some(chain) => chain.decode(mask, &bytes, &mut plain)?,
            None => return Err(self.header.error("it has no filters")),
        }
        Ok(plain)
    }

    /// The block at an address, read at most once while it is kept. No lock is held while reading.
    fn kept(&self, at: Address, start: u64, read: impl FnOnce() -> Result<Vec<u8>>) -> Result<Arc<Vec<u8>>> {
        if let Some(block) = self.blocks().by_place.get(&(at, start)) {
            return Ok(block.clone());
        }
        let block = Arc::new(read()?);
        let mut blocks = self.blocks();
        if blocks.bytes > KEPT {
            *blocks = CachedBlocks::default();
        }
        blocks.bytes = blocks.bytes.saturating_add(block.len());
        blocks.by_place.insert((at, start), block.clone());
        Ok(block)
    }
}

impl FractalHeap {
    /// Visits the places and stored bytes of the header and of all blocks, but not of huge objects, and tells whether they
    /// are packed by filters.
    pub fn pieces(&self, visit: &mut dyn FnMut(Address, u64, bool)) -> Result<()> {
        let header = &self.header;
        let (stored, _) = header::FractalHeapHeader::read(&self.source, header.at)?;
        visit(header.at, stored.whole_len(), false);
        let Some(root) = header.root else { return Ok(()) };
        if header.root_rows == 0 {
            let packed = header.chain.is_some();
            visit(root, if packed { header.root_filtered.0 } else { header.starting_block }, packed);
            return Ok(());
        }
        self.below(root, header.root_rows, 0, 64, visit)
    }

    /// Visits an indirect block and what is below it.
    fn below(
        &self,
        at: Address,
        rows: u64,
        start: u64,
        left: u32,
        visit: &mut dyn FnMut(Address, u64, bool),
    ) -> Result<()> {
        let header = &self.header;
        let nowhere = || header.error("its blocks are too deep");
        let left = left.checked_sub(1).ok_or_else(nowhere)?;
        let block = self.indirect(at, rows, start)?;
        visit(at, block.len() as u64, false);
        let mut offset = start;
        for index in 0..header.children(rows).1 {
            let row = header.row_of(index);
            let size = header.row_size(row).ok_or_else(nowhere)?;
            if let Some(child) = self.entry(&block, rows, index)? {
                if row < header.direct_rows() {
                    let packed = header.chain.is_some();
                    visit(child.at, if packed { child.filtered.0 } else { size }, packed);
                } else {
                    self.below(child.at, header.rows_of(size), offset, left, visit)?;
                }
            }
            offset = offset.saturating_add(size);
        }
        Ok(())
    }
}
