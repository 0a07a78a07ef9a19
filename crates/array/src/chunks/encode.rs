//! Encoding chunks and storing them in a [`ChunkStore`].
//!
//! Chunks are stored in batches. All threads encode the chunks of a batch; then one thread allocates space for them in their
//! order; then all threads write them, adjacent chunks with one write. So the bytes of a file do not depend on the number of
//! threads. The length of chunks without filters is known, so space is allocated for them first and they are built in the buffer
//! that is written. A chunk is inserted into the index only after its bytes are written: after a failed write the index still has
//! the old chunk.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use ferrocdf_bytes::{Context, Result, ToUsize};
use ferrocdf_codec::Chain;
use ferrocdf_store::{BlobMut, Buffer, writes_slowly};

use super::cache;
use super::changes::Changes;
use super::decoded::{Key, Shared, coordinates};
use super::index::{ChunkBatch, ChunkStore};
use crate::pool;
use crate::scratch::Scratch;

/// Decoded bytes of the chunks of a batch, unless these are fewer than four chunks for each thread.
pub(super) const BATCH_BYTES: usize = 16 << 20;

/// Maximum bytes of adjacent chunks that one write stores: the buffer that they are copied into stays in the second-level cache
/// of a core.
const MERGED_BYTES: u64 = 1 << 20;

/// Minimum decoded bytes that all threads encode: for fewer bytes, waking the threads costs more than it saves.
const PARALLEL_BYTES: usize = 128 << 10;

/// Maximum bytes of the buffers for encoded chunks that a thread keeps for its next call.
const KEPT: usize = 32 << 20;

/// Encodes chunks of one array and puts them into its store.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    pub(super) store: Arc<dyn ChunkStore>,
    chain: Arc<Chain>,
}

/// Chunks to be stored, in the order in which space is allocated for them.
pub(super) trait ChunkSource: Sync {
    /// Returns the number of chunks.
    fn len(&self) -> usize;

    /// Returns the coordinates of a chunk.
    fn key(&self, number: usize) -> Key;

    /// Borrows the decoded bytes of a chunk; `None` if they have to be built.
    fn borrow(&self, number: usize) -> Option<&[u8]>;

    /// Returns the elements of a chunk that were written; `None` for a whole chunk, and in arrays that have one writer.
    fn changes(&self, _number: usize) -> Option<&Changes> {
        None
    }

    /// Puts the encoded bytes of a chunk into `encoded` if the chunk need not be decoded; `buffer` is scratch memory. Returns false
    /// if it must be, and if it could not be read, for which [`build`](ChunkSource::build) has the error.
    fn reframe(&self, _number: usize, _buffer: &mut Buffer, _encoded: &mut Vec<u8>) -> bool {
        false
    }

    /// Builds the decoded bytes of a chunk in `chunk`; `buffer` is scratch memory. After an error the chunk is not written.
    fn build(&self, number: usize, buffer: &mut Buffer, chunk: &mut [u8]) -> Result<()>;
}

/// Pending chunks.
impl ChunkSource for [(Key, Shared)] {
    fn len(&self) -> usize {
        self.len()
    }

    fn key(&self, number: usize) -> Key {
        self[number].0.clone()
    }

    fn borrow(&self, number: usize) -> Option<&[u8]> {
        Some(&self[number].1.bytes)
    }

    fn changes(&self, number: usize) -> Option<&Changes> {
        self[number].1.changes.as_deref()
    }

    fn build(&self, number: usize, _buffer: &mut Buffer, chunk: &mut [u8]) -> Result<()> {
        chunk.copy_from_slice(&self[number].1.bytes);
        Ok(())
    }
}

/// An encoded chunk.
#[derive(Default)]
struct EncodedChunk {
    bytes: Vec<u8>,
    /// The filter mask: bit `n` is set if the `n`-th filter of the chain was not applied.
    mask: u32,
}

thread_local! {
    static ENCODED: Cell<Vec<EncodedChunk>> = const { Cell::new(Vec::new()) };
}

impl ChunkWriter {
    pub(super) fn new(store: Arc<dyn ChunkStore>, chain: Arc<Chain>) -> Self {
        ChunkWriter { store, chain }
    }

    /// Returns the blob of the store.
    pub(super) fn blob(&self) -> Arc<dyn BlobMut> {
        self.store.blob()
    }

    /// Encodes and stores chunks that are in memory and have equal lengths.
    pub(super) fn write(&self, blob: &dyn BlobMut, chunks: &[(Key, Shared)]) -> Result<()> {
        let len = chunks.first().map_or(0, |(_, chunk)| chunk.bytes.len());
        self.write_from(blob, len, chunks)
    }

    /// Stores encoded chunks: in objects if [`ChunkStore::put`] does so, else in space of the blob that is allocated in their
    /// order. All threads write if `shares`.
    pub(super) fn store_batch(&self, blob: &dyn BlobMut, shares: bool, batch: &dyn ChunkBatch) -> Result<()> {
        if batch.is_empty() || self.store.put(batch)? {
            return Ok(());
        }
        let mut space = Space::default();
        let allocated = (0..batch.len()).try_for_each(|number| {
            let (len, mask) = (batch.encoded_len(number), batch.mask(number));
            space.allocate(self, batch.coordinates(number), len, mask)
        });
        let written = allocated.and_then(|()| {
            space.write(shares, |run, at| {
                let bytes = batch.borrow(run.clone());
                if let Some(bytes) = bytes.filter(|bytes| !writes_slowly(at, bytes)) {
                    return blob.write_at(at, bytes);
                }
                let lens = || run.clone().map(|number| batch.encoded_len(number).saturate());
                // Taken out of the scratch buffers of the thread, since building a chunk borrows the others.
                let mut window = Scratch::with(|scratch| std::mem::take(&mut scratch.window));
                let bytes = window.at(at, lens().sum());
                let mut rest = &mut *bytes;
                let built = run.clone().zip(lens()).try_for_each(|(number, len)| {
                    let (here, more) = std::mem::take(&mut rest).split_at_mut(len);
                    rest = more;
                    batch.copy_to(number, here)
                });
                let done = built.and_then(|()| blob.write_at(at, bytes));
                Scratch::with(|scratch| scratch.window = window);
                done
            })
        });
        space.insert(self).and(written)
    }

    /// Encodes and stores chunks of `chunk_len` decoded bytes.
    pub(super) fn write_from<S: ChunkSource + ?Sized>(
        &self,
        blob: &dyn BlobMut,
        chunk_len: usize,
        source: &S,
    ) -> Result<()> {
        let all = source.len();
        if all == 0 {
            return Ok(());
        }
        let shares = all > 1 && all.saturating_mul(chunk_len) >= PARALLEL_BYTES;
        let pool = if shares { pool::get() } else { None };
        let threads = pool.map_or(1, |pool| pool.count());
        let most = (cache::budget() / 2 / chunk_len.max(1)).max(1);
        let together = (BATCH_BYTES / chunk_len.max(1)).max(4 * threads).min(most);
        let encoder = Encoder { writer: self, blob, chunk_len, source, shares };
        let mut encoded = ENCODED.try_with(Cell::take).unwrap_or_default();
        let mut batches = (0..all).step_by(together).map(|first| first..(first + together).min(all));
        // Where others write too, one chunk that is refused keeps no other from being stored.
        let (goes_on, mut done) = (self.store.is_shared(), Ok(()));
        for batch in &mut batches {
            done = done.and(encoder.batch(batch, &mut encoded));
            if done.is_err() && !goes_on {
                break;
            }
        }
        let mut kept = 0;
        encoded.retain(|encoded| {
            kept += encoded.bytes.capacity();
            kept <= KEPT
        });
        let _ = ENCODED.try_with(|kept| kept.set(encoded));
        done
    }
}

/// Encodes and stores the chunks of one source.
struct Encoder<'a, S: ?Sized> {
    writer: &'a ChunkWriter,
    blob: &'a dyn BlobMut,
    chunk_len: usize,
    source: &'a S,
    /// True if there is enough to do for several threads.
    shares: bool,
}

impl<S: ChunkSource + ?Sized> Encoder<'_, S> {
    fn batch(&self, batch: Range<usize>, encoded: &mut Vec<EncodedChunk>) -> Result<()> {
        if self.writer.chain.is_empty() {
            let batch = UnfilteredBatch { source: self.source, chunks: batch, chunk_len: self.chunk_len };
            return self.writer.store_batch(self.blob, self.shares, &batch);
        }
        if encoded.len() < batch.len() {
            encoded.resize_with(batch.len(), EncodedChunk::default);
        }
        let encoded = &mut encoded[..batch.len()];
        each(self.shares, encoded, |at, to| self.encode(batch.start + at, to))?;
        let batch = EncodedBatch { source: self.source, first: batch.start, encoded };
        self.writer.store_batch(self.blob, self.shares, &batch)
    }

    fn encode(&self, number: usize, to: &mut EncodedChunk) -> Result<()> {
        Scratch::with(|scratch| {
            if self.source.reframe(number, &mut scratch.dense, &mut to.bytes) {
                to.mask = 0;
                return Ok(());
            }
            let decoded = match self.source.borrow(number) {
                Some(decoded) => decoded,
                None => {
                    let decoded = scratch.stored.get(self.chunk_len);
                    self.source.build(number, &mut scratch.dense, decoded)?;
                    decoded
                }
            };
            let mask = self.writer.chain.encode(decoded, &mut to.bytes);
            to.mask = mask.at(|| format!("chunk {}", coordinates(&self.source.key(number))))?;
            Ok(())
        })
    }
}

/// Chunks that filters have encoded.
struct EncodedBatch<'a, S: ?Sized> {
    source: &'a S,
    /// Number of the first chunk in the source.
    first: usize,
    encoded: &'a [EncodedChunk],
}

impl<S: ChunkSource + ?Sized> ChunkBatch for EncodedBatch<'_, S> {
    fn len(&self) -> usize {
        self.encoded.len()
    }

    fn coordinates(&self, number: usize) -> Key {
        self.source.key(self.first + number)
    }

    fn encoded_len(&self, number: usize) -> u64 {
        self.encoded[number].bytes.len() as u64
    }

    fn mask(&self, number: usize) -> u32 {
        self.encoded[number].mask
    }

    fn changes(&self, number: usize) -> Option<&Changes> {
        self.source.changes(self.first + number)
    }

    fn borrow(&self, chunks: Range<usize>) -> Option<&[u8]> {
        match &self.encoded[chunks] {
            [one] => Some(&one.bytes),
            _ => None,
        }
    }

    fn copy_to(&self, number: usize, into: &mut [u8]) -> Result<()> {
        into.copy_from_slice(&self.encoded[number].bytes);
        Ok(())
    }
}

/// Chunks without filters, each built in the buffer that is written.
struct UnfilteredBatch<'a, S: ?Sized> {
    source: &'a S,
    chunks: Range<usize>,
    chunk_len: usize,
}

impl<S: ChunkSource + ?Sized> ChunkBatch for UnfilteredBatch<'_, S> {
    fn len(&self) -> usize {
        self.chunks.len()
    }

    fn coordinates(&self, number: usize) -> Key {
        self.source.key(self.chunks.start + number)
    }

    fn encoded_len(&self, _number: usize) -> u64 {
        self.chunk_len as u64
    }

    fn mask(&self, _number: usize) -> u32 {
        0
    }

    fn changes(&self, number: usize) -> Option<&Changes> {
        self.source.changes(self.chunks.start + number)
    }

    fn borrow(&self, chunks: Range<usize>) -> Option<&[u8]> {
        if chunks.len() == 1 { self.source.borrow(self.chunks.start + chunks.start) } else { None }
    }

    fn copy_to(&self, number: usize, into: &mut [u8]) -> Result<()> {
        let number = self.chunks.start + number;
        match self.source.borrow(number) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => Scratch::with(|scratch| self.source.build(number, &mut scratch.dense, into))?,
        }
        Ok(())
    }
}

/// Space that was allocated for the chunks of a batch, in their order.
#[derive(Default)]
struct Space {
    chunks: Vec<Allocated>,
}

struct Allocated {
    key: Key,
    at: u64,
    len: u64,
    mask: u32,
    is_written: bool,
}

impl Space {
    /// Allocates space for one more chunk of `len` encoded bytes with this filter mask.
    fn allocate(&mut self, writer: &ChunkWriter, key: Key, len: u64, mask: u32) -> Result<()> {
        let at = writer.store.allocate(&key, len)?;
        self.chunks.push(Allocated { key, at, len, mask, is_written: false });
        Ok(())
    }

    /// Calls `write` with the numbers of the chunks of each contiguous run and the position of the first one, in parallel if
    /// `shares`. Stops at the first error.
    fn write(
        &mut self,
        shares: bool,
        write: impl Fn(Range<usize>, u64) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        struct Run<'a> {
            first: usize,
            chunks: &'a mut [Allocated],
        }
        let (mut runs, mut rest, mut first) = (Vec::new(), &mut self.chunks[..], 0);
        for run in self::runs(rest) {
            let (chunks, behind) = rest.split_at_mut(run);
            runs.push(Run { first, chunks });
            (rest, first) = (behind, first + run);
        }
        each(shares, &mut runs, |_, Run { first, chunks }| {
            write(*first..*first + chunks.len(), chunks[0].at)?;
            chunks.iter_mut().for_each(|chunk| chunk.is_written = true);
            Ok(())
        })
    }

    /// Inserts the written chunks into the index, and releases the space of the others. After an error the space of the remaining
    /// chunks is released too.
    fn insert(self, writer: &ChunkWriter) -> Result<()> {
        let mut done = Ok(());
        for Allocated { key, at, len, mask, is_written } in self.chunks {
            if is_written && done.is_ok() {
                done = writer.store.insert(&key, at, len, mask);
            } else {
                writer.store.release(&key, at, len);
            }
        }
        done
    }
}

/// Calls `work` with each item and its number, in parallel if `shares`. Stops at the first error.
pub(super) fn each<T: Send>(
    shares: bool,
    items: &mut [T],
    work: impl Fn(usize, &mut T) -> Result<()> + Sync + Send,
) -> Result<()> {
    let pool = if shares && items.len() > 1 { pool::get() } else { None };
    match pool {
        Some(pool) => pool.try_each(items, |(number, item)| work(number, item)),
        None => items.iter_mut().enumerate().try_for_each(|(number, item)| work(number, item)),
    }
}

/// Returns the number of chunks in each contiguous run of at most [`MERGED_BYTES`] bytes.
fn runs(chunks: &[Allocated]) -> Vec<usize> {
    let mut runs: Vec<usize> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for &Allocated { at, len, .. } in chunks {
        let after = at.saturating_add(len);
        match runs.last_mut() {
            Some(run) if at == end && after - begin <= MERGED_BYTES => *run += 1,
            _ => {
                runs.push(1);
                begin = at;
            }
        }
        end = after;
    }
    runs
}
