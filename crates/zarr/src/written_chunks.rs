//! Writing chunks: each is an object, or a part of a shard, which is written whole.
//!
//! A chunk that holds nothing but the fill value is not stored, as with zarr-python: a reader makes it of the fill value.

use std::fmt;
use std::sync::Arc;

use ferrocdf_array::{
    Array, Changes, ChunkBatch, ChunkIndex, ChunkLocation, ChunkObjects, ChunkStore, Chunks, map_parallel,
};
use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_codec::{Chain, Codecs};
use ferrocdf_store::{BlobMut, Expected, MemoryBlob, Store, Version};

use crate::array::engine_array;
use crate::chunk_puts::ChunkPuts;
use crate::conflicts::{Conflicts, Resolved, is_absent, resolve};
use crate::data_type::FillValue;
use crate::metadata::{ArrayMetadata, ChunkKeys, within};
use crate::shards::in_box;
use crate::whole_shards::{ShardFormat, WholeShards};

/// What a writer knows of an array beside its metadata.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// The stored chunks of a new array, which has none yet, and into which nobody else stores any; `None` for an array that was there
    /// before.
    pub stored: Option<Arc<ChunkPuts>>,
    /// For each dimension, true if the array may become longer along it.
    pub can_grow: Vec<bool>,
    /// True if chunks that hold nothing but the fill value are stored too.
    pub keeps_empty: bool,
    /// True if others may store chunks of the array at the same time.
    pub is_shared: bool,
    /// What becomes of a chunk of which a part was written, if another writer has changed it meanwhile.
    pub conflicts: Conflicts,
}

/// The chunks of one array that is written, without those that are pending in memory.
struct WrittenChunks {
    store: Arc<dyn Store>,
    /// Key of the array; empty for one at the root of the store.
    path: String,
    keys: ChunkKeys,
    options: WriteOptions,
    /// The encoded form of a chunk that holds nothing but the fill value; `None` if there is no fill value or all chunks are stored.
    empty: Option<Vec<u8>>,
    chain: Arc<Chain>,
    /// The decoded bytes of an element of the fill value, zero if empty; the number of elements of a chunk, and of bytes of each.
    fill: Vec<u8>,
    elements: u64,
    element_size: usize,
}

impl WriteOptions {
    /// True if an object may exist for a chunk.
    pub(crate) fn may_be_stored(&self, chunk: &[u64]) -> bool {
        self.stored.as_ref().is_none_or(|stored| stored.may_have(chunk))
    }

    /// Notes that a put of a chunk begins.
    pub(crate) fn begin_put(&self, chunk: &[u64]) {
        self.stored.iter().for_each(|stored| stored.begin_put(chunk));
    }

    /// Notes that a put of a chunk has succeeded.
    pub(crate) fn end_put(&self, chunk: &[u64]) {
        self.stored.iter().for_each(|stored| stored.end_put(chunk));
    }

    /// Makes a chunk missing, by `delete` if an object may exist for it.
    pub(crate) fn leave_out(&self, chunk: &[u64], delete: impl FnOnce() -> Result<()>) -> Result<()> {
        if self.may_be_stored(chunk) {
            delete()?;
            self.stored.iter().for_each(|stored| stored.remove(chunk));
        }
        Ok(())
    }
}

impl ArrayMetadata {
    /// Returns the array that lies at a path of a store, to be written. Elements that are no numbers are bytes: one more, fastest
    /// dimension. Chunks of the engine are the shards, if there are any: these are encoded whole.
    ///
    /// The array is pending in part until [`flush`](ferrocdf_array::flush): its owner keeps one clone of it.
    ///
    /// # Errors
    /// Those of the codecs; `NC_EPERM` for shards within shards, and for shards that codecs come before or follow.
    pub fn array_to_write(
        &self,
        store: Arc<dyn Store>,
        path: &str,
        codecs: &Codecs,
        options: WriteOptions,
    ) -> Result<Array> {
        if !self.blocks.is_empty() {
            return self.array_of_blocks(|block| {
                // Each block counts its chunks from its own first one.
                let stored = options.stored.as_ref().map(|_| Arc::default());
                let options = WriteOptions { stored, ..options.clone() };
                block.array_to_write(store.clone(), path, codecs, options)
            });
        }
        let pipeline = self.pipeline.as_ref().map_err(Clone::clone)?;
        let mut steps = self.steps(path, codecs)?;
        // The engine writes no 16-bit floats: it writes wider ones, of which the first filter makes them.
        let wide = self.with_wide_floats().map(|(wide, narrowing)| {
            steps.insert(0, narrowing);
            wide
        });
        let seen = wide.as_ref().unwrap_or(self);
        let size = seen.element.data_type.size().ok_or_else(|| only_read("elements without a fixed size"))?;
        let chain = seen.chain_of(steps, codecs)?;
        chain.check_encode()?;
        let fill = match &seen.fill_value {
            FillValue::Bytes(bytes) => bytes.clone(),
            FillValue::Undefined | FillValue::Value(_) => vec![],
        };
        let (store, chain) = match &pipeline.shards[..] {
            [] => (store, chain),
            [shards] if pipeline.object_steps.is_empty() && shards.order.is_sorted() => {
                let format =
                    ShardFormat::new(shards.clone(), &self.chunk_shape, (size, &fill), chain, codecs)?;
                let store: Arc<dyn Store> =
                    Arc::new(WholeShards { encoded: store, format, keeps_empty: options.keeps_empty });
                (store, Chain::default())
            }
            _ => {
                return Err(only_read(
                    "shards within shards, or shards that a codec comes before or follows",
                ));
            }
        };
        let empty = match &self.fill_value {
            FillValue::Bytes(_) if !options.keeps_empty => encoded_fill(&self.chunk_shape, &fill, &chain),
            _ => None,
        };
        let path = path.to_string();
        let chain = Arc::new(chain);
        let index = WrittenChunks {
            store,
            path,
            keys: self.keys.clone(),
            options,
            empty,
            chain: chain.clone(),
            fill: fill.clone(),
            elements: self.chunk_shape.iter().product(),
            element_size: size,
        };
        let chunks = Chunks::writable(self.chunk_shape.clone(), Arc::new(index), chain, fill);
        Ok(engine_array(&seen.element, self.shape.clone(), chunks))
    }
}

fn only_read(what: &str) -> Error {
    Error::new(Code::EPERM, format!("arrays with {what} are only read"))
}

/// Most bytes of a chunk that is compared with one of the fill value.
const MAX_COMPARED: usize = 256 << 20;

/// Returns the encoded form of a chunk of the fill value; `None` if it is too large to have one in memory, or is not decoded to the fill
/// value: a codec such as `cast_value` may not have that, and may store another number in the same form.
fn encoded_fill(shape: &[u64], fill: &[u8], chain: &Chain) -> Option<Vec<u8>> {
    let elements = shape.iter().try_fold(1usize, |count, &len| count.checked_mul(usize::try_from(len).ok()?));
    let elements = elements.filter(|count| count.saturating_mul(fill.len()) <= MAX_COMPARED)?;
    let (chunk, mut encoded) = (fill.repeat(elements), vec![]);
    chain.encode(&chunk, &mut encoded).ok()?;
    let mut decoded = vec![0; chunk.len()];
    chain.decode(0, &encoded, &mut decoded).ok()?;
    (decoded == chunk).then_some(encoded)
}

impl WrittenChunks {
    fn is_empty(&self, encoded: &[u8]) -> bool {
        self.empty.as_deref() == Some(encoded)
    }

    /// Stores a chunk without a condition.
    fn put_whole(&self, chunk: &[u64], bytes: &[u8]) -> Result<()> {
        self.options.begin_put(chunk);
        self.store.put(&self.key(chunk), bytes)?;
        self.options.end_put(chunk);
        Ok(())
    }

    /// Returns what was changed in a chunk of a batch, unless it was written whole.
    fn changes<'b>(&self, batch: &'b dyn ChunkBatch, number: usize) -> Option<&'b Changes> {
        batch.changes(number).filter(|changes| !changes.is_whole(self.elements))
    }

    /// Stores one chunk of a batch.
    fn put_one(&self, batch: &dyn ChunkBatch, number: usize) -> Result<()> {
        let chunk = batch.coordinates(number);
        with_bytes(batch, number, |bytes| match (self.changes(batch, number), self.is_empty(bytes)) {
            (None, true) => self.leave_out(&chunk),
            (None, false) => self.put_whole(&chunk, bytes),
            (Some(changes), true) if self.is_still_missing(&chunk, changes)? => {
                changes.settle();
                Ok(())
            }
            (Some(changes), _) => {
                let put = self.store.put_if(&self.key(&chunk), bytes, changes.expected())?;
                self.finish(&chunk, bytes, changes, put)
            }
        })?;
        if let Some(changes) = batch.changes(number) {
            changes.settle();
        }
        Ok(())
    }

    /// True if a chunk was not stored when it was read, and nobody has stored it since. One that was stored is not deleted, since that could
    /// not be made to depend on what another writer puts into it.
    fn is_still_missing(&self, chunk: &[u64], changes: &Changes) -> Result<bool> {
        Ok(changes.expected() == Expected::Absent && is_absent(&*self.store, &self.key(chunk))?)
    }

    /// Ends a conditional put of a chunk, of which `put` is the answer.
    fn finish(&self, chunk: &[u64], encoded: &[u8], changes: &Changes, put: Option<Version>) -> Result<()> {
        let resolved = match put {
            Some(_) => Resolved::Stored,
            None => self.resolve(chunk, encoded, changes)?,
        };
        changes.settle();
        match resolved {
            Resolved::Stored => Ok(()),
            Resolved::Refused(error) => Err(error),
        }
    }

    /// Stores a chunk of which a part was changed, after a conditional put has found that its object is not as expected.
    #[cold]
    fn resolve(&self, chunk: &[u64], encoded: &[u8], changes: &Changes) -> Result<Resolved> {
        let size = self.elements.saturate() * self.element_size;
        let mut ours = vec![];
        let merge = |found: Option<&[u8]>| {
            if ours.is_empty() {
                ours.resize(size, 0);
                self.chain.decode(0, encoded, &mut ours)?;
            }
            let mut merged = match self.fill.is_empty() {
                true => vec![0; size],
                false => self.fill.repeat(self.elements.saturate()),
            };
            found.map_or(Ok(()), |found| self.chain.decode(0, found, &mut merged))?;
            changes.copy(&ours, &mut merged, self.element_size);
            let mut object = vec![];
            self.chain.encode(&merged, &mut object)?;
            Ok(object)
        };
        resolve(&*self.store, &self.key(chunk), encoded, self.options.conflicts, merge)
    }

    /// Makes a chunk missing.
    fn leave_out(&self, chunk: &[u64]) -> Result<()> {
        self.options.leave_out(chunk, || self.store.delete(&self.key(chunk)))
    }

    /// Stores a batch of chunks in a store in which each request takes long. Returns the first error, after all chunks were tried.
    fn put_together(&self, batch: &dyn ChunkBatch) -> Result<()> {
        let (mut whole, mut parts, mut failed) = (vec![], vec![], Ok(()));
        for number in 0..batch.len() {
            let chunk = batch.coordinates(number);
            let bytes = with_bytes(batch, number, |bytes| Ok(bytes.to_vec()))?;
            let key = self.key(&chunk);
            let done = match (self.changes(batch, number), self.is_empty(&bytes)) {
                (None, true) => self.leave_out(&chunk),
                (None, false) => {
                    self.options.begin_put(&chunk);
                    whole.push((number, key, bytes, chunk));
                    Ok(())
                }
                (Some(changes), is_empty) => {
                    let is_missing =
                        if is_empty { self.is_still_missing(&chunk, changes) } else { Ok(false) };
                    is_missing.map(|is_missing| match is_missing {
                        true => changes.settle(),
                        false => parts.push((key, bytes, changes, chunk)),
                    })
                }
            };
            failed = failed.and(done);
        }
        let objects: Vec<_> = whole.iter().map(|(_, key, bytes, _)| (&**key, &bytes[..])).collect();
        for ((number, .., chunk), put) in whole.iter().zip(self.store.put_many(&objects)) {
            if put.is_ok() {
                self.options.end_put(chunk);
                batch.changes(*number).into_iter().for_each(Changes::settle);
            }
            failed = failed.and(put.map(drop));
        }
        let objects: Vec<_> =
            parts.iter().map(|(key, bytes, changes, _)| (&**key, &bytes[..], changes.expected())).collect();
        for (put, (_, bytes, changes, chunk)) in self.store.put_many_if(&objects).into_iter().zip(&parts) {
            failed = failed.and(put.and_then(|put| self.finish(chunk, bytes, changes, put)));
        }
        failed
    }
}

/// Runs `work` with the encoded bytes of a chunk.
fn with_bytes<R>(batch: &dyn ChunkBatch, number: usize, work: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    match batch.borrow(number..number + 1) {
        Some(bytes) => work(bytes),
        None => {
            let mut bytes = vec![0; batch.encoded_len(number).to_usize("encoded bytes")?];
            batch.copy_to(number, &mut bytes)?;
            work(&bytes)
        }
    }
}

impl ChunkIndex for WrittenChunks {
    fn locate(&self, first: &[u64], count: &[u64]) -> Result<Vec<ChunkLocation>> {
        let location = |chunk: Vec<u64>| match self.options.may_be_stored(&chunk) {
            true => ChunkLocation::Object { at: 0, len: ChunkLocation::TO_END, mask: 0 },
            false => ChunkLocation::Missing,
        };
        Ok(in_box(first, count).into_iter().map(location).collect())
    }

    fn objects(&self) -> Option<&dyn ChunkObjects> {
        Some(self)
    }
}

impl ChunkObjects for WrittenChunks {
    fn store(&self) -> &dyn Store {
        &*self.store
    }

    fn key(&self, chunk: &[u64]) -> String {
        within(&self.path, &self.keys.key(chunk))
    }
}

impl ChunkStore for WrittenChunks {
    fn put(&self, batch: &dyn ChunkBatch) -> Result<bool> {
        if !self.store.cost().is_near() {
            return self.put_together(batch).map(|()| true);
        }
        let numbers: Vec<usize> = (0..batch.len()).collect();
        let done = map_parallel(&numbers, |&number| self.put_one(batch, number));
        done.into_iter().collect::<Result<()>>().map(|()| true)
    }

    fn allocate(&self, _chunk: &[u64], _len: u64) -> Result<u64> {
        Err(in_objects())
    }

    fn insert(&self, _chunk: &[u64], _at: u64, _len: u64, _mask: u32) -> Result<()> {
        Err(in_objects())
    }

    fn release(&self, _chunk: &[u64], _at: u64, _len: u64) {}

    fn blob(&self) -> Arc<dyn BlobMut> {
        // All chunks are in objects.
        Arc::new(MemoryBlob::default())
    }

    fn keeps_masks(&self) -> bool {
        false
    }

    fn is_shared(&self) -> bool {
        self.options.is_shared
    }

    fn can_grow(&self, dim: usize) -> bool {
        self.options.can_grow.get(dim).copied().unwrap_or(false)
    }
}

fn in_objects() -> Error {
    Error::new(Code::EINTERNAL, "space for a chunk that is an object")
}

impl fmt::Debug for WrittenChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WrittenChunks({}/{})", self.store.name(), self.path)
    }
}
