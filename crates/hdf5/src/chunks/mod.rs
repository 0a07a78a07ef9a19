//! Chunk indexes: where the chunks of a dataset lie (specification, appendix C, and sections III.A and III.C for trees).
//!
//! Every index answers one question, "the entry of chunk number n", and nothing else knows that there are six of them.
//! What a chunk's number is differs: arrays count through the largest extent the dataset may have, with the unlimited
//! dimension slowest; trees hold coordinates, and are turned into a table numbered by the present extent.
//!
//! Not done: reading only a part of a tree.

pub(crate) mod build;
pub(crate) mod extensible_array;
pub(crate) mod fixed_array;
mod pages;
pub(crate) mod stored;
mod stored_in_box;
mod table;
mod tree;
mod walk;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use ferrocdf_array::ChunkLocation;
use ferrocdf_bytes::{Code, Error, Result};

use crate::messages::{ChunkIndex, ChunkedLayout, Dataspace};
use crate::wire::bad;
use crate::{Address, Sizes, Source};
use extensible_array::ExtensibleArray;
use fixed_array::FixedArray;
use pages::Leaf;
use table::ChunkTable;

/// The chunks of one dataset.
#[derive(Debug)]
pub(crate) struct DatasetChunks {
    /// Generation of this snapshot of the index; unique per process.
    generation: u64,
    source: Source,
    /// The shape of the dataset and of a chunk, in elements.
    shape: Vec<u64>,
    chunk: Vec<u64>,
    /// How many chunks there are in each dimension now.
    counts: Vec<u64>,
    /// The number of a chunk is the sum of its coordinates, each times its weight.
    weights: Vec<u64>,
    /// The dimension that is counted slowest; the others come in their order.
    slowest: usize,
    /// Bytes of a chunk without filters.
    bytes: u64,
    filtered: bool,
    plain_edges: bool,
    finder: Finder,
}

/// What finds the entry of a chunk.
#[derive(Debug)]
enum Finder {
    /// No chunk was ever stored.
    Nothing,
    Single(ChunkEntry),
    /// Side by side from here.
    Implicit(Address),
    FixedArray(FixedArray),
    ExtensibleArray(ExtensibleArray),
    Tree {
        kind: ChunkIndex,
        root: Address,
        table: Lazy<ChunkTable>,
    },
}

/// What an index says of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkEntry {
    pub at: Address,
    /// Stored bytes and filter mask; they matter only if there are filters.
    pub len: u64,
    pub mask: u32,
}

impl DatasetChunks {
    /// The chunks of a dataset; nothing is read yet.
    pub fn new(
        source: &Source,
        layout: &ChunkedLayout,
        space: &Dataspace,
        filtered: bool,
    ) -> Result<DatasetChunks> {
        let (shape, chunk) = (&space.dims, &layout.shape);
        let rank = shape.len();
        if rank != chunk.len() {
            return Err(bad(format!("chunks of shape {chunk:?} in a dataset of shape {shape:?}")));
        }
        let too_many =
            || bad(format!("chunks of shape {chunk:?} in a dataset of shape {shape:?} are too many"));
        let bytes = chunk.iter().try_fold(layout.element, |bytes, &len| bytes.checked_mul(len));
        let counts: Vec<u64> = shape.iter().zip(chunk).map(|(&len, &chunk)| len.div_ceil(chunk)).collect();
        let most = most_chunks(space, chunk);
        let finder = match (layout.index, layout.address) {
            (_, None) => Finder::Nothing,
            (ChunkIndex::Single(filtered), Some(at)) => {
                let (len, mask) = filtered.unwrap_or((bytes.ok_or_else(too_many)?, 0));
                Finder::Single(ChunkEntry { at, len, mask })
            }
            (ChunkIndex::Implicit, Some(at)) => Finder::Implicit(at),
            (ChunkIndex::FixedArray { .. }, Some(at)) => Finder::FixedArray(FixedArray::new(at)),
            (ChunkIndex::ExtensibleArray(_), Some(at)) => Finder::ExtensibleArray(ExtensibleArray::new(at)),
            (kind @ (ChunkIndex::BTree1 | ChunkIndex::BTree2 { .. }), Some(root)) => {
                Finder::Tree { kind, root, table: Lazy::default() }
            }
        };
        let slowest = match finder {
            Finder::ExtensibleArray(_) => slowest_of_growing(&most)?,
            _ => 0,
        };
        let weights = match finder {
            Finder::Nothing | Finder::Single(_) => vec![0; rank],
            Finder::Tree { .. } => {
                array_weights(&counts.iter().copied().map(Some).collect::<Vec<_>>(), slowest)?
            }
            _ => array_weights(&most, slowest)?,
        };
        static GENERATIONS: AtomicU64 = AtomicU64::new(1);
        Ok(DatasetChunks {
            generation: GENERATIONS.fetch_add(1, Relaxed),
            source: source.clone(),
            shape: shape.clone(),
            chunk: chunk.clone(),
            weights,
            slowest,
            bytes: bytes.ok_or_else(too_many)?,
            counts,
            filtered,
            plain_edges: layout.plain_edges && filtered,
            finder,
        })
    }

    /// How many chunks there are in each dimension now.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The entry of the chunk of this number.
    fn entry(&self, number: u64, cursor: &mut Cursor) -> Result<Option<ChunkEntry>> {
        let sizes = self.source.sizes;
        match &self.finder {
            Finder::Nothing => Ok(None),
            Finder::Single(entry) => Ok(Some(*entry)),
            Finder::Implicit(at) => {
                let offset = number.checked_mul(self.bytes).and_then(|offset| offset.checked_add(at.0));
                let why = || bad(format!("chunk {number} lies beyond byte 2^64"));
                Ok(Some(ChunkEntry { at: Address(offset.ok_or_else(why)?), len: self.bytes, mask: 0 }))
            }
            Finder::FixedArray(array) => cursor.entry(number, sizes, || array.leaf(&self.source, number)),
            Finder::ExtensibleArray(array) => {
                cursor.entry(number, sizes, || array.leaf(&self.source, number))
            }
            Finder::Tree { kind, root, table } => {
                let table = table.get(|| tree::load(self, *kind, *root))?;
                Ok(table.find(number, &mut cursor.row))
            }
        }
    }

    /// The number of chunks of the present extent, those that are not stored included.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(1, |count, &more| count.saturating_mul(more))
    }

    /// Bytes of a chunk before the filters.
    pub fn decoded_bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of a stored chunk, of which a walk tells this entry and this mask.
    pub fn stored_len(&self, entry: ChunkEntry, mask: u32) -> u64 {
        if self.filtered && mask != u32::MAX { entry.len } else { self.bytes }
    }

    /// Bytes of all stored chunks.
    pub fn stored_bytes(&self) -> Result<u64> {
        self.stored().map(|(_, bytes)| bytes)
    }

    /// The number of stored chunks, and their bytes.
    pub fn stored(&self) -> Result<(u64, u64)> {
        if let Finder::Implicit(_) = &self.finder {
            return Ok((self.count(), self.count().saturating_mul(self.bytes)));
        }
        let (mut count, mut sum) = (0, 0u64);
        self.numbered(&mut |_, entry| {
            count += 1;
            sum = sum.saturating_add(if self.filtered { entry.len } else { self.bytes });
            Ok(())
        })?;
        Ok((count, sum))
    }

    /// The number of the chunk at these coordinates; `None` if it lies outside the present extent.
    fn number(&self, coords: impl Iterator<Item = u64>) -> Option<u64> {
        let mut number = 0;
        for ((at, &count), &weight) in coords.zip(&self.counts).zip(&self.weights) {
            if at >= count {
                return None;
            }
            // Below the product of the counts, which 64 bits hold, but for the first dimension of arrays.
            number = at.checked_mul(weight).and_then(|part| part.checked_add(number))?;
        }
        Some(number)
    }

    /// Whether the chunk at these coordinates reaches beyond the dataset.
    fn is_partial(&self, coords: &[u64]) -> bool {
        let reaches = |((&at, &chunk), &len): ((&u64, &u64), &u64)| {
            at.checked_add(1).and_then(|next| next.checked_mul(chunk)).is_none_or(|end| end > len)
        };
        coords.iter().zip(&self.chunk).zip(&self.shape).any(reaches)
    }

    /// Reads the leaves of an array, in a slow source, that have the entries of the chunks in a box: all in one round. An error
    /// shows when an entry of the damaged leaf is looked up.
    fn prefetch(&self, first: &[u64], count: &[u64]) -> Result<()> {
        if self.source.is_near() || !matches!(self.finder, Finder::FixedArray(_) | Finder::ExtensibleArray(_))
        {
            return Ok(());
        }
        let mut numbers = Vec::new();
        each_in_box(first, count, |coords| {
            numbers.extend(self.number(coords.iter().copied()));
            Ok(())
        })?;
        self.source.in_rounds(&numbers, |&number| drop(self.entry(number, &mut Cursor::default())));
        Ok(())
    }

    fn place(&self, coords: &[u64], cursor: &mut Cursor) -> Result<ChunkLocation> {
        let Some(number) = self.number(coords.iter().copied()) else { return Ok(ChunkLocation::Missing) };
        let Some(entry) = self.entry(number, cursor)? else { return Ok(ChunkLocation::Missing) };
        let at = self.source.position(entry.at)?;
        Ok(match self.filtered {
            false => ChunkLocation::At { at, len: self.bytes, mask: 0 },
            true if self.plain_edges && self.is_partial(coords) => {
                ChunkLocation::At { at, len: self.bytes, mask: u32::MAX }
            }
            true => ChunkLocation::At { at, len: entry.len, mask: entry.mask },
        })
    }
}

impl ferrocdf_array::ChunkIndex for DatasetChunks {
    fn count_stored(&self, first: &[u64], count: &[u64], limit: u64) -> Result<Option<u64>> {
        stored_in_box::count(self, first, count, limit)
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let rank = self.counts.len();
        if first.len() != rank || count.len() != rank {
            let what = format!("chunks {first:?} and {count:?} more of a dataset of {rank} dimensions");
            return Err(Error::new(Code::EINVAL, what));
        }
        let total = count.iter().try_fold(1u64, |total, &count| total.checked_mul(count));
        let total = total.and_then(|total| usize::try_from(total).ok());
        let mut places = Vec::new();
        if total.is_none_or(|total| places.try_reserve_exact(total).is_err()) {
            return Err(Error::new(Code::ENOMEM, format!("no memory for the places of {count:?} chunks")));
        }
        if total == Some(0) {
            return Ok(places);
        }
        self.prefetch(first, count)?;
        let mut cursor = Cursor::default();
        each_in_box(first, count, |coords| {
            places.push(self.place(coords, &mut cursor)?);
            Ok(())
        })?;
        Ok(places)
    }
}

/// Visits the coordinates in a box of at least one chunk, last dimension fastest.
fn each_in_box(first: &[u64], count: &[u64], mut visit: impl FnMut(&[u64]) -> Result<()>) -> Result<()> {
    let mut offsets = vec![0; count.len()];
    let mut coords = first.to_vec();
    loop {
        visit(&coords)?;
        if !step(&mut offsets, count) {
            return Ok(());
        }
        for ((at, &first), &offset) in coords.iter_mut().zip(first).zip(&offsets) {
            // Saturated coordinates are beyond any extent.
            *at = first.saturating_add(offset);
        }
    }
}

/// Goes to the next offsets in a box, last dimension fastest; `false` behind the last.
fn step(offsets: &mut [u64], count: &[u64]) -> bool {
    for (at, &count) in offsets.iter_mut().zip(count).rev() {
        if *at + 1 < count {
            *at += 1;
            return true;
        }
        *at = 0;
    }
    false
}

/// How many chunks there may be in each dimension, `None` without limit.
fn most_chunks(space: &Dataspace, chunk: &[u64]) -> Vec<Option<u64>> {
    let most = |(dim, &chunk): (usize, &u64)| space.max(dim).map(|len| len.div_ceil(chunk));
    chunk.iter().enumerate().map(most).collect()
}

/// The dimension without limit, which is the slowest of an array that grows.
fn slowest_of_growing(most: &[Option<u64>]) -> Result<usize> {
    let slowest = most.iter().position(Option::is_none);
    slowest.ok_or_else(|| bad("an extensible array for a dataset that cannot grow"))
}

/// All dimensions, the one that is counted slowest first.
fn slowest_first(rank: usize, slowest: usize) -> impl DoubleEndedIterator<Item = usize> {
    let is_slowest = move |dim: &usize| *dim == slowest;
    (0..rank).filter(is_slowest).chain((0..rank).filter(move |dim| !is_slowest(dim)))
}

/// The weights with which an array counts that many chunks in each dimension.
fn array_weights(most: &[Option<u64>], slowest: usize) -> Result<Vec<u64>> {
    let weights = weights(most, slowest_first(most.len(), slowest));
    weights.ok_or_else(|| bad(format!("{most:?} chunks are too many to be counted")))
}

/// The weight of each dimension if they are counted through in this order, slowest first. The length of the slowest
/// does not matter; of the others, all must have one.
fn weights(counts: &[Option<u64>], order: impl DoubleEndedIterator<Item = usize>) -> Option<Vec<u64>> {
    let mut weights = vec![0; counts.len()];
    let mut weight = Some(1u64);
    for dim in order.rev() {
        *weights.get_mut(dim)? = weight?;
        weight = counts.get(dim).copied().flatten().and_then(|count| weight?.checked_mul(count.max(1)));
    }
    Some(weights)
}

/// What a walk through neighbouring chunks remembers.
#[derive(Default)]
struct Cursor {
    /// The entries of an array that were looked at last.
    leaf: Option<Leaf>,
    /// The row of a table that was looked at last.
    row: usize,
}

impl Cursor {
    fn entry(
        &mut self,
        number: u64,
        sizes: Sizes,
        leaf: impl FnOnce() -> Result<Leaf>,
    ) -> Result<Option<ChunkEntry>> {
        if let Some(entry) = self.leaf.as_ref().and_then(|leaf| leaf.entry(number, sizes)) {
            return Ok(entry);
        }
        let leaf = self.leaf.insert(leaf()?);
        Ok(leaf.entry(number, sizes).flatten())
    }
}

/// Something that is made when it is first needed. An error is not kept: the next one who needs it tries again.
#[derive(Debug)]
pub(crate) struct Lazy<T> {
    value: OnceLock<T>,
    making: Mutex<()>,
}

impl<T> Default for Lazy<T> {
    fn default() -> Self {
        Lazy { value: OnceLock::new(), making: Mutex::new(()) }
    }
}

impl<T> Lazy<T> {
    /// The value; `make` runs on one thread only.
    pub fn get(&self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let value = make()?;
        Ok(self.value.get_or_init(|| value))
    }
}
