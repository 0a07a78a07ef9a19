//! "Local Heap" (III.D): the names of the links of a symbol table group.
//!
//! Small heaps are read whole. A look-up in a large one must not read all of it, so its strings are read one by one until
//! `read_whole` is asked for.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use crate::fields::Fields;
use crate::wire::{self, bad, up_to_nul};
use crate::{Address, Sizes, Source};

const WHAT: &str = "local heap";
/// Heaps up to this size are read at once.
const SMALL: u64 = 1 << 18;
/// What is read of a name first.
const FIRST_READ: u64 = 256;

/// "Local Heap".
#[derive(Debug)]
pub(crate) struct LocalHeapHeader {
    sizes: Sizes,
    pub size: u64,
    free: u64,
    pub data: Address,
}

impl Record for LocalHeapHeader {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"HEAP")?;
        c.version(0..=0, &mut 0)?;
        c.reserved(3)?;
        c.length("data segment size", self.sizes, &mut self.size)?;
        c.length("offset to head of free-list", self.sizes, &mut self.free)?;
        c.defined("address of data segment", self.sizes, &mut self.data)
    }
}

impl LocalHeapHeader {
    /// A header to be read.
    pub fn unread(sizes: Sizes) -> LocalHeapHeader {
        LocalHeapHeader { sizes, size: 0, free: 0, data: Address(0) }
    }

    /// Bytes of a header.
    pub fn len(sizes: Sizes) -> u64 {
        sizes.length.saturating_mul(2).saturating_add(sizes.offset).saturating_add(8) as u64
    }
}

/// The strings of a symbol table group.
#[derive(Debug)]
pub struct LocalHeap<'a> {
    source: &'a Source,
    at: Address,
    data: Address,
    size: u64,
    /// The data segment, if it was read.
    whole: Option<Vec<u8>>,
}

impl<'a> LocalHeap<'a> {
    /// Reads the header, and the data of a small heap.
    pub fn open(source: &'a Source, at: Address) -> Result<Self> {
        let mut header = LocalHeapHeader::unread(source.sizes);
        let bytes = source.read(WHAT, at, LocalHeapHeader::len(source.sizes))?;
        wire::decode(&mut header, WHAT, at, &bytes)?;
        let LocalHeapHeader { data, size, .. } = header;
        let mut heap = LocalHeap { source, at, data, size, whole: None };
        if heap.size <= SMALL {
            heap.read_whole()?;
        }
        Ok(heap)
    }

    /// Reads all data, so that no string needs a read of its own.
    pub fn read_whole(&mut self) -> Result<()> {
        if self.whole.is_none() {
            self.whole = Some(self.source.read("data of a local heap", self.data, self.size)?);
        }
        Ok(())
    }

    /// The string at this offset, which a NUL or the heap's end ends.
    pub fn string(&self, offset: u64) -> Result<Vec<u8>> {
        let left = self.size.checked_sub(offset).filter(|&left| left > 0);
        let left = left.ok_or_else(|| {
            let (at, size) = (self.at, self.size);
            bad(format!("{WHAT} at {at}: there is no string at {offset}, the heap has {size} bytes"))
        })?;
        if let Some(whole) = &self.whole {
            // The heap has this many bytes, and one more.
            return Ok(up_to_nul(&whole[offset.saturate()..]).to_vec());
        }
        let at = Address(self.data.0.saturating_add(offset));
        let mut len = FIRST_READ.min(left);
        loop {
            let bytes = self.source.read("string of a local heap", at, len)?;
            let string = up_to_nul(&bytes);
            if string.len() < bytes.len() || len == left {
                return Ok(string.to_vec());
            }
            len = len.saturating_mul(4).min(left);
        }
    }
}

impl LocalHeap<'_> {
    /// Where its data is, and the bytes of that.
    pub fn data(&self) -> (Address, u64) {
        (self.data, self.size)
    }
}
