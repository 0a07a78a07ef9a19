//! The source of a copy: the chunks to be read, and the record of the attempts at reading them.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::{Blob, BlobMut};

use crate::chunks::decoded::{Key, name};
use crate::chunks::encode::ChunkWriter;
use crate::chunks::index::{ChunkIndex, ChunkLocation};
use crate::chunks::layout::Chunks;
use crate::chunks::optimistic::{Attempts, checksum};
use crate::chunks::stored::{EncodedChunks, StoredChunks};
use crate::{PastEnd, Selection};

/// Source and target of a copy.
pub(super) struct Copier<'a> {
    pub(super) from_blob: &'a dyn Blob,
    pub(super) from: &'a Chunks,
    pub(super) to_blob: &'a dyn BlobMut,
    pub(super) to: &'a Chunks,
    pub(super) writer: &'a ChunkWriter,
    /// True if both arrays have the same fill value.
    same_fill: bool,
    /// Number of bytes of a decoded chunk.
    pub(super) chunk_len: u64,
    /// True if chunks are fetched in batches: the source is slow, or chunks are in objects.
    pub(super) in_batches: bool,
    /// True once a batch of this attempt was fetched, so that the size of a slow source is known.
    is_size_known: AtomicBool,
    state: Mutex<SourceState>,
}

/// The attempts at reading the chunks of one box.
#[derive(Default)]
struct SourceState {
    /// Checksums of encoded bytes for a transfer, else of decoded bytes.
    attempts: Attempts,
    /// The first error of reading or decoding a chunk in this attempt.
    failed: Option<Error>,
}

/// A stored chunk of the source.
pub(super) struct SourceChunk {
    /// Number of the chunk in its box, last dimension fastest.
    number: usize,
    pub(super) key: Key,
    pub(super) location: ChunkLocation,
    /// Number of encoded bytes; that of decoded bytes if the length is unknown until the chunk is fetched.
    pub(super) len: u64,
}

impl SourceChunk {
    /// Returns the position of the chunk in the blob; 0 for a chunk in an object.
    pub(super) fn position(&self) -> u64 {
        match self.location {
            ChunkLocation::At { at, .. } => at,
            ChunkLocation::Missing | ChunkLocation::Object { .. } => 0,
        }
    }

    /// Returns the filter mask.
    pub(super) fn mask(&self) -> u32 {
        self.location.mask().unwrap_or_default()
    }
}

impl<'a> Copier<'a> {
    pub(super) fn new(
        (from_blob, from): (&'a dyn Blob, &'a Chunks),
        (to_blob, to): (&'a dyn BlobMut, &'a Chunks),
        writer: &'a ChunkWriter,
        (same_fill, chunk_len): (bool, u64),
    ) -> Self {
        let in_batches = from.index.objects().is_some() || !from_blob.cost().is_near();
        let (is_size_known, state) = (AtomicBool::new(false), Mutex::default());
        Copier {
            from_blob,
            from,
            to_blob,
            to,
            writer,
            same_fill,
            chunk_len,
            in_batches,
            is_size_known,
            state,
        }
    }

    /// Begins another box of chunks.
    pub(super) fn begin_box(&self) {
        self.state().attempts = Attempts::default();
    }

    /// Begins another attempt at reading the chunks of the box.
    pub(super) fn begin_attempt(&self, is_verifying: bool, chunks: usize) {
        self.is_size_known.store(false, Relaxed);
        self.state().attempts.begin(is_verifying, chunks);
    }

    /// Returns the stored chunks of the source.
    pub(super) fn stored(&self) -> StoredChunks<'_> {
        StoredChunks {
            blob: self.from_blob,
            past_end: PastEnd::Error,
            chain: &self.from.chain,
            chunk_len: self.chunk_len,
            objects: self.from.index.objects(),
        }
    }

    /// Fetches a batch of chunks.
    pub(super) fn fetch_many<'c>(
        &self,
        chunks: impl Iterator<Item = &'c SourceChunk>,
        encoded: EncodedChunks,
    ) -> Result<EncodedChunks> {
        let chunks = chunks.map(|chunk| (&chunk.key[..], chunk.location));
        let encoded = self.stored().fetch_many(chunks, !self.is_size_known.load(Relaxed), encoded)?;
        self.is_size_known.store(true, Relaxed);
        Ok(encoded)
    }

    /// Ends the attempt. True if all chunks are verified, so that none has to be read again.
    ///
    /// # Errors
    /// That of a chunk that could not be read or decoded.
    pub(super) fn end_attempt(&self) -> Result<bool> {
        let mut state = self.state();
        state.failed.take().map_or(Ok(state.attempts.are_verified()), Err)
    }

    /// True if the chunks in a box can be copied: none is stored in the target, if the fill values differ, none is missing in
    /// the source, and for a transfer the target keeps the filter masks that there are.
    pub(super) fn can_copy(
        &self,
        from: &dyn ChunkIndex,
        some: &Selection,
        is_transfer: bool,
    ) -> Result<bool> {
        let locate = |chunks: &Chunks, index: &dyn ChunkIndex| chunks.locate(index, &some.start, &some.count);
        if locate(self.to, &*self.to.index)?.iter().any(|location| *location != ChunkLocation::Missing) {
            return Ok(false);
        }
        // The source index is read even if the fill values are equal, so that its errors come before anything is written.
        let locations = locate(self.from, from)?;
        let has_mask = |location: &ChunkLocation| location.mask().is_some_and(|mask| mask != 0);
        if is_transfer && !self.writer.store.keeps_masks() && locations.iter().any(has_mask) {
            return Ok(false);
        }
        Ok(self.same_fill || !locations.iter().any(|location| location.may_be_missing()))
    }

    fn state(&self) -> MutexGuard<'_, SourceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records an error of the source; the first one of an attempt is kept.
    pub(super) fn fail(&self, error: Error) {
        self.state().failed.get_or_insert(error);
    }

    /// True if a chunk of the source failed in this attempt.
    pub(super) fn has_failed(&self) -> bool {
        self.state().failed.is_some()
    }

    /// Records the checksum of the bytes that were read of a chunk, if checksums are recorded.
    pub(super) fn record(&self, &SourceChunk { number, location, .. }: &SourceChunk, bytes: &[u8]) {
        if !self.state().attempts.is_verifying() {
            return;
        }
        let checksum = checksum(std::iter::once(bytes));
        if let Some(chunk) = self.state().attempts.chunk(number) {
            chunk.record(location, checksum, true);
        }
    }

    /// Records that the object of a chunk does not exist, if checksums are recorded.
    pub(super) fn record_missing(&self, chunk: &SourceChunk) {
        if let Some(chunk) = self.state().attempts.chunk(chunk.number) {
            chunk.record_missing(true);
        }
    }

    /// Returns the stored chunks of a box that are not verified yet.
    pub(super) fn chunks(&self, some: &Selection, locations: &[ChunkLocation]) -> Result<Vec<SourceChunk>> {
        // For batches, `StoredChunks::fetch_many` checks the ranges: the size of a slow source comes with its first answer.
        let size = if self.in_batches { u64::MAX } else { self.from_blob.size()? };
        let mut chunks = Vec::new();
        let attempts = &mut self.state().attempts;
        for (number, &location) in locations.iter().enumerate() {
            if attempts.is_verified(number) {
                continue;
            }
            if location == ChunkLocation::Missing {
                if let Some(chunk) = attempts.chunk(number) {
                    chunk.record_missing(true);
                }
                continue;
            }
            if let ChunkLocation::At { at, len, .. } = location
                && at.checked_add(len).is_none_or(|end| end > size)
            {
                let what = format!(
                    "{}: {len} bytes reach past the end of the file, which has {size} bytes",
                    name(&self.key(some, number), at)
                );
                return Err(Error::new(Code::ETRUNC, what));
            }
            let len = location.expected_len(self.chunk_len);
            chunks.push(SourceChunk { number, key: self.key(some, number), location, len });
        }
        Ok(chunks)
    }

    /// Returns the coordinates of the chunk of this number in a box.
    fn key(&self, some: &Selection, number: usize) -> Key {
        self.to.key(some.nth(number as u64).into_iter())
    }
}
