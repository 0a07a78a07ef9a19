//! The fixed array index (specification, appendix C, section "The Fixed Array Index").
#![deny(clippy::arithmetic_side_effects)]

#[allow(clippy::arithmetic_side_effects, reason = "sizes of what is in memory")]
mod build;

use ferrocdf_bytes::{Coder, Record, Result};

use super::Lazy;
use super::pages::{Cache, Leaf, PagedEntries};
use super::stored::{ArrayBlock, Form};
use crate::fields::{self, Fields};
use crate::wire::{CHECKSUM, bad};
use crate::{Address, Sizes, Source};

pub(super) use build::{build, put_all};

pub(crate) const HEADER: &str = "fixed array header";
pub(crate) const DATA: &str = "fixed array data block";
pub(crate) const PAGE: &str = "fixed array data block page";

/// A fixed array.
#[derive(Debug)]
pub(super) struct FixedArray {
    at: Address,
    opened: Lazy<OpenedFixedArray>,
    cache: Cache,
}

/// A fixed array whose header and data block prefix were read.
#[derive(Debug)]
struct OpenedFixedArray {
    header: FixedArrayHeader,
    /// Which pages were written, if there are pages.
    written: Vec<u8>,
}

/// "Fixed Array Header".
#[derive(Debug)]
pub(crate) struct FixedArrayHeader {
    sizes: Sizes,
    pub client: u8,
    /// "Entry Size".
    pub width: u8,
    /// A page has 2 to the power of this many entries.
    page_bits: u8,
    pub entries: u64,
    pub block: Option<Address>,
}

impl Record for FixedArrayHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"FAHD")?;
        c.version(0..=0, &mut 0)?;
        c.int("client ID", &mut self.client)?;
        c.int("entry size", &mut self.width)?;
        c.int("page bits", &mut self.page_bits)?;
        if entry_form(self.client, self.width, self.sizes).is_none() {
            return Err(c.wrong(format!("entries of {} bytes for client {}", self.width, self.client)));
        }
        c.length("max num entries", self.sizes, &mut self.entries)?;
        c.address("data block address", self.sizes, &mut self.block)
    }
}

/// The form of entries of this width for a client: 0 chunks, 1 filtered chunks.
pub(crate) fn entry_form(client: u8, width: u8, sizes: Sizes) -> Option<Form> {
    Form::of(width.into(), client == 1, sizes).filter(|_| client <= 1)
}

impl FixedArrayHeader {
    /// A header to be read.
    pub fn unread(sizes: Sizes) -> FixedArrayHeader {
        FixedArrayHeader { sizes, client: 0, width: 0, page_bits: 0, entries: 0, block: None }
    }

    /// Bytes of a header.
    pub fn len(sizes: Sizes) -> u64 {
        const NUMBERS: usize = 8 + CHECKSUM;
        sizes.length.saturating_add(sizes.offset).saturating_add(NUMBERS) as u64
    }

    /// Entries of a page. So many in a page are no pages at all.
    pub fn per_page(&self) -> u64 {
        1u64.checked_shl(self.page_bits.into()).unwrap_or(u64::MAX)
    }

    /// True if the entries are in pages.
    pub fn is_paged(&self) -> bool {
        self.entries > self.per_page()
    }

    /// Bytes of the bitmap of written pages.
    pub fn bitmap(&self) -> u64 {
        if self.is_paged() { self.entries.div_ceil(self.per_page()).div_ceil(8) } else { 0 }
    }
}

/// "Fixed Array Data Block" before its entries.
pub(crate) struct DataBlock {
    head: ArrayBlock,
    bitmap: u64,
    /// "Page Bitmap": which pages were written.
    pub written: Vec<u8>,
}

impl Record for DataBlock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        self.head.fields(c)?;
        match self.bitmap {
            0 => Ok(()),
            bytes => c.bytes("page bitmap", bytes, &mut self.written),
        }
    }
}

impl DataBlock {
    /// The data block of the array whose header is at an address.
    pub fn new(header: &FixedArrayHeader, at: Address, written: Vec<u8>) -> DataBlock {
        let head = ArrayBlock::new(b"FADB", header.client, at, header.sizes);
        DataBlock { head, bitmap: header.bitmap(), written }
    }

    /// Bytes of what [`DataBlock`] has, without a checksum.
    pub fn len(header: &FixedArrayHeader) -> u64 {
        (header.sizes.offset as u64).saturating_add(6).saturating_add(header.bitmap())
    }
}

impl FixedArray {
    pub fn new(at: Address) -> Self {
        FixedArray { at, opened: Lazy::default(), cache: Cache::default() }
    }

    /// The entries around this number.
    pub fn leaf(&self, source: &Source, number: u64) -> Result<Leaf> {
        let opened = self.opened.get(|| self.open(source))?;
        let header = &opened.header;
        let width = usize::from(header.width);
        let nothing = |first, end| Leaf { first, end, width, bytes: None };
        let prefix = DataBlock::len(header).saturating_add(CHECKSUM as u64);
        if number >= header.entries {
            return Ok(nothing(header.entries, u64::MAX));
        }
        let Some(block) = header.block else { return Ok(nothing(0, header.entries)) };
        if !header.is_paged() {
            let bytes = self.cache.get(source, 0, || {
                // The size of the entries overflows only if it is more than the file has.
                let size = header.entries.saturating_mul(width as u64).saturating_add(prefix);
                let bytes = source.read(DATA, block, size)?;
                let mut head = DataBlock::new(header, self.at, vec![]);
                let entries = fields::read_checked(&mut head, DATA, block, &bytes)?;
                Ok((entries.into(), bytes.len()))
            })?;
            return Ok(Leaf { first: 0, end: header.entries, width, bytes: Some(bytes) });
        }
        let first = block.0.checked_add(prefix);
        let pages = PagedEntries {
            what: PAGE,
            at: Address(
                first.ok_or_else(|| bad(format!("{DATA} at {block}: its pages lie beyond byte 2^64")))?,
            ),
            first: 0,
            per_page: header.per_page(),
            entries: header.entries,
            width,
            written: &opened.written,
            first_bit: 0,
        };
        pages.leaf(source, &self.cache, number)
    }

    /// Reads the header, and which pages were written.
    fn open(&self, source: &Source) -> Result<OpenedFixedArray> {
        let mut header = FixedArrayHeader::unread(source.sizes);
        let bytes = source.read(HEADER, self.at, FixedArrayHeader::len(source.sizes))?;
        fields::read_checked(&mut header, HEADER, self.at, &bytes)?;
        let mut head = DataBlock::new(&header, self.at, vec![]);
        if let (true, Some(block)) = (header.is_paged(), header.block) {
            let len = DataBlock::len(&header).saturating_add(CHECKSUM as u64);
            fields::read_checked(&mut head, DATA, block, &source.read(DATA, block, len)?)?;
        }
        let written = head.written;
        Ok(OpenedFixedArray { header, written })
    }
}
