//! Where chunks lie: each in an object of its own, or in a shard, an object that holds chunks and their index (codec
//! `sharding_indexed`).
//!
//! A shard may hold shards. Objects are read by ranges: first the index of each shard that a selection meets, in one round for each
//! level of shards, then the chunks. Indexes are kept.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{ChunkIndex, ChunkLocation, ChunkObjects};
use ferrocdf_bytes::{Code, Error, Order, Result, ToUsize};
use ferrocdf_codec::{Chain, Codecs};
use ferrocdf_store::{ByteRange, Fetched, Store};

use crate::codecs::Shards;
use crate::kept::Kept;
use crate::metadata::{ChunkKeys, invalid, within};

/// Most bytes of indexes that one array keeps.
const MAX_KEPT: usize = 64 << 20;

/// Both numbers of a chunk that is missing in a shard.
pub(crate) const MISSING: u64 = u64::MAX;

/// The chunks of one array.
pub(crate) struct StoredChunks {
    store: Arc<dyn Store>,
    /// Key of the array; empty for one at the root of the store.
    path: String,
    keys: ChunkKeys,
    /// The number of innermost chunks along each dimension of the array.
    grid: Vec<u64>,
    levels: Vec<Level>,
    /// Indexes of shards, by level and coordinates.
    kept: Kept<(usize, Vec<u64>), Index>,
}

/// One level of shards.
struct Level {
    shards: Shards,
    /// The filters of the index.
    chain: Chain,
    /// Bytes of an encoded index.
    index_len: u64,
    /// For each dimension, the number of innermost chunks in a shard of this level.
    chunks: Vec<u64>,
}

/// Positions and lengths of the chunks in a shard, two numbers for each, relative to the begin of the object; `None` if the shard does
/// not exist.
type Index = Option<Arc<[u64]>>;

impl StoredChunks {
    /// Describes chunks in the objects of an array. `grid` has the number of innermost chunks along each dimension.
    ///
    /// # Errors
    /// Those of the filters of an index.
    pub(crate) fn new(
        (store, path): (Arc<dyn Store>, String),
        keys: ChunkKeys,
        grid: Vec<u64>,
        shards: &[Shards],
        codecs: &Codecs,
    ) -> Result<StoredChunks> {
        let mut chunks = vec![1u64; grid.len()];
        let mut levels = vec![];
        for shards in shards.iter().rev() {
            for (chunks, count) in chunks.iter_mut().zip(&shards.counts) {
                *chunks = chunks.saturating_mul(*count);
            }
            let (chain, index_len) = index_chain(shards, codecs)?;
            levels.push(Level {
                shards: shards.clone(),
                chain,
                index_len: index_len as u64,
                chunks: chunks.clone(),
            });
        }
        levels.reverse();
        Ok(StoredChunks { store, path, keys, grid, levels, kept: Kept::new(MAX_KEPT) })
    }

    /// Returns the coordinates of the shard of a level that holds a chunk.
    fn shard_of(&self, level: usize, chunk: &[u64]) -> Vec<u64> {
        chunk.iter().zip(&self.levels[level].chunks).map(|(at, count)| at / count).collect()
    }

    /// Returns the key of an object from its coordinates.
    fn object(&self, at: &[u64]) -> String {
        within(&self.path, &self.keys.key(at))
    }

    /// Returns the location in the index of a level of what holds a chunk: a shard of the next level, or the chunk itself.
    fn entry(&self, level: usize, index: &Index, chunk: &[u64]) -> Option<(u64, u64)> {
        let Level { shards, chunks, .. } = &self.levels[level];
        let number = shards.order.iter().fold(0, |number, &dim| {
            let (count, chunks) = (shards.counts[dim], chunks[dim]);
            number * count + chunk[dim] % chunks / (chunks / count)
        });
        let numbers = index.as_ref()?.chunks_exact(2).nth(number.saturate())?;
        (numbers[0] != MISSING || numbers[1] != MISSING).then_some((numbers[0], numbers[1]))
    }

    /// Returns the indexes of a level for the shards that hold the chunks. `outer` has those of the level above.
    fn indexes(
        &self,
        level: usize,
        chunks: &[Vec<u64>],
        outer: &HashMap<Vec<u64>, Index>,
    ) -> Result<HashMap<Vec<u64>, Index>> {
        let wanted: BTreeSet<Vec<u64>> = chunks.iter().map(|chunk| self.shard_of(level, chunk)).collect();
        let keys: Vec<(usize, Vec<u64>)> = wanted.into_iter().map(|shard| (level, shard)).collect();
        let kept = self.kept.get(keys.iter());
        let (mut found, mut absent) = (HashMap::new(), vec![]);
        for ((_, shard), index) in keys.into_iter().zip(kept) {
            match index {
                Some(index) => drop(found.insert(shard, index)),
                None => absent.push(shard),
            }
        }
        let Level { index_len, shards, chunks: in_shard, .. } = &self.levels[level];
        let mut requests = vec![];
        for shard in absent {
            let first: Vec<u64> = shard.iter().zip(in_shard).map(|(at, count)| at * count).collect();
            let object = self.object(&self.shard_of(0, &first));
            let part = match level.checked_sub(1) {
                None => None,
                Some(above) => match self.entry(above, &outer[&self.shard_of(above, &first)], &first) {
                    Some(part) => Some(part),
                    None => {
                        found.insert(shard, None);
                        continue;
                    }
                },
            };
            let range = match (part, shards.index_first) {
                (None, true) => ByteRange::Bounded { start: 0, len: *index_len },
                (None, false) => ByteRange::Suffix(*index_len),
                (Some((at, len)), _) if len < *index_len => {
                    return Err(damaged(
                        &object,
                        format!("a shard of {len} bytes at byte {at}, less than its index"),
                    ));
                }
                (Some((at, _)), true) => ByteRange::Bounded { start: at, len: *index_len },
                (Some((at, len)), false) => {
                    ByteRange::Bounded { start: at + len - index_len, len: *index_len }
                }
            };
            requests.push((shard, object, part, range));
        }
        let ranges: Vec<_> = requests.iter().map(|(_, object, _, range)| (&**object, *range)).collect();
        let answers = if ranges.is_empty() { vec![] } else { self.store.get_many(&ranges) };
        for ((shard, object, part, range), answer) in requests.into_iter().zip(answers) {
            let index = match answer? {
                None => None,
                Some(answer) => {
                    let answer = answer.check(&object, range)?;
                    Some(self.index(level, &answer, part).map_err(|error| error.at(&object))?)
                }
            };
            let bytes = index.as_ref().map_or(0, |index| size_of_val(&**index)) + 64;
            self.kept.insert((level, shard.clone()), index.clone(), bytes);
            found.insert(shard, index);
        }
        Ok(found)
    }

    /// Decodes and checks the index of a shard, which is a part of its object or the whole object.
    fn index(&self, level: usize, answer: &Fetched, part: Option<(u64, u64)>) -> Result<Arc<[u64]>> {
        let Level { shards, chain, index_len, .. } = &self.levels[level];
        if answer.bytes.len() as u64 != *index_len {
            let what =
                format!("the index of the shard has {index_len} bytes, and the object {}", answer.total);
            return Err(Error::new(Code::ETRUNC, what));
        }
        let (begin, size) = part.unwrap_or((0, answer.total));
        Shard { begin, size }.locations(shards, chain, &answer.bytes).map(Arc::from)
    }
}

/// Returns the filters of the index of a shard, and its length in bytes.
///
/// # Errors
/// Those of the filters; `NC_EZARRMETA` if they compress.
pub(crate) fn index_chain(shards: &Shards, codecs: &Codecs) -> Result<(Chain, usize)> {
    let chain = Chain::for_chunks(shards.index_steps.clone(), shards.index_info(), codecs);
    let len = chain.fixed_encoded_len(shards.chunks() * 16)?;
    let len = len.ok_or_else(|| invalid("the codecs of an index must not compress"))?;
    Ok((chain, len))
}

/// The bytes of an object that are a shard.
pub(crate) struct Shard {
    pub(crate) begin: u64,
    pub(crate) size: u64,
}

impl Shard {
    /// Decodes and checks an encoded index. Returns the positions in the object and the lengths of the chunks, two numbers for each, both
    /// [`MISSING`] for one that is missing.
    pub(crate) fn locations(&self, shards: &Shards, chain: &Chain, encoded: &[u8]) -> Result<Vec<u64>> {
        let mut bytes = vec![0; shards.chunks() * 16];
        chain.decode(0, encoded, &mut bytes).map_err(|error| error.at("index of the shard"))?;
        let number = |bytes: &[u8; 8]| match shards.index_order {
            Order::Little => u64::from_le_bytes(*bytes),
            Order::Big => u64::from_be_bytes(*bytes),
        };
        let mut numbers: Vec<u64> = bytes.as_chunks().0.iter().map(number).collect();
        for pair in numbers.as_chunks_mut::<2>().0 {
            if *pair == [MISSING, MISSING] {
                continue;
            }
            let [at, len] = *pair;
            if at.checked_add(len).is_none_or(|end| end > self.size) {
                let what = format!("the index of the shard has {len} bytes at byte {at} of {}", self.size);
                return Err(Error::new(Code::ETRUNC, what));
            }
            pair[0] = self.begin + at;
        }
        Ok(numbers)
    }
}

fn damaged(object: &str, what: String) -> Error {
    Error::new(Code::ETRUNC, what).at(object)
}

impl StoredChunks {
    /// Returns the locations of chunks, given by their coordinates.
    pub(crate) fn locations(&self, chunks: &[Vec<u64>]) -> Result<Vec<ChunkLocation>> {
        let is_inside = |chunk: &[u64]| chunk.iter().zip(&self.grid).all(|(at, count)| at < count);
        let mut indexes = HashMap::new();
        if !self.levels.is_empty() {
            let inside: Vec<Vec<u64>> = chunks.iter().filter(|chunk| is_inside(chunk)).cloned().collect();
            for level in 0..self.levels.len() {
                indexes = self.indexes(level, &inside, &indexes)?;
            }
        }
        let location = |chunk: &Vec<u64>| {
            if !is_inside(chunk) {
                return ChunkLocation::Missing;
            }
            let Some(level) = self.levels.len().checked_sub(1) else {
                return ChunkLocation::Object { at: 0, len: ChunkLocation::TO_END, mask: 0 };
            };
            match self.entry(level, &indexes[&self.shard_of(level, chunk)], chunk) {
                Some((at, len)) => ChunkLocation::Object { at, len, mask: 0 },
                None => ChunkLocation::Missing,
            }
        };
        Ok(chunks.iter().map(location).collect())
    }
}

impl ChunkIndex for StoredChunks {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        self.locations(&in_box(first, count))
    }

    fn objects(&self) -> Option<&dyn ChunkObjects> {
        Some(self)
    }
}

impl ChunkObjects for StoredChunks {
    fn store(&self) -> &dyn Store {
        &*self.store
    }

    fn key(&self, chunk: &[u64]) -> String {
        match self.levels.is_empty() {
            true => self.object(chunk),
            false => self.object(&self.shard_of(0, chunk)),
        }
    }
}

impl fmt::Debug for StoredChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredChunks({}/{})", self.store.name(), self.path)
    }
}

/// Returns the coordinates of all chunks in a box, last dimension fastest.
pub(crate) fn in_box(first: &[u64], count: &[u64]) -> Vec<Vec<u64>> {
    let mut chunks = vec![vec![]];
    for (first, count) in first.iter().zip(count) {
        let with = |chunk: Vec<u64>| {
            (0..*count).map(move |at| {
                let mut chunk = chunk.clone();
                chunk.push(first + at);
                chunk
            })
        };
        chunks = chunks.into_iter().flat_map(with).collect();
    }
    chunks
}
