//! Moving packed blocks to another array, unopened.
//!
//! Some are moved at a time: space is allocated in their order, they are read in the order in which they lie and written in
//! that of their new space; near ones together each time. While some are written the next are read.

use std::ops::Range;

use ferrocdf_bytes::{Code, Error, Result};

use super::source::{Copier, Found};
use crate::blocks::encode::{BATCH, Space, each};
use crate::blocks::fetch_plan::coalesce;
use crate::cost::cost_of;
use crate::plan::SHARED;
use crate::pool;
use crate::scratch::Scratch;

impl Copier<'_> {
    /// Reads some blocks.
    fn read(&self, blocks: &[Found], memory: &mut [u8]) -> Result<()> {
        let mut rest = memory;
        let mut parts = Vec::with_capacity(blocks.len());
        for block in blocks {
            let (here, more) = std::mem::take(&mut rest).split_at_mut(block.len as usize);
            parts.push((block, here));
            rest = more;
        }
        parts.sort_unstable_by_key(|part| part.0.at);
        let fetches =
            coalesce(parts.iter().map(|(block, _)| Some((block.at, block.len))), &cost_of(self.from_blob));
        let mut jobs: Vec<(Range<u64>, &mut [Part<'_>])> = Vec::new();
        let mut rest = &mut parts[..];
        for fetch in fetches {
            let (group, more) = std::mem::take(&mut rest).split_at_mut(fetch.chunks);
            rest = more;
            jobs.push((fetch.range, group));
        }
        each(shares(blocks), &mut jobs, |_, (range, group)| self.fetch(range, group))?;
        // Only now: if one cannot be read none of them is written.
        each(shares(blocks), &mut jobs, |_, (_, group)| {
            group.iter().for_each(|(block, bytes)| self.note(block, bytes));
            Ok(())
        })
    }

    /// Writes some blocks to their space, and has them found there.
    fn write(&self, batch: &mut Batch) -> Result<()> {
        let Batch { blocks, space, memory } = batch;
        let mut starts = vec![0];
        starts.extend(blocks.iter().scan(0, |end, block| {
            *end += block.len as usize;
            Some(*end)
        }));
        let written = space.write(shares(blocks), |run, at| {
            self.to_blob.write_at(at, &memory[starts[run.start]..starts[run.end]])
        });
        std::mem::take(space).insert(self.writer).and(written)
    }

    /// Reads blocks that lie near each other.
    fn fetch(&self, &Range { start: begin, end }: &Range<u64>, group: &mut [Part<'_>]) -> Result<()> {
        if let [(block, bytes)] = group {
            return self.from_blob.read_exact_at(block.at, bytes);
        }
        Scratch::with(|scratch| {
            let window = scratch.window.at(begin, (end - begin) as usize);
            self.from_blob.read_exact_at(begin, window)?;
            for (block, bytes) in group {
                let from = (block.at - begin) as usize;
                bytes.copy_from_slice(&window[from..from + bytes.len()]);
            }
            Ok(())
        })
    }
}

/// A block and the memory for its bytes.
type Part<'a> = (&'a Found, &'a mut [u8]);

/// Blocks that are moved together.
#[derive(Default)]
struct Batch {
    blocks: Vec<Found>,
    /// Where they are written to.
    space: Space,
    /// Their bytes, one after the other.
    memory: Vec<u8>,
}

/// Batches on their way, one after the other.
pub(super) struct Line<'a> {
    copier: &'a Copier<'a>,
    /// Read, and still to be written.
    read: Batch,
    /// Memory for the next.
    free: Vec<u8>,
}

impl<'a> Line<'a> {
    pub(super) fn new(copier: &'a Copier<'a>) -> Self {
        Line { copier, read: Batch::default(), free: vec![] }
    }

    /// Moves these blocks, the last of them with the [`next`](Line::next) batch; up to the first batch that cannot be read.
    pub(super) fn all(&mut self, blocks: Vec<Found>) -> Result<()> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for block in blocks {
            if bytes > 0 && block.len.saturating_add(bytes) > BATCH as u64 {
                self.next(std::mem::take(&mut batch))?;
                if self.copier.has_failed() {
                    return Ok(());
                }
                bytes = 0;
            }
            // Neither is more than the file has.
            bytes += block.len;
            batch.push(block);
        }
        self.next(batch)
    }

    /// Allocates space for a batch and reads it, while the one before it is written. One that cannot be read is not
    /// written: the copier is told, and it is not an error here.
    pub(super) fn next(&mut self, blocks: Vec<Found>) -> Result<()> {
        let copier = self.copier;
        let mut space = Space::default();
        let mut before = std::mem::take(&mut self.read);
        let ready = blocks
            .iter()
            .try_for_each(|block| space.allocate(copier.writer, block.key.clone(), block.len, block.mask))
            .and_then(|()| self.memory(bytes(&blocks)));
        let mut memory = match ready {
            Ok(memory) => memory,
            Err(error) => {
                space.insert(copier.writer)?;
                return copier.write(&mut before).and(Err(error));
            }
        };
        let all = bytes(&blocks);
        let into = &mut memory[..all as usize];
        let (wrote, read) = match pool::get().filter(|_| all.max(bytes(&before.blocks)) >= SHARED) {
            Some(pool) => pool.join(|| copier.write(&mut before), || copier.read(&blocks, into)),
            None => (copier.write(&mut before), copier.read(&blocks, into)),
        };
        if wrote.is_err() || read.is_err() {
            space.insert(copier.writer)?;
            space = Space::default();
        }
        wrote?;
        self.free = before.memory;
        match read {
            Ok(()) => self.read = Batch { blocks, space, memory },
            Err(error) => copier.fail(error),
        }
        Ok(())
    }

    /// Memory of at least `len` bytes.
    fn memory(&mut self, len: u64) -> Result<Vec<u8>> {
        let too_large = |_| Error::new(Code::ENOMEM, format!("no memory for {len} bytes of blocks"));
        let len = usize::try_from(len).map_err(too_large)?;
        let mut memory = std::mem::take(&mut self.free);
        memory.resize(len.max(memory.len()), 0);
        Ok(memory)
    }
}

/// Bytes of some blocks.
fn bytes(blocks: &[Found]) -> u64 {
    blocks.iter().map(|block| block.len).sum()
}

/// Whether moving some blocks is worth the work of several threads.
fn shares(blocks: &[Found]) -> bool {
    blocks.len() > 1 && bytes(blocks) >= SHARED
}
