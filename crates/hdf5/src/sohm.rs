//! "Shared Object Header Message Table" (III.I): the heaps in which messages lie that many objects share.
//!
//! A message that is shared names its identifier in the heap of its kind, so a reader needs the table alone. The lists
//! and B-trees behind it find messages by their content; only writers ask that.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::Result;

use crate::heaps::FractalHeap;
use crate::wire::{self, CHECKSUM, Reader, bad};
use crate::{Address, Source};

const WHAT: &str = "shared message table";

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
        let mut reader = Reader::new("shared message table message", message);
        reader.version(0..=0)?;
        let at = reader.defined(source.sizes, "table")?;
        let count = usize::from(reader.u8()?);
        let entry = 14 + 2 * source.sizes.offset;
        let bytes = source.read(WHAT, at, (4 + count * entry + CHECKSUM) as u64)?;
        let mut reader = Reader::new(WHAT, wire::checked(WHAT, at, &bytes)?);
        reader.signature(b"SMTB").map_err(|error| error.at(at))?;
        let mut indexes = Vec::new();
        for _ in 0..count {
            reader.version(0..=0)?;
            // Type of the index.
            reader.skip(1)?;
            let kinds = reader.u16()?;
            // Minimum size of messages, where list and B-tree give way to each other, number of messages, the index.
            reader.skip(4 + 2 + 2 + 2 + source.sizes.offset)?;
            indexes.push((kinds, reader.address(source.sizes)?));
        }
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
