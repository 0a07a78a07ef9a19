//! "Shared Object Header Message Table" (III.I): the heaps in which messages lie that many objects share.
//!
//! A message that is shared names its identifier in the heap of its kind, so a reader needs the table alone. The lists
//! and B-trees behind it find messages by their content; only writers ask that.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};
use crate::heaps::FractalHeap;
use crate::messages::small::SharedMessageTable;
use crate::wire::{CHECKSUM, bad};
use crate::{Address, Sizes, Source};

const WHAT: &str = "shared message table";

/// "Shared Object Header Message Table".
pub(crate) struct SohmTable {
    pub sizes: Sizes,
    /// The number of indexes.
    pub count: u64,
    pub indexes: Vec<Index>,
}

/// An index of the table.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// 0 for a list, 1 for a B-tree.
    kind: u8,
    /// "Message Type Flags": bit `n` for kind `n`.
    kinds: u16,
    minimum: u32,
    list_cutoff: u16,
    tree_cutoff: u16,
    pub messages: u16,
    pub index: Option<Address>,
    pub heap: Option<Address>,
}

impl Record for SohmTable {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        c.signature(b"SMTB")?;
        c.list("index", self.count, &mut self.indexes, |index, c| {
            c.version(0..=0, &mut 0)?;
            c.int("index type", &mut index.kind)?;
            c.int("message type flags", &mut index.kinds)?;
            c.int("minimum message size", &mut index.minimum)?;
            c.int("list cutoff", &mut index.list_cutoff)?;
            c.int("v2 B-tree cutoff", &mut index.tree_cutoff)?;
            c.int("number of messages", &mut index.messages)?;
            c.address("index address", sizes, &mut index.index)?;
            c.address("fractal heap address", sizes, &mut index.heap)
        })
    }
}

impl Index {
    /// True if the index is a B-tree, and not a list.
    pub fn is_tree(&self) -> bool {
        self.kind == 1
    }
}

impl SohmTable {
    /// Bytes of the table.
    pub fn len(&self) -> u64 {
        let entry = self.sizes.offset.saturating_mul(2).saturating_add(14) as u64;
        // One byte counts the indexes.
        let entries = self.count.min(0xff).saturating_mul(entry);
        entries.saturating_add(4).saturating_add(CHECKSUM as u64)
    }
}

/// "Shared Message Record List": an index that is a list.
pub(crate) struct MessageList {
    pub sizes: Sizes,
    /// The number of messages.
    pub count: u64,
    pub messages: Vec<SharedRecord>,
}

/// "Shared Message Record", in lists and in B-trees (type 7).
#[derive(Default)]
pub(crate) struct SharedRecord {
    /// 0 for a message in the heap, 1 for one in an object header.
    location: u8,
    hash: u32,
    references: u32,
    id: u64,
    kind: u8,
    order: u16,
    object: Option<Address>,
}

impl Record for MessageList {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let sizes = self.sizes;
        c.signature(b"SMLI")?;
        c.list("message", self.count, &mut self.messages, |message, c| message.fields(sizes, c))
    }
}

impl MessageList {
    /// Bytes of a list of so many messages.
    pub fn len(sizes: Sizes, count: u64) -> u64 {
        let records = count.saturating_mul(SharedRecord::len(sizes) as u64);
        records.saturating_add(4).saturating_add(CHECKSUM as u64)
    }
}

impl SharedRecord {
    pub fn fields<C: Coder>(&mut self, sizes: Sizes, c: &mut C) -> Result<()> {
        c.int("message location", &mut self.location)?;
        c.int("hash value", &mut self.hash)?;
        let used = match self.location {
            0 => {
                c.int("reference count", &mut self.references)?;
                c.position("fractal heap ID", 8, &mut self.id)?;
                Self::IN_HEAP
            }
            1 => {
                c.reserved(1)?;
                c.int("message type", &mut self.kind)?;
                c.int("creation index", &mut self.order)?;
                c.address("object header address", sizes, &mut self.object)?;
                Self::in_header(sizes)
            }
            other => return Err(c.wrong(format!("location {other} of shared messages is unknown"))),
        };
        c.reserved(Self::len(sizes).saturating_sub(used))
    }

    /// Bytes of a record of a message in the heap.
    const IN_HEAP: usize = 5 + 4 + 8;

    /// Bytes of a record of a message in an object header.
    fn in_header(sizes: Sizes) -> usize {
        sizes.offset.saturating_add(5 + 4)
    }

    /// Bytes of a record: those of the longer kind.
    fn len(sizes: Sizes) -> usize {
        Self::in_header(sizes).max(Self::IN_HEAP)
    }
}

/// The table of a file, and the heaps that were used.
#[derive(Debug, Default)]
pub struct SharedMessages {
    /// For each index, the kinds of messages in it (bit `n` for kind `n`) and its heap.
    indexes: Vec<(u16, Option<Address>)>,
    heaps: Mutex<HashMap<Address, Arc<FractalHeap>>>,
}

impl SharedMessages {
    /// Reads the table that a message of kind 0x0F names.
    pub fn read(source: &Source, message: &[u8]) -> Result<SharedMessages> {
        let SharedMessageTable { sizes, at, indexes } = SharedMessageTable::decode(message, source.sizes)?;
        let mut table = SohmTable { sizes, count: indexes.into(), indexes: vec![] };
        let bytes = source.read(WHAT, at, table.len())?;
        fields::read_checked(&mut table, WHAT, at, &bytes)?;
        let indexes = table.indexes.iter().map(|index| (index.kinds, index.heap)).collect();
        Ok(SharedMessages { indexes, heaps: Mutex::default() })
    }

    /// The message of a kind under this identifier.
    pub fn message(&self, source: &Source, kind: u16, id: &[u8]) -> Result<Vec<u8>> {
        let bit = 1u16.checked_shl(u32::from(kind)).unwrap_or(0);
        let index = self.indexes.iter().find(|(kinds, _)| kinds & bit != 0);
        let at = index.and_then(|&(_, heap)| heap);
        let at = at.ok_or_else(|| bad(format!("the file shares no messages of kind {kind:#x}")))?;
        let lock = || self.heaps.lock().unwrap_or_else(PoisonError::into_inner);
        // In a statement of its own, so that no lock is held while reading.
        let opened = lock().get(&at).cloned();
        let heap = match opened {
            Some(heap) => heap,
            None => {
                let heap = Arc::new(FractalHeap::open(source, at)?);
                lock().entry(at).or_insert(heap).clone()
            }
        };
        Ok(heap.object(id)?.to_vec())
    }
}
