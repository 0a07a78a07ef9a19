//! Transferring chunks to another array as they are stored.
//!
//! Chunks are transferred in batches: space is allocated in their order, they are read in the order of their positions and
//! written in that of the new space, neighbours together each time. While one batch is written the next is read.

use std::ops::Range;

use ferrocdf_bytes::{Code, Error, Result};

use super::source::{Copier, SourceChunk};
use crate::chunks::encode::{BATCH, Space, each};
use crate::chunks::fetch_plan::coalesce;
use crate::pool;
use crate::scratch::Scratch;
use crate::tiling::SHARED;

impl Copier<'_> {
    /// Reads a batch of chunks.
    fn read(&self, chunks: &[SourceChunk], memory: &mut [u8]) -> Result<()> {
        let mut rest = memory;
        let mut parts = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let (here, more) = std::mem::take(&mut rest).split_at_mut(chunk.len as usize);
            parts.push((chunk, here));
            rest = more;
        }
        parts.sort_unstable_by_key(|part| part.0.at);
        let fetches =
            coalesce(parts.iter().map(|(chunk, _)| Some((chunk.at, chunk.len))), &self.from_blob.cost());
        let mut jobs: Vec<(Range<u64>, &mut [ChunkRows<'_>])> = Vec::new();
        let mut rest = &mut parts[..];
        for fetch in fetches {
            let (group, more) = std::mem::take(&mut rest).split_at_mut(fetch.chunks);
            rest = more;
            jobs.push((fetch.range, group));
        }
        each(shares(chunks), &mut jobs, |_, (range, group)| self.fetch(range, group))?;
        // Only after all were read: if one cannot be read, no chunk of the batch is written.
        each(shares(chunks), &mut jobs, |_, (_, group)| {
            group.iter().for_each(|(chunk, bytes)| self.record(chunk, bytes));
            Ok(())
        })
    }

    /// Writes a batch of chunks to its space, and inserts the chunks into the index.
    fn write(&self, batch: &mut CopyBatch) -> Result<()> {
        let CopyBatch { chunks, space, memory } = batch;
        let mut starts = vec![0];
        starts.extend(chunks.iter().scan(0, |end, chunk| {
            *end += chunk.len as usize;
            Some(*end)
        }));
        let written = space.write(shares(chunks), |run, at| {
            self.to_blob.write_at(at, &memory[starts[run.start]..starts[run.end]])
        });
        std::mem::take(space).insert(self.writer).and(written)
    }

    /// Reads chunks with one request.
    fn fetch(&self, &Range { start: begin, end }: &Range<u64>, group: &mut [ChunkRows<'_>]) -> Result<()> {
        if let [(chunk, bytes)] = group {
            return self.from_blob.read_exact_at(chunk.at, bytes);
        }
        Scratch::with(|scratch| {
            let window = scratch.window.at(begin, (end - begin) as usize);
            self.from_blob.read_exact_at(begin, window)?;
            for (chunk, bytes) in group {
                let from = (chunk.at - begin) as usize;
                bytes.copy_from_slice(&window[from..from + bytes.len()]);
            }
            Ok(())
        })
    }
}

/// A chunk and the memory for its bytes.
type ChunkRows<'a> = (&'a SourceChunk, &'a mut [u8]);

/// Chunks that are transferred together.
#[derive(Default)]
struct CopyBatch {
    chunks: Vec<SourceChunk>,
    /// Space in the target.
    space: Space,
    /// Encoded bytes, one chunk after the other.
    memory: Vec<u8>,
}

/// A pipeline of two stages: one batch is read while the one before it is written.
pub(super) struct CopyPipeline<'a> {
    copier: &'a Copier<'a>,
    /// The batch that was read and is not written yet.
    read: CopyBatch,
    /// Memory for the next batch.
    free: Vec<u8>,
}

impl<'a> CopyPipeline<'a> {
    pub(super) fn new(copier: &'a Copier<'a>) -> Self {
        CopyPipeline { copier, read: CopyBatch::default(), free: vec![] }
    }

    /// Transfers chunks, in batches; the last batch is written with the next [`push`](CopyPipeline::push). Stops at the first
    /// batch that cannot be read.
    pub(super) fn push_all(&mut self, chunks: Vec<SourceChunk>) -> Result<()> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for chunk in chunks {
            if bytes > 0 && chunk.len.saturating_add(bytes) > BATCH as u64 {
                self.push(std::mem::take(&mut batch))?;
                if self.copier.has_failed() {
                    return Ok(());
                }
                bytes = 0;
            }
            // Neither is more than the file has.
            bytes += chunk.len;
            batch.push(chunk);
        }
        self.push(batch)
    }

    /// Allocates space for a batch and reads it, while the batch before it is written. An error of reading is recorded in the
    /// copier, and not returned here; the batch is not written then.
    pub(super) fn push(&mut self, chunks: Vec<SourceChunk>) -> Result<()> {
        let copier = self.copier;
        let mut space = Space::default();
        let mut before = std::mem::take(&mut self.read);
        let ready = chunks
            .iter()
            .try_for_each(|chunk| space.allocate(copier.writer, chunk.key.clone(), chunk.len, chunk.mask))
            .and_then(|()| self.memory(bytes(&chunks)));
        let mut memory = match ready {
            Ok(memory) => memory,
            Err(error) => {
                space.insert(copier.writer)?;
                return copier.write(&mut before).and(Err(error));
            }
        };
        let all = bytes(&chunks);
        let into = &mut memory[..all as usize];
        let (wrote, read) = match pool::get().filter(|_| all.max(bytes(&before.chunks)) >= SHARED) {
            Some(pool) => pool.join(|| copier.write(&mut before), || copier.read(&chunks, into)),
            None => (copier.write(&mut before), copier.read(&chunks, into)),
        };
        if wrote.is_err() || read.is_err() {
            space.insert(copier.writer)?;
            space = Space::default();
        }
        wrote?;
        self.free = before.memory;
        match read {
            Ok(()) => self.read = CopyBatch { chunks, space, memory },
            Err(error) => copier.fail(error),
        }
        Ok(())
    }

    /// Returns memory of at least `len` bytes.
    fn memory(&mut self, len: u64) -> Result<Vec<u8>> {
        let too_large = |_| Error::new(Code::ENOMEM, format!("no memory for {len} bytes of encoded chunks"));
        let len = usize::try_from(len).map_err(too_large)?;
        let mut memory = std::mem::take(&mut self.free);
        memory.resize(len.max(memory.len()), 0);
        Ok(memory)
    }
}

/// Returns the encoded bytes of some chunks.
fn bytes(chunks: &[SourceChunk]) -> u64 {
    chunks.iter().map(|chunk| chunk.len).sum()
}

/// True if several threads are to transfer some chunks.
fn shares(chunks: &[SourceChunk]) -> bool {
    chunks.len() > 1 && bytes(chunks) >= SHARED
}
