//! "Global Heap" (III.E): what elements of variable length and references to regions point to.
//!
//! A collection is read whole and its objects listed. Collections that were used lately are kept, up to a number of
//! bytes, so that elements side by side, which mostly share one, cost one read.

use std::collections::HashMap;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError};

use ferrocdf_bytes::Result;

use crate::messages::HeapId;
use crate::wire::{Reader, bad};
use crate::{Address, Sizes, Source};

const WHAT: &str = "global heap collection";
/// The smallest size of a collection that the reference makes.
const FIRST_READ: u64 = 4096;
/// Bytes of collections that are kept; twice as many for a while.
const KEPT: usize = 8 << 20;

/// A collection.
#[derive(Debug)]
struct Collection {
    bytes: Vec<u8>,
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
    newer: HashMap<Address, Arc<Collection>>,
    older: HashMap<Address, Arc<Collection>>,
    /// Of the newer.
    bytes: usize,
}

impl Kept {
    fn get(&mut self, at: Address) -> Option<Arc<Collection>> {
        if let Some(found) = self.newer.get(&at) {
            return Some(Arc::clone(found));
        }
        let found = self.older.remove(&at)?;
        self.insert(at, Arc::clone(&found));
        Some(found)
    }

    fn insert(&mut self, at: Address, collection: Arc<Collection>) {
        self.bytes += collection.bytes.len();
        self.newer.insert(at, collection);
        if self.bytes > KEPT {
            self.older = std::mem::take(&mut self.newer);
            self.bytes = 0;
        }
    }
}

/// The bytes of an object of the global heap.
#[derive(Clone, Debug)]
pub struct HeapObject {
    collection: Arc<Collection>,
    range: Range<usize>,
}

impl HeapObject {
    /// An object of its own.
    pub(crate) fn of(bytes: Vec<u8>) -> HeapObject {
        let range = 0..bytes.len();
        HeapObject { collection: Arc::new(Collection { bytes, objects: Vec::new() }), range }
    }
}

impl Deref for HeapObject {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.collection.bytes[self.range.clone()]
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
        Ok(HeapObject { collection, range })
    }

    fn collection(&self, source: &Source, at: Address) -> Result<Arc<Collection>> {
        let held = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = held().get(at) {
            return Ok(found);
        }
        let start = source.read_some(WHAT, at, FIRST_READ)?;
        let mut r = Reader::new(WHAT, &start);
        let size = head(&mut r, source.sizes).map_err(|error| error.at(at))?;
        let bytes = source.read_on(WHAT, at, start, size)?;
        let collection = Arc::new(Collection::parse(bytes, source.sizes).map_err(|error| error.at(at))?);
        held().insert(at, Arc::clone(&collection));
        Ok(collection)
    }
}

/// Bytes of the head of a collection, and of an object: a length at byte 8, and room up to a multiple of 8.
fn head_size(sizes: Sizes) -> usize {
    (8 + sizes.length).next_multiple_of(8)
}

/// The size that the head of a collection says.
fn head(r: &mut Reader<'_>, sizes: Sizes) -> Result<u64> {
    r.signature(b"GCOL")?;
    r.version(1..=1)?;
    r.skip(3)?;
    r.length(sizes)
}

impl Collection {
    fn parse(mut bytes: Vec<u8>, sizes: Sizes) -> Result<Collection> {
        let mut r = Reader::new(WHAT, &bytes);
        let size = usize::try_from(head(&mut r, sizes)?).unwrap_or(usize::MAX);
        if size < head_size(sizes) || size > bytes.len() {
            return Err(r.error(format_args!("its size is {size}")));
        }
        bytes.truncate(size);
        let mut r = Reader::new(WHAT, &bytes);
        r.skip(head_size(sizes))?;
        let mut objects = Vec::new();
        // What is left may be too short for another head.
        while r.rest().len() >= head_size(sizes) {
            let index = r.u16()?;
            r.skip(6)?;
            let len = r.length(sizes)?;
            r.skip(head_size(sizes) - 8 - sizes.length)?;
            if index == 0 {
                // Free space, behind which there is nothing.
                break;
            }
            let start = r.position();
            let left = r.rest().len();
            let Some(len) = usize::try_from(len).ok().filter(|&len| len <= left) else {
                return Err(r.error(format_args!("object {index} has {len} bytes, {left} are left")));
            };
            objects.push((index, start..start + len));
            r.skip(len.next_multiple_of(8).min(left))?;
        }
        objects.sort_by_key(|object| object.0);
        Ok(Collection { bytes, objects })
    }
}

#[cfg(test)]
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
        Source { blob: Arc::new(MemoryBlob::new(bytes)), base: 0, sizes: SIZES }
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
        let collection = |len| Arc::new(Collection { bytes: vec![0; len], objects: Vec::new() });
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
