//! The chunk store of a dataset that is written: the engine puts encoded chunks into it.
//!
//! Until the first chunk is placed the committed index answers. Then the map holds all chunks, 40 bytes each, and the
//! index is made anew from it by the next commit. A chunk of the committed state is never overwritten: what replaces it
//! goes elsewhere. Only an implicit index leaves no choice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use ferrocdf_array::{ChunkIndex, ChunkLocation, ChunkStore, count_in_box};
use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::BlobMut;

use super::space::{FileSpace, lock};
use crate::Address;
use crate::chunks::build::ChunkList;
use crate::chunks::{ChunkEntry, DatasetChunks};

/// Where one chunk lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChunkExtent {
    at: Address,
    len: u64,
    mask: u32,
    /// Not part of the committed state.
    fresh: bool,
}

/// The chunk store of one dataset.
pub(super) struct EditedChunks {
    blob: Arc<dyn BlobMut>,
    /// The byte of the blob that is address 0.
    base: u64,
    space: Arc<Mutex<FileSpace>>,
    /// Bytes of a chunk without filters.
    bytes: u64,
    filtered: bool,
    /// Which dimensions may become longer.
    grows: Vec<bool>,
    /// Where the chunks of an implicit index begin, and the weight of each coordinate.
    implicit: Option<(Address, Vec<u64>)>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The committed index.
    old: Option<Arc<DatasetChunks>>,
    /// All chunks, once one was placed.
    map: Option<Map>,
    changed: bool,
}

/// Chunks by number: their coordinates, each times a weight.
#[derive(Debug)]
struct Map {
    /// How many chunks each dimension can have with these weights; of the first one any.
    room: Vec<u64>,
    weights: Vec<u64>,
    spots: BTreeMap<u64, ChunkExtent>,
}

/// What does not change of a dataset's chunks.
pub(super) struct Facts {
    pub blob: Arc<dyn BlobMut>,
    pub base: u64,
    pub space: Arc<Mutex<FileSpace>>,
    /// Bytes of a chunk without filters.
    pub bytes: u64,
    pub filtered: bool,
    pub grows: Vec<bool>,
    /// Where the chunks of an implicit index begin, and how many there are in each dimension.
    pub implicit: Option<(Address, Vec<u64>)>,
}

impl std::fmt::Debug for EditedChunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditedChunks").field("blob", &self.blob.name()).finish_non_exhaustive()
    }
}

impl EditedChunks {
    /// A store whose committed chunks are in `old`.
    pub fn new(facts: Facts, old: Option<Arc<DatasetChunks>>) -> Result<EditedChunks> {
        let Facts { blob, base, space, bytes, filtered, grows, implicit } = facts;
        let implicit = match implicit {
            Some((at, counts)) => Some((at, weights(&counts)?)),
            None => None,
        };
        let state = Mutex::new(State { old, map: None, changed: false });
        Ok(EditedChunks { blob, base, space, bytes, filtered, grows, implicit, state })
    }

    /// Whether the index has to be made anew.
    pub fn is_changed(&self) -> bool {
        lock(&self.state).changed
    }

    /// All chunks by their coordinates, in their order, if the index has to be made anew.
    pub fn changed(&self) -> Option<ChunkList> {
        let state = lock(&self.state);
        let map = state.map.as_ref().filter(|_| state.changed)?;
        let mut list = ChunkList::new(self.grows.len());
        for (&number, &ChunkExtent { at, len, mask, .. }) in &map.spots {
            list.push(&map.coords(number), ChunkEntry { at, len, mask });
        }
        Some(list)
    }

    /// Whether any chunk has a place.
    pub fn any(&self) -> Result<bool> {
        let state = lock(&self.state);
        match (&state.map, &state.old) {
            (Some(map), _) => Ok(!map.spots.is_empty()),
            (None, Some(old)) => Ok(old.stored_bytes()? > 0),
            (None, None) => Ok(false),
        }
    }

    /// Takes the map for part of the committed state: no chunk in it is overwritten any more.
    pub fn seal(&self) {
        let mut state = lock(&self.state);
        if !std::mem::take(&mut state.changed) {
            return;
        }
        if let Some(map) = &mut state.map {
            map.spots.values_mut().for_each(|spot| spot.fresh = false);
            state.old = None;
        }
    }

    /// Leaves the places of all chunks: the dataset is gone.
    pub fn give_up(&self) -> Result<()> {
        let mut state = lock(&self.state);
        // Chunks of an implicit index are one piece of the file, which the caller gives up. The file may not reach so far yet.
        if self.implicit.is_none() {
            self.load(&mut state)?;
        }
        let mut space = lock(&self.space);
        let spots = state.map.take().filter(|_| self.implicit.is_none()).map(|map| map.spots);
        for spot in spots.unwrap_or_default().into_values() {
            match spot.fresh {
                true => space.give_back(spot.at, spot.len),
                false => space.leave(spot.at, spot.len),
            }
        }
        state.old = None;
        Ok(())
    }

    /// Reads the committed index, if no chunk was placed before.
    fn load<'a>(&self, state: &'a mut State) -> Result<&'a mut Map> {
        if state.map.is_none() {
            let mut map = Map::new(state.old.as_ref().map_or(&[][..], |old| old.counts()))?;
            if map.room.is_empty() {
                map = Map::new(&vec![1; self.grows.len()])?;
            }
            if let Some(old) = &state.old {
                old.each(&mut |coords, entry, mask| {
                    let len = old.stored_len(entry, mask);
                    let number = map.number_for(coords)?;
                    map.spots.insert(number, ChunkExtent { at: entry.at, len, mask, fresh: false });
                    Ok(())
                })?;
            }
            state.map = Some(map);
        }
        // It was made just now if it was not there.
        state.map.as_mut().ok_or_else(|| Error::new(Code::EINTERNAL, "a map of chunks"))
    }

    fn position(&self, at: Address) -> Result<u64> {
        let beyond = || Error::new(Code::EVARSIZE, "a chunk beyond byte 2^64");
        self.base.checked_add(at.0).ok_or_else(beyond)
    }
}

impl Map {
    fn new(counts: &[u64]) -> Result<Map> {
        let room: Vec<u64> = counts.iter().map(|&count| count.max(1)).collect();
        Ok(Map { weights: weights(&room)?, room, spots: BTreeMap::new() })
    }

    /// The number of the chunk at these coordinates, if there is room for it.
    fn number(&self, coords: &[u64]) -> Option<u64> {
        if coords.len() != self.room.len()
            || coords.iter().zip(&self.room).skip(1).any(|(at, room)| at >= room)
        {
            return None;
        }
        let parts = coords.iter().zip(&self.weights).map(|(at, weight)| at.checked_mul(*weight));
        parts.into_iter().try_fold(0u64, |sum, part| sum.checked_add(part?))
    }

    /// The number of the chunk at these coordinates, for which room is made.
    fn number_for(&mut self, coords: &[u64]) -> Result<u64> {
        let beyond = || Error::new(Code::EVARSIZE, format!("chunk {coords:?}: there are too many before it"));
        if let Some(number) = self.number(coords) {
            return Ok(number);
        }
        if coords.len() != self.room.len() {
            return Err(Error::new(Code::EINVAL, format!("chunk {coords:?} has the wrong rank")));
        }
        let mut room = self.room.clone();
        for (room, &at) in room.iter_mut().zip(coords).skip(1).filter(|(room, at)| **at >= **room) {
            *room = room.saturating_mul(2).max(at.saturating_add(1));
        }
        let mut wider = Map { weights: weights(&room)?, room, spots: BTreeMap::new() };
        for (number, spot) in std::mem::take(&mut self.spots) {
            let number = wider.number(&self.coords(number)).ok_or_else(beyond)?;
            wider.spots.insert(number, spot);
        }
        *self = wider;
        self.number(coords).ok_or_else(beyond)
    }

    fn coords(&self, mut number: u64) -> Vec<u64> {
        let mut coords = Vec::with_capacity(self.weights.len());
        for &weight in &self.weights {
            coords.push(number / weight);
            number %= weight;
        }
        coords
    }
}

/// What each coordinate counts, the last one fastest.
fn weights(room: &[u64]) -> Result<Vec<u64>> {
    let mut weights = vec![1; room.len()];
    let mut weight = 1u64;
    for (at, &room) in weights.iter_mut().zip(room).rev() {
        *at = weight;
        // Only the first dimension may be longer than 64 bits can count.
        weight = weight.saturating_mul(room);
    }
    match weights.first() {
        Some(&u64::MAX) => Err(Error::new(Code::EVARSIZE, format!("{room:?} chunks are too many"))),
        _ => Ok(weights),
    }
}

impl ChunkIndex for EditedChunks {
    fn count_stored(&self, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
        let state = lock(&self.state);
        match (&state.map, &state.old) {
            (Some(map), _) if first.len() == map.room.len() => {
                let next = |numbers| Ok(map.spots.range(numbers).next().map(|(&number, _)| number));
                count_in_box(&map.room, (first, count), limit, next).map(Some)
            }
            (None, Some(old)) => old.count_stored(first, count, limit),
            (None, None) => Ok(Some(0)),
            _ => Ok(None),
        }
    }

    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let state = lock(&self.state);
        let total = count.iter().try_fold(1u64, |total, &count| total.checked_mul(count));
        let total = total.and_then(|total| usize::try_from(total).ok());
        let Some(map) = &state.map else {
            return match &state.old {
                Some(old) => old.locate(first, count),
                None => Ok(vec![ChunkLocation::Missing; total.ok_or_else(|| too_many(count))?]),
            };
        };
        let mut places = Vec::new();
        let total =
            total.filter(|&total| places.try_reserve_exact(total).is_ok()).ok_or_else(|| too_many(count))?;
        let mut coords = first.to_vec();
        for _ in 0..total {
            let spot = map.number(&coords).and_then(|number| map.spots.get(&number));
            places.push(match spot {
                Some(spot) => {
                    ChunkLocation::At { at: self.position(spot.at)?, len: spot.len, mask: spot.mask }
                }
                None => ChunkLocation::Missing,
            });
            for ((at, &first), &count) in coords.iter_mut().zip(first).zip(count).rev() {
                *at += 1;
                if *at - first < count {
                    break;
                }
                *at = first;
            }
        }
        Ok(places)
    }
}

fn too_many(count: &[u64]) -> Error {
    Error::new(Code::ENOMEM, format!("no memory for the places of {count:?} chunks"))
}

impl ChunkStore for EditedChunks {
    fn allocate(&self, chunk: &[u64], len: u64) -> Result<u64> {
        if let Some((at, weights)) = &self.implicit {
            let offset = chunk
                .iter()
                .zip(weights)
                .try_fold(0u64, |sum, (at, weight)| sum.checked_add(at.checked_mul(*weight)?));
            let at = offset.and_then(|number| number.checked_mul(self.bytes)?.checked_add(at.0));
            return self.position(Address(at.ok_or_else(|| too_many(chunk))?));
        }
        if !self.filtered && len != self.bytes {
            return Err(Error::new(Code::EINVAL, format!("a chunk of {len} bytes, not {}", self.bytes)));
        }
        // What cannot be inserted later is an error now.
        self.load(&mut lock(&self.state))?.number_for(chunk)?;
        let at = lock(&self.space).take(len)?;
        self.position(at)
    }

    fn insert(&self, chunk: &[u64], at: u64, len: u64, mask: u32) -> Result<()> {
        let mut state = lock(&self.state);
        let map = self.load(&mut state)?;
        if self.implicit.is_some() {
            return Ok(());
        }
        let number = map.number_for(chunk)?;
        let new = ChunkExtent { at: Address(at - self.base), len, mask, fresh: true };
        let mut space = lock(&self.space);
        match map.spots.insert(number, new) {
            Some(old) if old.fresh => space.give_back(old.at, old.len),
            Some(old) => space.give_up(old.at, old.len),
            None => {}
        }
        state.changed = true;
        Ok(())
    }

    fn release(&self, _block: &[u64], at: u64, len: u64) {
        if self.implicit.is_none() {
            lock(&self.space).give_back(Address(at - self.base), len);
        }
    }

    fn blob(&self) -> Arc<dyn BlobMut> {
        self.blob.clone()
    }

    fn uncommitted_position(&self, chunk: &[u64]) -> Option<u64> {
        let state = lock(&self.state);
        let map = state.map.as_ref()?;
        let spot = map.spots.get(&map.number(chunk)?).filter(|spot| spot.fresh)?;
        self.position(spot.at).ok()
    }

    fn can_grow(&self, dim: usize) -> bool {
        self.grows.get(dim).copied().unwrap_or(false)
    }
}
