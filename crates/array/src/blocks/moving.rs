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
            parts.push((block, here));
            rest = more;
        }
        parts.sort_unstable_by_key(|part| part.0.at);
        let mut near: Vec<Vec<Part<'_>>> = Vec::new();
        let (mut begin, mut end) = (0, 0);
        for (block, bytes) in parts {
            let at = block.at;
            let after = at + bytes.len() as u64;
            match near.last_mut() {
                Some(group) if at >= end && at - end <= REQUEST && after - begin <= TOGETHER => {
                    group.push((block, bytes));
                }
                _ => {
                    near.push(vec![(block, bytes)]);
                    begin = at;
                }
            }
            end = after;
        }
        each(shares(blocks), &mut near, |_, group| self.fetch(group))?;
        // Only now: if one cannot be read none of them is written.
        each(shares(blocks), &mut near, |_, group| {
            group.iter().for_each(|(block, bytes)| self.note(block, bytes));
            Ok(())
        })
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
    fn fetch(&self, group: &mut [Part<'_>]) -> Result<()> {
        if let [(block, bytes)] = group {
            return self.from_blob.read_exact_at(block.at, bytes);
        }
        let begin = group.first().map_or(0, |(block, _)| block.at);
        let end = group.last().map_or(0, |(block, bytes)| block.at + bytes.len() as u64);
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

    /// Places and reads a batch, while the one before it is written. One that cannot be read is not written: the copier is
    /// told, and it is not an error here.
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
        wrote?;
        self.free = before.memory;
        match read {
            Ok(()) => self.read = Batch { blocks, places, memory },
            Err(error) => copier.fail(error),
        }
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
