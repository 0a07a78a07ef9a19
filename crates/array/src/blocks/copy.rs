//! Copying blocks from one array to another of the same shape: unopened where the filters are the same, else each one
//! unpacked and packed anew by the thread that has it.
//!
//! What fails in the source may go well in the next try, if somebody changes it. What fails in the target ends the copy:
//! blocks may be lost that no other try would write.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::FilterId;
use ferrocdf_store::{Blob, BlobMut, Buffer, is_zero};

use super::cache::{self, Key};
use super::coverage::BLOCKS;
use super::moving::Line;
use super::pending::Home;
use super::read::too_short;
use super::tries::{Tries, mark};
use super::{BlockIndex, Blocks, Place, pack};
use crate::{Array, Layout, Selection};

/// The largest blocks that are packed anew: each thread has one in memory, whatever a file says of its own.
const REPACKED: u64 = 32 << 20;

/// Bytes of blocks that are packed anew between two words to the progress.
const TOLD: u64 = 64 << 20;

/// Copies all blocks of one array to another. `false` says that this cannot be, and that nothing was done: both must have
/// the same shape, blocks and elements, none of `to` may be stored yet, and none of either may be held back. Fill values
/// must be the same where elements have them: in missing blocks, and behind the end of a dimension that grows, unless `to`
/// has none. Blocks stay packed as they are if the numbers and parameters of all filters are the same; else they have at
/// most 32 MiB, and a quarter of the budget of bytes. `progress` is told how many bytes of elements were copied since it
/// was told last.
///
/// # Errors
/// `ETRUNC` for a block outside its blob; the blobs', the filters', the index's and the store's. After an error some blocks
/// may have been copied.
pub fn copy_blocks(
    (from_blob, from): (&dyn Blob, &Array),
    (to_blob, to): (&dyn BlobMut, &Array),
    progress: &mut dyn FnMut(u64),
) -> Result<bool> {
    let (Layout::Blocks(from_blocks), Layout::Blocks(to_blocks)) = (&from.layout, &to.layout) else {
        return Ok(false);
    };
    let usual = from.unusual.is_none() && to.unusual.is_none();
    let held = from_blocks.cached.holds() || to_blocks.cached.holds();
    let alike = (&from.shape, from.stored) == (&to.shape, to.stored) && from_blocks.shape == to_blocks.shape;
    if !usual || held || !alike {
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
    let size = from.stored.kind.size() as u64;
    let block_len = from_blocks.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    let copier = Copier {
        from_blob,
        from: from_blocks,
        to_blob,
        to: to_blocks,
        home,
        same_fill,
        block_len,
        source: Mutex::default(),
    };
    let unopened = from_blocks.is_packed_like(to_blocks);
    for (_, _, some) in grid.pieces(BLOCKS) {
        let mut can = false;
        from_blocks.settled(|attempt| {
            can = copier.can_copy(attempt.index, &some)?;
            Ok(true)
        })?;
        if !can {
            return Ok(false);
        }
    }
    if !unopened && block_len > REPACKED.min(cache::budget() as u64 / 4) {
        return Ok(false);
    }
    let all = grid.count.iter().fold(1u64, |all, &len| all.saturating_mul(len));
    let elements = from.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    let mut share = Share { bytes: elements, blocks: all, told: 0, progress };
    let mut line = Line::new(&copier);
    for (first, count, some) in grid.pieces(BLOCKS) {
        let mut copied = 0;
        copier.source().tries = Tries::default();
        let mut target = Ok(());
        from_blocks.settled(|attempt| {
            copier.source().tries.begin(attempt.is_marked, count);
            let places = from_blocks.locate(attempt.index, &some.start, &some.count)?;
            if attempt.is_watched {
                from_blob.forget();
            }
            let blocks = copier.blocks(&some, &places)?;
            target = if unopened {
                line.all(blocks)
            } else {
                let mut some = blocks.chunks((TOLD / block_len).max(16) as usize);
                some.try_for_each(|some| {
                    if copier.has_failed() {
                        return Ok(());
                    }
                    let blocks = Repacked { copier: &copier, blocks: some };
                    pack::store(home, to_blob, block_len as usize, &blocks)?;
                    copied = (copied + some.len()).min(count);
                    share.tell((first + copied) as u64);
                    Ok(())
                })
            };
            let mut source = copier.source();
            let failed = source.failed.take();
            if target.is_err() {
                return Ok(true);
            }
            failed.map_or(Ok(source.tries.are_settled()), Err)
        })?;
        target?;
        share.tell((first + count) as u64);
    }
    line.next(vec![]).map(|()| true)
}

/// What the progress is told: the share of all bytes that belongs to the blocks that were copied.
struct Share<'a> {
    bytes: u64,
    blocks: u64,
    told: u64,
    progress: &'a mut dyn FnMut(u64),
}

impl Share<'_> {
    /// Tells that so many blocks are copied, no fewer than the last time and no more than there are.
    fn tell(&mut self, copied: u64) {
        let bytes = (u128::from(self.bytes) * u128::from(copied) / u128::from(self.blocks)) as u64;
        (self.progress)(bytes - self.told);
        self.told = bytes;
    }
}

impl Blocks {
    /// All blocks of an array of a shape.
    pub(super) fn grid(&self, shape: &[u64]) -> Selection {
        let grid: Key = shape.iter().zip(&self.shape).map(|(len, block)| len.div_ceil(*block)).collect();
        Selection::all(&grid)
    }

    /// Whether blocks are packed by the same filters in these and others.
    fn is_packed_like(&self, other: &Blocks) -> bool {
        let steps = |blocks: &Blocks| -> Vec<(FilterId, Vec<u32>)> {
            blocks.chain.steps().map(|step| (step.id.clone(), step.params.clone())).collect()
        };
        steps(self) == steps(other)
    }
}

/// Whether elements without a value have the same one in both.
fn same_fill(from: &[u8], to: &[u8]) -> bool {
    from == to || (is_zero(from) && is_zero(to))
}

/// What is copied where.
pub(super) struct Copier<'a> {
    pub(super) from_blob: &'a dyn Blob,
    from: &'a Blocks,
    pub(super) to_blob: &'a dyn BlobMut,
    to: &'a Blocks,
    pub(super) home: &'a Home,
    same_fill: bool,
    /// Bytes of an unpacked block.
    block_len: u64,
    source: Mutex<Source>,
}

/// How it went with the blocks of the source that are looked for together.
#[derive(Default)]
struct Source {
    /// Of their bytes as they are written: packed if they are moved unopened, else not.
    tries: Tries,
    /// Why one could not be read or unpacked.
    failed: Option<Error>,
}

/// A block of the source that is stored.
pub(super) struct Found {
    /// Its number among those that are looked for together.
    number: usize,
    pub(super) key: Key,
    pub(super) at: u64,
    pub(super) len: u64,
    pub(super) mask: u32,
}

impl Copier<'_> {
    /// True if the chunks in a box can be copied.
    fn can_copy(&self, from: &dyn BlockIndex, some: &Selection) -> Result<bool> {
        let locate = |blocks: &Blocks, index: &dyn BlockIndex| blocks.locate(index, &some.start, &some.count);
        if locate(self.to, &*self.to.index)?.iter().any(|place| *place != Place::Missing) {
            return Ok(false);
        }
        // An index that cannot be read is an error before anything is written.
        let places = locate(self.from, from)?;
        Ok(self.same_fill || !places.contains(&Place::Missing))
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a block of the source could not be read or unpacked.
    pub(super) fn fail(&self, error: Error) {
        self.source().failed.get_or_insert(error);
    }

    /// Whether one could not in this try.
    pub(super) fn has_failed(&self) -> bool {
        self.source().failed.is_some()
    }

    /// Notes that a block was read, if marks are taken.
    pub(super) fn note(&self, &Found { number, at, len, mask, .. }: &Found, bytes: &[u8]) {
        if !self.source().tries.is_marked() {
            return;
        }
        let mark = mark(std::iter::once(bytes));
        if let Some(block) = self.source().tries.block(number) {
            block.note(Place::At { at, len, mask }, mark, true);
        }
    }

    /// The blocks in a box that are stored, but for those that are settled.
    fn blocks(&self, some: &Selection, places: &[Place]) -> Result<Vec<Found>> {
        let size = self.from_blob.size()?;
        let mut blocks = Vec::new();
        let tries = &mut self.source().tries;
        for (number, &place) in places.iter().enumerate() {
            if tries.is_settled(number) {
                continue;
            }
            let Place::At { at, len, mask } = place else {
                if let Some(block) = tries.block(number) {
                    block.note_missing(true);
                }
                continue;
            };
            if at.checked_add(len).is_none_or(|end| end > size) {
                let what = format!("a block of {len} bytes at byte {at} of a file of {size} bytes");
                return Err(Error::new(Code::ETRUNC, what));
            }
            blocks.push(Found { number, key: self.key(some, number), at, len, mask });
        }
        Ok(blocks)
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
}

/// Blocks that are packed anew.
struct Repacked<'a> {
    copier: &'a Copier<'a>,
    blocks: &'a [Found],
}

impl pack::Blocks for Repacked<'_> {
    fn len(&self) -> usize {
        self.blocks.len()
    }

    fn key(&self, number: usize) -> Key {
        self.blocks[number].key.clone()
    }

    fn there(&self, _number: usize) -> Option<&[u8]> {
        None
    }

    /// That a block cannot be made is told to the copier: then what is an error here is one of the target.
    fn make(&self, number: usize, buffer: &mut Buffer, block: &mut [u8]) -> Result<()> {
        let (copier, found) = (self.copier, &self.blocks[number]);
        match copier.unpack(found, buffer, block) {
            Ok(()) => copier.note(found, block),
            Err(error) => {
                copier.to.fill_block(block);
                copier.fail(error);
            }
        }
        Ok(())
    }
}

impl Copier<'_> {
    /// Unpacks a block of the source.
    fn unpack(&self, found: &Found, buffer: &mut Buffer, block: &mut [u8]) -> Result<()> {
        let &Found { at, len, mask, .. } = found;
        let chain = &self.from.chain;
        let fail = |error: Error| error.at(format_args!("the block at byte {at}"));
        if chain.is_identity(mask) {
            if len < self.block_len {
                return Err(fail(too_short(len, self.block_len)));
            }
            return self.from_blob.read_exact_at(at, block);
        }
        chain.check_size(mask, len as usize, block.len()).map_err(fail)?;
        // Not more than the blob holds.
        let stored = buffer.at(at, len as usize);
        self.from_blob.read_exact_at(at, stored)?;
        chain.decode(mask, stored, block).map_err(fail)
    }
}
