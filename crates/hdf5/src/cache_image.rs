//! "Metadata Cache Image" (III.J): metadata that was never written to its place, because the file was closed with an
//! image of the cache.
//!
//! The image is laid over the file as a blob of its own, so that all other code reads metadata where it belongs. An image
//! that is written here makes a change of many blocks one change: whoever opens the file sees all of them or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};
use ferrocdf_store::{Blob, ReadRequest, Suffix, forward};

use crate::block::Block;
use crate::fields::{self, Fields};
use crate::messages::small::CacheImage;
use crate::wire::{CHECKSUM, Writer, bad};
use crate::{Address, Sizes, Source};

const WHAT: &str = "metadata cache image";
/// The flag of an entry that was never written to its place.
const IS_DIRTY: u8 = 0x01;
/// The flag of an entry with a rank among those not used lately.
const IS_RANKED: u8 = 0x02;
/// The flag of an entry with addresses of others that it depends on.
const IS_DEPENDENT: u8 = 0x08;
/// "Ring" of everything but free space, and what describes the file itself.
const USER_RING: u8 = 1;
/// Entries have fewer bytes than this in the reference.
const LARGEST: usize = 32 << 20;

/// Bytes by positions in the blob, and the place of the image that holds them.
pub type Entries = (BTreeMap<u64, Vec<u8>>, Option<(Address, u64)>);

/// A blob of which some bytes are given by others.
struct Overlay {
    under: Arc<dyn Blob>,
    /// What lies over it, by position; none overlaps another.
    over: BTreeMap<u64, Vec<u8>>,
    /// Where the last one ends.
    end: u64,
}

/// The bytes of a file with its image over them, which a message of kind 0x18 names.
pub fn laid_over(source: &Source, message: &[u8]) -> Result<Arc<dyn Blob>> {
    let (over, _) = entries(source, message)?;
    if over.is_empty() {
        return Ok(source.blob.clone());
    }
    Overlay::over(source.blob.clone(), over).map(|blob| Arc::new(blob) as Arc<dyn Blob>)
}

/// What an image holds, by positions in the blob, and where the image itself is.
pub fn entries(source: &Source, message: &[u8]) -> Result<Entries> {
    let sizes = source.sizes;
    let CacheImage { at, len, .. } = CacheImage::decode(message, sizes)?;
    // An image that was used is taken off by its address.
    let Some(at) = at else { return Ok((BTreeMap::new(), None)) };
    let bytes = source.read(WHAT, at, len)?;
    let mut image = ImageHead { sizes, len: 0, count: 0 };
    let mut rest = fields::read_checked(&mut image, WHAT, at, &bytes)?;
    let mut over = BTreeMap::new();
    for _ in 0..image.count {
        let mut entry = ImageEntry::unread(sizes);
        rest = &rest[fields::read(&mut entry, WHAT, rest)?..];
        let len = entry.len.saturate();
        let short = || bad(format!("{WHAT} at {at}: an entry of {len} bytes, {} are left", rest.len()));
        let (bytes, behind) = rest.split_at_checked(len).ok_or_else(short)?;
        over.insert(source.position(entry.at)?, bytes.to_vec());
        rest = behind;
    }
    Ok((over, Some((at, len))))
}

/// An image of these blocks, at least one, none of which may describe the file itself (the superblock and its extension).
/// They are told to be newer than what is in their places.
///
/// # Errors
/// `EHDFERR` for what no cache holds, `ERANGE` for blocks that are too large for one.
pub(crate) fn encode(blocks: &[Block], sizes: Sizes) -> Result<Vec<u8>> {
    let mut entries = Writer::new("entries of a metadata cache image");
    for (rank, block) in blocks.iter().enumerate() {
        let kind = block.kind.cache_type();
        entries.record(&mut ImageEntry {
            kind: kind.ok_or_else(|| bad(format!("{WHAT}: no cache holds {:?}", block.kind)))?,
            flags: IS_DIRTY | IS_RANKED,
            ring: USER_RING,
            rank: rank as u64 + 1,
            at: block.at,
            len: block.bytes.len() as u64,
            ..ImageEntry::unread(sizes)
        });
        if block.bytes.len() >= LARGEST || block.bytes.is_empty() {
            entries.fail(format_args!("a block of {} bytes at {}", block.bytes.len(), block.at));
        }
        entries.bytes(&block.bytes);
    }
    let entries = entries.finish()?;
    let len = (4 + 1 + 1 + sizes.length + 4 + entries.len() + CHECKSUM) as u64;
    let mut w = Writer::new(WHAT);
    w.record(&mut ImageHead { sizes, len, count: blocks.len() as u64 });
    w.bytes(&entries);
    w.finish_checked()
}

/// The body of a message that names an image, by its place and its bytes ("Metadata Cache Image", IV.A.2.z); it stands
/// in the superblock extension.
pub(crate) fn message(at: Address, len: u64, sizes: Sizes) -> Result<Vec<u8>> {
    CacheImage { sizes, at: Some(at), len }.encode()
}

/// What an image begins with.
struct ImageHead {
    sizes: Sizes,
    /// Bytes of the image.
    len: u64,
    /// The number of entries.
    count: u64,
}

impl Record for ImageHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"MDCI")?;
        c.version(0..=0, &mut 0)?;
        c.reserved(1)?;
        c.length("image data length", self.sizes, &mut self.len)?;
        c.uint("number of entries", 4, &mut self.count)
    }
}

/// What an entry has before its bytes.
struct ImageEntry {
    sizes: Sizes,
    /// "Type".
    kind: u8,
    flags: u8,
    ring: u8,
    /// Numbers of dependent entries, dirty ones of them, and entries that this one depends on.
    dependents: [u16; 3],
    /// The rank among those not used lately.
    rank: u64,
    at: Address,
    len: u64,
    parents: Vec<Option<Address>>,
}

impl ImageEntry {
    /// An entry to be read.
    fn unread(sizes: Sizes) -> ImageEntry {
        let (kind, flags, ring, dependents, rank) = (0, 0, 0, [0; 3], 0);
        ImageEntry { sizes, kind, flags, ring, dependents, rank, at: Address(0), len: 0, parents: vec![] }
    }
}

impl Record for ImageEntry {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        c.int("type", &mut self.kind)?;
        c.int("flags", &mut self.flags)?;
        c.int("ring", &mut self.ring)?;
        c.reserved(1)?;
        let [children, dirty, parents] = &mut self.dependents;
        c.int("dependent entries", children)?;
        c.int("dirty dependent entries", dirty)?;
        c.int("entries it depends on", parents)?;
        c.uint("rank", 4, &mut self.rank)?;
        c.defined("address", sizes, &mut self.at)?;
        c.length("length", sizes, &mut self.len)?;
        let parents = if self.flags & IS_DEPENDENT != 0 { u64::from(*parents) } else { 0 };
        c.list("entry it depends on", parents, &mut self.parents, |at, c| c.address("address", sizes, at))
    }
}

impl Overlay {
    fn over(under: Arc<dyn Blob>, over: BTreeMap<u64, Vec<u8>>) -> Result<Overlay> {
        let mut end = 0;
        for (&at, bytes) in &over {
            let next = at.checked_add(bytes.len() as u64).filter(|_| at >= end);
            end = next.ok_or_else(|| bad(format!("{WHAT}: the entry for byte {at} overlaps another")))?;
        }
        // What is read is bounded by the size of the file, so the image must not make it up.
        let (size, images) = (under.size()?, over.values().map(|bytes| bytes.len() as u64).sum());
        if end > size.saturating_add(images) {
            let what = format!("{WHAT}: an entry ends at byte {end}, and the file has {size} bytes");
            return Err(bad(what));
        }
        Ok(Overlay { under, over, end })
    }
}

impl Overlay {
    /// Lays the image over bytes that were read at a position, of which the file under it had `got`. Returns the number of bytes
    /// that there are in a blob of this size.
    fn lay_over(&self, size: u64, at: u64, into: &mut [u8], got: usize) -> usize {
        let len = size.saturating_sub(at).at_most(into.len());
        // What lies between the file's end and the end of the image has no bytes.
        into[got.min(len)..len].fill(0);
        let end = at + len as u64;
        let before = self.over.range(..at).next_back();
        for (&start, bytes) in before.into_iter().chain(self.over.range(at..end)) {
            // The part of the image that was asked for, and where it goes.
            let from = at.saturating_sub(start).at_most(bytes.len());
            let to = start.saturating_sub(at).saturate();
            let count = (bytes.len() - from).min(len.saturating_sub(to));
            into[to..to + count].copy_from_slice(&bytes[from..from + count]);
        }
        len
    }
}

impl Blob for Overlay {
    forward!([.under] name forget expect_pages change_token cost is_nameless);

    fn size(&self) -> Result<u64> {
        Ok(self.under.size()?.max(self.end))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let size = self.size()?;
        let got = self.under.read_at(at, into)?;
        Ok(self.lay_over(size, at, into, got))
    }

    fn read_many(&self, requests: &mut [ReadRequest<'_>]) -> Result<()> {
        self.under.read_many(requests)?;
        let size = self.size()?;
        for request in requests {
            request.len = self.lay_over(size, request.at, request.into, request.len);
        }
        Ok(())
    }

    fn read_suffix(&self, into: &mut [u8]) -> Result<Suffix> {
        let Suffix { len, size } = self.under.read_suffix(into)?;
        if size >= self.end {
            let len = self.lay_over(size, size - len as u64, &mut into[..len], len);
            return Ok(Suffix { len, size });
        }
        let at = self.end.saturating_sub(into.len() as u64);
        Ok(Suffix { len: self.read_at(at, into)?, size: self.end })
    }
}

#[cfg(test)]
mod tests {
    use ferrocdf_store::MemoryBlob;

    use super::*;

    #[test]
    fn images_lie_over_the_file_and_beyond_its_end() {
        let under = Arc::new(MemoryBlob::new((0..10).collect()));
        let over = BTreeMap::from([(2, vec![102, 103]), (4, vec![104]), (12, vec![112, 113])]);
        let whole = [0, 1, 102, 103, 104, 5, 6, 7, 8, 9, 0, 0, 112, 113];
        let blob = Overlay::over(under, over).unwrap();
        for from in 0..16usize {
            for len in 0..16 {
                let mut into = vec![0xff; len];
                let got = blob.read_at(from as u64, &mut into).unwrap();
                let wanted = &whole[from.min(14)..(from + len).min(14).max(from.min(14))];
                assert_eq!(&into[..got], wanted, "{len} bytes at {from}");
                let mut requests = [ReadRequest::new(from as u64, &mut into)];
                blob.read_many(&mut requests).unwrap();
                assert_eq!(requests[0].bytes(), wanted, "a batch of {len} bytes at {from}");
            }
        }
        // The image ends behind the file, and before its end.
        let mut last = [0xff; 20];
        assert_eq!(blob.read_suffix(&mut last[..5]).unwrap(), Suffix { len: 5, size: 14 });
        assert_eq!(last[..5], whole[9..]);
        let under = Arc::new(MemoryBlob::new((0..10).collect()));
        let blob = Overlay::over(under, BTreeMap::from([(7, vec![107, 108])])).unwrap();
        for (len, wanted) in [(20, 10), (4, 4)] {
            assert_eq!(blob.read_suffix(&mut last[..len]).unwrap(), Suffix { len: wanted, size: 10 });
            assert_eq!(last[wanted - 3..wanted], [107, 108, 9]);
        }
    }

    #[test]
    fn an_image_is_read_as_it_was_written() {
        use crate::block::BlockKind;
        let sizes = Sizes { offset: 8, length: 4 };
        let block = |at, kind, byte, len| Block { at: Address(at), kind, bytes: vec![byte; len] };
        let blocks = [
            block(3, BlockKind::Header, 1, 4),
            block(90, BlockKind::Tree2Leaf, 2, 5),
            block(0, BlockKind::FixedPage, 3, 2),
        ];
        let image = encode(&blocks, sizes).unwrap();
        let mut bytes = vec![9; 20];
        bytes.extend(&image);
        let source =
            Source { blob: Arc::new(MemoryBlob::new(bytes)), base: 10, sizes, codecs: Default::default() };
        let named = message(Address(10), image.len() as u64, sizes).unwrap();
        assert_eq!(crate::wire::number(&image[6..10]), image.len() as u64);
        let over = laid_over(&source, &named).unwrap();
        let mut start = [0; 20];
        over.read_exact_at(0, &mut start).unwrap();
        assert_eq!(start, [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 3, 9, 1, 1, 1, 1, 9, 9, 9]);
        let mut second = [0; 5];
        over.read_exact_at(100, &mut second).unwrap();
        assert_eq!(second, [2; 5]);
        assert!(encode(&[block(1, BlockKind::Huge, 0, 4)], sizes).is_err());
        assert!(encode(&[block(1, BlockKind::Header, 0, 0)], sizes).is_err());
    }

    #[test]
    fn overlapping_entries_are_an_error() {
        let over = BTreeMap::from([(2, vec![0; 4]), (5, vec![0])]);
        assert!(Overlay::over(Arc::new(MemoryBlob::default()), over).is_err());
    }

    #[test]
    fn an_image_does_not_make_the_file_longer_than_its_bytes() {
        let over =
            |at| Overlay::over(Arc::new(MemoryBlob::new(vec![0; 10])), BTreeMap::from([(at, vec![0; 4])]));
        assert!(over(10).is_ok() && over(11).is_err() && over(1 << 57).is_err());
    }

    #[test]
    fn every_method_is_passed_on() {
        ferrocdf_store::suite::forwards_reads(|probe| Overlay::over(probe, BTreeMap::new()).unwrap(), &[]);
    }
}
