//! The chunks of a new array that are stored, noted by its writer, so that the store need not be asked for them.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf_array::Index;

/// Most chunks that are noted. Of an array with more of them the store is asked.
const MAX_NOTED: usize = 1 << 20;

/// The stored chunks of a new array, which nobody else writes.
#[derive(Debug, Default)]
pub struct ChunkPuts(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// Chunks of which a put has succeeded.
    stored: HashSet<Index>,
    /// Chunks of which a put has begun and none has succeeded. A put that failed may have been done all the same.
    uncertain: HashSet<Index>,
    /// For each dimension, one more than the largest coordinate of any chunk that is stored or may be.
    extent: Index,
    /// True if there were too many chunks to note: any may be stored.
    has_overflowed: bool,
}

impl ChunkPuts {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a put of a chunk begins: from now on the chunk may be stored.
    pub(crate) fn begin_put(&self, chunk: &[u64]) {
        let mut noted = self.noted();
        if noted.has_overflowed || noted.stored.contains(chunk) || !noted.uncertain.insert(chunk.into()) {
            return;
        }
        if noted.stored.len() + noted.uncertain.len() > MAX_NOTED {
            *noted = Noted { has_overflowed: true, ..Noted::default() };
        }
    }

    /// Notes that a put of a chunk has succeeded.
    pub(crate) fn end_put(&self, chunk: &[u64]) {
        let mut noted = self.noted();
        let Some(chunk) = noted.uncertain.take(chunk) else { return };
        noted.extent.resize(chunk.len(), 0);
        noted.extent.iter_mut().zip(&chunk).for_each(|(extent, at)| *extent = (*extent).max(at + 1));
        noted.stored.insert(chunk);
    }

    /// Notes that a chunk was deleted.
    pub(crate) fn remove(&self, chunk: &[u64]) {
        let mut noted = self.noted();
        noted.stored.remove(chunk);
        noted.uncertain.remove(chunk);
    }

    /// True if a chunk may be stored.
    pub(crate) fn may_have(&self, chunk: &[u64]) -> bool {
        let noted = self.noted();
        noted.has_overflowed || noted.stored.contains(chunk) || noted.uncertain.contains(chunk)
    }

    /// True if certainly no chunk is stored.
    pub(crate) fn is_empty(&self) -> bool {
        let noted = self.noted();
        !noted.has_overflowed && noted.stored.is_empty() && noted.uncertain.is_empty()
    }

    /// True if all chunks of a grid, given by the number of chunks along each dimension, are certainly stored.
    pub fn has_all(&self, grid: &[u64]) -> bool {
        let all = grid.iter().fold(1u64, |all, &count| all.saturating_mul(count));
        let noted = self.noted();
        if (noted.stored.len() as u64) < all {
            return false;
        }
        // A write that failed in part may have stored chunks beyond the dimensions.
        let is_within = |chunk: &Index| chunk.iter().zip(grid).all(|(at, count)| at < count);
        let have_all_within = noted.extent.iter().zip(grid).all(|(extent, count)| extent <= count);
        have_all_within || noted.stored.iter().filter(|chunk| is_within(chunk)).count() as u64 == all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(stored: &ChunkPuts, chunk: &[u64]) {
        stored.begin_put(chunk);
        stored.end_put(chunk);
    }

    #[test]
    fn only_a_put_that_succeeded_counts_as_stored() {
        let stored = ChunkPuts::default();
        assert!(stored.has_all(&[0, 7]) && !stored.has_all(&[]) && stored.is_empty());
        put(&stored, &[0, 0]);
        stored.begin_put(&[0, 1]);
        assert!(stored.may_have(&[0, 1]) && !stored.may_have(&[1, 0]));
        assert!(stored.has_all(&[1, 1]) && !stored.has_all(&[1, 2]));
        put(&stored, &[0, 1]);
        assert!(stored.has_all(&[1, 2]));
        // A put over a stored chunk leaves one, whether it fails or not.
        stored.begin_put(&[0, 1]);
        assert!(stored.has_all(&[1, 2]));
        stored.remove(&[0, 1]);
        assert!(!stored.has_all(&[1, 2]) && !stored.may_have(&[0, 1]));
    }

    #[test]
    fn chunks_beyond_the_grid_do_not_count() {
        let stored = ChunkPuts::default();
        put(&stored, &[0]);
        put(&stored, &[2]);
        assert!(stored.has_all(&[1]) && !stored.has_all(&[2]) && !stored.has_all(&[3]));
        put(&stored, &[1]);
        assert!(stored.has_all(&[2]) && stored.has_all(&[3]));
    }

    #[test]
    fn any_chunk_may_be_stored_once_there_are_too_many_to_note() {
        let stored = ChunkPuts::default();
        let count = MAX_NOTED as u64;
        (0..count).for_each(|chunk| put(&stored, &[chunk]));
        assert!(stored.has_all(&[count]) && !stored.may_have(&[count]));
        put(&stored, &[count]);
        assert!(stored.may_have(&[count + 1]) && !stored.has_all(&[1]) && !stored.is_empty());
    }
}
