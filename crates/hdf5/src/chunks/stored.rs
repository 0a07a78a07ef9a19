//! How an index stores what it says of a chunk: elements of arrays (appendix C), records of version 2 B-trees (III.A.2, types 10
//! and 11) and keys of version 1 B-trees (III.A.1, node type 1).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use super::ChunkEntry;
use crate::fields::{self, Fields};
use crate::{Address, Sizes};

/// How elements of arrays and records of trees hold an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub sizes: Sizes,
    /// Bytes of the stored length of a filtered chunk.
    pub len_width: Option<usize>,
}

/// Bytes of a filter mask.
const MASK: usize = 4;

impl Form {
    /// Bytes of an entry.
    pub fn width(self) -> usize {
        let filtered = self.len_width.map_or(0, |width| width.saturating_add(MASK));
        self.sizes.offset.saturating_add(filtered)
    }

    /// "Client ID" of arrays with such elements.
    pub fn client(self) -> u8 {
        u8::from(self.len_width.is_some())
    }

    /// The form of entries of `width` bytes; `None` if an address, and for filtered chunks a length of 1 to 8 bytes and a mask, have
    /// another width.
    pub fn of(width: usize, filtered: bool, sizes: Sizes) -> Option<Form> {
        let rest = width.checked_sub(sizes.offset)?;
        let len_width = if filtered { Some(rest.checked_sub(MASK)?) } else { None };
        let valid = len_width.map_or(rest == 0, |len| (1..=8).contains(&len));
        valid.then_some(Form { sizes, len_width })
    }
}

/// An entry as stored; `None` where there is no chunk.
pub(crate) struct StoredEntry {
    pub form: Form,
    pub entry: Option<ChunkEntry>,
}

impl Record for StoredEntry {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (mut at, mut len, mut mask) =
            self.entry.map_or((None, 0, 0), |entry| (Some(entry.at), entry.len, entry.mask));
        c.address("address", self.form.sizes, &mut at)?;
        if let Some(width) = self.form.len_width {
            c.uint("chunk size", width, &mut len)?;
            c.int("filter mask", &mut mask)?;
        }
        self.entry = at.map(|at| ChunkEntry { at, len, mask });
        Ok(())
    }
}

impl ChunkEntry {
    /// An entry of an array; `None` if no chunk is there.
    pub fn decode(bytes: &[u8], sizes: Sizes) -> Option<ChunkEntry> {
        let form = Form::of(bytes.len(), bytes.len() > sizes.offset, sizes)?;
        let mut stored = StoredEntry { form, entry: None };
        fields::read(&mut stored, "entry", bytes).ok()?;
        stored.entry
    }
}

/// A record of a version 2 B-tree.
pub(crate) struct ChunkRecord {
    pub stored: StoredEntry,
    /// The coordinates, counted in chunks.
    pub coords: Vec<u64>,
    pub rank: u64,
}

impl Record for ChunkRecord {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        self.stored.fields(c)?;
        c.list("dimension", self.rank, &mut self.coords, |at, c| c.uint("scaled offset", 8, at))
    }
}

/// A key of a version 1 B-tree.
#[derive(Debug, Default)]
pub(crate) struct ChunkKey {
    /// Stored bytes.
    pub len: u64,
    pub mask: u32,
    /// The position of the first element, and a number for the bytes of an element, which is 0.
    pub offsets: Vec<u64>,
    /// The number of dimensions, that of the bytes of an element included.
    pub rank: u64,
}

impl Record for ChunkKey {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.uint("size of chunk", 4, &mut self.len)?;
        c.int("filter mask", &mut self.mask)?;
        c.list("dimension", self.rank, &mut self.offsets, |at, c| c.uint("chunk offset", 8, at))
    }
}

/// What blocks of arrays begin with.
pub(crate) struct ArrayBlock {
    pub signature: &'static [u8; 4],
    pub sizes: Sizes,
    pub client: u8,
    /// The header of the array.
    pub header: Address,
    /// Bytes of "Block Offset", where blocks of this kind have it.
    pub offset_width: Option<usize>,
    /// The number of the first entry, without those in the index block.
    pub offset: u64,
}

impl Record for ArrayBlock {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let (mut client, mut header) = (self.client, self.header);
        c.signature(self.signature)?;
        c.version(0..=0, &mut 0)?;
        c.int("client ID", &mut client)?;
        c.defined("header address", self.sizes, &mut header)?;
        if (client, header) != (self.client, self.header) {
            return Err(c.wrong(format!("it is not that of the header at {}", self.header)));
        }
        match self.offset_width {
            Some(width) => c.uint("block offset", width, &mut self.offset),
            None => Ok(()),
        }
    }
}

impl ArrayBlock {
    /// A head of a block of the array whose header is here.
    pub fn new(signature: &'static [u8; 4], client: u8, header: Address, sizes: Sizes) -> ArrayBlock {
        ArrayBlock { signature, sizes, client, header, offset_width: None, offset: 0 }
    }
}
