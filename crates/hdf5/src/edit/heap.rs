//! The global heap of a file that is edited.
//!
//! New objects go to collections with room, new and committed ones alike; a committed one that changes goes through the
//! journal. A new collection that is full is written at once and forgotten. One without objects is given up whole.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ferrocdf_bytes::{Code, Error, Result};

use super::Editor;
use super::savepoint::Change;
use super::space::{Extent, FileSpace, lock};
use crate::heaps::global::{self, CollectionHead, NewObject, SMALLEST};
use crate::heaps::{GlobalHeap, HeapObject};
use crate::messages::HeapId;
use crate::wire::{self, bad};
use crate::{Address, Sizes, Source};

const WHAT: &str = "global heap collection";
/// The largest collection that is made for many objects.
const LARGEST: u64 = 64 << 10;
/// A collection with less room is full.
const FULL: u64 = 64;
/// A collection with more objects takes no other.
const MOST: usize = 65_000;
/// Bytes of full collections that could not be written and wait for the commit in memory.
const MOST_WAITING: u64 = 4 << 20;

/// The global heap.
#[derive(Debug, Default)]
pub(super) struct EditedGlobalHeap {
    /// The collections that are in memory.
    collections: BTreeMap<Address, EditedCollection>,
    /// Those with room, by their room.
    open: BTreeSet<(u64, Address)>,
    /// Collections made since the last commit and written, with their sizes.
    written: HashMap<Address, u64>,
    /// Bytes put since the last commit.
    put: u64,
    /// Bytes of full collections that could not be written.
    waiting: u64,
    /// Reads the others.
    reader: GlobalHeap,
}

/// A collection.
#[derive(Debug)]
struct EditedCollection {
    size: u64,
    objects: BTreeMap<u16, CollectionObject>,
    /// Bytes that are taken, its head included.
    used: u64,
    committed: bool,
    changed: bool,
}

#[derive(Debug)]
struct CollectionObject {
    references: u16,
    bytes: Vec<u8>,
}

/// Bytes that an object takes.
fn taken(sizes: Sizes, len: usize) -> Result<u64> {
    let long = || Error::new(Code::EVARSIZE, "an object of the global heap that is too long");
    global::object_size(len as u64, sizes).ok_or_else(long)
}

impl EditedCollection {
    fn new(size: u64, sizes: Sizes) -> EditedCollection {
        let used = global::overhead(sizes);
        EditedCollection { size, objects: BTreeMap::new(), used, committed: false, changed: true }
    }

    fn read(source: &Source, at: Address) -> Result<EditedCollection> {
        let sizes = source.sizes;
        let start = source.read_some(WHAT, at, SMALLEST)?;
        let mut head = CollectionHead { sizes, size: 0 };
        wire::decode(&mut head, WHAT, at, &start)?;
        let size = head.size;
        let bytes = source.read_on(WHAT, at, start, size)?;
        let (objects, _) = global::stored_objects(&bytes, sizes).map_err(|error| error.at(at))?;
        let mut collection =
            EditedCollection { committed: true, changed: false, ..EditedCollection::new(size, sizes) };
        for object in objects {
            let bytes = bytes[object.data].to_vec();
            collection.used += taken(sizes, bytes.len())?;
            collection
                .objects
                .insert(object.index, CollectionObject { references: object.references, bytes });
        }
        Ok(collection)
    }

    fn room(&self) -> u64 {
        if self.objects.len() >= MOST { 0 } else { self.size.saturating_sub(self.used) }
    }

    fn encode(&self, sizes: Sizes) -> Result<Vec<u8>> {
        let objects: Vec<NewObject<'_>> = self
            .objects
            .iter()
            .map(|(&index, object)| NewObject { index, references: object.references, data: &object.bytes })
            .collect();
        global::encode(&objects, self.size, sizes)
    }
}

impl EditedGlobalHeap {
    /// Puts bytes into a collection; a full new one is written by `write`. One that cannot be written waits for the commit,
    /// which tells whether it can.
    ///
    /// # Errors
    /// Those of `write` once [`MOST_WAITING`] bytes wait: nothing was put then.
    pub fn put(
        &mut self,
        bytes: &[u8],
        source: &Source,
        space: &mut FileSpace,
        write: &mut dyn FnMut(Address, &[u8]) -> Result<()>,
    ) -> Result<HeapId> {
        let sizes = source.sizes;
        let need = taken(sizes, bytes.len())?;
        let at = match self.open.range((need, Address(0))..).next() {
            Some(&(_, at)) => at,
            None => {
                let usual = (self.put / 128).next_multiple_of(SMALLEST).clamp(SMALLEST, LARGEST);
                let size = usual.max(global::overhead(sizes) + need);
                let at = space.take_collection(size)?;
                self.collections.insert(at, EditedCollection::new(size, sizes));
                at
            }
        };
        let gone = || Error::new(Code::EINTERNAL, "a collection of the global heap");
        let collection = self.collections.get_mut(&at).ok_or_else(gone)?;
        self.open.remove(&(collection.room(), at));
        let last = collection.objects.last_key_value().map_or(0, |(&index, _)| index);
        let unused = || (1..=u16::MAX).find(|index| !collection.objects.contains_key(index));
        let index = last.checked_add(1).or_else(unused).ok_or_else(gone)?;
        collection.objects.insert(index, CollectionObject { references: 0, bytes: bytes.to_vec() });
        collection.used += need;
        collection.changed = true;
        self.put += need;
        if collection.room() >= FULL {
            self.open.insert((collection.room(), at));
        } else if !collection.committed {
            let size = collection.size;
            match write(at, &collection.encode(sizes)?) {
                Ok(()) => {
                    self.written.insert(at, size);
                    self.collections.remove(&at);
                }
                Err(_) if self.waiting + size <= MOST_WAITING => self.waiting += size,
                Err(error) => {
                    collection.objects.remove(&index);
                    collection.used -= need;
                    self.open.insert((collection.room(), at));
                    return Err(error);
                }
            }
        }
        Ok(HeapId { collection: at, index: u32::from(index) })
    }

    /// Takes an object out.
    pub fn free(&mut self, id: HeapId, source: &Source, space: &mut FileSpace) -> Result<()> {
        let at = id.collection;
        if !self.collections.contains_key(&at) {
            let mut collection = EditedCollection::read(source, at)?;
            collection.committed = !self.written.contains_key(&at);
            self.collections.insert(at, collection);
            self.reader = GlobalHeap::default();
        }
        let none = || bad(format!("{WHAT} at {at}: it has no object {}", id.index));
        let collection = self.collections.get_mut(&at).ok_or_else(none)?;
        let room = collection.room();
        let index = u16::try_from(id.index).map_err(|_| none())?;
        let object = collection.objects.remove(&index).ok_or_else(none)?;
        self.open.remove(&(room, at));
        collection.used -= taken(source.sizes, object.bytes.len())?;
        collection.changed = true;
        // A committed one may be filled again before the commit: what replaces an object goes to its place.
        if !collection.objects.is_empty() || collection.committed {
            self.open.insert((collection.room(), at));
            return Ok(());
        }
        space.give_back(at, collection.size);
        self.written.remove(&at);
        self.collections.remove(&at);
        Ok(())
    }

    /// Gives up committed collections without objects. To be called before [`EditedGlobalHeap::changes`].
    pub fn give_up_empty(&mut self, space: &mut FileSpace) {
        let open = &mut self.open;
        self.collections.retain(|&at, collection| {
            let keep = !collection.objects.is_empty();
            if !keep {
                open.remove(&(collection.room(), at));
                space.give_up(at, collection.size);
            }
            keep
        });
    }

    /// The bytes of an object.
    pub fn get(&self, id: HeapId, source: &Source) -> Result<HeapObject> {
        let Some(collection) = self.collections.get(&id.collection) else {
            return self.reader.object(source, id);
        };
        let object = u16::try_from(id.index).ok().and_then(|index| collection.objects.get(&index));
        let none = || bad(format!("{WHAT} at {}: it has no object {}", id.collection, id.index));
        Ok(HeapObject::of(object.ok_or_else(none)?.bytes.clone()))
    }

    /// The collections that changed: their place, their bytes, and whether they are committed ones.
    pub fn changes(&self, sizes: Sizes) -> Result<Vec<(Extent, Vec<u8>, bool)>> {
        let changed = self.collections.iter().filter(|(_, collection)| collection.changed);
        let one = |(&at, collection): (&Address, &EditedCollection)| {
            let extent = Extent { at, len: collection.size };
            Ok((extent, collection.encode(sizes)?, collection.committed))
        };
        changed.map(one).collect()
    }

    /// Takes all that changed for committed. It stays in memory until [`EditedGlobalHeap::trim`]: its bytes may not be in their places
    /// yet.
    pub fn seal(&mut self) {
        self.written.clear();
        (self.put, self.waiting) = (0, 0);
        for collection in self.collections.values_mut() {
            (collection.committed, collection.changed) = (true, false);
        }
    }

    /// Forgets collections without room, and the fullest of many others: the file has them.
    pub fn trim(&mut self) {
        self.reader = GlobalHeap::default();
        self.collections
            .retain(|at, collection| collection.changed || self.open.contains(&(collection.room(), *at)));
        // The fullest go first.
        while self.open.len() > 256 {
            let Some((_, at)) = self.open.pop_first() else { return };
            self.collections.remove(&at);
        }
    }
}

impl Editor {
    /// Stores bytes as a new object of the global heap.
    ///
    /// # Errors
    /// Those of the blob.
    pub fn heap_put(&mut self, bytes: &[u8]) -> Result<HeapId> {
        self.resume()?;
        let (blob, source) = (&self.blob, &self.source);
        let mut write = |at: Address, bytes: &[u8]| blob.write_at(source.position(at)?, bytes);
        let id = self.heap.put(bytes, source, &mut lock(&self.space), &mut write)?;
        self.note_change(|| Change::Put(id));
        Ok(id)
    }

    /// Frees an object of the global heap; with an open savepoint not before that is released.
    ///
    /// # Errors
    /// `EHDFERR` if there is no such object.
    pub fn heap_free(&mut self, id: HeapId) -> Result<()> {
        self.resume()?;
        if self.frees_later(id) {
            return Ok(());
        }
        self.heap.free(id, &self.source, &mut lock(&self.space))
    }

    /// Returns an object of the global heap, committed or new.
    ///
    /// # Errors
    /// `EHDFERR` if there is no such object.
    pub fn heap_get(&self, id: HeapId) -> Result<HeapObject> {
        self.heap.get(id, &self.source)
    }
}
