//! Where blocks lie: a box of them looked for at once, as long as that is not many more than are wanted, and looked for again
//! where somebody else may move them.

use std::sync::Arc;

use ferrocdf_bytes::{Code, Error, Result};
use ferrocdf_store::RetryLimit;
use smallvec::SmallVec;

use super::hits::Hits;
use super::index::{BlockIndex, Place};
use super::layout::Blocks;

/// What is slow to read is tried so often even if that takes long: two tries that agree may need some before them, and a change
/// between them costs two more. Blocks that were settled are not read again, so most of these are short.
const TRIES: usize = 16;

/// How often the same error, with a pause each time, is no accident of something half-way through a change: whoever writes may
/// have to wait for a processor.
const SAME: usize = 100;

/// For each dimension, which of its hits.
pub(super) type Ranges = SmallVec<[(usize, usize); 4]>;

/// Every choice of one hit for each dimension, last dimension fastest.
pub(super) fn combinations(ranges: &Ranges) -> impl Iterator<Item = SmallVec<[usize; 4]>> {
    let mut next: Option<SmallVec<[usize; 4]>> = Some(ranges.iter().map(|range| range.0).collect());
    std::iter::from_fn(move || {
        let current = next.take()?;
        let mut following = current.clone();
        for dim in (0..ranges.len()).rev() {
            following[dim] += 1;
            if following[dim] < ranges[dim].1 {
                next = Some(following);
                break;
            }
            following[dim] = ranges[dim].0;
        }
        Some(current)
    })
}

/// One try at something with blocks where they lie.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'i> {
    pub(super) index: &'i dyn BlockIndex,
    /// Whether somebody else may move them meanwhile.
    pub(super) is_watched: bool,
    /// Whether to take marks of what is read, since this is likely not to be the last try.
    pub(super) is_marked: bool,
    /// Whether there was one before. Then the blob must forget what it read ahead, which may be older than the index, once
    /// the places are known.
    pub(super) is_again: bool,
}

impl Blocks {
    /// Where the blocks in a box of hits lie, last dimension fastest.
    pub(super) fn places(&self, index: &dyn BlockIndex, all: &[Hits], ranges: &Ranges) -> Result<Vec<Place>> {
        let mut first = SmallVec::<[u64; 4]>::new();
        let mut span = SmallVec::<[u64; 4]>::new();
        for (hits, &(from, to)) in all.iter().zip(ranges) {
            let block = hits.at(from).block;
            first.push(block);
            span.push(hits.at(to - 1).block - block + 1);
        }
        let spanned = span.iter().try_fold(1u64, |all, &len| all.checked_mul(len));
        let wanted = ranges.iter().fold(1u64, |all, &(from, to)| all.saturating_mul((to - from) as u64));
        if spanned.is_some_and(|spanned| spanned <= wanted.saturating_mul(4)) {
            let found = self.locate(index, &first, &span)?;
            if spanned == Some(wanted) {
                return Ok(found);
            }
            let place = |at: SmallVec<[usize; 4]>| {
                let in_box = at
                    .iter()
                    .enumerate()
                    .fold(0, |index, (dim, &hit)| index * span[dim] + (all[dim].at(hit).block - first[dim]));
                found[in_box as usize]
            };
            return Ok(combinations(ranges).map(place).collect());
        }
        // Wide steps over many blocks: each is looked for on its own.
        let one: SmallVec<[u64; 4]> = SmallVec::from_elem(1, ranges.len());
        combinations(ranges)
            .map(|at| {
                let block: SmallVec<[u64; 4]> =
                    at.iter().enumerate().map(|(dim, &hit)| all[dim].at(hit).block).collect();
                Ok(self.locate(index, &block, &one)?[0])
            })
            .collect()
    }

    /// The places of all blocks in a box, which may be one of these seen as bytes.
    pub(crate) fn locate(&self, index: &dyn BlockIndex, first: &[u64], count: &[u64]) -> Result<Vec<Place>> {
        let rank = first.len().saturating_sub(self.inner);
        let places = index.locate(&first[..rank], &count[..rank])?;
        let wanted: u64 = count.iter().product();
        if places.len() as u64 != wanted {
            let what = format!("the index gave {} places for {wanted} blocks", places.len());
            return Err(Error::new(Code::EINTERNAL, what));
        }
        Ok(places)
    }

    fn index_now(&self) -> Result<Arc<dyn BlockIndex>> {
        Ok(self.index.now()?.unwrap_or_else(|| self.index.clone()))
    }

    /// Does something with blocks where they lie, and again if somebody moved them meanwhile. `attempt` says whether all
    /// blocks are settled, as [`Tries`](super::tries::Tries) tell: then all is done, whatever changed.
    ///
    /// # Errors
    /// That of the last attempt, if it stays the same for a while; `EHDFERR` if blocks are moved faster than that.
    pub(super) fn settled(&self, mut attempt: impl FnMut(Attempt<'_>) -> Result<bool>) -> Result<()> {
        let last_look = self.index.last();
        let is_watched = last_look.is_some();
        let mut is_marked = last_look.as_ref().is_some_and(|look| look.is_restless);
        let mut index = Ok(last_look.map_or_else(|| self.index.clone(), |look| look.index));
        let mut limit = RetryLimit::default();
        let (mut last, mut again) = (None, 0);
        let (mut is_again, mut tries) = (false, 0);
        loop {
            tries += 1;
            let done = index
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|index| attempt(Attempt { index: &**index, is_watched, is_marked, is_again }));
            if done == Ok(true) {
                return Ok(());
            }
            let now = self.index_now();
            let is_same = matches!((&index, &now), (Ok(index), Ok(now)) if Arc::ptr_eq(index, now));
            if is_same {
                return done.map(drop);
            }
            let error = done.err();
            again = if error == last { again + 1 } else { 0 };
            let is_final = error.is_some() && again >= SAME;
            if is_final || (!limit.can_retry(error.is_some()) && tries >= TRIES) {
                let what = "its blocks are moved faster than they can be read: somebody writes the file";
                return Err(error.unwrap_or_else(|| Error::new(Code::EHDFERR, what)));
            }
            // There may have been a pause after an error.
            index = if error.is_some() { self.index_now() } else { now };
            (last, is_marked, is_again) = (error, true, true);
        }
    }
}
