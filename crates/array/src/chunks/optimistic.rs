//! Optimistic reads: chunks that another process may change meanwhile are read, verified, and read again if necessary.
//!
//! Equal locations in two snapshots of the index do not prove that nothing changed: a writer uses two locations in turn, so a
//! chunk may have moved away and back, and its bytes may have been overwritten in between. So a chunk is verified by its bytes:
//! if the bytes that were read before the last snapshot and after it have the same checksum, they are what the snapshot located.
//! Verified chunks are not read again, even if they move later: each chunk is as it was at some time, not all of them at
//! the same time.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::RetryLimit;

use super::index::{ChunkIndex, ChunkLocation};
use super::layout::Chunks;

/// Number of attempts that are made even beyond the time limit. A chunk needs two attempts that agree, and each change of it
/// costs one or two more. Verified chunks are not read again, so most of these attempts are short.
const MIN_ATTEMPTS: usize = 16;

/// Number of attempts in a row with the same error after which the error is final. There is a pause after each of them, since a
/// writer in the middle of a change may be waiting for a processor.
const SAME_ERROR: usize = 100;

/// The checksum that stands for a missing chunk.
const MISSING: u64 = 0;

/// One attempt at reading chunks.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'i> {
    /// The snapshot that locates the chunks.
    pub(super) index: &'i dyn ChunkIndex,
    /// True if another process may change the chunks during the attempt.
    pub(super) is_watched: bool,
    /// True if checksums are to be recorded, because this is likely not to be the last attempt.
    pub(super) is_verifying: bool,
    /// True if this is not the first attempt. Then the caller calls [`Blob::forget`](ferrocdf_store::Blob::forget) after it has
    /// located the chunks: bytes that were read ahead may be older than the snapshot.
    pub(super) is_again: bool,
}

impl Chunks {
    /// Calls `attempt` with a snapshot of the index, and again with a newer one if the index changed meanwhile. `attempt`
    /// returns true if all chunks are verified (see [`Attempts`]); then it is not called again, whatever changed.
    ///
    /// # Errors
    /// That of the last attempt, if it stays the same for a while; `EHDFERR` if chunks change during every attempt.
    pub(super) fn read_consistently(
        &self,
        mut attempt: impl FnMut(Attempt<'_>) -> Result<bool>,
    ) -> Result<()> {
        let snapshot = self.index.snapshot();
        let is_watched = snapshot.is_some();
        let mut is_verifying = snapshot.as_ref().is_some_and(|snapshot| snapshot.is_volatile);
        let mut index = Ok(snapshot.map_or_else(|| self.index.clone(), |snapshot| snapshot.index));
        let mut limit = RetryLimit::default();
        let (mut last, mut same) = (None, 0);
        let (mut is_again, mut attempts) = (false, 0);
        loop {
            attempts += 1;
            let done = index
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|index| attempt(Attempt { index: &**index, is_watched, is_verifying, is_again }));
            if done == Ok(true) {
                return Ok(());
            }
            let now = self.refreshed();
            let is_unchanged = matches!((&index, &now), (Ok(index), Ok(now)) if Arc::ptr_eq(index, now));
            if is_unchanged {
                return done.map(drop);
            }
            let error = done.err();
            same = if error == last { same + 1 } else { 0 };
            let is_final = error.is_some() && same >= SAME_ERROR;
            if is_final || (!limit.can_retry(error.is_some()) && attempts >= MIN_ATTEMPTS) {
                let what = "chunks changed during every read attempt: another process is rewriting the file; reopen it, or take \
                            the file lock";
                return Err(error.unwrap_or_else(|| Error::new(Code::EHDFERR, what)));
            }
            // After an error there may have been a pause, so the index is refreshed again.
            index = if error.is_some() { self.refreshed() } else { now };
            (last, is_verifying, is_again) = (error, true, true);
        }
    }

    fn refreshed(&self) -> Result<Arc<dyn ChunkIndex>> {
        Ok(self.index.refresh()?.unwrap_or_else(|| self.index.clone()))
    }
}

/// The last two attempts at reading one chunk.
#[derive(Clone, Copy, Default)]
pub(super) struct ChunkAttempts {
    /// Location and checksum in the attempt before this one, if the chunk was read then.
    before: Option<(ChunkLocation, u64)>,
    /// Location and checksum in this attempt.
    now: Option<(ChunkLocation, u64)>,
    is_verified: bool,
    /// True if all numbers of the chunk were in range.
    in_range: bool,
}

impl ChunkAttempts {
    /// Records that the chunk was read from a location, with the checksum of its encoded bytes or of its converted elements; all
    /// attempts must use the same of the two. Attempts after the first must bypass bytes that were read before their snapshot.
    pub(super) fn record(&mut self, location: ChunkLocation, checksum: u64, in_range: bool) {
        let read = Some((location, checksum));
        (self.now, self.is_verified, self.in_range) = (read, self.before == read, in_range);
    }

    /// True if the attempt before had the same checksum and location. Then the chunk is recorded as verified.
    pub(super) fn is_as_before(&mut self, location: ChunkLocation, checksum: u64) -> bool {
        let is_same = self.before == Some((location, checksum));
        if is_same {
            self.record(location, checksum, self.in_range);
        }
        is_same
    }

    /// Records that the chunk is not stored.
    pub(super) fn record_missing(&mut self, in_range: bool) {
        self.record(ChunkLocation::Missing, MISSING, in_range);
    }
}

/// The attempts at reading some chunks, in their order; empty as long as no checksums are recorded.
#[derive(Default)]
pub(super) struct Attempts(Vec<ChunkAttempts>);

impl Attempts {
    /// Begins another attempt at `chunks` chunks, and records checksums from now on if `is_verifying`.
    pub(super) fn begin(&mut self, is_verifying: bool, chunks: usize) {
        if is_verifying {
            self.0.resize(chunks, ChunkAttempts::default());
        }
        self.0.iter_mut().for_each(|chunk| chunk.before = chunk.now.take());
    }

    /// Returns the chunks; empty if no checksums are recorded.
    pub(super) fn chunks(&mut self) -> &mut [ChunkAttempts] {
        &mut self.0
    }

    /// Returns the chunk of this number, if checksums are recorded.
    pub(super) fn chunk(&mut self, number: usize) -> Option<&mut ChunkAttempts> {
        self.0.get_mut(number)
    }

    /// True if checksums are recorded.
    pub(super) fn is_verifying(&self) -> bool {
        !self.0.is_empty()
    }

    /// True if the chunk of this number need not be read again.
    pub(super) fn is_verified(&self, number: usize) -> bool {
        self.0.get(number).is_some_and(|chunk| chunk.is_verified)
    }

    /// True if no chunk need be read again.
    pub(super) fn are_verified(&self) -> bool {
        self.is_verifying() && self.0.iter().all(|chunk| chunk.is_verified)
    }

    /// True if the numbers of all verified chunks were in range.
    pub(super) fn are_in_range(&self) -> bool {
        self.0.iter().all(|chunk| chunk.in_range || !chunk.is_verified)
    }
}

/// Returns a checksum of bytes. Each step is invertible, so a change of one word always changes the checksum; other changes of
/// bytes of the same length are hardly ever missed.
pub(super) fn checksum<'b>(rows: impl Iterator<Item = &'b [u8]>) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    rows.fold(1, |sum, row| {
        let (words, rest) = row.as_chunks::<8>();
        let sum = words.iter().fold(sum, |sum, word| add(sum, u64::from_le_bytes(*word)));
        rest.iter().fold(sum, |sum, &byte| add(sum, byte.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: ChunkLocation = ChunkLocation::At { at: 8, len: 8, mask: 0 };
    const THERE: ChunkLocation = ChunkLocation::At { at: 16, len: 8, mask: 0 };

    #[test]
    fn two_attempts_in_a_row_with_one_checksum_and_location_verify_a_chunk() {
        let is_verified = |attempts: &[Option<(ChunkLocation, u64)>]| {
            let mut all = Attempts::default();
            for read in attempts {
                all.begin(true, 1);
                if let Some((location, checksum)) = *read {
                    all.chunks()[0].record(location, checksum, true);
                }
            }
            all.are_verified()
        };
        assert!(!is_verified(&[Some((HERE, 1))]));
        assert!(is_verified(&[Some((HERE, 1)), Some((HERE, 1))]));
        assert!(is_verified(&[Some((THERE, 1)), Some((HERE, 1)), Some((HERE, 1))]));
        assert!(!is_verified(&[Some((HERE, 1)), Some((HERE, 2))]));
        assert!(!is_verified(&[Some((HERE, 1)), Some((THERE, 1))]));
        assert!(!is_verified(&[Some((HERE, 1)), None, Some((HERE, 1))]));
        assert!(!is_verified(&[Some((HERE, 1)), Some((HERE, 2)), Some((HERE, 1))]));
    }

    #[test]
    fn a_chunk_with_unchanged_stored_bytes_is_verified_and_keeps_its_range_check() {
        for in_range in [true, false] {
            let mut all = Attempts::default();
            all.begin(true, 1);
            assert!(!all.chunks()[0].is_as_before(HERE, 1));
            all.chunks()[0].record(HERE, 1, in_range);
            all.begin(true, 1);
            let chunk = &mut all.chunks()[0];
            assert!(!chunk.is_as_before(THERE, 1) && !chunk.is_as_before(HERE, 2) && !chunk.is_verified);
            assert!(chunk.is_as_before(HERE, 1));
            assert_eq!((all.are_verified(), all.are_in_range()), (true, in_range));
        }
    }

    #[test]
    fn the_checksum_depends_on_every_bit() {
        let mut bytes = [7u8; 35];
        let split = |bytes: &[u8]| checksum([&bytes[..19], &bytes[19..]].into_iter());
        let old = split(&bytes);
        assert_eq!(old, split(&bytes));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(old, split(&bytes), "{bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes.swap(3, 4);
        bytes[3] = 8;
        assert_ne!(old, split(&bytes));
    }
}
