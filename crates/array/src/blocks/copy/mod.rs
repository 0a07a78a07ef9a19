//! Copying blocks from one array to another of the same shape: unopened where the filters are the same, else each one
//! unpacked and packed anew by the thread that has it.
//!
//! What fails in the source may go well in the next try, if somebody changes it. What fails in the target ends the copy:
//! blocks may be lost that no other try would write.

mod encoded;
mod recode;
mod source;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_codec::FilterId;
use ferrocdf_store::{Blob, BlobMut, is_zero};

use super::cache;
use super::coverage::BLOCKS;
use super::layout::Blocks;
use crate::{Array, Layout};
use encoded::Line;
use recode::Recoded;
use source::Copier;

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
    let held = from_blocks.has_pending() || to_blocks.has_pending();
    let alike = (&from.shape, from.stored) == (&to.shape, to.stored) && from_blocks.shape == to_blocks.shape;
    if !usual || held || !alike {
        return Ok(false);
    }
    let Some(pending) = &to_blocks.pending else { return Ok(false) };
    let writer = pending.writer();
    let mut failed = pending.lock();
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
        |dim: usize| writer.store.grows(dim) && !from.shape[dim].is_multiple_of(from_blocks.shape[dim]);
    if !same_fill && !to_blocks.fill.is_empty() && (0..from.shape.len()).any(open_end) {
        return Ok(false);
    }
    let size = from.stored.kind.size() as u64;
    let block_len = from_blocks.shape.iter().fold(size, |bytes, &len| bytes.saturating_mul(len));
    let copier = Copier::new((from_blob, from_blocks), (to_blob, to_blocks), writer, (same_fill, block_len));
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
        copier.begin_piece();
        let mut target = Ok(());
        from_blocks.settled(|attempt| {
            copier.begin_try(attempt.is_marked, count);
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
                    let blocks = Recoded { copier: &copier, blocks: some };
                    writer.write_from(to_blob, block_len as usize, &blocks)?;
                    copied = (copied + some.len()).min(count);
                    share.tell((first + copied) as u64);
                    Ok(())
                })
            };
            let read = copier.end_try();
            if target.is_err() { Ok(true) } else { read }
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
