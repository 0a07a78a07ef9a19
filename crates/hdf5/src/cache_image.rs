//! "Metadata Cache Image" (III.J): metadata that was never written to its place, because the file was closed with an
//! image of the cache.
//!
//! The image is laid over the file as a blob of its own, so that all other code reads metadata where it belongs.

use std::collections::BTreeMap;
use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_store::Blob;

use crate::{Address, Source};
use crate::wire::{self, Reader, bad};

const WHAT: &str = "metadata cache image";
/// The flag of an entry with addresses of others that it depends on.
const IS_DEPENDENT: u8 = 0x08;

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
    let mut reader = Reader::new("metadata cache image message", message);
    reader.version(0..=0)?;
    let (at, len) = (reader.address(sizes)?, reader.length(sizes)?);
    // An image that was used is taken off by its address.
    let Some(at) = at else { return Ok((BTreeMap::new(), None)) };
    let bytes = source.read(WHAT, at, len)?;
    let mut reader = Reader::new(WHAT, wire::checked(WHAT, at, &bytes)?);
    reader.signature(b"MDCI").map_err(|error| error.at(at))?;
    reader.version(0..=0)?;
    // Flags and length of the image.
    reader.skip(1 + sizes.length)?;
    let count = reader.u32()?;

    let mut over = BTreeMap::new();
    for _ in 0..count {
        // Type.
        reader.skip(1)?;
        let flags = reader.u8()?;
        // Ring, age, dependent entries, dirty ones of them.
        reader.skip(1 + 1 + 2 + 2)?;
        let parents = usize::from(reader.u16()?);
        // Rank among those not used lately.
        reader.skip(4)?;
        let (entry, len) = (reader.defined(sizes, "entry")?, reader.length(sizes)?);
        reader.skip(if flags & IS_DEPENDENT != 0 { parents * sizes.offset } else { 0 })?;
        let image = reader.take(usize::try_from(len).unwrap_or(usize::MAX))?;
        over.insert(source.position(entry)?, image.to_vec());
    }
    Ok((over, Some((at, len))))
}

impl Overlay {
    fn over(under: Arc<dyn Blob>, over: BTreeMap<u64, Vec<u8>>) -> Result<Overlay> {
        let mut end = 0;
        for (&at, bytes) in &over {
            let next = at.checked_add(bytes.len() as u64).filter(|_| at >= end);
            end = next.ok_or_else(|| bad(format!("{WHAT}: the entry for byte {at} overlaps another")))?;
        }
        Ok(Overlay { under, over, end })
    }
}

impl Blob for Overlay {
    fn size(&self) -> Result<u64> {
        Ok(self.under.size()?.max(self.end))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> Result<usize> {
        let len = (into.len() as u64).min(self.size()?.saturating_sub(at)) as usize;
        let into = &mut into[..len];
        // What lies between the file's end and the end of the image has no bytes.
        self.under.read_zero_filled_at(at, into)?;
        let end = at + len as u64;
        let before = self.over.range(..at).next_back();
        for (&start, bytes) in before.into_iter().chain(self.over.range(at..end)) {
            // The part of the image that was asked for, and where it goes.
            let from = at.saturating_sub(start).min(bytes.len() as u64) as usize;
            let to = start.saturating_sub(at) as usize;
            let count = (bytes.len() - from).min(len.saturating_sub(to));
            into[to..to + count].copy_from_slice(&bytes[from..from + count]);
        }
        Ok(len)
    }

    fn name(&self) -> String {
        self.under.name()
    }

    fn forget(&self) {
        self.under.forget();
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
            }
        }
    }

    #[test]
    fn overlapping_entries_are_an_error() {
        let over = BTreeMap::from([(2, vec![0; 4]), (5, vec![0])]);
        assert!(Overlay::over(Arc::new(MemoryBlob::default()), over).is_err());
    }
}
