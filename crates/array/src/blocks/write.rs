//! Writing blocks: what is written whole is packed at once, the rest is held back.
//!
//! A block is whole if a request has all elements that the array can ever have in it. Of the other blocks, those that are
//! stored as they were made and may be changed where they are are written in part if that is little of them; the rest
//! goes the way that `pending` describes. Beyond the array a block has the fill value.
//!
//! Held blocks are dealt with before whole ones, and by numbers that do not depend on threads, so that blocks get the
//! same places whatever the number of threads.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{BlobMut, Buffer};
use rayon::prelude::*;
use smallvec::SmallVec;

use super::cache;
use super::decoded::{Decoded, Key, Shared, owned};
use super::encode::ChunkSource;
use super::fetch_plan::largest;
use super::index::Place;
use super::layout::Blocks;
use super::pending::{PendingChunks, can_be_pending};
use super::places::{Ranges, combinations};
use super::selected::SelectedChunks;
use super::stored::StoredChunks;
use crate::array::dense_steps;
use crate::convert::Conversion;
use crate::cost::cost_of;
use crate::plan::{Dim, Plan, SHARED};
use crate::scratch::Scratch;
use crate::{Array, Layout, Selection, pick, pool};

/// The most blocks that are looked at at a time.
const BLOCKS: usize = 1 << 16;

/// The most blocks, and bytes of them, that are taken out of the cache at a time.
const TAKEN: (usize, usize) = (1 << 10, 64 << 20);

/// Rows shorter than this many bytes are collected before they are converted.
const TINY: usize = 64;

/// Packs and stores all blocks of an array that are held back, and keeps them for reading. Arrays of other layouts have
/// none.
///
/// Who writes to an array calls this before its blob or its index is used without it, and before the last clone of its
/// [`Blocks`](crate::Blocks) is dropped, which forgets them.
///
/// # Errors
/// The filters', the store's and the blob's. Blocks that could not be stored are still held back, for another try.
pub fn flush(blob: &dyn BlobMut, array: &Array) -> Result<()> {
    let Layout::Blocks(blocks) = &array.layout else { return Ok(()) };
    let Some(pending) = &blocks.pending else { return Ok(()) };
    let mut failed = pending.lock();
    // What failed in another thread is tried again now.
    *failed = None;
    let all = pending.all();
    pending.writer().write(blob, &all)?;
    blocks.cached.keep(pending.remove_stored(all).into_iter());
    Ok(())
}

/// Writes dense memory of `size` bytes an element to the selected elements, at least one.
pub(crate) fn write(
    blob: &dyn BlobMut,
    array: &Array,
    blocks: &Blocks,
    sel: &Selection,
    conversion: Conversion,
    size: usize,
    input: &[u8],
) -> Result<bool> {
    let Some(pending) = &blocks.pending else {
        return Err(Error::new(Code::EPERM, "these blocks are only read"));
    };
    let grid = SelectedChunks::new(array, blocks, sel)?;
    let (past_end, chain, block_len) = (array.past_end, &*blocks.chain, grid.block_len);
    let stored = StoredChunks { blob, past_end, chain, block_len };
    let mut failed = pending.lock();
    if let Some(error) = failed.take() {
        return Err(error);
    }
    let rank = array.shape.len();
    let mut steps = SmallVec::from_elem(size, rank);
    for dim in (1..rank).rev() {
        // Within memory.
        steps[dim - 1] = steps[dim] * sel.count[dim] as usize;
    }
    let grows = (0..rank).map(|dim| dim + blocks.inner < rank && pending.writer().store.grows(dim)).collect();
    let fits = AtomicBool::new(true);
    let writer =
        Writer { blob, grid, stored, array, blocks, pending, conversion, input, size, steps, grows, fits };
    writer.region(&writer.grid.ranges())?;
    Ok(writer.fits.into_inner())
}

/// Which hit of each dimension.
type At = SmallVec<[usize; 4]>;

struct Writer<'a> {
    blob: &'a dyn BlobMut,
    /// Which blocks the selection meets, and where in them.
    grid: SelectedChunks<'a>,
    stored: StoredChunks<'a>,
    array: &'a Array,
    blocks: &'a Blocks,
    pending: &'a PendingChunks,
    conversion: Conversion,
    input: &'a [u8],
    /// Bytes of an element in memory.
    size: usize,
    /// For each dimension, the bytes of memory from one element to the next.
    steps: SmallVec<[usize; 4]>,
    /// For each dimension, whether the array may become longer.
    grows: SmallVec<[bool; 8]>,
    /// Whether all numbers were in range.
    fits: AtomicBool,
}

/// A block of which a part is written.
struct Job {
    at: At,
    key: Key,
    /// Its bytes, once they are there.
    block: Option<Vec<u8>>,
    written: u64,
    /// Whether `block` is not stored yet.
    is_pending: bool,
    place: Place,
}

impl Writer<'_> {
    /// Writes the blocks in a box of hits.
    fn region(&self, ranges: &Ranges) -> Result<()> {
        let blocks = ranges.iter().fold(1, |all: usize, &(from, to)| all.saturating_mul(to - from));
        let cut = ranges.iter().position(|&(from, to)| to - from > 1);
        if let Some(dim) = cut.filter(|_| blocks > BLOCKS) {
            let (from, to) = ranges[dim];
            let middle = from + (to - from) / 2;
            let (mut left, mut right) = (ranges.clone(), ranges.clone());
            (left[dim], right[dim]) = ((from, middle), (middle, to));
            return self.region(&left).and_then(|()| self.region(&right));
        }
        let (whole, parts): (Vec<At>, Vec<At>) =
            combinations(ranges).partition(|at| self.grid.elements(at) == self.needed(at));
        let block_len = self.grid.block_len as usize;
        let together = (cache::budget() / 4).min(TAKEN.1) / block_len;
        parts.chunks(together.clamp(1, TAKEN.0)).try_for_each(|some| self.parts(some))?;
        let whole = Whole { writer: self, blocks: whole };
        self.pending.writer().write_from(self.blob, block_len, &whole)?;
        // Only now: if they could not be stored, pending versions of them are all there is.
        if self.pending.may_have_any() || self.blocks.cached.may_have_any() {
            whole.blocks.iter().for_each(|at| drop(self.take(&self.grid.key(at))));
        }
        Ok(())
    }

    /// Elements of a block that the array may ever have.
    fn needed(&self, at: &[usize]) -> u64 {
        let along = at.iter().enumerate().map(|(dim, &hit)| {
            let len = self.blocks.shape[dim];
            let first = self.grid.hits[dim].at(hit).block * len;
            if self.grows[dim] { len } else { len.min(self.array.shape[dim] - first) }
        });
        along.product()
    }

    /// Takes a block out of memory, if it is there; and whether it is not stored.
    fn take(&self, key: &Key) -> Option<(Shared, bool)> {
        let pending = self.pending.take(key).map(|block| (block, true));
        pending.or_else(|| Some((self.blocks.cached.take(key)?, false)))
    }

    /// Writes parts of some blocks.
    fn parts(&self, some: &[At]) -> Result<()> {
        let mut jobs: Vec<Job> = some.iter().map(|at| self.job(at)).collect();
        let done = self.find(&mut jobs).and_then(|()| self.work(&mut jobs));
        let block_len = self.grid.block_len as usize;
        let can_be_pending = can_be_pending(block_len);
        let (mut ready, mut pending) = (Vec::new(), Vec::new());
        for job in jobs {
            let is_complete = job.written >= self.needed(&job.at) || !can_be_pending;
            let Some(block) = job.block.filter(|_| done.is_ok() || job.is_pending) else { continue };
            let to = if done.is_ok() && is_complete { &mut ready } else { &mut pending };
            to.push((job.key, Decoded::written(block, job.written)));
        }
        let done = done.and_then(|()| self.pending.writer().write(self.blob, &ready));
        if done.is_err() {
            pending.append(&mut ready);
        } else if !ready.is_empty() {
            cache::recycle(ready.into_iter().map(|(_, block)| owned(block)));
        }
        pending.into_iter().fold(done, |done, (key, block)| self.keep_pending(done, key, block))
    }

    /// Makes a block pending, or stores it where there is no room. After an error it is pending whatever room there is.
    fn keep_pending(&self, done: Result<()>, key: Key, block: Shared) -> Result<()> {
        let Some((key, block)) = self.pending.add(key, block, done.is_err()) else { return done };
        let room = done.and_then(|()| self.pending.make_room(self.blob, block.bytes.len()));
        if room != Ok(false) {
            self.pending.add(key, block, true);
            return room.map(drop);
        }
        let alone = [(key, block)];
        self.pending.writer().write(self.blob, &alone).inspect_err(|_| {
            let [(key, block)] = alone;
            self.pending.add(key, block, true);
        })
    }

    fn job(&self, at: &At) -> Job {
        let key = self.grid.key(at);
        let (block, written, is_pending) = match self.take(&key) {
            Some((block, is_pending)) => {
                let written = block.written;
                (Some(owned(block)), written, is_pending)
            }
            None => (None, 0, false),
        };
        Job { at: at.clone(), key, block, written, is_pending, place: Place::Missing }
    }

    /// Looks for the places of the blocks that are not there.
    fn find(&self, jobs: &mut [Job]) -> Result<()> {
        let absent: SmallVec<[&mut Job; 4]> = jobs.iter_mut().filter(|job| job.block.is_none()).collect();
        let Some(job) = absent.first() else { return Ok(()) };
        let block = |job: &Job| -> Key {
            job.at.iter().zip(&self.grid.hits).map(|(&hit, hits)| hits.at(hit).block).collect()
        };
        let mut first = block(job);
        let mut last = first.clone();
        for job in &absent[1..] {
            for (dim, at) in block(job).into_iter().enumerate() {
                (first[dim], last[dim]) = (first[dim].min(at), last[dim].max(at));
            }
        }
        let span: Key = first.iter().zip(&last).map(|(first, last)| last - first + 1).collect();
        let spanned = span.iter().try_fold(1u64, |all, &len| all.checked_mul(len));
        if spanned.is_some_and(|spanned| spanned <= absent.len() as u64 * 4) {
            let places = self.blocks.locate(&*self.blocks.index, &first, &span)?;
            for job in absent {
                let at = block(job);
                let in_box = (0..at.len()).fold(0, |index, dim| index * span[dim] + (at[dim] - first[dim]));
                job.place = places[in_box as usize];
            }
            return Ok(());
        }
        let one = Key::from_elem(1, first.len());
        for job in absent {
            job.place = self.blocks.locate(&*self.blocks.index, &block(job), &one)?[0];
        }
        Ok(())
    }

    /// Brings the blocks into memory and changes them there, shared among threads if that pays.
    fn work(&self, jobs: &mut [Job]) -> Result<()> {
        let bytes = |job: &Job| match job.block {
            Some(_) => self.grid.elements(&job.at) * self.array.stored.kind.size() as u64,
            None => self.grid.block_len,
        };
        let shares = jobs.len() > 1 && jobs.iter().map(bytes).sum::<u64>() >= SHARED;
        let pool = if shares { pool::get() } else { None };
        match pool {
            Some(pool) => pool.install(|| jobs.par_iter_mut().try_for_each(|job| self.change(job))),
            None => jobs.iter_mut().try_for_each(|job| self.change(job)),
        }
    }

    fn change(&self, job: &mut Job) -> Result<()> {
        let written = self.grid.elements(&job.at);
        if job.block.is_none() {
            if let Some(position) = self.in_place(job, written) {
                return Scratch::with(|scratch| self.write_in_place(&job.at, position, &mut scratch.dense));
            }
            let stored = self.stored.read(job.place)?;
            job.block = Some(stored.unwrap_or_else(|| {
                let mut block = cache::buffer(self.grid.block_len as usize);
                self.blocks.fill_block(&mut block);
                block
            }));
        }
        if let Some(block) = &mut job.block {
            Scratch::with(|scratch| self.put(&job.at, &mut scratch.dense, block));
            job.written += written;
            job.is_pending = true;
        }
        Ok(())
    }

    /// Where a block lies, if writing a part of it there is right and worth it.
    fn in_place(&self, job: &Job, written: u64) -> Option<u64> {
        let Place::At { len, mask, .. } = job.place else { return None };
        let bytes = written * self.array.stored.kind.size() as u64;
        let cost = cost_of(self.blob);
        let little = len > largest(&cost) || (len > cost.gap && bytes < len / 4);
        let plain = len == self.grid.block_len && self.blocks.chain.is_identity(mask);
        self.pending.writer().store.in_place(&job.key).filter(|_| plain && little)
    }

    fn write_in_place(&self, at: &[usize], position: u64, dense: &mut Buffer) -> Result<()> {
        let (shape, stored) = (&self.blocks.shape, self.array.stored);
        let sel = self.grid.selection(at);
        let steps = dense_steps(shape, stored)?;
        let plan =
            Plan::new(shape, stored, position, &steps, &sel, (crate::write::WINDOW, &cost_of(self.blob)))?;
        let rows = self.memory(at);
        let elements = match rows.only() {
            Some(row) => &self.input[row],
            None => {
                let elements = dense.get(rows.bytes());
                pick::gather(&self.input[rows.first..], &rows.dims, self.size, elements);
                elements
            }
        };
        let fits = crate::write::dense(self.blob, &plan, self.conversion, elements, self.size)?;
        self.fits.fetch_and(fits, Relaxed);
        Ok(())
    }

    /// Where the elements for a block lie in memory.
    fn memory(&self, at: &[usize]) -> Memory {
        let inner = self.grid.inner;
        let (mut first, mut row) = (0, self.size);
        let mut dims = SmallVec::new();
        for (dim, &number) in at.iter().enumerate() {
            let hits = &self.grid.hits[dim];
            first += hits.before(number) * self.steps[dim];
            let count = hits.at(number).count;
            if dim + 1 < inner {
                if count > 1 {
                    dims.push(Dim { count: count as u64, step: self.steps[dim] as u64 });
                }
            } else {
                row *= count;
            }
        }
        dims.push(Dim { count: (row / self.size) as u64, step: self.size as u64 });
        Memory { first, dims, row }
    }

    /// The dimensions that count the rows of a block.
    fn outer(&self, at: &[usize]) -> impl Iterator<Item = Both> {
        let outer = self.grid.inner.saturating_sub(1);
        at[..outer].iter().enumerate().map(|(dim, &hit)| Both {
            count: self.grid.hits[dim].at(hit).count,
            block: self.grid.steps[dim].0 as usize,
            memory: self.steps[dim],
        })
    }

    /// Puts the elements for a block into it.
    fn put(&self, at: &[usize], dense: &mut Buffer, block: &mut [u8]) {
        let (part, memory) = (self.grid.part(at), self.memory(at));
        let conversion = &self.conversion;
        let mut fits = true;
        if memory.dims.len() > 1 && memory.row < TINY {
            // One after another: collect, convert, place; what is in order already needs no collecting.
            let bytes = memory.bytes();
            let made = bytes / self.size * part.size;
            let both = dense.get(bytes + made);
            let (elements, stored) = both.split_at_mut(bytes);
            pick::gather(&self.input[memory.first..], &memory.dims, self.size, elements);
            let stored = if conversion.is_copy() {
                elements
            } else {
                fits = conversion.run(elements, stored);
                stored
            };
            let dims: SmallVec<[Dim; 8]> = part.outer.iter().chain(&part.inner).copied().collect();
            pick::scatter(stored, &dims, part.size, &mut block[part.base..]);
        } else {
            let steps: SmallVec<[Both; 4]> = self.outer(at).collect();
            walk(&steps, |to, from| {
                let row = &self.input[memory.first + from..][..memory.row];
                fits &= part.put_row(row, conversion, dense, &mut block[part.base + to..]);
            });
        }
        self.fits.fetch_and(fits, Relaxed);
    }
}

/// A dimension that counts rows: how many, and the bytes from one to the next in a block and in memory.
struct Both {
    count: usize,
    block: usize,
    memory: usize,
}

/// Visits all rows in order: where each begins in the block and in memory, from the first one on.
fn walk(dims: &[Both], mut row: impl FnMut(usize, usize)) {
    let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
    let (mut block, mut memory) = (0, 0);
    loop {
        row(block, memory);
        let mut dim = dims.len();
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            let Both { count, block: block_step, memory: memory_step } = dims[dim];
            index[dim] += 1;
            if index[dim] < count {
                block += block_step;
                memory += memory_step;
                break;
            }
            index[dim] = 0;
            block -= block_step * (count - 1);
            memory -= memory_step * (count - 1);
        }
    }
}

/// The elements for one block in memory.
struct Memory {
    /// The byte of the first.
    first: usize,
    /// The dimensions that count rows, and the elements of a row.
    dims: SmallVec<[Dim; 4]>,
    /// Bytes of a row.
    row: usize,
}

impl Memory {
    fn bytes(&self) -> usize {
        self.dims[..self.dims.len() - 1].iter().fold(self.row, |bytes, dim| bytes * dim.count as usize)
    }

    /// The bytes of all elements, if they are one row.
    fn only(&self) -> Option<std::ops::Range<usize>> {
        (self.dims.len() == 1).then(|| self.first..self.first + self.row)
    }
}

/// Blocks that are written whole.
struct Whole<'a, 'w> {
    writer: &'a Writer<'w>,
    blocks: Vec<At>,
}

impl ChunkSource for Whole<'_, '_> {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn key(&self, number: usize) -> Key {
        self.writer.grid.key(&self.blocks[number])
    }

    fn borrow(&self, number: usize) -> Option<&[u8]> {
        let writer = self.writer;
        if !writer.conversion.is_copy() {
            return None;
        }
        let row = writer.memory(&self.blocks[number]).only()?;
        // All its elements, and so in order.
        (row.len() as u64 == writer.grid.block_len).then(|| &writer.input[row])
    }

    fn build(&self, number: usize, dense: &mut Buffer, block: &mut [u8]) -> Result<()> {
        let (writer, at) = (self.writer, &self.blocks[number]);
        if writer.grid.elements(at) * (writer.array.stored.kind.size() as u64) < writer.grid.block_len {
            writer.blocks.fill_block(block);
        }
        writer.put(at, dense, block);
        Ok(())
    }
}
