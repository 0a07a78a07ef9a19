//! Moving packed blocks from one array to another, unopened.
//!
//! Some are moved at a time: placed in their order, read in the order in which they lie, written in that of their new
//! places; near ones together each time. While some are written the next are read.

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, BlobMut};

use super::cache::Key;
use super::pack::{BATCH, each, runs};
use super::pending::Home;
use super::read::TOGETHER;
use super::{Blocks, Place};
use crate::plan::{REQUEST, SHARED};
use crate::scratch::Scratch;
use crate::{Array, Layout, Selection, pool};

/// The most blocks that are looked for at a time.
const BLOCKS: u64 = 1 << 16;

/// Moves all blocks of one array to another without unpacking them. `false` says that this cannot be, and that nothing was
/// done: both must have the same shape, blocks, elements and filters, none of `to` may be stored yet, and none of either may
/// be held back. Filters are the same if their numbers and parameters are. Fill values must be the same where elements have
/// them: in missing blocks, and behind the end of a dimension that grows, unless `to` has none.
///
/// # Errors
/// `ETRUNC` for a block outside its blob; the blobs', the index's and the store's. After an error some blocks may have
/// been moved.
pub fn copy_blocks(from_blob: &dyn Blob, from: &Array, to_blob: &dyn BlobMut, to: &Array) -> Result<bool> {
    let (Layout::Blocks(from_blocks), Layout::Blocks(to_blocks)) = (&from.layout, &to.layout) else {
        return Ok(false);
    };
    let usual = from.unusual.is_none() && to.unusual.is_none();
    if !usual || (&from.shape, from.stored) != (&to.shape, to.stored) || !from_blocks.is_like(to_blocks) {
        return Ok(false);
    }
    let Some(home) = to_blocks.cached.home() else { return Ok(false) };
    let mut failed = home.lock();
    if let Some(error) = failed.take() {
        return Err(error);
    }
    if from.shape.contains(&0) {
        return Ok(true);
    }
    if from.shape.len() != from_blocks.shape.len() || from_blocks.shape.contains(&0) {
        let what = format!("blocks of shape {:?} of an array of shape {:?}", from_blocks.shape, from.shape);
        return Err(Error::new(Code::EINVAL, what));
    }
    let grid = from_blocks.grid(&from.shape);
    let same_fill = same_fill(&from_blocks.fill, &to_blocks.fill);
    let open_end =
        |dim: usize| home.store.grows(dim) && !from.shape[dim].is_multiple_of(from_blocks.shape[dim]);
    if !same_fill && !to_blocks.fill.is_empty() && (0..from.shape.len()).any(open_end) {
        return Ok(false);
    }
    let mover = Mover { from_blob, from: from_blocks, to_blob, to: to_blocks, home, same_fill };
    for (_, _, some) in grid.pieces(BLOCKS) {
        if !mover.can_move(&some)? {
            return Ok(false);
        }
    }
    let mut line = Line { mover: &mover, read: Batch::default(), free: vec![] };
    let mut moved = grid.pieces(BLOCKS).map(|(_, _, some)| line.all(&some));
    moved.try_for_each(|moved| moved)?;
    line.next(vec![]).map(|()| true)
}

/// Whether some blocks of an array are not stored.
///
/// # Errors
/// The index's.
pub fn lacks_blocks(array: &Array) -> Result<bool> {
    let Layout::Blocks(blocks) = &array.layout else { return Ok(false) };
    if array.shape.contains(&0) {
        return Ok(false);
    }
    for (_, _, some) in blocks.grid(&array.shape).pieces(BLOCKS) {
        if blocks.index.locate(&some.start, &some.count)?.contains(&Place::Missing) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Blocks {
    /// All blocks of an array of a shape.
    fn grid(&self, shape: &[u64]) -> Selection {
        let grid: Key = shape.iter().zip(&self.shape).map(|(len, block)| len.div_ceil(*block)).collect();
        Selection::all(&grid)
    }

    /// Whether blocks can be moved between these and others as they are.
    fn is_like(&self, other: &Blocks) -> bool {
        let steps = |blocks: &Blocks| -> Vec<(u32, Vec<u32>)> {
            blocks.chain.steps().map(|step| (step.id, step.params.clone())).collect()
        };
        self.shape == other.shape
            && steps(self) == steps(other)
            && !self.cached.holds()
            && !other.cached.holds()
    }
}

/// Whether elements without a value have the same one in both.
fn same_fill(from: &[u8], to: &[u8]) -> bool {
    let zeros = |fill: &[u8]| fill.iter().all(|&byte| byte == 0);
    from == to || (zeros(from) && zeros(to))
}

struct Mover<'a> {
    from_blob: &'a dyn Blob,
    from: &'a Blocks,
    to_blob: &'a dyn BlobMut,
    to: &'a Blocks,
    home: &'a Home,
    same_fill: bool,
}

/// A block to be moved.
struct Moved {
    key: Key,
    at: u64,
    len: u64,
    mask: u32,
}

impl Mover<'_> {
    /// Whether the blocks in a box can be moved.
    fn can_move(&self, some: &Selection) -> Result<bool> {
        let (count, there) = (&some.count, self.to.index.locate(&some.start, &some.count)?);
        if there.iter().any(|place| *place != Place::Missing) {
            return Ok(false);
        }
        let here = self.from.index.locate(&some.start, count)?;
        let agrees = |(number, place): (usize, &Place)| match *place {
            Place::Missing => self.same_fill,
            Place::At { mask, .. } => {
                self.from.chain.is_plain(mask) || !self.home.store.is_plain(&self.key(some, number))
            }
        };
        Ok(here.iter().enumerate().all(agrees))
    }

    /// What the block of this number in a box is placed by.
    fn key(&self, some: &Selection, number: usize) -> Key {
        let (mut rest, mut block) = (number as u64, some.start.clone());
        for (at, count) in block.iter_mut().zip(&some.count).rev() {
            *at += rest % count;
            rest /= count;
        }
        self.to.key(block.into_iter())
    }

    /// Reads some blocks that are placed already.
    fn read(&self, blocks: &[Moved], memory: &mut [u8]) -> Result<()> {
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
    blocks: Vec<Moved>,
    places: Vec<u64>,
    /// Their bytes, one after the other.
    memory: Vec<u8>,
}

/// Batches on their way, one after the other.
struct Line<'a> {
    mover: &'a Mover<'a>,
    /// Read, and still to be written.
    read: Batch,
    /// Memory for the next.
    free: Vec<u8>,
}

impl Line<'_> {
    /// Moves the blocks in a box, the last of them with the [`next`](Line::next) batch.
    fn all(&mut self, some: &Selection) -> Result<()> {
        let mover = self.mover;
        let size = mover.from_blob.size()?;
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (number, place) in mover.from.index.locate(&some.start, &some.count)?.into_iter().enumerate() {
            let Place::At { at, len, mask } = place else { continue };
            if at.checked_add(len).is_none_or(|end| end > size) {
                let what = format!("a block of {len} bytes at byte {at} of a file of {size} bytes");
                return Err(Error::new(Code::ETRUNC, what));
            }
            if bytes > 0 && len.saturating_add(bytes) > BATCH as u64 {
                self.next(std::mem::take(&mut batch))?;
                bytes = 0;
            }
            // Neither is more than the file has.
            bytes += len;
            batch.push(Moved { key: mover.key(some, number), at, len, mask });
        }
        self.next(batch)
    }

    /// Places and reads a batch, while the one before it is written.
    fn next(&mut self, blocks: Vec<Moved>) -> Result<()> {
        let mover = self.mover;
        let place = |block: &Moved| mover.home.store.place(&block.key, block.len, block.mask);
        let places: Vec<u64> = blocks.iter().map(place).collect::<Result<_>>()?;
        let all = bytes(&blocks);
        let too_large = |_| Error::new(Code::ENOMEM, format!("no memory for {all} bytes of blocks"));
        let len = usize::try_from(all).map_err(too_large)?;
        let mut memory = std::mem::take(&mut self.free);
        memory.resize(len.max(memory.len()), 0);
        let before = std::mem::take(&mut self.read);
        let (wrote, read) = match pool::get().filter(|_| all.max(bytes(&before.blocks)) >= SHARED) {
            Some(pool) => pool.join(|| mover.write(&before), || mover.read(&blocks, &mut memory[..len])),
            None => (mover.write(&before), mover.read(&blocks, &mut memory[..len])),
        };
        wrote.and(read)?;
        self.free = before.memory;
        self.read = Batch { blocks, places, memory };
        Ok(())
    }
}

/// Bytes of some blocks.
fn bytes(blocks: &[Moved]) -> u64 {
    blocks.iter().map(|block| block.len).sum()
}

/// Whether moving some blocks is worth the work of several threads.
fn shares(blocks: &[Moved]) -> bool {
    blocks.len() > 1 && bytes(blocks) >= SHARED
}
