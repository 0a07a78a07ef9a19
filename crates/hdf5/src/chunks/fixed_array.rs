//! The fixed array index (specification, appendix C, section "The Fixed Array Index").

mod build;

use ferrocdf_bytes::Result;

use super::Lazy;
use super::pages::{Cache, Leaf, Pages};
use crate::wire::{CHECKSUM, Reader, bad, checked};
use crate::{Address, Sizes, Source};

pub(super) use build::{build, put_all};

/// A fixed array.
#[derive(Debug)]
pub(super) struct FixedArray {
    at: Address,
    opened: Lazy<Opened>,
    cache: Cache,
}

/// A fixed array whose header and data block prefix were read.
#[derive(Debug)]
struct Opened {
    header: Header,
    /// Which pages were written, if there are pages.
    written: Vec<u8>,
    /// Bytes of the data block before its pages.
    prefix: u64,
}

/// The header.
#[derive(Debug)]
struct Header {
    client: u8,
    width: usize,
    per_page: u64,
    entries: u64,
    block: Option<Address>,
}

/// The size in bytes of an entry must be that of its client: an address, and for filtered chunks a size of up to 8
/// bytes and a mask.
pub(super) fn check_width(client: u8, width: usize, sizes: Sizes) -> bool {
    match client {
        0 => width == sizes.offset,
        1 => (sizes.offset + 5..=sizes.offset + 12).contains(&width),
        _ => false,
    }
}

impl Header {
    fn decode(bytes: &[u8], sizes: Sizes) -> Result<Header> {
        let mut r = Reader::new("fixed array header", bytes);
        r.signature(b"FAHD")?;
        r.version(0..=0)?;
        let (client, width, page_bits) = (r.u8()?, usize::from(r.u8()?), r.u8()?);
        if !check_width(client, width, sizes) {
            return Err(r.error(format_args!("entries of {width} bytes for client {client}")));
        }
        // So many entries in a page are no pages at all.
        let per_page = 1u64.checked_shl(u32::from(page_bits)).unwrap_or(u64::MAX);
        Ok(Header { client, width, per_page, entries: r.length(sizes)?, block: r.address(sizes)? })
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
        let nothing = |first, end| Leaf { first, end, width: header.width, bytes: None };
        if number >= header.entries {
            return Ok(nothing(header.entries, u64::MAX));
        }
        let Some(block) = header.block else { return Ok(nothing(0, header.entries)) };
        let what = "fixed array data block";
        if header.entries <= header.per_page {
            let bytes = self.cache.get(source, 0, || {
                // The size of the entries overflows only if it is more than the file has.
                let size = header.entries.saturating_mul(header.width as u64).saturating_add(opened.prefix);
                let bytes = source.read(what, block, size)?;
                let prefix = opened.prefix as usize - CHECKSUM;
                let body = checked(what, block, &bytes)?;
                self.check_prefix(source, header, body)?;
                Ok((body[prefix..].into(), bytes.len()))
            })?;
            return Ok(Leaf { first: 0, end: header.entries, width: header.width, bytes: Some(bytes) });
        }
        let first = block.0.checked_add(opened.prefix);
        let pages = Pages {
            what: "fixed array data block page",
            at: Address(
                first.ok_or_else(|| bad(format!("{what} at {block}: its pages lie beyond byte 2^64")))?,
            ),
            first: 0,
            per_page: header.per_page,
            entries: header.entries,
            width: header.width,
            written: &opened.written,
            first_bit: 0,
        };
        pages.leaf(source, &self.cache, number)
    }

    /// Reads the header, and which pages were written.
    fn open(&self, source: &Source) -> Result<Opened> {
        let sizes = source.sizes;
        let what = "fixed array header";
        let bytes = source.read(what, self.at, (8 + sizes.length + sizes.offset + CHECKSUM) as u64)?;
        let header = Header::decode(checked(what, self.at, &bytes)?, sizes)?;
        let mut prefix = (6 + sizes.offset + CHECKSUM) as u64;
        let mut written = Vec::new();
        if let (true, Some(block)) = (header.entries > header.per_page, header.block) {
            let what = "fixed array data block";
            let bitmap = header.entries.div_ceil(header.per_page).div_ceil(8);
            prefix = prefix.saturating_add(bitmap);
            let bytes = source.read(what, block, prefix)?;
            let body = checked(what, block, &bytes)?;
            self.check_prefix(source, &header, body)?;
            written = body[body.len() - bitmap as usize..].to_vec();
        }
        Ok(Opened { header, written, prefix })
    }

    fn check_prefix(&self, source: &Source, header: &Header, bytes: &[u8]) -> Result<()> {
        let mut r = Reader::new("fixed array data block", bytes);
        r.signature(b"FADB")?;
        r.version(0..=0)?;
        let (client, of) = (r.u8()?, r.address(source.sizes)?);
        if client != header.client || of != Some(self.at) {
            return Err(r.error(format_args!("it is not that of the header at {}", self.at)));
        }
        Ok(())
    }
}
