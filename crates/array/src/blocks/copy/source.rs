//! The source of a copy: which of its blocks are read, and how that went.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, BlobMut};

use crate::Selection;
use crate::blocks::decoded::Key;
use crate::blocks::encode::ChunkWriter;
use crate::blocks::index::{BlockIndex, Place};
use crate::blocks::layout::Blocks;
use crate::blocks::tries::{Tries, mark};

/// What is copied where.
pub(super) struct Copier<'a> {
    pub(super) from_blob: &'a dyn Blob,
    pub(super) from: &'a Blocks,
    pub(super) to_blob: &'a dyn BlobMut,
    pub(super) to: &'a Blocks,
    pub(super) writer: &'a ChunkWriter,
    same_fill: bool,
    /// Bytes of an unpacked block.
    pub(super) block_len: u64,
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

impl<'a> Copier<'a> {
    pub(super) fn new(
        (from_blob, from): (&'a dyn Blob, &'a Blocks),
        (to_blob, to): (&'a dyn BlobMut, &'a Blocks),
        writer: &'a ChunkWriter,
        (same_fill, block_len): (bool, u64),
    ) -> Self {
        Copier { from_blob, from, to_blob, to, writer, same_fill, block_len, source: Mutex::default() }
    }

    /// Begins with other blocks that are looked for together.
    pub(super) fn begin_piece(&self) {
        self.source().tries = Tries::default();
    }

    /// Begins another try at reading them.
    pub(super) fn begin_try(&self, is_marked: bool, blocks: usize) {
        self.source().tries.begin(is_marked, blocks);
    }

    /// Ends a try; whether no block need be read again.
    ///
    /// # Errors
    /// That of a block that could not be read or unpacked.
    pub(super) fn end_try(&self) -> Result<bool> {
        let mut source = self.source();
        source.failed.take().map_or(Ok(source.tries.are_settled()), Err)
    }

    /// True if the chunks in a box can be copied.
    pub(super) fn can_copy(&self, from: &dyn BlockIndex, some: &Selection) -> Result<bool> {
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
    pub(super) fn blocks(&self, some: &Selection, places: &[Place]) -> Result<Vec<Found>> {
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
