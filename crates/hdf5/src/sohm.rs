//! "Shared Object Header Message Table" (III.I): the heaps in which messages lie that many objects share.
//!
//! A message that is shared names its identifier in the heap of its kind, so a reader needs the table alone. The lists
//! and B-trees behind it find messages by their content; only writers ask that.

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
pub(crate) struct Table {
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
    messages: u16,
    pub index: Option<Address>,
    pub heap: Option<Address>,
}

impl Record for Table {
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

impl Table {
    /// Bytes of the table.
    pub fn len(&self) -> u64 {
        let entry = (14 + 2 * self.sizes.offset) as u64;
        // One byte counts the indexes.
        4 + self.count.min(0xff) * entry + CHECKSUM as u64
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
        let mut table = Table { sizes, count: indexes.into(), indexes: vec![] };
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
