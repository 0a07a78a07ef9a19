//! Copying encoded chunks to another array without decoding them. A checksum that the last filter added is verified.
//!
//! Chunks are transferred in batches. Those of a batch are read in the order of their positions, adjacent ones with one request;
//! space is allocated in the order of the chunks; contiguous chunks are written with one write. While one batch is written the
//! next one is read.

use std::ops::Range;

use ferrocdf_bytes::{Code, Error, Result, ToUsize};

use super::source::{Copier, SourceChunk};
use crate::chunks::decoded::{Key, too_short};
use crate::chunks::encode::{BATCH_BYTES, each};
use crate::chunks::fetch_plan::coalesce;
use crate::chunks::index::ChunkBatch;
use crate::chunks::stored::EncodedChunks;
use crate::pool;
use crate::requests::BatchLimit;
use crate::scratch::Scratch;
use crate::tiling::PARALLEL_BYTES;

impl Copier<'_> {
    /// Reads a batch of chunks into `memory`, which is reused.
    fn read(&self, mut chunks: Vec<SourceChunk>, mut memory: Vec<u8>) -> Result<CopyBatch> {
        if self.in_batches {
            self.read_batch(&mut chunks, &mut memory)?;
        } else {
            reserve(&mut memory, bytes(&chunks))?;
            let mut parts = split(&chunks, &mut memory);
            parts.sort_unstable_by_key(|part| part.0.position());
            let ranges = parts.iter().map(|(chunk, _)| Some((chunk.position(), chunk.len)));
            let fetches = coalesce(ranges, &self.from_blob.cost());
            let mut jobs: Vec<(Range<u64>, &mut [ChunkFetch<'_>])> = Vec::new();
            let mut rest = &mut parts[..];
            for fetch in fetches {
                let (group, more) = std::mem::take(&mut rest).split_at_mut(fetch.chunks);
                rest = more;
                jobs.push((fetch.range, group));
            }
            each(shares(&chunks), &mut jobs, |_, (range, group)| self.fetch(range, group))?;
        }
        // Attempts are recorded only after all chunks were read and checked: after an error no chunk of the batch is written, so none may
        // count as verified.
        let mut read = split(&chunks, &mut memory);
        each(shares(&chunks), &mut read, |_, (chunk, bytes)| self.check(chunk, bytes))?;
        each(shares(&chunks), &mut read, |_, (chunk, bytes)| {
            self.record(chunk, bytes);
            Ok(())
        })?;
        let mut starts = vec![0];
        starts.extend(chunks.iter().scan(0, |end, chunk| {
            *end += chunk.len.saturate();
            Some(*end)
        }));
        Ok(CopyBatch { chunks, memory, starts })
    }

    /// Checks as much of a chunk as can be checked without decoding it: its checksum, or its length if it has no filters.
    fn check(&self, chunk: &SourceChunk, encoded: &[u8]) -> Result<()> {
        let (chain, len) = (&self.from.chain, encoded.len() as u64);
        let checked = match chain.is_identity(chunk.mask()) {
            true if len < self.chunk_len => Err(too_short(len, self.chunk_len)),
            _ => chain.verify_checksum(chunk.mask(), encoded),
        };
        checked.map_err(|error| error.at(self.stored().name(&chunk.key, chunk.location)))
    }

    /// Fetches a batch of chunks, and removes the missing ones from the list.
    fn read_batch(&self, chunks: &mut Vec<SourceChunk>, memory: &mut Vec<u8>) -> Result<()> {
        let encoded = self.fetch_many(chunks.iter(), EncodedChunks::default())?;
        let mut stored = Vec::with_capacity(chunks.len());
        let mut numbers = 0..chunks.len();
        chunks.retain_mut(|chunk| {
            let Some(bytes) = numbers.next().and_then(|number| encoded.get(number)) else {
                self.record_missing(chunk);
                return false;
            };
            chunk.len = bytes.len() as u64;
            stored.push(bytes);
            true
        });
        reserve(memory, bytes(chunks))?;
        for ((_, into), bytes) in split(chunks, memory).into_iter().zip(stored) {
            into.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Reads a group of chunks with one request for `begin..end`.
    fn fetch(&self, &Range { start: begin, end }: &Range<u64>, group: &mut [ChunkFetch<'_>]) -> Result<()> {
        if let [(chunk, bytes)] = group {
            return self.from_blob.read_exact_at(chunk.position(), bytes);
        }
        Scratch::with(|scratch| {
            let window = scratch.window.at(begin, (end - begin).to_usize("bytes of chunks")?);
            self.from_blob.read_exact_at(begin, window)?;
            for (chunk, bytes) in group {
                let from = (chunk.position() - begin).saturate();
                bytes.copy_from_slice(&window[from..from + bytes.len()]);
            }
            Ok(())
        })
    }
}

/// A chunk and the memory for its bytes.
type ChunkFetch<'a> = (&'a SourceChunk, &'a mut [u8]);

/// Splits memory into the bytes of chunks.
fn split<'a>(chunks: &'a [SourceChunk], memory: &'a mut [u8]) -> Vec<ChunkFetch<'a>> {
    let mut rest = memory;
    let part = |chunk: &'a SourceChunk| {
        let (here, more) = std::mem::take(&mut rest).split_at_mut(chunk.len.saturate());
        rest = more;
        (chunk, here)
    };
    chunks.iter().map(part).collect()
}

/// Makes memory at least `len` bytes long.
fn reserve(memory: &mut Vec<u8>, len: u64) -> Result<()> {
    let too_large = |_| Error::new(Code::ENOMEM, format!("no memory for {len} bytes of encoded chunks"));
    let len = usize::try_from(len).map_err(too_large)?;
    memory.resize(len.max(memory.len()), 0);
    Ok(())
}

/// Chunks that are transferred together.
#[derive(Default)]
struct CopyBatch {
    chunks: Vec<SourceChunk>,
    /// Encoded bytes of the chunks, contiguous.
    memory: Vec<u8>,
    /// Offset in `memory` of each chunk, and the end of the last one.
    starts: Vec<usize>,
}

impl ChunkBatch for CopyBatch {
    fn len(&self) -> usize {
        self.chunks.len()
    }

    fn coordinates(&self, number: usize) -> Key {
        self.chunks[number].key.clone()
    }

    fn encoded_len(&self, number: usize) -> u64 {
        self.chunks[number].len
    }

    fn mask(&self, number: usize) -> u32 {
        self.chunks[number].mask()
    }

    fn borrow(&self, chunks: Range<usize>) -> Option<&[u8]> {
        Some(&self.memory[self.starts[chunks.start]..self.starts[chunks.end]])
    }

    fn copy_to(&self, number: usize, into: &mut [u8]) -> Result<()> {
        into.copy_from_slice(&self.memory[self.starts[number]..self.starts[number + 1]]);
        Ok(())
    }
}

/// A pipeline of two stages: one batch is read while the one before it is written.
pub(super) struct CopyPipeline<'a> {
    copier: &'a Copier<'a>,
    /// The batch that was read and is not written yet.
    read: CopyBatch,
    /// Memory of an earlier batch, reused for the next one.
    free: Vec<u8>,
}

impl<'a> CopyPipeline<'a> {
    pub(super) fn new(copier: &'a Copier<'a>) -> Self {
        CopyPipeline { copier, read: CopyBatch::default(), free: vec![] }
    }

    /// Transfers chunks in batches. The last batch is only read here; the next [`push`](CopyPipeline::push) writes it. Stops at
    /// the first batch that cannot be read.
    pub(super) fn push_all(&mut self, chunks: Vec<SourceChunk>) -> Result<()> {
        let cost = self.copier.stored().cost();
        let most = if cost.is_near() { BATCH_BYTES as u64 } else { BatchLimit::of(&cost).bytes };
        let (mut batch, mut bytes) = (Vec::new(), 0u64);
        for chunk in chunks {
            if bytes > 0 && chunk.len.saturating_add(bytes) > most {
                self.push(std::mem::take(&mut batch))?;
                if self.copier.has_failed() {
                    return Ok(());
                }
                bytes = 0;
            }
            bytes = bytes.saturating_add(chunk.len);
            batch.push(chunk);
        }
        self.push(batch)
    }

    /// Reads a batch while the batch before it is written. Errors of reading are recorded in the copier, errors of writing are
    /// returned.
    pub(super) fn push(&mut self, chunks: Vec<SourceChunk>) -> Result<()> {
        let (copier, before) = (self.copier, std::mem::take(&mut self.read));
        let free = std::mem::take(&mut self.free);
        let write =
            |batch: &CopyBatch| copier.writer.store_batch(copier.to_blob, shares(&batch.chunks), batch);
        let is_large = bytes(&chunks).max(bytes(&before.chunks)) >= PARALLEL_BYTES;
        let (read, wrote) = if copier.in_batches && !chunks.is_empty() {
            pool::overlap(|| copier.read(chunks, free), || write(&before))
        } else if let Some(pool) = pool::get().filter(|_| is_large) {
            pool.join(|| copier.read(chunks, free), || write(&before))
        } else {
            let wrote = write(&before);
            (copier.read(chunks, free), wrote)
        };
        wrote?;
        self.free = before.memory;
        match read {
            Ok(batch) => self.read = batch,
            Err(error) => copier.fail(error),
        }
        Ok(())
    }
}

/// Returns the number of encoded bytes of some chunks.
fn bytes(chunks: &[SourceChunk]) -> u64 {
    chunks.iter().fold(0, |all, chunk| all.saturating_add(chunk.len))
}

/// True if these chunks are enough to do for several threads.
fn shares(chunks: &[SourceChunk]) -> bool {
    chunks.len() > 1 && bytes(chunks) >= PARALLEL_BYTES
}
