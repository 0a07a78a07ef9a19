//! Runs of entries with checksums: what fixed and extensible arrays end in.
//!
//! Entries are kept as the file has them, and taken apart one by one when asked for. Pages are read many at a time.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Result, ToUsize};

use super::ChunkEntry;
use crate::wire::{CHECKSUM, bad, checked};
use crate::{Address, Sizes, Source};

/// What is read of pages at a time, in bytes, unless one page has more.
const RUN: u64 = 1 << 20;

/// Entries side by side.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    /// The numbers of the first entry, and of the one behind the last.
    pub first: u64,
    pub end: u64,
    /// Bytes of one entry.
    pub width: usize,
    /// The entries; `None` if none of them was ever set.
    pub bytes: Option<Arc<[u8]>>,
}

impl Leaf {
    /// Returns the entry of a chunk number: `None` if the number is of another leaf, `Some(None)` if its chunk is not stored.
    pub fn entry(&self, number: u64, sizes: Sizes) -> Option<Option<ChunkEntry>> {
        if !(self.first..self.end).contains(&number) {
            return None;
        }
        let Some(bytes) = self.bytes.as_deref() else { return Some(None) };
        let at = self.position(number);
        let entry = bytes.get(at..at.saturating_add(self.width));
        Some(entry.and_then(|entry| ChunkEntry::decode(entry, sizes)))
    }

    /// Returns the byte at which the entry of a number of this leaf begins. Entries of a leaf are in memory: nothing overflows.
    fn position(&self, number: u64) -> usize {
        number.saturating_sub(self.first).saturate().saturating_mul(self.width)
    }

    /// Returns the number of the first chunk in a range that this leaf has an entry for; `None` if it has none. The range begins in the leaf.
    pub fn next(&self, numbers: RangeInclusive<u64>, sizes: Sizes) -> Option<u64> {
        let bytes = self.bytes.as_deref()?;
        let entries = bytes.get(self.position(*numbers.start())..)?.chunks_exact(self.width);
        // An undefined address is all ones: the quick answer for most entries of a sparse array.
        let mut stored = numbers.zip(entries).filter(|(_, entry)| {
            entry[..sizes.offset].iter().any(|&byte| byte != 0xff)
                && ChunkEntry::decode(entry, sizes).is_some()
        });
        stored.next().map(|(number, _)| number)
    }
}

/// Leaves that were read.
#[derive(Debug, Default)]
pub(super) struct Cache(Mutex<Leaves>);

#[derive(Debug, Default)]
struct Leaves {
    by_key: HashMap<u64, Arc<[u8]>>,
    /// Bytes that were read for them.
    read: u64,
}

impl Cache {
    /// The leaf of this key, read if it was not yet; `read` gives its bytes and how many were read for it. Leaves lie
    /// side by side in the file: more of them than it has are the same ones again.
    pub fn get(
        &self,
        source: &Source,
        key: u64,
        read: impl FnOnce() -> Result<(Arc<[u8]>, usize)>,
    ) -> Result<Arc<[u8]>> {
        let held = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leaf) = held().by_key.get(&key) {
            return Ok(Arc::clone(leaf));
        }
        let size = source.blob.size()?;
        let (leaf, read) = read()?;
        let mut leaves = held();
        if !leaves.by_key.contains_key(&key) {
            leaves.read = leaves.read.saturating_add(read as u64);
        }
        if leaves.read > size {
            return Err(bad("the blocks of a chunk index lie over one another"));
        }
        Ok(Arc::clone(leaves.by_key.entry(key).or_insert(leaf)))
    }
}

/// A list of entries in pages, each with a checksum. Pages that were never written are marked in a bitmap, their bytes
/// mean nothing.
pub(super) struct PagedEntries<'a> {
    /// The structure, for errors.
    pub what: &'static str,
    /// The first page.
    pub at: Address,
    /// The number of the first entry.
    pub first: u64,
    /// How many entries, in a page and in all.
    pub per_page: u64,
    pub entries: u64,
    /// Bytes of one entry.
    pub width: usize,
    /// A bit for each page, most significant first, from `first_bit` on.
    pub written: &'a [u8],
    pub first_bit: u64,
}

impl PagedEntries<'_> {
    /// The entries around `index`, counted from the first of these.
    pub fn leaf(&self, source: &Source, cache: &Cache, index: u64) -> Result<Leaf> {
        let too_large = || bad(format!("{} at {}: its pages reach beyond byte 2^64", self.what, self.at));
        let width = self.width as u64;
        let page_bytes =
            self.per_page.checked_mul(width).and_then(|bytes| bytes.checked_add(CHECKSUM as u64));
        let page_bytes = page_bytes.ok_or_else(too_large)?;
        let pages = self.entries.div_ceil(self.per_page);
        // Neither the entries of a page nor the bytes of one are 0.
        let run = RUN.checked_div(page_bytes).unwrap_or(0).max(1);
        let page = index.checked_div(self.per_page).unwrap_or(0);
        let from = page.checked_div(run).unwrap_or(0).saturating_mul(run);
        let to = from.saturating_add(run).min(pages);
        // The pages before the last are whole; the number of entries bounds all of this.
        let first = from.saturating_mul(self.per_page);
        let end = to.saturating_mul(self.per_page).min(self.entries);
        let [leaf_first, leaf_end] = [first, end].map(|index| self.first.saturating_add(index));
        let mut leaf = Leaf { first: leaf_first, end: leaf_end, width: self.width, bytes: None };
        let mut written = (from..to).filter(|&page| self.is_written(page));
        let Some(low) = written.next() else { return Ok(leaf) };
        let high = written.next_back().unwrap_or(low);
        leaf.bytes = Some(cache.get(source, leaf.first, || {
            let offset = low.checked_mul(page_bytes).and_then(|offset| offset.checked_add(self.at.0));
            let at = Address(offset.ok_or_else(too_large)?);
            let behind = self.entries.saturating_sub(high.saturating_mul(self.per_page));
            let last = behind.min(self.per_page).saturating_mul(width).saturating_add(CHECKSUM as u64);
            let whole = high.saturating_sub(low).saturating_mul(page_bytes);
            let read = source.read(self.what, at, whole.saturating_add(last))?;
            // All ones is an undefined address: no chunk.
            let mut bytes =
                vec![
                    0xff;
                    end.saturating_sub(first).saturating_mul(width).to_usize("bytes of chunk entries")?
                ];
            for (page, stored) in (low..=high).zip(read.chunks(page_bytes.saturate())) {
                if self.is_written(page) {
                    let before = page.saturating_sub(from).saturating_mul(self.per_page);
                    let into = before.saturating_mul(width).saturate();
                    let entries = checked(self.what, at, stored)?;
                    bytes[into..][..entries.len()].copy_from_slice(entries);
                }
            }
            Ok((bytes.into(), read.len()))
        })?);
        Ok(leaf)
    }

    fn is_written(&self, page: u64) -> bool {
        let bit = self.first_bit.saturating_add(page);
        let byte = usize::try_from(bit / 8).ok().and_then(|at| self.written.get(at));
        byte.is_some_and(|byte| byte & (0x80 >> (bit % 8)) != 0)
    }
}
