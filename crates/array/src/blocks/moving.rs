//! Moving packed blocks to another array, unopened.
//!
//! Some are moved at a time: placed in their order, read in the order in which they lie, written in that of their new
//! places; near ones together each time. While some are written the next are read.

use ferrocdf_bytes::{Code, Error, Result};

use super::copy::{Copier, Found};
use super::pack::{BATCH, each, runs};
use super::read::TOGETHER;
use crate::plan::{REQUEST, SHARED};
use crate::pool;
use crate::scratch::Scratch;

impl Copier<'_> {
    /// Reads some blocks that are placed already.
    fn read(&self, blocks: &[Found], memory: &mut [u8]) -> Result<()> {
        let mut rest = memory;
        let mut parts = Vec::with_capacity(blocks.len());
        for block in blocks {
            let (here, more) = std::mem::take(&mut rest).split_at_mut(block.len as usize);
            parts.push((block.at, here));
            rest = more;
        }
        parts.sort_unstable_by_key(|part| part.0);
        let mut near: Vec<Vec<(u64, &mut [u8])>> = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for (at, bytes) in parts {
            let after = at + bytes.len() as u64;
            match near.last_mut() {
                Some(group) if at >= end && at - end <= REQUEST && after - begin <= TOGETHER => {
                    group.push((at, bytes));
                }
                _ => {
                    near.push(vec![(at, bytes)]);
                    begin = at;
                }
            }
            end = after;
        }
        each(shares(blocks), &mut near, |_, group| self.fetch(group))
    }

    /// Writes some blocks to their places.
    fn write(&self, Batch { blocks, places, memory }: &Batch) -> Result<()> {
        let mut runs = runs(places, |number| blocks[number].len);
        let mut starts = vec![0];
        starts.extend(blocks.iter().scan(0, |end, block| {
            *end += block.len as usize;
            Some(*end)
        }));
        each(shares(blocks), &mut runs, |_, run| {
            let bytes = &memory[starts[run.start]..starts[run.end]];
            self.to_blob.write_at(places[run.start], bytes)
        })
    }

    /// Reads blocks that lie near each other.
    fn fetch(&self, group: &mut [(u64, &mut [u8])]) -> Result<()> {
        if let [(at, bytes)] = group {
            return self.from_blob.read_exact_at(*at, bytes);
        }
        let begin = group.first().map_or(0, |(at, _)| *at);
        let end = group.last().map_or(0, |(at, bytes)| at + bytes.len() as u64);
        Scratch::with(|scratch| {
            let window = scratch.window.at(begin, (end - begin) as usize);
            self.from_blob.read_exact_at(begin, window)?;
            for (at, bytes) in group {
                let from = (*at - begin) as usize;
                bytes.copy_from_slice(&window[from..from + bytes.len()]);
            }
            Ok(())
        })
    }
}

/// Blocks that are moved together.
#[derive(Default)]
struct Batch {
    blocks: Vec<Found>,
    places: Vec<u64>,
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

    /// Moves these blocks, the last of them with the [`next`](Line::next) batch.
    pub(super) fn all(&mut self, blocks: Vec<Found>) -> Result<()> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for block in blocks {
            if bytes > 0 && block.len.saturating_add(bytes) > BATCH as u64 {
                self.next(std::mem::take(&mut batch))?;
                bytes = 0;
            }
            // Neither is more than the file has.
            bytes += block.len;
            batch.push(block);
        }
        self.next(batch)
    }

    /// Places and reads a batch, while the one before it is written.
    pub(super) fn next(&mut self, blocks: Vec<Found>) -> Result<()> {
        let copier = self.copier;
        let place = |block: &Found| copier.home.store.place(&block.key, block.len, block.mask);
        let places: Vec<u64> = blocks.iter().map(place).collect::<Result<_>>()?;
        let all = bytes(&blocks);
        let too_large = |_| Error::new(Code::ENOMEM, format!("no memory for {all} bytes of blocks"));
        let len = usize::try_from(all).map_err(too_large)?;
        let mut memory = std::mem::take(&mut self.free);
        memory.resize(len.max(memory.len()), 0);
        let before = std::mem::take(&mut self.read);
        let (wrote, read) = match pool::get().filter(|_| all.max(bytes(&before.blocks)) >= SHARED) {
            Some(pool) => pool.join(|| copier.write(&before), || copier.read(&blocks, &mut memory[..len])),
            None => (copier.write(&before), copier.read(&blocks, &mut memory[..len])),
        };
        wrote.and(read)?;
        self.free = before.memory;
        self.read = Batch { blocks, places, memory };
        Ok(())
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
