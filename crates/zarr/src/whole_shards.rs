//! Shards as the chunks that they are for a writer: encoded whole, decoded whole (codec `sharding_indexed`).

use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{Array, In, Kind, Out, Selection, Stored, map_parallel, read, write};
use ferrocdf_bytes::{Code, Error, Order, Result, ToUsize};
use ferrocdf_codec::{Chain, Codecs};
use ferrocdf_store::{BorrowedBlob, ByteRange, Cost, Expected, Fetched, Listing, MemoryBlob, Store, Version};

use crate::codecs::Shards;
use crate::shards::{MISSING, Shard, index_chain};

/// Most bytes of the elements of a shard that is written, since it is in memory whole.
pub const MAX_SHARD: u64 = 1 << 30;

/// Decoded bytes of the chunks that are encoded or decoded before the next ones are, so that they do not take the memory of a second shard;
/// but at least four chunks, and at most 1024.
const TOGETHER: usize = 32 << 20;

/// Bytes by which codecs make a chunk longer that they cannot make shorter.
const SLACK: usize = 64;

/// The shards of an array: how the bytes of their elements become objects and come from them.
pub(crate) struct ShardFormat {
    shards: Shards,
    /// The filters of a chunk.
    chain: Chain,
    /// The filters of the index, and its length in bytes.
    index_chain: Chain,
    index_len: usize,
    /// The elements of a shard as bytes: one more, fastest dimension.
    array: Array,
    /// The decoded bytes of a chunk of the fill value.
    empty: Vec<u8>,
}

impl ShardFormat {
    /// Describes shards of a shape with elements of a size and a fill value, which may be empty for zeros.
    ///
    /// # Errors
    /// Those of the filters of the index; `NC_EVARSIZE` for shards that are too large.
    pub(crate) fn new(
        shards: Shards,
        shard_shape: &[u64],
        (size, fill): (usize, &[u8]),
        chain: Chain,
        codecs: &Codecs,
    ) -> Result<ShardFormat> {
        let (index_chain, index_len) = index_chain(&shards, codecs)?;
        let shape = shard_shape.iter().copied().chain([size as u64]).collect();
        let array = Array::contiguous(shape, Stored::native(Kind::U8), 0)?;
        let bytes = array.shape.iter().try_fold(1u64, |bytes, &len| bytes.checked_mul(len));
        if bytes.is_none_or(|bytes| bytes > MAX_SHARD) {
            let what =
                format!("shards of shape {shard_shape:?}, of more than {MAX_SHARD} bytes, are only read");
            return Err(Error::new(Code::EPERM, what));
        }
        let elements = shards.chunk_shape.iter().product::<u64>().to_usize("elements of a chunk")?;
        let empty = if fill.is_empty() { vec![0; elements * size] } else { fill.repeat(elements) };
        Ok(ShardFormat { shards, chain, index_chain, index_len, array, empty })
    }

    /// Returns the elements of each chunk of a shard, in the order of the index.
    fn selections(&self) -> Vec<Selection> {
        let Shards { counts, chunk_shape, .. } = &self.shards;
        let size = self.array.shape.last().copied().unwrap_or(1);
        let selection = |number| {
            let mut rest = number;
            let mut start = vec![0; counts.len() + 1];
            for dim in (0..counts.len()).rev() {
                start[dim] = rest % counts[dim] * chunk_shape[dim];
                rest /= counts[dim];
            }
            let count: Vec<u64> = chunk_shape.iter().copied().chain([size]).collect();
            Selection::slab(&start, &count)
        };
        (0..self.shards.chunks() as u64).map(selection).collect()
    }

    /// Returns the number of chunks that are encoded or decoded together.
    fn together(&self) -> usize {
        (TOGETHER / self.empty.len().max(1)).clamp(4, 1024)
    }

    /// Encodes the elements of a shard, its chunks in parallel. Chunks that hold nothing but the fill value are left out unless
    /// `keeps_empty`.
    fn encode(&self, elements: &[u8], keeps_empty: bool) -> Result<Vec<u8>> {
        let index_first = self.shards.index_first;
        // Room for chunks that codecs make hardly longer, since growing would copy the shard.
        let chunks = self.shards.chunks();
        let mut object = Vec::with_capacity(elements.len() + self.index_len + chunks * SLACK);
        object.resize(if index_first { self.index_len } else { 0 }, 0);
        let mut index = Vec::with_capacity(chunks * 16);
        let mut push = |numbers: [u64; 2]| {
            index.extend(numbers.iter().flat_map(|number| match self.shards.index_order {
                Order::Little => number.to_le_bytes(),
                Order::Big => number.to_be_bytes(),
            }));
        };
        let encode = |selection: &Selection| -> Result<Option<Vec<u8>>> {
            let mut chunk = vec![0; self.empty.len()];
            let _exact = read(&BorrowedBlob(elements), &self.array, selection, Out::new(&mut chunk))?;
            if !keeps_empty && chunk == self.empty {
                return Ok(None);
            }
            let mut encoded = vec![];
            self.chain.encode(&chunk, &mut encoded)?;
            Ok(Some(encoded))
        };
        let selections = self.selections();
        for encoded in selections.chunks(self.together()).flat_map(|some| map_parallel(some, encode)) {
            match encoded? {
                None => push([MISSING, MISSING]),
                Some(encoded) => {
                    push([object.len() as u64, encoded.len() as u64]);
                    object.extend_from_slice(&encoded);
                }
            }
        }
        let mut encoded = vec![];
        self.index_chain.encode(&index, &mut encoded)?;
        match index_first {
            true => object[..self.index_len].copy_from_slice(&encoded),
            false => object.extend_from_slice(&encoded),
        }
        Ok(object)
    }

    /// Decodes an object to the elements of a shard, its chunks in parallel. Their elements are put into the shard by one thread, since a write
    /// of rows that lie close together covers what is between them.
    fn decode(&self, object: &[u8]) -> Result<Vec<u8>> {
        let size = self.array.shape.iter().product::<u64>().to_usize("bytes of a shard")?;
        let elements = MemoryBlob::new(vec![0; size]);
        let Some(first) = object.len().checked_sub(self.index_len) else {
            let what = format!("the shard has {} bytes, its index {}", object.len(), self.index_len);
            return Err(Error::new(Code::ETRUNC, what));
        };
        let index = if self.shards.index_first { &object[..self.index_len] } else { &object[first..] };
        let shard = Shard { begin: 0, size: object.len() as u64 };
        let index = shard.locations(&self.shards, &self.index_chain, index)?;
        let decode = |location: &[u64; 2]| match *location {
            [MISSING, MISSING] => Ok(None),
            [at, len] => {
                let mut chunk = vec![0; self.empty.len()];
                self.chain.decode(0, &object[at.saturate()..(at + len).saturate()], &mut chunk)?;
                Ok(Some(chunk))
            }
        };
        let (selections, locations, together) =
            (self.selections(), index.as_chunks::<2>().0, self.together());
        for (selections, locations) in selections.chunks(together).zip(locations.chunks(together)) {
            for (selection, chunk) in selections.iter().zip(map_parallel(locations, decode)) {
                let chunk = chunk?;
                let chunk = chunk.as_ref().unwrap_or(&self.empty);
                let _exact = write(&elements, &self.array, selection, In::new(chunk))?;
            }
        }
        Ok(elements.into_bytes())
    }
}

/// The shards of an array as objects that are not encoded. Each is read and decoded whole.
pub(crate) struct WholeShards {
    pub(crate) encoded: Arc<dyn Store>,
    pub(crate) format: ShardFormat,
    /// True if chunks that hold nothing but the fill value are stored too.
    pub(crate) keeps_empty: bool,
}

impl WholeShards {
    /// Encodes the elements of several shards.
    fn encode_all<'b>(&self, shards: impl Iterator<Item = &'b [u8]>) -> Result<Vec<Vec<u8>>> {
        let shards: Vec<&[u8]> = shards.collect();
        let encode = |shard: &&[u8]| self.format.encode(shard, self.keeps_empty);
        map_parallel(&shards, encode).into_iter().collect()
    }

    /// Returns a range of the elements of a shard.
    fn decoded(&self, key: &str, range: ByteRange, found: Option<Fetched>) -> Result<Option<Fetched>> {
        let Some(found) = found else { return Ok(None) };
        let Fetched { bytes, version, .. } = found.check(key, ByteRange::All)?;
        let mut bytes = self.format.decode(&bytes).map_err(|error| error.at(key))?;
        let total = bytes.len() as u64;
        let (start, end) = range.within(total);
        bytes.truncate(end.saturate());
        bytes.drain(..start.saturate());
        Ok(Some(Fetched { bytes, start, total, version }))
    }
}

impl Store for WholeShards {
    fn get(&self, key: &str, range: ByteRange) -> Result<Option<Fetched>> {
        self.decoded(key, range, self.encoded.get(key, ByteRange::All)?)
    }

    fn get_many(&self, requests: &[(&str, ByteRange)]) -> Vec<Result<Option<Fetched>>> {
        let whole: Vec<_> = requests.iter().map(|&(key, _)| (key, ByteRange::All)).collect();
        let answers = self.encoded.get_many(&whole).into_iter().zip(requests);
        answers
            .map(|(answer, &(key, range))| answer.and_then(|found| self.decoded(key, range, found)))
            .collect()
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<Version> {
        self.encoded.put(key, &self.format.encode(bytes, self.keeps_empty)?)
    }

    fn put_many(&self, objects: &[(&str, &[u8])]) -> Vec<Result<Version>> {
        let encoded = match self.encode_all(objects.iter().map(|&(_, bytes)| bytes)) {
            Ok(encoded) => encoded,
            Err(error) => return objects.iter().map(|_| Err(error.clone())).collect(),
        };
        let objects: Vec<_> =
            objects.iter().zip(&encoded).map(|(&(key, _), bytes)| (key, &bytes[..])).collect();
        self.encoded.put_many(&objects)
    }

    fn put_many_if(&self, objects: &[(&str, &[u8], Expected<'_>)]) -> Vec<Result<Option<Version>>> {
        let encoded = match self.encode_all(objects.iter().map(|&(_, bytes, _)| bytes)) {
            Ok(encoded) => encoded,
            Err(error) => return objects.iter().map(|_| Err(error.clone())).collect(),
        };
        let objects = objects.iter().zip(&encoded);
        let objects: Vec<_> =
            objects.map(|(&(key, _, expected), bytes)| (key, &bytes[..], expected)).collect();
        self.encoded.put_many_if(&objects)
    }

    fn put_if(&self, key: &str, bytes: &[u8], expected: Expected<'_>) -> Result<Option<Version>> {
        self.encoded.put_if(key, &self.format.encode(bytes, self.keeps_empty)?, expected)
    }

    fn delete(&self, key: &str) -> Result<()> {
        self.encoded.delete(key)
    }

    fn list(&self, folder: &str) -> Result<Listing> {
        self.encoded.list(folder)
    }

    fn cost(&self) -> Cost {
        self.encoded.cost()
    }

    fn name(&self) -> String {
        self.encoded.name()
    }
}

impl fmt::Debug for WholeShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WholeShards({})", self.encoded.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of neighbours in a row lie so close together that a write of one chunk covers parts of others.
    #[test]
    fn chunks_of_short_rows_are_decoded_side_by_side() {
        let shards = Shards {
            chunk_shape: vec![64, 2],
            counts: vec![2, 32],
            order: vec![0, 1],
            index_steps: vec![],
            index_order: Order::Little,
            index_first: false,
        };
        let chain = Chain::new(vec![], &Codecs::default());
        let format = ShardFormat::new(shards, &[128, 64], (4, &[]), chain, &Codecs::default()).unwrap();
        let elements: Vec<u8> = (0..128 * 64u32).flat_map(|number| (number + 1).to_le_bytes()).collect();
        let object = format.encode(&elements, false).unwrap();
        for _ in 0..200 {
            assert!(format.decode(&object).unwrap() == elements);
        }
    }
}
