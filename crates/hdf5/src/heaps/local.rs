//! "Local Heap" (III.D): the names of the links of a symbol table group.
//!
//! Small heaps are read whole. Of a large one a look-up shall not have to, so its strings are read one by one until
//! `read_whole` is asked for.

use ferrocdf_bytes::{Code, Coder, Record, Result};

use crate::wire::{self, Reader, bad, up_to_nul};
use crate::{Address, Sizes, Source};

const WHAT: &str = "local heap";
/// Heaps up to this size are read at once.
const SMALL: u64 = 1 << 18;
/// What is read of a name first.
const FIRST_READ: u64 = 256;

/// "Local Heap", behind its signature.
#[derive(Debug)]
struct Header {
    sizes: Sizes,
    version: u64,
    reserved: u64,
    size: u64,
    free: u64,
    data: u64,
}

impl Record for Header {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("version", 1, &mut self.version)?;
        if self.version != 0 {
            return Err(c.error(Code::EHDFERR, format!("version {} is unknown", self.version)));
        }
        c.uint("reserved", 3, &mut self.reserved)?;
        c.uint("data segment size", self.sizes.length, &mut self.size)?;
        c.uint("offset to head of free-list", self.sizes.length, &mut self.free)?;
        c.uint("address of data segment", self.sizes.offset, &mut self.data)
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
        let sizes = source.sizes;
        let bytes = source.read(WHAT, at, (8 + 2 * sizes.length + sizes.offset) as u64)?;
        let mut reader = Reader::new(WHAT, &bytes);
        reader.signature(b"HEAP").map_err(|error| error.at(at))?;
        let mut header = Header { sizes, version: 0, reserved: 0, size: 0, free: 0, data: 0 };
        wire::decode(&mut header, WHAT, at, reader.rest())?;
        let undefined = || bad(format!("{WHAT} at {at}: its data has no address"));
        let data = sizes.address(header.data).ok_or_else(undefined)?;
        let mut heap = LocalHeap { source, at, data, size: header.size, whole: None };
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
            return Ok(up_to_nul(&whole[offset as usize..]).to_vec());
        }
        let at = Address(self.data.0.saturating_add(offset));
        let mut len = FIRST_READ.min(left);
        loop {
            let bytes = self.source.read("string of a local heap", at, len)?;
            let string = up_to_nul(&bytes);
            if string.len() < bytes.len() || len == left {
                return Ok(string.to_vec());
            }
            len = (len * 4).min(left);
        }
    }
}

impl LocalHeap<'_> {
    /// Where its data is, and the bytes of that.
    pub fn data(&self) -> (Address, u64) {
        (self.data, self.size)
    }
}
