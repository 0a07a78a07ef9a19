//! The extensible array index (specification, appendix C, section "The Extensible Array Index").
//!
//! The first entries are in the index block; the others in data blocks, which come in groups, one for each secondary
//! block: group `u` has 2^(u/2) data blocks of 2^((u+1)/2) times the smallest size each. The data blocks of the first
//! groups hang on the index block; the others on secondary blocks, which hang on the index block.

mod build;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::Result;

use super::Lazy;
use super::fixed_array::check_width;
use super::pages::{Cache, Leaf, Pages};
use crate::wire::{CHECKSUM, Reader, bad, checked};
use crate::{Address, Sizes, Source};

pub(super) use build::build;

/// An extensible array.
#[derive(Debug)]
pub(super) struct ExtensibleArray {
    at: Address,
    opened: Lazy<Opened>,
    secondary: Mutex<HashMap<u32, Arc<Secondary>>>,
    cache: Cache,
}

/// An extensible array whose header and index block were read.
#[derive(Debug)]
struct Opened {
    header: Header,
    /// The first entries.
    entries: Arc<[u8]>,
    /// The data blocks, then the secondary blocks, that hang on the index block.
    data: Vec<Option<Address>>,
    secondary: Vec<Option<Address>>,
}

/// The header.
#[derive(Debug)]
struct Header {
    client: u8,
    width: usize,
    /// Bits of the number of any entry.
    bits: u32,
    /// Entries in the index block.
    in_index: u64,
    /// Entries of the smallest data block; a power of two.
    smallest: u64,
    /// Data blocks of the smallest secondary block; a power of two.
    pointers: u64,
    /// Entries in a page of a data block.
    per_page: u64,
    index: Option<Address>,
}

/// A secondary block.
#[derive(Debug)]
struct Secondary {
    /// Which pages of the data blocks were written.
    written: Vec<u8>,
    data: Vec<Option<Address>>,
}

/// Where an entry that is not in the index block lies.
struct Spot {
    /// The group, the data block in it, and the index in that.
    group: u32,
    block: u64,
    index: u64,
    /// Entries of the data block.
    entries: u64,
    /// The number of its first entry.
    first: u64,
}

impl Header {
    fn decode(bytes: &[u8], sizes: Sizes) -> Result<Header> {
        let mut r = Reader::new("extensible array header", bytes);
        r.signature(b"EAHD")?;
        r.version(0..=0)?;
        let (client, width) = (r.u8()?, usize::from(r.u8()?));
        if !check_width(client, width, sizes) {
            return Err(r.error(format_args!("entries of {width} bytes for client {client}")));
        }
        let (bits, in_index) = (u32::from(r.u8()?), u64::from(r.u8()?));
        let (smallest, pointers, page_bits) = (u64::from(r.u8()?), u64::from(r.u8()?), u32::from(r.u8()?));
        let powers = smallest.is_power_of_two() && pointers.is_power_of_two() && pointers > 1;
        if bits > 64 || page_bits > bits || !powers || smallest.ilog2() > bits {
            return Err(r.error(format_args!(
                "{bits} bits, {smallest} entries, {pointers} pointers and {page_bits} bits of a page"
            )));
        }
        r.skip(6 * sizes.length)?;
        let per_page = 1u64.checked_shl(page_bits).unwrap_or(u64::MAX);
        let index = r.address(sizes)?;
        Ok(Header { client, width, bits, in_index, smallest, pointers, per_page, index })
    }

    /// How many groups there are, and of how many the data blocks hang on the index block.
    fn groups(&self) -> (u32, u32) {
        (1 + self.bits - self.smallest.ilog2(), 2 * self.pointers.ilog2())
    }

    /// How many data blocks the group has.
    fn blocks(group: u32) -> u64 {
        1 << (group / 2)
    }

    /// The number behind the last of a group.
    fn groups_end(&self, group: u32) -> u64 {
        // All groups up to this one have 2^(group + 1) - 1 times the smallest size together.
        let entries = (u128::from(self.smallest) << (group + 1)) - u128::from(self.smallest);
        u64::try_from(entries + u128::from(self.in_index)).unwrap_or(u64::MAX)
    }

    /// Where the entry of this number lies; `None` if it is more than the array can have.
    fn spot(&self, number: u64) -> Option<Spot> {
        let rest = number.checked_sub(self.in_index)?;
        let group = (rest / self.smallest).checked_add(1)?.ilog2();
        if group >= self.groups().0 {
            return None;
        }
        // The groups before have 2^group - 1 times the smallest size together, which is not more than the number.
        let before = ((1u64 << group) - 1) * self.smallest;
        let entries = self.smallest.checked_mul(1 << group.div_ceil(2))?;
        let (block, index) = ((rest - before) / entries, (rest - before) % entries);
        Some(Spot { group, block, index, entries, first: number - index })
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
        let width = header.width;
        if number < header.in_index {
            let bytes = Some(Arc::clone(&opened.entries)).filter(|_| header.index.is_some());
            return Ok(Leaf { first: 0, end: header.in_index, width, bytes });
        }
        let Some(spot) = header.spot(number) else {
            return Ok(Leaf { first: number, end: u64::MAX, width, bytes: None });
        };
        let end = spot.first.saturating_add(spot.entries);
        let nothing = Leaf { first: spot.first, end, width, bytes: None };
        let direct = header.groups().1;
        if spot.group < direct {
            // The groups before have together as many blocks as this.
            let before: u64 = (0..spot.group).map(Header::blocks).sum();
            let at = opened.data.get((before + spot.block) as usize).copied().flatten();
            return at.map_or(Ok(nothing), |at| self.block(source, header, at, &spot));
        }
        let Some(secondary) = self.secondary(source, opened, spot.group)? else {
            let end = header.groups_end(spot.group);
            return Ok(Leaf { first: number, end, width, bytes: None });
        };
        let at =
            usize::try_from(spot.block).ok().and_then(|block| secondary.data.get(block).copied().flatten());
        let Some(at) = at else { return Ok(nothing) };
        if spot.entries <= header.per_page {
            return self.block(source, header, at, &spot);
        }
        let prefix = self.prefix(source, header) as u64;
        let what = "extensible array data block";
        let first = at.0.checked_add(prefix);
        let pages = Pages {
            what: "extensible array data block page",
            at: Address(first.ok_or_else(|| bad(format!("{what} at {at}: its pages lie beyond byte 2^64")))?),
            first: spot.first,
            per_page: header.per_page,
            entries: spot.entries,
            width,
            written: &secondary.written,
            first_bit: spot.block * (spot.entries / header.per_page),
        };
        pages.leaf(source, &self.cache, spot.index)
    }

    /// Reads the header and the index block.
    fn open(&self, source: &Source) -> Result<Opened> {
        let sizes = source.sizes;
        let what = "extensible array header";
        let bytes = source.read(what, self.at, (12 + 6 * sizes.length + sizes.offset + CHECKSUM) as u64)?;
        let header = Header::decode(checked(what, self.at, &bytes)?, sizes)?;
        let (groups, direct) = header.groups();
        let data = 2 * (header.pointers - 1);
        let secondary = groups.saturating_sub(direct);
        let Some(at) = header.index else {
            return Ok(Opened { header, entries: Arc::new([]), data: Vec::new(), secondary: Vec::new() });
        };
        let what = "extensible array index block";
        let entries = header.in_index as usize * header.width;
        let size =
            6 + sizes.offset + entries + (data as usize + secondary as usize) * sizes.offset + CHECKSUM;
        let bytes = source.read(what, at, size as u64)?;
        let mut r = Reader::new(what, checked(what, at, &bytes)?);
        self.check_prefix(source, &header, b"EAIB", &mut r)?;
        let entries = r.take(entries)?.into();
        let data = (0..data).map(|_| r.address(sizes)).collect::<Result<_>>()?;
        let secondary = (0..secondary).map(|_| r.address(sizes)).collect::<Result<_>>()?;
        Ok(Opened { header, entries, data, secondary })
    }

    /// What data blocks and secondary blocks begin with.
    fn check_prefix(
        &self,
        source: &Source,
        header: &Header,
        signature: &[u8; 4],
        r: &mut Reader<'_>,
    ) -> Result<()> {
        r.signature(signature)?;
        r.version(0..=0)?;
        let (client, of) = (r.u8()?, r.address(source.sizes)?);
        if client != header.client || of != Some(self.at) {
            return Err(r.error(format_args!("it is not that of the header at {}", self.at)));
        }
        Ok(())
    }

    /// Bytes of a data block besides its entries.
    fn prefix(&self, source: &Source, header: &Header) -> usize {
        6 + source.sizes.offset + header.bits.div_ceil(8) as usize + CHECKSUM
    }

    /// A data block without pages.
    fn block(&self, source: &Source, header: &Header, at: Address, spot: &Spot) -> Result<Leaf> {
        let what = "extensible array data block";
        let bytes = self.cache.get(source, spot.first, || {
            let prefix = self.prefix(source, header);
            let size = spot.entries.saturating_mul(header.width as u64).saturating_add(prefix as u64);
            let bytes = source.read(what, at, size)?;
            let body = checked(what, at, &bytes)?;
            self.check_prefix(source, header, b"EADB", &mut Reader::new(what, body))?;
            Ok((body[prefix - CHECKSUM..].into(), bytes.len()))
        })?;
        let end = spot.first.saturating_add(spot.entries);
        Ok(Leaf { first: spot.first, end, width: header.width, bytes: Some(bytes) })
    }

    /// A secondary block; `None` if it was never written.
    fn secondary(&self, source: &Source, opened: &Opened, group: u32) -> Result<Option<Arc<Secondary>>> {
        let header = &opened.header;
        let held = || self.secondary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(block) = held().get(&group) {
            return Ok(Some(Arc::clone(block)));
        }
        let at = opened.secondary.get((group - header.groups().1) as usize).copied().flatten();
        let Some(at) = at else { return Ok(None) };
        let what = "extensible array secondary block";
        let blocks = Header::blocks(group);
        let entries = header.smallest.saturating_mul(1 << group.div_ceil(2));
        let bitmap = match entries > header.per_page {
            true => blocks.saturating_mul((entries / header.per_page).div_ceil(8)),
            false => 0,
        };
        let size = blocks.saturating_mul(source.sizes.offset as u64).saturating_add(bitmap);
        let bytes = source.read(what, at, size.saturating_add(self.prefix(source, header) as u64))?;
        let mut r = Reader::new(what, checked(what, at, &bytes)?);
        self.check_prefix(source, header, b"EASB", &mut r)?;
        r.skip(header.bits.div_ceil(8) as usize)?;
        let written = r.take(bitmap as usize)?.to_vec();
        let data = (0..blocks).map(|_| r.address(source.sizes)).collect::<Result<_>>()?;
        let block = Arc::new(Secondary { written, data });
        Ok(Some(Arc::clone(held().entry(group).or_insert(block))))
    }
}

#[cfg(test)]
mod tests;
