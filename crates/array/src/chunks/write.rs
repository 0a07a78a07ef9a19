//! Writing chunks: complete chunks are encoded at once, the others become pending.
//!
//! A chunk is complete if a request writes all elements that the array can ever have in it. Few elements of an unfiltered chunk
//! that is not committed yet are overwritten in place. Other chunks become pending. Elements of a chunk beyond the array have the
//! fill value.
//!
//! Partial chunks are written before complete ones, in batches whose size does not depend on the number of threads, so the
//! positions of chunks do not either.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrocdf_bytes::{Code, Error, Result, ToUsize};
use ferrocdf_store::{BlobMut, Buffer, Cost};
use smallvec::SmallVec;

use super::cache;
use super::changes::Changes;
use super::decoded::{Decoded, Key, Shared, owned, owned_with_changes};
use super::encode::ChunkSource;
use super::index::ChunkLocation;
use super::layout::Chunks;
use super::locate::{Ranges, combinations};
use super::pending::{PendingChunks, can_be_pending};
use super::selected::SelectedChunks;
use super::stored::{EncodedChunks, StoredChunks};
use crate::array::dense_strides;
use crate::convert::Conversion;
use crate::requests::{BatchLimit, largest, run_in_batches, share};
use crate::scratch::Scratch;
use crate::tiling::{Dim, PARALLEL_BYTES, TilePlan};
use crate::{Array, Layout, Selection, pool, scatter, tile_writer};

/// Maximum number of chunks of a box that is written at a time.
const MAX_LOCATED: usize = 1 << 16;

/// Maximum number and decoded bytes of partial chunks that are in memory outside of the cache at a time.
const MAX_TAKEN: (usize, usize) = (1 << 10, 64 << 20);

/// Bytes of a row below which rows are gathered before they are converted.
const TINY_ROW: usize = 64;

/// Encodes and stores all pending chunks of an array, and caches them for readers. Arrays of other layouts have none.
///
/// The writer of an array calls this before it uses the blob or the index in any other way, and before it drops the last clone of
/// the [`Chunks`](crate::Chunks): that drops pending chunks.
///
/// # Errors
/// Those of the filters, the store and the blob. Chunks that could not be stored stay pending; the call can be repeated.
pub fn flush(blob: &dyn BlobMut, array: &Array) -> Result<()> {
    let chunks = match &array.layout {
        Layout::Chunked(chunks) => chunks,
        Layout::Virtual(layout) => {
            let sources = layout.mappings.iter().filter_map(|mapping| mapping.source.writable());
            let mut done = Ok(());
            // One source with a refused chunk keeps no other from being stored.
            for source in sources {
                done = done.and(flush(blob, source));
            }
            return done;
        }
        _ => return Ok(()),
    };
    let Some(pending) = &chunks.pending else { return Ok(()) };
    let mut failed = pending.lock();
    // Chunks that another thread could not store are among the pending ones.
    *failed = None;
    let all = pending.all();
    let done = pending.writer().write(blob, &all);
    if pending.writer().store.is_shared() {
        // What is in the store may soon be of another writer: chunks are read again.
        for (key, _) in pending.remove_settled(&all) {
            drop(chunks.cached.take(key));
        }
        return done;
    }
    done?;
    chunks.cached.keep(pending.remove_stored(all).into_iter());
    Ok(())
}

/// Writes dense memory of `size` bytes an element to the selected elements, at least one. True if all numbers were in range.
pub(crate) fn write(
    blob: &dyn BlobMut,
    array: &Array,
    chunks: &Chunks,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    input: &[u8],
) -> Result<bool> {
    let Some(pending) = &chunks.pending else {
        return Err(Error::new(Code::EPERM, "array is read-only: its chunks have no store"));
    };
    let selected = SelectedChunks::new(array, chunks, sel)?;
    let (past_end, chain, chunk_len) = (array.past_end, &*chunks.chain, selected.chunk_len);
    let stored = StoredChunks { blob, past_end, chain, chunk_len, objects: chunks.index.objects() };
    let mut failed = pending.lock();
    if let Some(error) = failed.take() {
        return Err(error);
    }
    let rank = array.shape.len();
    let mut strides = SmallVec::from_elem(size, rank);
    for dim in (1..rank).rev() {
        // At most the bytes of `input`.
        strides[dim - 1] = strides[dim] * sel.count[dim].saturate();
    }
    let can_grow =
        (0..rank).map(|dim| dim + chunks.inner < rank && pending.writer().store.can_grow(dim)).collect();
    let in_range = AtomicBool::new(true);
    let writer = SelectionWriter {
        blob,
        selected,
        stored,
        array,
        chunks,
        pending,
        conversion,
        input,
        size,
        strides,
        can_grow,
        in_range,
    };
    writer.region(&writer.selected.ranges())?;
    Ok(writer.in_range.into_inner())
}

/// For each dimension, the number of a chunk among those that the selection meets.
type At = SmallVec<[usize; 4]>;

/// Writes one selection.
struct SelectionWriter<'a> {
    blob: &'a dyn BlobMut,
    selected: SelectedChunks<'a>,
    stored: StoredChunks<'a>,
    array: &'a Array,
    chunks: &'a Chunks,
    pending: &'a PendingChunks,
    conversion: Conversion,
    input: &'a [u8],
    /// Bytes of an element in memory.
    size: usize,
    /// Strides of memory in bytes.
    strides: SmallVec<[usize; 4]>,
    /// For each dimension, true if the array can grow along it.
    can_grow: SmallVec<[bool; 8]>,
    /// True if all numbers were in range.
    in_range: AtomicBool,
}

/// A chunk of which a part is written.
struct PartialChunk {
    at: At,
    key: Key,
    /// Decoded bytes, once they are in memory.
    decoded: Option<Vec<u8>>,
    /// Number of elements that were written.
    written: u64,
    /// True if `decoded` has changes that are not stored.
    is_pending: bool,
    /// The elements that were written, where other writers may store the chunk too.
    changes: Option<Box<Changes>>,
    location: ChunkLocation,
}

impl SelectionWriter<'_> {
    /// Writes the chunks in a box.
    fn region(&self, ranges: &Ranges) -> Result<()> {
        let chunks = ranges.iter().fold(1, |all: usize, &(from, to)| all.saturating_mul(to - from));
        let cut = ranges.iter().position(|&(from, to)| to - from > 1);
        if let Some(dim) = cut.filter(|_| chunks > MAX_LOCATED) {
            let (from, to) = ranges[dim];
            let middle = from + (to - from) / 2;
            let (mut left, mut right) = (ranges.clone(), ranges.clone());
            (left[dim], right[dim]) = ((from, middle), (middle, to));
            return self.region(&left).and_then(|()| self.region(&right));
        }
        let (whole, parts): (Vec<At>, Vec<At>) =
            combinations(ranges).partition(|at| self.selected.elements(at) == self.needed(at));
        let chunk_len = self.selected.chunk_len.saturate();
        let together = (cache::budget() / 4).min(MAX_TAKEN.1) / chunk_len;
        parts.chunks(together.clamp(1, MAX_TAKEN.0)).try_for_each(|some| self.write_partial(some))?;
        let complete = CompleteChunks { writer: self, chunks: whole };
        self.pending.writer().write_from(self.blob, chunk_len, &complete)?;
        // Pending versions of complete chunks are dropped only after these were stored: if that fails, they are still needed.
        if self.pending.may_have_any() || self.chunks.cached.may_have_any() {
            complete.chunks.iter().for_each(|at| drop(self.take(&self.selected.key(at))));
        }
        Ok(())
    }

    /// Returns the number of elements that a chunk has once it is complete.
    fn needed(&self, at: &[usize]) -> u64 {
        let along = at.iter().enumerate().map(|(dim, &number)| {
            let len = self.chunks.shape[dim];
            let first = self.selected.by_dim[dim].at(number).chunk * len;
            if self.can_grow[dim] { len } else { len.min(self.array.shape[dim] - first) }
        });
        along.product()
    }

    /// Removes a chunk from the pending or the cached ones and returns it, with true if it was pending.
    fn take(&self, key: &Key) -> Option<(Shared, bool)> {
        let pending = self.pending.take(key).map(|chunk| (chunk, true));
        pending.or_else(|| Some((self.chunks.cached.take(key)?, false)))
    }

    /// Writes partial chunks.
    fn write_partial(&self, some: &[At]) -> Result<()> {
        let mut partial: Vec<PartialChunk> = some.iter().map(|at| self.chunk(at)).collect();
        let done = self.locate(&mut partial).and_then(|()| self.fill_all(&mut partial));
        let chunk_len = self.selected.chunk_len.saturate();
        let can_be_pending = can_be_pending(chunk_len);
        let (mut ready, mut pending) = (Vec::new(), Vec::new());
        for chunk in partial {
            let is_complete = chunk.written >= self.needed(&chunk.at) || !can_be_pending;
            let Some(decoded) = chunk.decoded.filter(|_| done.is_ok() || chunk.is_pending) else { continue };
            let to = if done.is_ok() && is_complete { &mut ready } else { &mut pending };
            to.push((chunk.key, Decoded::written(decoded, chunk.written, chunk.changes)));
        }
        let done = done.and_then(|()| self.pending.writer().write(self.blob, &ready));
        if done.is_err() {
            // Complete chunks that could not be stored become pending with their count of written elements, so the next write to
            // one tries to store it again.
            pending.extend(ready.into_iter().filter(|(_, chunk)| !chunk.is_settled()));
        } else if !ready.is_empty() {
            cache::recycle(ready.into_iter().map(|(_, chunk)| owned(chunk)));
        }
        pending.into_iter().fold(done, |done, (key, chunk)| self.keep_pending(done, key, chunk))
    }

    /// Makes a chunk pending, or stores it if there is no room. After an error it becomes pending even without room.
    fn keep_pending(&self, done: Result<()>, key: Key, chunk: Shared) -> Result<()> {
        let Some((key, chunk)) = self.pending.add(key, chunk, done.is_err()) else { return done };
        let room = done.and_then(|()| self.pending.make_room(self.blob, chunk.bytes.len()));
        if room != Ok(false) {
            self.pending.add(key, chunk, true);
            return room.map(drop);
        }
        let alone = [(key, chunk)];
        self.pending.writer().write(self.blob, &alone).inspect_err(|_| {
            let [(key, chunk)] = alone;
            if !chunk.is_settled() {
                self.pending.add(key, chunk, true);
            }
        })
    }

    fn chunk(&self, at: &At) -> PartialChunk {
        let key = self.selected.key(at);
        let is_shared = self.pending.writer().store.is_shared();
        // The version of a chunk that a reader decoded is not known: where others write too, it is read again.
        let taken = self.take(&key).filter(|(chunk, _)| !is_shared || chunk.changes.is_some());
        let (decoded, written, is_pending, changes) = match taken {
            Some((chunk, is_pending)) => {
                let written = chunk.written;
                let (bytes, changes) = owned_with_changes(chunk);
                (Some(bytes), written, is_pending, changes)
            }
            None => (None, 0, false, is_shared.then(Box::default)),
        };
        let location = ChunkLocation::Missing;
        PartialChunk { at: at.clone(), key, decoded, written, is_pending, changes, location }
    }

    /// Locates the chunks that are not in memory.
    fn locate(&self, partial: &mut [PartialChunk]) -> Result<()> {
        let absent: SmallVec<[&mut PartialChunk; 4]> =
            partial.iter_mut().filter(|chunk| chunk.decoded.is_none()).collect();
        let Some(chunk) = absent.first() else { return Ok(()) };
        let coordinates = |chunk: &PartialChunk| -> Key {
            chunk
                .at
                .iter()
                .zip(&self.selected.by_dim)
                .map(|(&number, chunks)| chunks.at(number).chunk)
                .collect()
        };
        let mut first = coordinates(chunk);
        let mut last = first.clone();
        for chunk in &absent[1..] {
            for (dim, at) in coordinates(chunk).into_iter().enumerate() {
                (first[dim], last[dim]) = (first[dim].min(at), last[dim].max(at));
            }
        }
        let span: Key = first.iter().zip(&last).map(|(first, last)| last - first + 1).collect();
        let spanned = span.iter().try_fold(1u64, |all, &len| all.checked_mul(len));
        if spanned.is_some_and(|spanned| spanned <= absent.len() as u64 * 4) {
            let locations = self.chunks.locate(&*self.chunks.index, &first, &span)?;
            for chunk in absent {
                let at = coordinates(chunk);
                let in_box = (0..at.len()).fold(0, |index, dim| index * span[dim] + (at[dim] - first[dim]));
                chunk.location = locations[in_box.saturate()];
            }
            return Ok(());
        }
        let one = Key::from_elem(1, first.len());
        for chunk in absent {
            chunk.location = self.chunks.locate(&*self.chunks.index, &coordinates(chunk), &one)?[0];
        }
        Ok(())
    }

    /// Decodes the chunks that are not in memory, and writes the selected elements into them, on all threads if there is enough
    /// to do.
    fn fill_all(&self, partial: &mut [PartialChunk]) -> Result<()> {
        let cost = self.stored.cost();
        if !cost.is_near() {
            self.fetch_in_batches(partial, &cost)?;
        }
        let bytes = |chunk: &PartialChunk| match chunk.decoded {
            Some(_) => self.selected.elements(&chunk.at) * self.array.stored.kind.size() as u64,
            None => self.selected.chunk_len,
        };
        let shares = partial.len() > 1 && partial.iter().map(bytes).sum::<u64>() >= PARALLEL_BYTES;
        let pool = if shares { pool::get() } else { None };
        match pool {
            Some(pool) => pool.try_each(partial, |(_, chunk)| self.fill(chunk)),
            None => partial.iter_mut().try_for_each(|chunk| self.fill(chunk)),
        }
    }

    /// Fetches and decodes the chunks that are not in memory from a slow source.
    fn fetch_in_batches(&self, partial: &mut [PartialChunk], cost: &Cost) -> Result<()> {
        let is_fetched = |chunk: &&mut PartialChunk| {
            let written = self.selected.elements(&chunk.at);
            chunk.decoded.is_none() && self.overwritable(chunk, written).is_none()
        };
        let absent = partial.iter_mut().filter(is_fetched);
        let fetch = |some: &[&mut PartialChunk], is_first: bool, encoded: EncodedChunks| {
            let some = some.iter().map(|chunk| (&chunk.key[..], chunk.location));
            self.stored.fetch_many(some, is_first, encoded)
        };
        // Adjacent chunks are fetched with one request, so a batch may have more chunks than requests.
        let limit = BatchLimit { requests: usize::MAX, ..BatchLimit::of(cost) };
        let len = |chunk: &&mut PartialChunk| chunk.location.expected_len(self.selected.chunk_len);
        run_in_batches(limit, absent, len, fetch, |some, encoded| {
            share(true, some, |number, chunk| {
                let stored = encoded.get(number);
                chunk.decoded = self.stored.decode_fetched(&chunk.key, chunk.location, stored)?;
                if let Some(changes) = &mut chunk.changes {
                    **changes = Changes::of(encoded.version(number).cloned());
                }
                // A missing object is not requested again when the chunk is changed.
                chunk.location = if stored.is_none() { ChunkLocation::Missing } else { chunk.location };
                Ok(true)
            })
        })
        .map(drop)
    }

    /// Decodes a chunk if it is not in memory, and writes the selected elements into it.
    fn fill(&self, chunk: &mut PartialChunk) -> Result<()> {
        let written = self.selected.elements(&chunk.at);
        if chunk.decoded.is_none() {
            if let Some(position) = self.overwritable(chunk, written) {
                return Scratch::with(|scratch| self.overwrite(&chunk.at, position, &mut scratch.dense));
            }
            let (stored, version) = self.stored.read_version(&chunk.key, chunk.location)?;
            if let Some(changes) = &mut chunk.changes {
                **changes = Changes::of(version);
            }
            chunk.decoded = Some(stored.unwrap_or_else(|| {
                let mut chunk = cache::buffer(self.selected.chunk_len.saturate());
                self.chunks.fill_chunk(&mut chunk);
                chunk
            }));
        }
        if let Some(decoded) = &mut chunk.decoded {
            Scratch::with(|scratch| self.scatter_into(&chunk.at, &mut scratch.dense, decoded));
            chunk.written += written;
            chunk.is_pending = true;
            if let Some(changes) = &mut chunk.changes {
                let outer = self.chunks.shape.len() - self.chunks.inner;
                changes.mark(&self.chunks.shape[..outer], &self.selected.selection(&chunk.at));
            }
        }
        Ok(())
    }

    /// Returns the position of a chunk if its selected elements are to be overwritten in place; `None` if the whole chunk is to
    /// be read and changed.
    fn overwritable(&self, chunk: &PartialChunk, written: u64) -> Option<u64> {
        let ChunkLocation::At { len, mask, .. } = chunk.location else { return None };
        let bytes = written * self.array.stored.kind.size() as u64;
        let cost = self.blob.cost();
        let little = len > largest(&cost) || (len > cost.gap && bytes < len / 4);
        let plain = len == self.selected.chunk_len && self.chunks.chain.is_identity(mask);
        self.pending.writer().store.uncommitted_position(&chunk.key).filter(|_| plain && little)
    }

    fn overwrite(&self, at: &[usize], position: u64, dense: &mut Buffer) -> Result<()> {
        let (shape, stored) = (&self.chunks.shape, self.array.stored);
        let sel = self.selected.selection(at);
        let strides = dense_strides(shape, stored)?;
        let plan =
            TilePlan::new(shape, stored, position, &strides, &sel, (tile_writer::TILE, &self.blob.cost()))?;
        let rows = self.memory(at);
        let elements = match rows.only() {
            Some(row) => &self.input[row],
            None => {
                let elements = dense.get(rows.bytes());
                scatter::gather(&self.input[rows.first..], &rows.dims, self.size, elements);
                elements
            }
        };
        let in_range = tile_writer::dense(self.blob, &plan, self.conversion, elements, self.size)?;
        self.in_range.fetch_and(in_range, Relaxed);
        Ok(())
    }

    /// Returns the memory of the elements of a chunk.
    fn memory(&self, at: &[usize]) -> MemoryRows {
        let inner = self.selected.inner;
        let (mut first, mut row) = (0, self.size);
        let mut dims = SmallVec::new();
        for (dim, &number) in at.iter().enumerate() {
            let by_dim = &self.selected.by_dim[dim];
            first += by_dim.before(number) * self.strides[dim];
            let count = by_dim.at(number).count;
            if dim + 1 < inner {
                if count > 1 {
                    dims.push(Dim { count: count as u64, step: self.strides[dim] as u64 });
                }
            } else {
                row *= count;
            }
        }
        dims.push(Dim { count: (row / self.size) as u64, step: self.size as u64 });
        MemoryRows { first, dims, row }
    }

    /// Returns the dimensions that count the rows of a chunk.
    fn outer(&self, at: &[usize]) -> impl Iterator<Item = RowDim> {
        let outer = self.selected.inner.saturating_sub(1);
        at[..outer].iter().enumerate().map(|(dim, &number)| RowDim {
            count: self.selected.by_dim[dim].at(number).count,
            chunk: self.selected.strides[dim].0.saturate(),
            memory: self.strides[dim],
        })
    }

    /// Converts and scatters the elements of a chunk into it.
    fn scatter_into(&self, at: &[usize], dense: &mut Buffer, chunk: &mut [u8]) {
        let (part, memory) = (self.selected.rows(at), self.memory(at));
        let conversion = &self.conversion;
        let mut in_range = true;
        if memory.dims.len() > 1 && memory.row < TINY_ROW {
            // Tiny rows are gathered, converted and scattered all at once.
            let bytes = memory.bytes();
            let made = bytes / self.size * part.size;
            let both = dense.get(bytes + made);
            let (elements, stored) = both.split_at_mut(bytes);
            scatter::gather(&self.input[memory.first..], &memory.dims, self.size, elements);
            let stored = if conversion.is_copy() {
                elements
            } else {
                in_range = conversion.run(elements, stored);
                stored
            };
            let dims: SmallVec<[Dim; 8]> = part.outer.iter().chain(&part.inner).copied().collect();
            scatter::scatter(stored, &dims, part.size, &mut chunk[part.base..]);
        } else {
            let strides: SmallVec<[RowDim; 4]> = self.outer(at).collect();
            walk(&strides, |to, from| {
                let row = &self.input[memory.first + from..][..memory.row];
                in_range &= part.put_row(row, conversion, dense, &mut chunk[part.base + to..]);
            });
        }
        self.in_range.fetch_and(in_range, Relaxed);
    }
}

/// A dimension that counts rows, with its strides in bytes of the chunk and of memory.
struct RowDim {
    count: usize,
    chunk: usize,
    memory: usize,
}

/// Calls `row` with the byte offsets of each row in the chunk and in memory, in order.
fn walk(dims: &[RowDim], mut row: impl FnMut(usize, usize)) {
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
    let (mut chunk, mut memory) = (0, 0);
    loop {
        row(chunk, memory);
        let mut dim = dims.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            let RowDim { count, chunk: chunk_step, memory: memory_step } = dims[dim];
            index[dim] += 1;
            if index[dim] < count {
                chunk += chunk_step;
                memory += memory_step;
                break;
            }
            index[dim] = 0;
            chunk -= chunk_step * (count - 1);
            memory -= memory_step * (count - 1);
        }
    }
}

/// The elements of one chunk in memory.
struct MemoryRows {
    /// Byte offset of the first element.
    first: usize,
    /// The dimensions that count rows, then the elements of a row.
    dims: SmallVec<[Dim; 4]>,
    /// Bytes of a row.
    row: usize,
}

impl MemoryRows {
    fn bytes(&self) -> usize {
        self.dims[..self.dims.len() - 1].iter().fold(self.row, |bytes, dim| bytes * dim.count.saturate())
    }

    /// Returns the bytes of all elements, if they are one row.
    fn only(&self) -> Option<std::ops::Range<usize>> {
        (self.dims.len() == 1).then(|| self.first..self.first + self.row)
    }
}

/// Chunks that a request completes.
struct CompleteChunks<'a, 'w> {
    writer: &'a SelectionWriter<'w>,
    chunks: Vec<At>,
}

impl ChunkSource for CompleteChunks<'_, '_> {
    fn len(&self) -> usize {
        self.chunks.len()
    }

    fn key(&self, number: usize) -> Key {
        self.writer.selected.key(&self.chunks[number])
    }

    fn borrow(&self, number: usize) -> Option<&[u8]> {
        let writer = self.writer;
        if !writer.conversion.is_copy() {
            return None;
        }
        let row = writer.memory(&self.chunks[number]).only()?;
        // A row with all elements of a chunk has them in the order of the chunk.
        (row.len() as u64 == writer.selected.chunk_len).then(|| &writer.input[row])
    }

    fn build(&self, number: usize, dense: &mut Buffer, chunk: &mut [u8]) -> Result<()> {
        let (writer, at) = (self.writer, &self.chunks[number]);
        if writer.selected.elements(at) * (writer.array.stored.kind.size() as u64) < writer.selected.chunk_len
        {
            writer.chunks.fill_chunk(chunk);
        }
        writer.scatter_into(at, dense, chunk);
        Ok(())
    }
}
