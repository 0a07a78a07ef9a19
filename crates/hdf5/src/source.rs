//! The bytes of one file, and how wide its addresses are.

use std::fmt;
use std::sync::Arc;

use ferrocdf_array::map_within_budget;
use ferrocdf_bytes::{Code, Error, Order, Result, ToUsize};
use ferrocdf_codec::Codecs;
use ferrocdf_store::{Blob, read_in_rounds};

/// A position in a file, in bytes from its base address, which is that of the superblock unless a user block comes before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

/// Bytes of an address and of a length in a file ("Size of Offsets", "Size of Lengths"): 2, 4 or 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of an address.
    pub offset: usize,
    /// Of a length.
    pub length: usize,
}

impl Sizes {
    /// What a stored address means; all ones is the undefined address.
    pub fn address(self, stored: u64) -> Option<Address> {
        (stored != self.undefined()).then_some(Address(stored))
    }

    /// The undefined address as stored.
    pub fn undefined(self) -> u64 {
        u64::MAX >> (64 - 8 * self.offset.clamp(1, 8))
    }

    /// The length that means "without limit", as stored.
    pub fn unlimited(self) -> u64 {
        u64::MAX >> (64 - 8 * self.length.clamp(1, 8))
    }
}

/// The bytes of one file.
#[derive(Clone)]
pub struct Source {
    /// The bytes.
    pub blob: Arc<dyn Blob>,
    /// Where address 0 is.
    pub base: u64,
    /// How wide addresses and lengths are.
    pub sizes: Sizes,
    /// The filters for chunks, and for fractal heaps with filters.
    pub codecs: Codecs,
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.blob.name())
    }
}

/// Maximum number of bytes that are prefetched at a time: half of what the page cache holds.
const PREFETCHED: u64 = 32 << 20;

/// Numbers in HDF5 structures are stored least significant byte first.
pub const ORDER: Order = Order::Little;

impl Source {
    /// The position of an address in the blob.
    pub fn position(&self, at: Address) -> Result<u64> {
        let why = || Error::new(Code::EHDFERR, format!("address {at} lies beyond byte 2^64"));
        self.base.checked_add(at.0).ok_or_else(why)
    }

    /// `len` bytes of a structure; `what` names it in errors. More than the file holds is an error before any memory is
    /// taken.
    pub fn read(&self, what: &str, at: Address, len: u64) -> Result<Vec<u8>> {
        let position = self.position(at)?;
        let size = self.blob.size()?;
        if position.checked_add(len).is_none_or(|end| end > size) {
            let why = format!("{what} at {at}: {len} bytes reach past the end of the file, which has {size}");
            return Err(Error::new(Code::EHDFERR, why));
        }
        // Not more than the file's size.
        let mut bytes = vec![0; len.to_usize("bytes of a structure")?];
        self.blob.read_exact_at(position, &mut bytes)?;
        Ok(bytes)
    }

    /// Up to `guess` bytes of a structure whose size is not known yet, at least one: fewer where the file ends.
    pub fn read_some(&self, what: &str, at: Address, guess: u64) -> Result<Vec<u8>> {
        let left = self.blob.size()?.saturating_sub(self.position(at)?);
        self.read(what, at, guess.min(left).max(1))
    }

    /// The first `len` bytes of a structure of which `start` is already read.
    pub fn read_on(&self, what: &str, at: Address, mut start: Vec<u8>, len: u64) -> Result<Vec<u8>> {
        if len <= start.len() as u64 {
            start.truncate(len.saturate());
            return Ok(start);
        }
        self.read(what, at, len)
    }

    /// Runs a task for each item. What the tasks read from a slow blob, they wait for together: see [`read_in_rounds`].
    pub fn in_rounds<T, R>(&self, items: &[T], task: impl FnMut(&T) -> R) -> Vec<R> {
        match self.is_near() {
            true => items.iter().map(task).collect(),
            false => read_in_rounds(items, task),
        }
    }

    /// Maps items within a cost budget, as [`map_within_budget`] does: in parallel, or in rounds where the blob is slow.
    pub fn map_within_budget<T: Sync, R: Send>(
        &self,
        most: u64,
        items: &[T],
        work: impl Fn(&T) -> (R, u64) + Sync,
    ) -> Vec<Option<R>> {
        if self.is_near() {
            return map_within_budget(most, items, work);
        }
        // Runs that wait for bytes count too: they took time.
        let mut spent = 0u64;
        read_in_rounds(items, |item| {
            (spent <= most).then(|| {
                let (made, cost) = work(item);
                spent = spent.saturating_add(cost);
                made
            })
        })
    }

    /// Reads ranges that will be read one after the other, in one round where the blob is slow and keeps them (a page cache does).
    /// An error shows when they are read.
    pub(crate) fn prefetch(&self, ranges: impl IntoIterator<Item = (Address, u64)>) {
        if self.is_near() {
            return;
        }
        let mut left = PREFETCHED;
        // A cache reads a page at least.
        let page = self.blob.cost().window as u64;
        let ranges = ranges.into_iter().take_while(|&(_, len)| {
            let len = len.max(page);
            let fits = len <= left;
            left = left.saturating_sub(len);
            fits
        });
        let ranges: Vec<(Address, u64)> = ranges.collect();
        if ranges.len() > 1 {
            read_in_rounds(&ranges, |&(at, len)| drop(self.read_some("prefetched structure", at, len)));
        }
    }

    /// True if a request costs microseconds at most.
    pub fn is_near(&self) -> bool {
        self.blob.cost().is_near()
    }
}
