//! The extensible array index (specification, appendix C, section "The Extensible Array Index").
//!
//! The first entries are in the index block; the others in data blocks, which come in groups, one for each secondary
//! block: group `u` has 2^(u/2) data blocks of 2^((u+1)/2) times the smallest size each. The data blocks of the first
//! groups hang on the index block; the others on secondary blocks, which hang on the index block.
#![deny(clippy::arithmetic_side_effects)]

#[allow(clippy::arithmetic_side_effects, reason = "sizes of what is in memory")]
mod build;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use super::Lazy;
use super::fixed_array::entry_form;
use super::pages::{Cache, Leaf, PagedEntries};
use super::stored::ArrayBlock;
use crate::fields::{self, Fields};
use crate::wire::{CHECKSUM, bad};
use crate::{Address, Sizes, Source};

pub(super) use build::build;

pub(crate) const HEADER: &str = "extensible array header";
pub(crate) const INDEX: &str = "extensible array index block";
pub(crate) const SECONDARY: &str = "extensible array secondary block";
pub(crate) const DATA: &str = "extensible array data block";
pub(crate) const PAGE: &str = "extensible array data block page";

/// An extensible array.
#[derive(Debug)]
pub(super) struct ExtensibleArray {
    at: Address,
    opened: Lazy<OpenedExtensibleArray>,
    secondary: Mutex<HashMap<u32, Arc<Secondary>>>,
    cache: Cache,
}

/// An extensible array whose header and index block were read.
#[derive(Debug)]
struct OpenedExtensibleArray {
    header: ExtensibleArrayHeader,
    /// The first entries.
    entries: Arc<[u8]>,
    /// The data blocks, then the secondary blocks, that hang on the index block.
    data: Vec<Option<Address>>,
    secondary: Vec<Option<Address>>,
}

/// "Extensible Array Header".
#[derive(Debug)]
pub(crate) struct ExtensibleArrayHeader {
    sizes: Sizes,
    pub client: u8,
    /// "Element Size".
    pub width: u8,
    /// "Max Nelmts Bits": bits of the number of any entry.
    bits: u8,
    /// "Index Blk Elmts": entries in the index block.
    in_index: u8,
    /// "Data Blk Min Elmts": entries of the smallest data block; a power of two.
    smallest: u8,
    /// "Secondary Blk Min Data Ptrs": data blocks of the smallest secondary block; a power of two.
    pointers: u8,
    /// "Max Data Blk Page Nelmts Bits": a page has 2 to the power of this many entries.
    page_bits: u8,
    statistics: Statistics,
    pub index: Option<Address>,
}

/// What the header counts.
#[derive(Debug, Default)]
struct Statistics {
    secondary: u64,
    secondary_bytes: u64,
    data: u64,
    data_bytes: u64,
    /// The number behind the last entry that was set.
    end: u64,
    entries: u64,
}

impl Record for ExtensibleArrayHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        c.signature(b"EAHD")?;
        c.version(0..=0, &mut 0)?;
        c.int("client ID", &mut self.client)?;
        c.int("element size", &mut self.width)?;
        if entry_form(self.client, self.width, sizes).is_none() {
            return Err(c.wrong(format!("entries of {} bytes for client {}", self.width, self.client)));
        }
        c.int("max nelmts bits", &mut self.bits)?;
        c.int("index blk elmts", &mut self.in_index)?;
        c.int("data blk min elmts", &mut self.smallest)?;
        c.int("secondary blk min data ptrs", &mut self.pointers)?;
        c.int("max data blk page nelmts bits", &mut self.page_bits)?;
        let ExtensibleArrayHeader { bits, smallest, pointers, page_bits, .. } = *self;
        let powers = smallest.is_power_of_two() && pointers.is_power_of_two() && pointers > 1;
        if bits > 64 || page_bits > bits || !powers || smallest.ilog2() > bits.into() {
            return Err(c.wrong(format!(
                "{bits} bits, {smallest} entries, {pointers} pointers and {page_bits} bits of a page"
            )));
        }
        let Statistics { secondary, secondary_bytes, data, data_bytes, end, entries } = &mut self.statistics;
        c.length("num secondary blks", sizes, secondary)?;
        c.length("secondary blk size", sizes, secondary_bytes)?;
        c.length("num data blks", sizes, data)?;
        c.length("data blk size", sizes, data_bytes)?;
        c.length("max index set", sizes, end)?;
        c.length("num elements", sizes, entries)?;
        c.address("index block address", sizes, &mut self.index)
    }
}

/// "Extensible Array Index Block".
pub(crate) struct IndexBlock {
    head: ArrayBlock,
    /// Bytes of the entries, and how many data and secondary blocks hang on the block.
    lens: [u64; 3],
    pub entries: Vec<u8>,
    pub data: Vec<Option<Address>>,
    pub secondary: Vec<Option<Address>>,
}

impl Record for IndexBlock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.head.sizes;
        self.head.fields(c)?;
        let [entries, data, secondary] = self.lens;
        c.bytes("elements", entries, &mut self.entries)?;
        c.list("data block", data, &mut self.data, |at, c| c.address("address", sizes, at))?;
        c.list("secondary block", secondary, &mut self.secondary, |at, c| c.address("address", sizes, at))
    }
}

impl IndexBlock {
    /// The index block, without what hangs on it, of the array whose header is at an address.
    pub fn new(header: &ExtensibleArrayHeader, at: Address) -> IndexBlock {
        let (groups, direct) = header.groups();
        let data = u64::from(header.pointers).saturating_sub(1).saturating_mul(2);
        let entries = u64::from(header.in_index).saturating_mul(header.width.into());
        IndexBlock {
            head: header.block(b"EAIB", at),
            lens: [entries, data, groups.saturating_sub(direct).into()],
            entries: vec![],
            data: vec![],
            secondary: vec![],
        }
    }

    /// Bytes of the block.
    pub fn len(&self) -> u64 {
        let [entries, data, secondary] = self.lens;
        let offset = self.head.sizes.offset as u64;
        let addresses = data.saturating_add(secondary).saturating_add(1).saturating_mul(offset);
        addresses.saturating_add(entries).saturating_add(6).saturating_add(CHECKSUM as u64)
    }
}

/// "Extensible Array Secondary Block".
pub(crate) struct SecondaryBlock {
    head: ArrayBlock,
    /// Bytes of the bitmap, and the number of data blocks.
    lens: [u64; 2],
    /// "Page Bitmap": which pages of the data blocks were written.
    pub written: Vec<u8>,
    pub data: Vec<Option<Address>>,
}

impl Record for SecondaryBlock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.head.sizes;
        self.head.fields(c)?;
        let [bitmap, data] = self.lens;
        if bitmap > 0 {
            c.bytes("page bitmap", bitmap, &mut self.written)?;
        }
        c.list("data block", data, &mut self.data, |at, c| c.address("address", sizes, at))
    }
}

impl SecondaryBlock {
    /// The block of a group of the array whose header is at an address, with nothing in it.
    pub fn new(header: &ExtensibleArrayHeader, at: Address, group: u32) -> SecondaryBlock {
        let blocks = ExtensibleArrayHeader::blocks(group);
        let entries = header.entries_of_block(group).unwrap_or(u64::MAX);
        let bitmap = match entries > header.per_page() {
            true => blocks.saturating_mul(header.pages(entries).div_ceil(8)),
            false => 0,
        };
        let head = header.block_with_offset(b"EASB", at, 0);
        SecondaryBlock { head, lens: [bitmap, blocks], written: vec![], data: vec![] }
    }

    /// Bytes of the block.
    pub fn len(&self, header: &ExtensibleArrayHeader) -> u64 {
        let [bitmap, blocks] = self.lens;
        let addresses = blocks.saturating_mul(self.head.sizes.offset as u64);
        addresses.saturating_add(bitmap).saturating_add(header.data_head())
    }
}

/// A secondary block.
#[derive(Debug)]
struct Secondary {
    /// Which pages of the data blocks were written.
    written: Vec<u8>,
    data: Vec<Option<Address>>,
}

/// Where an entry that is not in the index block lies.
struct EntryLocation {
    /// The group, the data block in it, and the index in that.
    group: u32,
    block: u64,
    index: u64,
    /// Entries of the data block.
    entries: u64,
    /// The number of its first entry.
    first: u64,
}

impl ExtensibleArrayHeader {
    /// A header to be read.
    pub fn unread(sizes: Sizes) -> ExtensibleArrayHeader {
        let (client, width, bits, in_index, smallest, pointers, page_bits) = (0, 0, 0, 0, 1, 2, 0);
        let statistics = Statistics::default();
        ExtensibleArrayHeader {
            sizes,
            client,
            width,
            bits,
            in_index,
            smallest,
            pointers,
            page_bits,
            statistics,
            index: None,
        }
    }

    /// Bytes of a header.
    pub fn len(sizes: Sizes) -> u64 {
        const NUMBERS: usize = 12 + CHECKSUM;
        sizes.length.saturating_mul(6).saturating_add(sizes.offset).saturating_add(NUMBERS) as u64
    }

    /// The head of a block without an offset.
    fn block(&self, signature: &'static [u8; 4], at: Address) -> ArrayBlock {
        ArrayBlock::new(signature, self.client, at, self.sizes)
    }

    /// The head of a block that begins with entry `offset`, not counting those in the index block.
    fn block_with_offset(&self, signature: &'static [u8; 4], at: Address, offset: u64) -> ArrayBlock {
        let offset_width = Some(self.bits.div_ceil(8).into());
        ArrayBlock { offset_width, offset, ..self.block(signature, at) }
    }

    /// The head of a data block.
    pub fn data_block(&self, at: Address, offset: u64) -> ArrayBlock {
        self.block_with_offset(b"EADB", at, offset)
    }

    /// Bytes of a data block besides its entries.
    pub fn data_head(&self) -> u64 {
        const NUMBERS: u64 = 6 + CHECKSUM as u64;
        NUMBERS.saturating_add(self.sizes.offset as u64).saturating_add(self.bits.div_ceil(8).into())
    }

    /// Entries of a page of a data block.
    pub fn per_page(&self) -> u64 {
        1u64.checked_shl(self.page_bits.into()).unwrap_or(u64::MAX)
    }

    /// Pages of a data block of so many entries, which fills them.
    pub fn pages(&self, entries: u64) -> u64 {
        entries.checked_shr(self.page_bits.into()).unwrap_or(0)
    }

    /// Entries of a data block of a group.
    pub fn entries_of_block(&self, group: u32) -> Option<u64> {
        u64::from(self.smallest).checked_mul(1u64.checked_shl(group.div_ceil(2))?)
    }

    /// How many groups there are, and of how many the data blocks hang on the index block.
    pub fn groups(&self) -> (u32, u32) {
        let groups = u32::from(self.bits).saturating_sub(self.smallest.ilog2()).saturating_add(1);
        (groups, self.pointers.ilog2().saturating_mul(2))
    }

    /// How many data blocks the group has.
    pub fn blocks(group: u32) -> u64 {
        1u64.checked_shl(group / 2).unwrap_or(u64::MAX)
    }

    /// The number behind the last of a group.
    fn groups_end(&self, group: u32) -> u64 {
        // All groups up to this one have 2^(group + 1) - 1 times the smallest size together.
        let end = 1u64.checked_shl(group.saturating_add(1));
        let all = end.map_or(u64::MAX, |end| end.saturating_sub(1));
        all.saturating_mul(self.smallest.into()).saturating_add(self.in_index.into())
    }

    /// Where the entry of this number lies; `None` if it is more than the array can have.
    fn spot(&self, number: u64) -> Option<EntryLocation> {
        let rest = number.checked_sub(self.in_index.into())?;
        let group = (rest >> self.smallest.ilog2()).checked_add(1)?.ilog2();
        if group >= self.groups().0 {
            return None;
        }
        // The groups before have 2^group - 1 times the smallest size together, which is not more than the number.
        let before = (1u64 << group).saturating_sub(1).saturating_mul(self.smallest.into());
        let entries = self.entries_of_block(group)?;
        // The number of entries is a power of two.
        let within = rest.saturating_sub(before);
        let index = within & entries.saturating_sub(1);
        let (block, first) = (within >> entries.ilog2(), number.saturating_sub(index));
        Some(EntryLocation { group, block, index, entries, first })
    }
}

impl ExtensibleArray {
    pub fn new(at: Address) -> Self {
        let secondary = Mutex::new(HashMap::new());
        ExtensibleArray { at, opened: Lazy::default(), secondary, cache: Cache::default() }
    }

    /// The entries around this number.
    pub fn leaf(&self, source: &Source, number: u64) -> Result<Leaf> {
        let opened = self.opened.get(|| self.open(source))?;
        let header = &opened.header;
        let width = usize::from(header.width);
        let in_index = u64::from(header.in_index);
        if number < in_index {
            let bytes = Some(Arc::clone(&opened.entries)).filter(|_| header.index.is_some());
            return Ok(Leaf { first: 0, end: in_index, width, bytes });
        }
        let Some(spot) = header.spot(number) else {
            return Ok(Leaf { first: number, end: u64::MAX, width, bytes: None });
        };
        let end = spot.first.saturating_add(spot.entries);
        let nothing = Leaf { first: spot.first, end, width, bytes: None };
        let direct = header.groups().1;
        if spot.group < direct {
            // The groups before have together as many blocks as this.
            let before: u64 = (0..spot.group).map(ExtensibleArrayHeader::blocks).sum();
            let at = opened.data.get(before.saturating_add(spot.block).saturate()).copied().flatten();
            return at.map_or(Ok(nothing), |at| self.block(source, header, at, &spot));
        }
        let Some(secondary) = self.secondary(source, opened, spot.group)? else {
            let end = header.groups_end(spot.group);
            return Ok(Leaf { first: number, end, width, bytes: None });
        };
        let at =
            usize::try_from(spot.block).ok().and_then(|block| secondary.data.get(block).copied().flatten());
        let Some(at) = at else { return Ok(nothing) };
        if spot.entries <= header.per_page() {
            return self.block(source, header, at, &spot);
        }
        let first = at.0.checked_add(header.data_head());
        let pages = PagedEntries {
            what: PAGE,
            at: Address(first.ok_or_else(|| bad(format!("{DATA} at {at}: its pages lie beyond byte 2^64")))?),
            first: spot.first,
            per_page: header.per_page(),
            entries: spot.entries,
            width,
            written: &secondary.written,
            first_bit: spot.block.saturating_mul(header.pages(spot.entries)),
        };
        pages.leaf(source, &self.cache, spot.index)
    }

    /// Reads the header and the index block.
    fn open(&self, source: &Source) -> Result<OpenedExtensibleArray> {
        let mut header = ExtensibleArrayHeader::unread(source.sizes);
        let bytes = source.read(HEADER, self.at, ExtensibleArrayHeader::len(source.sizes))?;
        fields::read_checked(&mut header, HEADER, self.at, &bytes)?;
        let mut index = IndexBlock::new(&header, self.at);
        if let Some(at) = header.index {
            let bytes = source.read(INDEX, at, index.len())?;
            fields::read_checked(&mut index, INDEX, at, &bytes)?;
        }
        let IndexBlock { entries, data, secondary, .. } = index;
        Ok(OpenedExtensibleArray { header, entries: entries.into(), data, secondary })
    }

    /// A data block without pages.
    fn block(
        &self,
        source: &Source,
        header: &ExtensibleArrayHeader,
        at: Address,
        spot: &EntryLocation,
    ) -> Result<Leaf> {
        let width = usize::from(header.width);
        let bytes = self.cache.get(source, spot.first, || {
            let size = spot.entries.saturating_mul(width as u64).saturating_add(header.data_head());
            let bytes = source.read(DATA, at, size)?;
            let entries = fields::read_checked(&mut header.data_block(self.at, 0), DATA, at, &bytes)?;
            Ok((entries.into(), bytes.len()))
        })?;
        let end = spot.first.saturating_add(spot.entries);
        Ok(Leaf { first: spot.first, end, width, bytes: Some(bytes) })
    }

    /// A secondary block; `None` if it was never written.
    fn secondary(
        &self,
        source: &Source,
        opened: &OpenedExtensibleArray,
        group: u32,
    ) -> Result<Option<Arc<Secondary>>> {
        let header = &opened.header;
        let held = || self.secondary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = held().get(&group) {
            return Ok(Some(Arc::clone(block)));
        }
        let at = opened.secondary.get(group.saturating_sub(header.groups().1) as usize).copied().flatten();
        let Some(at) = at else { return Ok(None) };
        let mut block = SecondaryBlock::new(header, self.at, group);
        let bytes = source.read(SECONDARY, at, block.len(header))?;
        fields::read_checked(&mut block, SECONDARY, at, &bytes)?;
        let block = Arc::new(Secondary { written: block.written, data: block.data });
        Ok(Some(Arc::clone(held().entry(group).or_insert(block))))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "numbers that the tests choose")]
mod tests;
