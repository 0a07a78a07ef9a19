//! Whole heaps from their objects.
//!
//! Blocks are taken in the order of the doubling table, as the reference takes them, and objects go where the least room
//! is left behind them. Free space is not written down: the reference then takes new blocks for new objects, from where
//! the iterator in the header stands, and keeps account of what it frees itself.

use std::collections::{BTreeMap, BTreeSet};

use ferrocdf_bytes::{Result, ToUsize};

use super::header::{FractalHeapHeader, FractalHeapShape, WHAT};
use super::stored::{self, BlockHead, FractalHeapChildPointer, HugeObject, ManagedId};
use super::{DIRECT, INDIRECT};
use crate::block::{Alloc, Block, BlockKind};
use crate::trees::btree2;
use crate::wire::{CHECKSUM, Writer, bad};
use crate::{Address, Sizes};

/// Objects of more bytes are huge.
const MAX_MANAGED: u64 = 4096;
/// Record types of the tree of huge objects: by number, and by place where identifiers have room for that.
const BY_NUMBER: u8 = 1;
const BY_PLACE: u8 = 3;
/// Bytes of a node of that tree.
const HUGE_NODE: u32 = 512;

/// The parameters of a heap, as the reference chooses them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewHeap {
    /// Bytes of an identifier.
    pub id_length: usize,
    /// Bits of an offset in the heap.
    pub offset_bits: u64,
    /// Bytes of the smallest block.
    pub starting_block: u64,
}

/// A heap that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuiltHeap {
    /// Its header.
    pub at: Address,
    /// The identifiers of the objects, one behind the other.
    pub ids: Vec<u8>,
}

/// A direct block that objects were put into.
struct Direct {
    /// Its offset in the heap, and its size.
    start: u64,
    size: u64,
    /// Where the next object goes.
    used: usize,
    bytes: Vec<u8>,
}

/// Where an object went.
enum ObjectLocation {
    /// The direct block, and the byte in it.
    Managed(usize, usize),
    /// A huge object: where it lies, and its number.
    Huge(Address, u64),
}

struct FractalHeapBuilder<'a, 'b> {
    header: FractalHeapShape,
    direct: Vec<Direct>,
    alloc: &'a mut Alloc<'b>,
    blocks: &'a mut Vec<Block>,
}

impl NewHeap {
    /// The heap of the links of a group.
    pub const LINKS: NewHeap = NewHeap { id_length: 7, offset_bits: 32, starting_block: 512 };
    /// The heap of the attributes of an object.
    pub const ATTRIBUTES: NewHeap = NewHeap { id_length: 8, offset_bits: 40, starting_block: 1024 };

    /// What the header says of an empty heap.
    fn stored(&self, sizes: Sizes) -> FractalHeapHeader {
        FractalHeapHeader {
            id_length: self.id_length as u64,
            // Checksums of direct blocks.
            flags: 0x02,
            max_managed: MAX_MANAGED,
            table_width: 4,
            starting_block: self.starting_block,
            // Not more than fits into a length.
            max_direct: if sizes.length == 2 { 1 << 15 } else { 1 << 16 },
            max_heap_size: self.offset_bits.min(8 * sizes.length as u64),
            starting_rows: 1,
            ..FractalHeapHeader::new(sizes)
        }
    }

    /// Makes the heap: adds its blocks, and those of the huge objects and their index.
    ///
    /// # Errors
    /// `ERANGE` for more than the heap can hold, `EHDFERR` for an empty object; those of `alloc`.
    pub fn build<T: AsRef<[u8]>>(
        &self,
        objects: &[T],
        sizes: Sizes,
        alloc: &mut Alloc<'_>,
        blocks: &mut Vec<Block>,
    ) -> Result<BuiltHeap> {
        let mut stored = self.stored(sizes);
        let at = alloc(FractalHeapHeader::len(sizes) as u64)?;
        let header = FractalHeapShape::check(&stored, at, sizes)?;
        let mut build = FractalHeapBuilder { header, direct: Vec::new(), alloc, blocks };
        let places = build.place(objects, &mut stored)?;
        let ids = build.ids(objects, &places)?;
        build.managed(&mut stored)?;
        let mut w = Writer::new(WHAT);
        w.record(&mut stored);
        blocks.push(Block { at, kind: BlockKind::FractalHeader, bytes: w.finish_checked()? });
        Ok(BuiltHeap { at, ids })
    }
}

impl FractalHeapBuilder<'_, '_> {
    /// Puts all objects somewhere.
    fn place<T: AsRef<[u8]>>(
        &mut self,
        objects: &[T],
        stored: &mut FractalHeapHeader,
    ) -> Result<Vec<ObjectLocation>> {
        let mut places = Vec::with_capacity(objects.len());
        let mut huge = Vec::new();
        // The blocks with room, by how much they have.
        let mut room = BTreeSet::<(usize, usize)>::new();
        for object in objects {
            let object = object.as_ref();
            let len = object.len();
            if len == 0 {
                return Err(bad(format!("{WHAT}: objects of no bytes")));
            }
            if len as u64 > MAX_MANAGED {
                stored.huge_count += 1;
                stored.huge_size += len as u64;
                if !self.places_fit() {
                    stored.next_huge += 1;
                }
                let at = (self.alloc)(len as u64)?;
                self.blocks.push(Block { at, kind: BlockKind::Huge, bytes: object.to_vec() });
                huge.push((at, len, stored.next_huge));
                places.push(ObjectLocation::Huge(at, stored.next_huge));
                continue;
            }
            stored.managed_count += 1;
            let index = match room.range((len, 0)..).next().copied() {
                Some(found) => {
                    room.remove(&found);
                    found.1
                }
                None => self.open(len)?,
            };
            let block = &mut self.direct[index];
            let from = block.used;
            block.used += len;
            block.bytes[from..block.used].copy_from_slice(object);
            room.insert((block.bytes.len() - block.used, index));
            places.push(ObjectLocation::Managed(index, from));
        }
        if !huge.is_empty() {
            stored.huge_index = Some(self.index(&mut huge)?);
        }
        Ok(places)
    }

    /// Takes the next direct block with room for an object, and gives its number.
    fn open(&mut self, len: usize) -> Result<usize> {
        let head = self.header.direct_head();
        let mut start = self.direct.last().map_or(0, |last| last.start + last.size);
        let full = || bad(format!("{WHAT}: it is full"));
        let size = loop {
            let size = self.size_at(start).ok_or_else(full)?;
            if size >= (head + len) as u64 {
                break size;
            }
            start += size;
        };
        let end = 1u64.checked_shl(self.header.offset_bits).unwrap_or(u64::MAX);
        if start + size > end {
            return Err(full());
        }
        // Not more than the largest direct block.
        let bytes = vec![0; size.to_usize("bytes of a direct block")?];
        self.direct.push(Direct { start, size, used: head, bytes });
        Ok(self.direct.len() - 1)
    }

    /// Bytes of the direct block that begins at an offset in the heap.
    fn size_at(&self, mut offset: u64) -> Option<u64> {
        loop {
            let (row, _, start) = self.header.place(offset);
            if row < self.header.direct_rows() {
                return self.header.row_size(row);
            }
            offset -= start;
        }
    }

    fn ids<T: AsRef<[u8]>>(&self, objects: &[T], places: &[ObjectLocation]) -> Result<Vec<u8>> {
        let header = &self.header;
        let id_length = header.id_length;
        let mut w = Writer::new("fractal heap ID");
        for (index, (object, place)) in objects.iter().zip(places).enumerate() {
            match *place {
                ObjectLocation::Managed(block, byte) => {
                    w.u8(0);
                    let (offset_width, length_width) = (header.offset_width(), header.length_width);
                    let offset = self.direct[block].start + byte as u64;
                    let len = object.as_ref().len() as u64;
                    w.record(&mut ManagedId { offset_width, length_width, offset, len });
                }
                ObjectLocation::Huge(at, _) if self.places_fit() => {
                    w.u8(0x10);
                    let len = object.as_ref().len() as u64;
                    w.record(&mut HugeObject { at, len, ..HugeObject::unread(header.sizes, false, false) });
                }
                ObjectLocation::Huge(_, number) => {
                    w.u8(0x10);
                    w.uint((id_length - 1).min(header.sizes.length), number);
                }
            }
            if w.position() > (index + 1) * id_length {
                w.fail("offset and length are too long for it");
            }
            w.pad_to((index + 1) * id_length);
        }
        w.finish()
    }

    /// Whether identifiers have room for the place of a huge object, and need no number.
    fn places_fit(&self) -> bool {
        self.header.sizes.offset + self.header.sizes.length < self.header.id_length
    }

    /// The index of huge objects: where each is, its bytes, and its number, unless identifiers have the place.
    fn index(&mut self, huge: &mut [(Address, usize, u64)]) -> Result<Address> {
        let sizes = self.header.sizes;
        let numbered = !self.places_fit();
        if !numbered {
            huge.sort_unstable();
        }
        let mut w = Writer::new("records of huge objects");
        for &mut (at, len, number) in huge {
            let (len, number) = (len as u64, numbered.then_some(number));
            w.record(&mut HugeObject { sizes, at, len, filtered: None, number });
        }
        let record_size = sizes.offset + sizes.length * if numbered { 2 } else { 1 };
        let record_type = if numbered { BY_NUMBER } else { BY_PLACE };
        let tree =
            btree2::NewBTree2 { record_type, record_size, node_size: HUGE_NODE, records: &w.finish()? };
        tree.build(sizes, self.alloc, self.blocks)
    }

    /// Writes the direct blocks, and the indirect ones that lead to them.
    fn managed(&mut self, stored: &mut FractalHeapHeader) -> Result<()> {
        let head = self.header.direct_head();
        let mut objects = 0;
        let mut direct = BTreeMap::new();
        for block in std::mem::take(&mut self.direct) {
            objects += (block.used - head) as u64;
            let at = (self.alloc)(block.size)?;
            let bytes = self.direct(&block)?;
            self.blocks.push(Block { at, kind: BlockKind::FractalDirect, bytes });
            stored.allocated += block.size;
            direct.insert(block.start, (at, block.size));
        }
        let Some((&last, &(at, size))) = direct.last_key_value() else { return Ok(()) };
        let header = &self.header;
        if direct.len() == 1 && last == 0 && size == header.starting_block {
            stored.root_block = Some(at);
            stored.managed_size = size;
            stored.free = size - head as u64 - objects;
            return Ok(());
        }
        // As the reference does: rows are doubled when they are full.
        let rows = (header.place(last).0 + 1).next_power_of_two();
        let rows = rows.min(header.rows_of(1 << (header.offset_bits - 1)) + 1);
        stored.root_rows = rows;
        stored.iterator = last + size;
        let first_row = header.starting_block * header.width;
        stored.managed_size = first_row.checked_shl(rows as u32 - 1).unwrap_or(u64::MAX);
        stored.free = self.room(rows).saturating_sub(objects);
        stored.root_block = Some(self.indirect(0, rows, &direct)?);
        Ok(())
    }

    /// What all direct blocks below an indirect block with so many rows can hold, whether they are there or not.
    fn room(&self, rows: u64) -> u64 {
        let header = &self.header;
        let row = |row| {
            let size = header.row_size(row).unwrap_or(0);
            match row < header.direct_rows() {
                true => size - header.direct_head() as u64,
                false => self.room(header.rows_of(size)),
            }
        };
        (0..rows).map(|index| row(index).saturating_mul(header.width)).fold(0, u64::saturating_add)
    }

    fn direct(&self, block: &Direct) -> Result<Vec<u8>> {
        let mut w = Writer::new(DIRECT);
        w.record(&mut BlockHead::new(&self.header, stored::DIRECT, block.start));
        let checksum = w.position();
        w.zeros(CHECKSUM);
        w.bytes(&block.bytes[w.position()..]);
        // The checksum counts as zero while it is computed.
        w.checksum_at(checksum);
        w.finish()
    }

    /// Writes the indirect block that begins at an offset in the heap, after those below it.
    fn indirect(&mut self, start: u64, rows: u64, direct: &BTreeMap<u64, (Address, u64)>) -> Result<Address> {
        let sizes = self.header.sizes;
        let mut w = Writer::new(INDIRECT);
        w.record(&mut BlockHead::new(&self.header, stored::INDIRECT, start));
        let mut from = start;
        for row in 0..rows {
            let size = self.header.row_size(row).ok_or_else(|| bad(format!("{INDIRECT}: row {row}")))?;
            for _ in 0..self.header.width {
                let end = from.saturating_add(size);
                let child = match direct.range(from..end).next() {
                    None => None,
                    Some((_, &(at, _))) if row < self.header.direct_rows() => Some(at),
                    Some(_) => Some(self.indirect(from, self.header.rows_of(size), direct)?),
                };
                w.record(&mut FractalHeapChildPointer { sizes, at: child, filtered: None });
                from = end;
            }
        }
        let bytes = w.finish_checked()?;
        let at = (self.alloc)(bytes.len() as u64)?;
        self.blocks.push(Block { at, kind: BlockKind::FractalIndirect, bytes });
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::FractalHeap;
    use super::*;
    use crate::block::tests::BlockSpace;

    fn built(
        heap: NewHeap,
        objects: &[Vec<u8>],
        sizes: Sizes,
    ) -> (FractalHeap, BuiltHeap, Vec<Block>, FractalHeapHeader) {
        let (mut space, mut blocks) = (BlockSpace::new(), Vec::new());
        let built = heap.build(objects, sizes, &mut |len| space.take(len), &mut blocks).unwrap();
        let source = space.file(&blocks, sizes);
        let header = source.read(WHAT, built.at, FractalHeapHeader::len(sizes) as u64).unwrap();
        let mut stored = FractalHeapHeader::new(sizes);
        crate::wire::decode(&mut stored, WHAT, built.at, &header).unwrap();
        (FractalHeap::open(&source, built.at).unwrap(), built, blocks, stored)
    }

    #[test]
    fn objects_are_found_by_their_identifiers() {
        let mut seed = 1u64;
        let mut random = move |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        for (offset, length) in [(8, 8), (4, 4), (4, 2)] {
            let sizes = Sizes { offset, length };
            for heap in [NewHeap::LINKS, NewHeap::ATTRIBUTES] {
                for (count, most) in
                    [(0, 1), (1, 1), (9, 20), (3, 4500), (40, 40), (200, 6000), (3000, 100), (20_000, 300)]
                {
                    if length == 2 && count > 40 {
                        // Lengths of two bytes hold no such heap.
                        continue;
                    }
                    let mut len = || match 1 + random(most) as usize {
                        // And no blocks for such objects.
                        len @ 41.. if length == 2 => 4096 + len,
                        len => len,
                    };
                    let objects: Vec<_> = (0..count).map(|at| vec![at as u8; len()]).collect();
                    let (read, made, _, stored) = built(heap, &objects, sizes);
                    assert_eq!(made.ids.len(), count * heap.id_length);
                    for (id, object) in made.ids.chunks(heap.id_length).zip(&objects) {
                        assert_eq!(*read.object(id).unwrap(), object[..]);
                    }
                    let huge = objects.iter().filter(|object| object.len() > 4096);
                    let sizes: (usize, usize) =
                        huge.fold((0, 0), |(count, sum), object| (count + 1, sum + object.len()));
                    assert_eq!((stored.huge_count, stored.huge_size), (sizes.0 as u64, sizes.1 as u64));
                    assert_eq!(stored.managed_count, (count - sizes.0) as u64);
                }
            }
        }
    }

    /// What the reference writes into the header of a heap of so many links of 13 to 17 bytes, made one after the other.
    #[test]
    fn statistics_are_those_of_the_reference() {
        let cases = [
            (9, [374, 512, 512, 0, 0]),
            (20, [221, 512, 512, 0, 0]),
            (40, [1414, 2048, 1024, 1024, 1]),
            (200, [1038, 4096, 3072, 3072, 2]),
            (3000, [214_582, 262_144, 49_152, 49_152, 8]),
            (20_000, [66_615_250, 67_108_864, 393_216, 393_216, 16]),
        ];
        for (count, wanted) in cases {
            let links: Vec<_> = (0..count).map(|link| vec![1; 6 + format!("link{link}").len() + 2]).collect();
            let (_, _, _, stored) = built(NewHeap::LINKS, &links, Sizes { offset: 8, length: 8 });
            let found =
                [stored.free, stored.managed_size, stored.allocated, stored.iterator, stored.root_rows];
            assert_eq!(found, wanted, "{count} links");
            assert_eq!(stored.starting_rows, 1);
        }
    }

    #[test]
    fn what_a_heap_cannot_hold_is_an_error() {
        let mut end = 0;
        let mut alloc = |len| {
            end += len;
            Ok(Address(end))
        };
        let sizes = Sizes { offset: 8, length: 8 };
        assert!(NewHeap::LINKS.build(&[vec![]], sizes, &mut alloc, &mut Vec::new()).is_err());
        let small = NewHeap { offset_bits: 16, ..NewHeap::LINKS };
        assert!(small.build(&vec![vec![1; 1000]; 60], sizes, &mut alloc, &mut Vec::new()).is_ok());
        assert!(small.build(&vec![vec![1; 1000]; 80], sizes, &mut alloc, &mut Vec::new()).is_err());
        let short = NewHeap { id_length: 4, ..NewHeap::LINKS };
        assert!(short.build(&[vec![1]], sizes, &mut alloc, &mut Vec::new()).is_err());
    }
}
