//! Encoding chunks and putting them into their store.
//!
//! All threads encode some chunks at a time; then the chunks get space one after another in their order; then they are
//! written, neighbours together. So the bytes of a file do not depend on threads. Chunks without filters get their space
//! first, since their length is known, and are built in the buffer that is written. The store learns of a chunk once its
//! bytes are written: after a failed write it has the chunk of before.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use ferrocdf_bytes::{Context, Result};
use ferrocdf_codec::Chain;
use ferrocdf_store::{BlobMut, Buffer, writes_slowly};
use rayon::prelude::*;

use super::cache;
use super::decoded::{Key, Shared, coordinates};
use super::index::ChunkStore;
use crate::pool;
use crate::scratch::Scratch;

/// Bytes of chunks that are encoded before they are written, unless these are fewer than four chunks for each thread.
pub(super) const BATCH: usize = 16 << 20;

/// Bytes of neighbours that are written together at most: they are copied into one buffer, which stays in the second-level
/// cache of a core.
const TOGETHER: u64 = 1 << 20;

/// Bytes of chunks from which on all threads encode: below it waking them costs more than it saves.
const SHARED: usize = 128 << 10;

/// Bytes of buffers for encoded chunks that a thread keeps.
const KEPT: usize = 32 << 20;

/// Encodes chunks of one array and puts them into its store.
#[derive(Debug)]
pub(super) struct ChunkWriter {
    pub(super) store: Arc<dyn ChunkStore>,
    chain: Arc<Chain>,
}

/// Chunks to be stored, in their order.
pub(super) trait ChunkSource: Sync {
    /// The number of chunks.
    fn len(&self) -> usize;

    /// The coordinates of a chunk.
    fn key(&self, number: usize) -> Key;

    /// Borrows the decoded bytes of a chunk, if they lie in memory.
    fn borrow(&self, number: usize) -> Option<&[u8]>;

    /// Builds the decoded bytes of a chunk in `chunk`, with a buffer to do so. An error keeps the chunk from being written.
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

    fn build(&self, number: usize, _buffer: &mut Buffer, chunk: &mut [u8]) -> Result<()> {
        chunk.copy_from_slice(&self[number].1.bytes);
        Ok(())
    }
}

/// An encoded chunk.
#[derive(Default)]
struct Encoded {
    bytes: Vec<u8>,
    /// The filters that were left out: bit `n` for the `n`-th of the chain.
    mask: u32,
}

thread_local! {
    static ENCODED: Cell<Vec<Encoded>> = const { Cell::new(Vec::new()) };
}

impl ChunkWriter {
    pub(super) fn new(store: Arc<dyn ChunkStore>, chain: Arc<Chain>) -> Self {
        ChunkWriter { store, chain }
    }

    /// Returns the blob of the store.
    pub(super) fn blob(&self) -> Arc<dyn BlobMut> {
        self.store.blob()
    }

    /// Encodes and stores chunks in memory, which have equally many bytes.
    pub(super) fn write(&self, blob: &dyn BlobMut, chunks: &[(Key, Shared)]) -> Result<()> {
        let len = chunks.first().map_or(0, |(_, chunk)| chunk.bytes.len());
        self.write_from(blob, len, chunks)
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
        let shares = all > 1 && all.saturating_mul(chunk_len) >= SHARED;
        let pool = if shares { pool::get() } else { None };
        let threads = pool.map_or(1, |pool| pool.count());
        let most = (cache::budget() / 2 / chunk_len.max(1)).max(1);
        let together = (BATCH / chunk_len.max(1)).max(4 * threads).min(most);
        let encoder = Encoder { writer: self, blob, chunk_len, source, shares };
        let mut encoded = ENCODED.try_with(Cell::take).unwrap_or_default();
        let mut batches = (0..all).step_by(together).map(|first| first..(first + together).min(all));
        let done = batches.try_for_each(|batch| encoder.batch(batch, &mut encoded));
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
    /// True if several threads share the work.
    shares: bool,
}

impl<S: ChunkSource + ?Sized> Encoder<'_, S> {
    fn batch(&self, batch: Range<usize>, encoded: &mut Vec<Encoded>) -> Result<()> {
        if self.writer.chain.is_empty() {
            return self.unfiltered(batch);
        }
        if encoded.len() < batch.len() {
            encoded.resize_with(batch.len(), Encoded::default);
        }
        let encoded = &mut encoded[..batch.len()];
        each(self.shares, encoded, |at, to| self.encode(batch.start + at, to))?;
        let encoded = &*encoded;
        let mut space = Space::default();
        let allocated = batch.clone().zip(encoded).try_for_each(|(number, Encoded { bytes, mask })| {
            space.allocate(self.writer, self.source.key(number), bytes.len() as u64, *mask)
        });
        let written = allocated.and_then(|()| {
            space.write(self.shares, |run, at| {
                if let [one] = &encoded[run.clone()] {
                    return self.blob.write_at(at, &one.bytes);
                }
                Scratch::with(|scratch| {
                    let len = encoded[run.clone()].iter().map(|encoded| encoded.bytes.len()).sum();
                    let window = scratch.window.at(at, len);
                    let mut rest = &mut window[..];
                    for Encoded { bytes, .. } in &encoded[run] {
                        let (here, more) = rest.split_at_mut(bytes.len());
                        here.copy_from_slice(bytes);
                        rest = more;
                    }
                    self.blob.write_at(at, window)
                })
            })
        });
        space.insert(self.writer).and(written)
    }

    fn encode(&self, number: usize, to: &mut Encoded) -> Result<()> {
        Scratch::with(|scratch| {
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

    /// Stores chunks that no filter changes.
    fn unfiltered(&self, batch: Range<usize>) -> Result<()> {
        let mut space = Space::default();
        let len = self.chunk_len as u64;
        let allocated =
            batch.clone().try_for_each(|number| space.allocate(self.writer, self.source.key(number), len, 0));
        let written = allocated.and_then(|()| {
            space.write(self.shares, |run, at| {
                let first = batch.start + run.start;
                if run.len() == 1
                    && let Some(bytes) = self.source.borrow(first)
                    && !writes_slowly(at, bytes)
                {
                    return self.blob.write_at(at, bytes);
                }
                Scratch::with(|scratch| {
                    let window = scratch.window.at(at, run.len() * self.chunk_len);
                    for (number, chunk) in window.chunks_exact_mut(self.chunk_len).enumerate() {
                        match self.source.borrow(first + number) {
                            Some(bytes) => chunk.copy_from_slice(bytes),
                            None => self.source.build(first + number, &mut scratch.dense, chunk)?,
                        }
                    }
                    self.blob.write_at(at, window)
                })
            })
        });
        space.insert(self.writer).and(written)
    }
}

/// Space that was allocated for some chunks, in their order.
#[derive(Default)]
pub(super) struct Space {
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
    /// Allocates space for one more chunk, of `len` bytes that were encoded without the filters in `mask`.
    pub(super) fn allocate(&mut self, writer: &ChunkWriter, key: Key, len: u64, mask: u32) -> Result<()> {
        let at = writer.store.allocate(&key, len)?;
        self.chunks.push(Allocated { key, at, len, mask, is_written: false });
        Ok(())
    }

    /// Calls `write` with each run of contiguous chunks, and with the position of the first chunk; in parallel if
    /// several threads share the work. Stops at the first error.
    pub(super) fn write(
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

    /// Inserts the chunks that were written into the index, and releases the space of the others.
    pub(super) fn insert(self, writer: &ChunkWriter) -> Result<()> {
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

/// Calls `work` with each item and its number, in parallel if several threads share the work. Stops at the first error.
pub(super) fn each<T: Send>(
    shares: bool,
    items: &mut [T],
    work: impl Fn(usize, &mut T) -> Result<()> + Sync + Send,
) -> Result<()> {
    let pool = if shares && items.len() > 1 { pool::get() } else { None };
    match pool {
        Some(pool) => pool.install(|| {
            let items = items.par_iter_mut().enumerate().with_max_len(1);
            items.try_for_each(|(number, item)| work(number, item))
        }),
        None => items.iter_mut().enumerate().try_for_each(|(number, item)| work(number, item)),
    }
}

/// Returns the number of chunks in each contiguous run of at most [`TOGETHER`] bytes.
fn runs(chunks: &[Allocated]) -> Vec<usize> {
    let mut runs: Vec<usize> = Vec::new();
    let (mut begin, mut end) = (0, 0);
    for &Allocated { at, len, .. } in chunks {
        let after = at.saturating_add(len);
        match runs.last_mut() {
            Some(run) if at == end && after - begin <= TOGETHER => *run += 1,
            _ => {
                runs.push(1);
                begin = at;
            }
        }
        end = after;
    }
    runs
}
