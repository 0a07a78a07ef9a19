//! "Global Heap" (III.E): what elements of variable length and references to regions point to.
//!
//! A collection is read whole and its objects listed. Collections that were used lately are kept, up to a number of
//! bytes, so that elements side by side, which mostly share one, cost one read.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::{Coder, Record, Result, ToUsize};

use super::HeapObject;
use crate::fields::{self, Fields};
use crate::messages::HeapId;
use crate::wire::{self, Writer, bad};
use crate::{Address, Sizes, Source};

const WHAT: &str = "global heap collection";
/// The smallest size of a collection that the reference makes.
const FIRST_READ: u64 = 4096;
/// Bytes of collections that are kept; twice as many for a while.
const KEPT: usize = 8 << 20;

/// A collection.
#[derive(Debug)]
struct GlobalHeapCollection {
    bytes: Arc<Vec<u8>>,
    /// Where the data of each object is, sorted by index.
    objects: Vec<(u16, Range<usize>)>,
}

/// The global heap of a file.
#[derive(Debug, Default)]
pub(crate) struct GlobalHeap {
    kept: Mutex<Kept>,
}

/// Collections in two halves: when the newer is full it becomes the older, and what that had is forgotten.
#[derive(Debug, Default)]
struct Kept {
    newer: HashMap<Address, Arc<GlobalHeapCollection>>,
    older: HashMap<Address, Arc<GlobalHeapCollection>>,
    /// Of the newer.
    bytes: usize,
}

impl Kept {
    fn get(&mut self, at: Address) -> Option<Arc<GlobalHeapCollection>> {
        if let Some(found) = self.newer.get(&at) {
            return Some(Arc::clone(found));
        }
        let found = self.older.remove(&at)?;
        self.insert(at, Arc::clone(&found));
        Some(found)
    }

    fn insert(&mut self, at: Address, collection: Arc<GlobalHeapCollection>) {
        self.bytes = self.bytes.saturating_add(collection.bytes.len());
        self.newer.insert(at, collection);
        if self.bytes > KEPT {
            self.older = std::mem::take(&mut self.newer);
            self.bytes = 0;
        }
    }
}

impl GlobalHeap {
    /// The object at a place.
    pub fn object(&self, source: &Source, id: HeapId) -> Result<HeapObject> {
        let collection = self.collection(source, id.collection)?;
        let index = u16::try_from(id.index).ok().filter(|&index| index > 0);
        let found = index.and_then(|index| {
            let row = collection.objects.binary_search_by_key(&index, |object| object.0).ok()?;
            Some(collection.objects[row].1.clone())
        });
        let Some(range) = found else {
            return Err(bad(format!("{WHAT} at {}: it has no object {}", id.collection, id.index)));
        };
        Ok(HeapObject { block: collection.bytes.clone(), range })
    }

    fn collection(&self, source: &Source, at: Address) -> Result<Arc<GlobalHeapCollection>> {
        let held = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = held().get(at) {
            return Ok(found);
        }
        let start = source.read_some(WHAT, at, FIRST_READ)?;
        let mut head = CollectionHead { sizes: source.sizes, size: 0 };
        wire::decode(&mut head, WHAT, at, &start)?;
        let bytes = source.read_on(WHAT, at, start, head.size)?;
        let collection =
            Arc::new(GlobalHeapCollection::parse(bytes, source.sizes).map_err(|error| error.at(at))?);
        held().insert(at, Arc::clone(&collection));
        Ok(collection)
    }
}

/// Bytes of the head of a collection, and of an object: a length at byte 8, and room up to a multiple of 8.
pub(crate) fn head_size(sizes: Sizes) -> usize {
    sizes.length.saturating_add(8).next_multiple_of(8)
}

/// "Global Heap Collection" before its objects.
pub(crate) struct CollectionHead {
    pub sizes: Sizes,
    /// Bytes of the collection.
    pub size: u64,
}

impl Record for CollectionHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.signature(b"GCOL")?;
        c.version(1..=1, &mut 1)?;
        c.reserved(3)?;
        c.length("collection size", self.sizes, &mut self.size)?;
        c.pad(8)
    }
}

/// "Global Heap Object" before its data.
pub(crate) struct ObjectHead {
    pub sizes: Sizes,
    /// 0 for free space, behind which there is nothing, and whose size counts this head.
    pub index: u16,
    pub references: u16,
    /// Bytes of the data, without padding.
    pub size: u64,
}

impl Record for ObjectHead {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        c.int("heap object index", &mut self.index)?;
        c.int("reference count", &mut self.references)?;
        c.reserved(4)?;
        c.length("object size", self.sizes, &mut self.size)?;
        c.reserved(head_size(self.sizes).saturating_sub(self.sizes.length.saturating_add(8)))
    }
}

/// An object as it stands in a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredObject {
    /// Its index, not 0.
    pub index: u16,
    /// "Reference Count", which nobody counts.
    pub references: u16,
    /// Where its data is in the collection.
    pub data: Range<usize>,
}

/// The objects of a collection in the order in which they are stored, and its size.
pub(crate) fn stored_objects(bytes: &[u8], sizes: Sizes) -> Result<(Vec<StoredObject>, usize)> {
    let mut collection = CollectionHead { sizes, size: 0 };
    let mut start = fields::read(&mut collection, WHAT, bytes)?;
    let size = collection.size.saturate();
    let Some(bytes) = bytes.get(..size).filter(|_| size >= head_size(sizes)) else {
        return Err(bad(format!("{WHAT}: its size is {size}")));
    };
    let mut objects = Vec::new();
    // What is left may be too short for another head.
    while let Some(rest) = bytes.get(start..).filter(|rest| rest.len() >= head_size(sizes)) {
        let mut head = ObjectHead { sizes, index: 0, references: 0, size: 0 };
        start = start.saturating_add(fields::read(&mut head, WHAT, rest)?);
        let ObjectHead { index, references, size: len, .. } = head;
        if index == 0 {
            break;
        }
        let left = size.saturating_sub(start);
        let Some(len) = usize::try_from(len).ok().filter(|&len| len <= left) else {
            return Err(bad(format!(
                "{WHAT} (byte {start}): object {index} has {len} bytes, {left} are left"
            )));
        };
        objects.push(StoredObject { index, references, data: start..start.saturating_add(len) });
        // Padding to a multiple of 8 may be cut off at the end.
        start = start.saturating_add(len.div_ceil(8).saturating_mul(8).min(left));
    }
    Ok((objects, size))
}

impl GlobalHeapCollection {
    fn parse(mut bytes: Vec<u8>, sizes: Sizes) -> Result<GlobalHeapCollection> {
        let (objects, size) = stored_objects(&bytes, sizes)?;
        bytes.truncate(size);
        let mut objects: Vec<_> = objects.into_iter().map(|object| (object.index, object.data)).collect();
        objects.sort_by_key(|object| object.0);
        Ok(GlobalHeapCollection { bytes: Arc::new(bytes), objects })
    }
}

/// The smallest collection that the reference makes, in bytes.
pub(crate) const SMALLEST: u64 = 4096;

/// An object of a collection to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewObject<'a> {
    /// Its index, not 0; no two of a collection have the same.
    pub index: u16,
    /// "Reference Count": 0 as the reference has it, or what was there.
    pub references: u16,
    /// Its data.
    pub data: &'a [u8],
}

/// Bytes of a collection that an object of `len` bytes takes.
pub(crate) fn object_size(len: u64, sizes: Sizes) -> Option<u64> {
    len.checked_next_multiple_of(8)?.checked_add(head_size(sizes) as u64)
}

/// Bytes of a collection that no object can have.
pub(crate) fn overhead(sizes: Sizes) -> u64 {
    head_size(sizes) as u64
}

/// A collection of `size` bytes with these objects, and free space behind them.
///
/// # Errors
/// `ERANGE` if the objects do not fit.
pub(crate) fn encode(objects: &[NewObject<'_>], size: u64, sizes: Sizes) -> Result<Vec<u8>> {
    let mut w = Writer::new(WHAT);
    w.record(&mut CollectionHead { sizes, size });
    for &NewObject { index, references, data } in objects {
        if index == 0 {
            w.fail("an object of index 0");
        }
        w.record(&mut ObjectHead { sizes, index, references, size: data.len() as u64 });
        w.bytes(data);
        w.pad(8);
    }
    match size.checked_sub(w.position() as u64) {
        None => w.fail(format_args!("its objects take more than {size} bytes")),
        Some(left) => {
            // The length of free space counts its head; what is too short for one stays zero.
            if left >= head_size(sizes) as u64 {
                w.record(&mut ObjectHead { sizes, index: 0, references: 0, size: left });
            }
            w.pad_to(size.saturate());
        }
    }
    w.finish()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "numbers that the tests choose")]
mod tests {
    use super::*;
    use ferrocdf_store::MemoryBlob;

    const SIZES: Sizes = Sizes { offset: 8, length: 8 };

    /// A file of nothing but a collection of these objects, in front of free space.
    fn file(objects: &[(u8, &[u8])], free: usize) -> Source {
        let mut body = Vec::new();
        for (index, data) in objects {
            body.extend([*index, 0, 1, 0, 0, 0, 0, 0, data.len() as u8, 0, 0, 0, 0, 0, 0, 0]);
            body.extend_from_slice(data);
            body.resize(body.len().next_multiple_of(8), 0);
        }
        body.resize(body.len() + free, 0);
        let size = (body.len() + 16) as u64;
        let bytes = [b"GCOL\x01\0\0\0", &size.to_le_bytes()[..], &body].concat();
        Source { blob: Arc::new(MemoryBlob::new(bytes)), base: 0, sizes: SIZES, codecs: Default::default() }
    }

    fn object(source: &Source, index: u32) -> Result<Vec<u8>> {
        let id = HeapId { collection: Address(0), index };
        GlobalHeap::default().object(source, id).map(|object| object.to_vec())
    }

    #[test]
    fn objects_are_found_in_any_order() {
        for free in [0, 8, 24] {
            let source = file(&[(3, b"three"), (1, b"one12345"), (300u16 as u8, b"")], free);
            assert_eq!(object(&source, 3).unwrap(), b"three");
            assert_eq!(object(&source, 1).unwrap(), b"one12345");
            assert_eq!(object(&source, 44).unwrap(), b"");
            assert!(object(&source, 0).is_err());
            assert!(object(&source, 2).is_err());
            assert!(object(&source, 1 << 16 | 1).is_err());
        }
    }

    #[test]
    fn collections_are_read_as_they_were_written() {
        for sizes in [SIZES, Sizes { offset: 4, length: 4 }, Sizes { offset: 8, length: 2 }] {
            let objects = [(3, 1, &b"three"[..]), (1, 0, b"one12345"), (300, 0, b"")]
                .map(|(index, references, data)| NewObject { index, references, data });
            let used = overhead(sizes)
                + objects.iter().map(|o| object_size(o.data.len() as u64, sizes).unwrap()).sum::<u64>();
            for spare in [0, 8, 16, 24, 4000] {
                let bytes = encode(&objects, used + spare, sizes).unwrap();
                assert_eq!(bytes.len() as u64, used + spare);
                let (found, size) = stored_objects(&bytes, sizes).unwrap();
                assert_eq!(size, bytes.len());
                let found: Vec<_> =
                    found.into_iter().map(|o| (o.index, o.references, &bytes[o.data])).collect();
                assert_eq!(found, objects.map(|o| (o.index, o.references, o.data)));
                let again: Vec<_> = found
                    .iter()
                    .map(|&(index, references, data)| NewObject { index, references, data })
                    .collect();
                assert_eq!(encode(&again, size as u64, sizes).unwrap(), bytes);
                if spare >= 16 {
                    assert_eq!(wire::number(&bytes[used as usize + 8..][..sizes.length]), spare);
                }
            }
            assert!(encode(&objects, used - 8, sizes).is_err());
            assert!(encode(&[NewObject { index: 0, ..objects[0] }], 4096, sizes).is_err());
        }
    }

    #[test]
    fn damage_is_an_error() {
        let source = file(&[(1, b"one")], 0);
        let mut bytes = vec![0; 40];
        source.blob.read_exact_at(0, &mut bytes).unwrap();
        for (at, value) in [(0, b'X'), (4, 2), (8, 39), (8, 41), (8, 15), (24, 9), (31, 255)] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            let source = Source { blob: Arc::new(MemoryBlob::new(bytes)), ..source.clone() };
            let result = object(&source, 1);
            // A size that cuts off only padding does no harm.
            assert_eq!(result.is_ok(), (at, value) == (8, 39), "byte {at} is {value}: {result:?}");
        }
    }

    #[test]
    fn what_was_used_last_is_kept() {
        let mut kept = Kept::default();
        let collection =
            |len| Arc::new(GlobalHeapCollection { bytes: Arc::new(vec![0; len]), objects: Vec::new() });
        kept.insert(Address(1), collection(KEPT));
        kept.insert(Address(2), collection(1));
        assert!(kept.get(Address(1)).is_some());
        // Together they are more than is kept.
        assert!(kept.newer.len() + kept.older.len() <= 2);
        kept.insert(Address(3), collection(KEPT + 1));
        assert!(kept.get(Address(3)).is_some());
        assert!(kept.get(Address(1)).is_none());
    }
}
