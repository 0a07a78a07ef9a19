//! Space in the file: which bytes may be taken.
//!
//! The decision that shaped it: what the committed state uses stays untouched until the superblock of the next state is
//! known to be in the file. So one state is whole at any time, also when a commit fails half-way and the program goes on:
//! extents are given up by the next state ([`FileSpace::give_up`]), held while its superblock is being written
//! ([`FileSpace::seal`]), and free once that is confirmed ([`FileSpace::confirm`]).
//!
//! Metadata comes in pieces of one size, so that it lies together; what is left of the last piece is cut off by a
//! commit. Or it is kept in front of all elements: [`FileSpace::reserve`] sets space apart for it, in which no elements are put.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrocdf_bytes::{Code, Error, Result};

use crate::Address;

/// Free pieces that are looked at for one that can be aligned.
const TRIED: usize = 32;
/// Runs of elements of at least so many bytes begin at a multiple of a page at the end of the file, unless others are asked
/// for: kernels write whole pages faster.
const RUN: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// A piece of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub at: Address,
    pub len: u64,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What may be taken of a file.
#[derive(Debug)]
pub(super) struct FileSpace {
    /// Where the file ends.
    end: u64,
    /// Free pieces by address, with their lengths; none touches another.
    free: BTreeMap<u64, u64>,
    /// The same by length.
    by_len: BTreeSet<(u64, u64)>,
    /// Pieces that the committed state uses, and the next one does not.
    given_up: Vec<(u64, u64)>,
    /// Pieces that were given up by a state whose superblock may or may not be in the file.
    sealed: Vec<(u64, u64)>,
    /// The file reads as zeros from here on: nothing was written behind this byte since the file was last cut.
    zeros_from: u64,
    /// Pieces of objects that are gone, which are not free before the file is closed.
    left: Vec<(u64, u64)>,
    /// What is left of the last piece for metadata.
    meta: (u64, u64),
    /// Elements are put behind this byte; free pieces before it are for metadata. 0 if none is reserved.
    front: u64,
    /// Bytes that metadata takes at a time.
    meta_block: u64,
    /// Pieces of at least as many bytes begin at a multiple of the second.
    alignment: (u64, u64),
    /// The largest address of the file and one.
    limit: u64,
}

impl FileSpace {
    /// The space of a file that ends here.
    pub fn new(end: u64, meta_block: u64, alignment: (u64, u64), limit: u64) -> FileSpace {
        let alignment = (alignment.0, alignment.1.max(1));
        let (free, by_len) = (BTreeMap::new(), BTreeSet::new());
        let (given_up, sealed, left) = (Vec::new(), Vec::new(), Vec::new());
        let (zeros_from, meta, front) = (end, (0, 0), 0);
        FileSpace {
            end,
            free,
            by_len,
            given_up,
            sealed,
            zeros_from,
            left,
            meta,
            front,
            meta_block,
            alignment,
            limit,
        }
    }

    /// Other rules for what is taken from now on.
    pub fn set(&mut self, alignment: (u64, u64), meta_block: u64) {
        (self.alignment, self.meta_block) = ((alignment.0, alignment.1.max(1)), meta_block);
    }

    /// Where the file ends.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The byte from which on the file reads as zeros.
    pub fn zeros_from(&self) -> u64 {
        self.zeros_from
    }

    /// Notes that the file holds no bytes from `size` on.
    pub fn was_cut(&mut self, size: u64) {
        self.zeros_from = size.max(self.end);
    }

    /// Takes space for a block of elements.
    pub fn take(&mut self, len: u64) -> Result<Address> {
        self.find(len).map(Address)
    }

    /// Takes space for all elements of a dataset side by side.
    pub fn take_run(&mut self, len: u64) -> Result<Address> {
        if len < RUN || self.unit(len) > 1 {
            return self.take(len);
        }
        let free = self.take_free(len, PAGE).or_else(|| self.take_free(len, 1));
        free.map_or_else(|| self.at_end(len, PAGE), Ok).map(Address)
    }

    /// Sets apart `len` bytes behind all that is taken. From now on metadata is put there as long as it has space, and elements are put
    /// behind it.
    pub fn reserve(&mut self, len: u64) -> Result<()> {
        self.cut();
        let at = self.end;
        self.extend(len)?;
        self.put_back(at, len);
        self.front = self.end;
        Ok(())
    }

    /// Takes space for a global heap collection: among the elements once space is reserved for metadata, else among the metadata.
    pub fn take_collection(&mut self, len: u64) -> Result<Address> {
        if self.front > 0 { self.take(len) } else { self.take_meta(len) }
    }

    /// Takes space for metadata.
    pub fn take_meta(&mut self, len: u64) -> Result<Address> {
        if let Some(at) = self.take_reserved(len) {
            return Ok(Address(at));
        }
        if let Some(at) = self.take_free(len, 1) {
            return Ok(Address(at));
        }
        if self.meta.1 < len {
            let more = self.meta_block.max(len);
            if self.meta.1 > 0 && self.meta.0 + self.meta.1 == self.end {
                // The piece ends where the file does: it grows.
                self.extend(more)?;
                self.meta.1 += more;
            } else {
                let (at, left) = std::mem::take(&mut self.meta);
                self.put_back(at, left);
                self.meta = (self.find(more)?, more);
            }
        }
        let at = self.meta.0;
        self.meta = (at + len, self.meta.1 - len);
        Ok(Address(at))
    }

    /// Gives up what the committed state uses. What a damaged file tells of that lies outside of it is nobody's.
    pub fn give_up(&mut self, at: Address, len: u64) {
        if len > 0 && self.has(at, len) {
            self.given_up.push((at.0, len));
        }
    }

    /// Frees space that the committed state uses, so that it is not reused before the file is closed.
    pub fn leave(&mut self, at: Address, len: u64) {
        if len > 0 && self.has(at, len) {
            self.left.push((at.0, len));
        }
    }

    fn has(&self, at: Address, len: u64) -> bool {
        at.0.checked_add(len).is_some_and(|end| end <= self.end)
    }

    /// What was left is free: the file is committed and about to be closed. Whether that was anything.
    pub fn closed(&mut self) -> bool {
        let left = std::mem::take(&mut self.left);
        left.iter().for_each(|&(at, len)| self.put_back(at, len));
        !left.is_empty()
    }

    /// Gives back what was taken since the last commit.
    pub fn give_back(&mut self, at: Address, len: u64) {
        self.put_back(at.0, len);
    }

    /// Holds what was given up until [`confirm`](FileSpace::confirm): from now on the superblock in the file may be that of the
    /// state before or that of the next one.
    pub fn seal(&mut self) {
        self.sealed.append(&mut self.given_up);
    }

    /// Frees what was held by [`seal`](FileSpace::seal), and `also`: the superblock of the next state is in the file.
    pub fn confirm(&mut self, also: Option<Extent>) {
        let also = also.map(|extent| (extent.at.0, extent.len));
        for (at, len) in std::mem::take(&mut self.sealed).into_iter().chain(also) {
            self.put_back(at, len);
        }
        self.cut();
    }

    /// The end of the file once what is held by [`seal`](FileSpace::seal), and `also`, is free.
    pub fn end_after(&mut self, also: Option<Extent>) -> u64 {
        self.release_meta();
        let also = also.map(|extent| (extent.at.0, extent.len));
        let mut held: Vec<(u64, u64)> = self.sealed.iter().copied().chain(also).collect();
        held.sort_unstable();
        let mut end = self.end;
        loop {
            if end <= self.front {
                return end;
            }
            let free = self.free.range(..end).next_back().map(|(&at, &len)| (at, len));
            let next = match held.last().copied() {
                Some((at, len)) if at < end && at + len >= end => held.pop(),
                Some((at, _)) if at >= end => {
                    held.pop();
                    continue;
                }
                _ => free.filter(|(at, len)| at + len >= end),
            };
            match next {
                Some((at, _)) => end = at,
                None => return end,
            }
        }
    }

    /// Ends the file behind the last byte that is used or given up.
    fn cut(&mut self) {
        self.release_meta();
        let Some((&at, &len)) = self.free.last_key_value() else { return };
        if at + len == self.end && at >= self.front {
            self.remove(at, len);
            self.end = at;
        }
    }

    /// Frees what is left of the last piece for metadata.
    fn release_meta(&mut self) {
        let (at, left) = std::mem::take(&mut self.meta);
        self.put_back(at, left);
    }

    /// Free pieces of at least so many bytes, the longest ones if there are more than this many, by their addresses.
    pub fn pieces(&self, least: u64, most: usize) -> Vec<Extent> {
        let longest = self.by_len.range((least, 0)..).rev().take(most);
        let mut pieces: Vec<Extent> = longest.map(|&(len, at)| Extent { at: Address(at), len }).collect();
        pieces.sort_unstable_by_key(|piece| piece.at);
        pieces
    }

    /// Takes this many bytes at the end of the file, from a multiple of 8 on.
    pub fn take_end(&mut self, len: u64) -> Result<Address> {
        self.cut();
        let at = self.end.next_multiple_of(8);
        let gap = at - self.end;
        self.extend(gap + len)?;
        self.put_back(at - gap, gap);
        Ok(Address(at))
    }

    /// Makes the file end at `end` if it ends before; the bytes between are free.
    pub fn reach(&mut self, end: u64) -> Result<()> {
        let old = self.end;
        let more = end.saturating_sub(old);
        self.extend(more)?;
        self.put_back(old, more);
        Ok(())
    }

    fn extend(&mut self, more: u64) -> Result<()> {
        let end = self.end.checked_add(more).filter(|&end| end <= self.limit);
        let full = || Error::new(Code::EVARSIZE, "the file would be longer than its addresses reach");
        self.end = end.ok_or_else(full)?;
        self.zeros_from = self.zeros_from.max(self.end);
        Ok(())
    }

    /// What a piece of this length is to begin at a multiple of.
    fn unit(&self, len: u64) -> u64 {
        if len >= self.alignment.0 { self.alignment.1 } else { 1 }
    }

    fn find(&mut self, len: u64) -> Result<u64> {
        let unit = self.unit(len);
        self.take_free(len, unit).map_or_else(|| self.at_end(len, unit), Ok)
    }

    /// Takes a piece at the end of the file.
    fn at_end(&mut self, len: u64, unit: u64) -> Result<u64> {
        let old = self.end;
        let gap = old.checked_next_multiple_of(unit).map_or(u64::MAX, |at| at - old);
        self.extend(gap.saturating_add(len))?;
        self.put_back(old, gap);
        Ok(old + gap)
    }

    /// The first free piece for metadata that is large enough.
    fn take_reserved(&mut self, len: u64) -> Option<u64> {
        let (&at, &have) = self.free.range(..self.front).find(|&(_, &have)| have >= len && len > 0)?;
        self.remove(at, have);
        self.put_back(at + len, have - len);
        Some(at)
    }

    /// The smallest free piece that is large enough, but for those that are reserved.
    fn take_free(&mut self, len: u64, unit: u64) -> Option<u64> {
        if len == 0 {
            return None;
        }
        let fits = |&&(have, at): &&(u64, u64)| {
            let start = at.checked_next_multiple_of(unit);
            at >= self.front && start.is_some_and(|start| start - at <= have && have - (start - at) >= len)
        };
        let &(have, at) = self.by_len.range((len, 0)..).take(TRIED).find(fits)?;
        self.remove(at, have);
        let start = at.next_multiple_of(unit);
        self.put_back(at, start - at);
        self.put_back(start + len, at + have - (start + len));
        Some(start)
    }

    fn remove(&mut self, at: u64, len: u64) {
        self.free.remove(&at);
        self.by_len.remove(&(len, at));
    }

    /// Makes a piece free, and joins it with its neighbours, but not with those beyond the end of what is reserved.
    fn put_back(&mut self, mut at: u64, mut len: u64) {
        if len == 0 {
            return;
        }
        if let Some((&before, &its)) = self.free.range(..at).next_back()
            && before + its >= at
            && (before < self.front) == (at < self.front)
        {
            self.remove(before, its);
            len = (at + len).max(before + its) - before;
            at = before;
        }
        while let Some((&behind, &its)) = self.free.range(at..).next()
            && behind <= at + len
            && (behind < self.front) == (at < self.front)
        {
            self.remove(behind, its);
            len = (behind + its).max(at + len) - at;
        }
        self.free.insert(at, len);
        self.by_len.insert((len, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(end: u64) -> FileSpace {
        FileSpace::new(end, 64, (100, 16), u64::MAX)
    }

    #[test]
    fn what_the_committed_state_uses_is_not_taken() {
        let mut space = space(1000);
        space.give_up(Address(200), 50);
        assert_eq!(space.take(50).unwrap(), Address(1000));
        space.seal();
        assert_eq!(space.take(50).unwrap(), Address(1050));
        space.confirm(None);
        assert_eq!(space.take(20).unwrap(), Address(200));
        assert_eq!(space.take(30).unwrap(), Address(220));
        assert_eq!(space.take(1).unwrap(), Address(1100));
    }

    #[test]
    fn end_is_known_before_held_space_is_free() {
        let mut space = space(1000);
        space.give_up(Address(900), 100);
        space.give_up(Address(600), 100);
        space.seal();
        let image = Extent { at: space.take_end(80).unwrap(), len: 80 };
        space.give_back(Address(800), 100);
        assert_eq!(space.end_after(None), 1080);
        assert_eq!(space.end_after(Some(image)), 800);
        assert_eq!((space.end(), space.zeros_from()), (1080, 1080));
        space.confirm(Some(image));
        assert_eq!((space.end(), space.zeros_from()), (800, 1080));
        space.was_cut(800);
        assert_eq!(space.zeros_from(), 800);
        assert_eq!(space.take(90).unwrap(), Address(600));
    }

    #[test]
    fn what_lies_outside_is_not_taken() {
        let mut space = space(1000);
        space.give_up(Address(980), 21);
        space.give_up(Address(u64::MAX - 10), 50);
        space.leave(Address(2000), 50);
        space.seal();
        space.confirm(None);
        space.closed();
        assert_eq!(space.take(50).unwrap(), Address(1000));
    }

    #[test]
    fn neighbours_join_and_the_end_is_cut_off() {
        let mut space = space(0);
        let all: Vec<Address> = (0..10).map(|_| space.take(10).unwrap()).collect();
        for at in [3, 5, 4, 9, 7, 8] {
            space.give_back(all[at], 10);
        }
        space.cut();
        assert_eq!(space.end(), 70);
        assert_eq!(space.take(30).unwrap(), Address(30));
        assert_eq!(space.take(1).unwrap(), Address(70));
    }

    #[test]
    fn large_pieces_are_aligned() {
        let mut space = space(5);
        assert_eq!(space.take(100).unwrap(), Address(16));
        assert_eq!(space.take(11).unwrap(), Address(5));
        assert_eq!(space.take(99).unwrap(), Address(116));
    }

    #[test]
    fn long_runs_begin_with_a_page() {
        let mut space = FileSpace::new(5, 64, (0, 1), u64::MAX);
        assert_eq!(space.take_run(PAGE).unwrap(), Address(5));
        assert_eq!(space.take_run(RUN).unwrap(), Address(2 * PAGE));
        // What was left out is taken by others.
        assert_eq!(space.take(PAGE - 5).unwrap(), Address(PAGE + 5));
        // A piece that is free and just long enough is taken wherever it begins.
        space.take(1).unwrap();
        let piece = space.take(RUN).unwrap();
        space.take(1).unwrap();
        space.give_back(piece, RUN);
        assert_eq!((space.take_run(RUN).unwrap(), piece.0 % PAGE), (piece, 1));
        let mut space = FileSpace::new(5, 64, (100, 1000), u64::MAX);
        assert_eq!(space.take_run(RUN).unwrap(), Address(1000));
    }

    #[test]
    fn metadata_lies_together() {
        let mut space = space(0);
        assert_eq!(space.take_meta(10).unwrap(), Address(0));
        assert_eq!(space.take(10).unwrap(), Address(64));
        assert_eq!(space.take_meta(50).unwrap(), Address(10));
        assert_eq!(space.take_meta(10).unwrap(), Address(74));
        space.cut();
        assert_eq!(space.end(), 84);
        assert_eq!(space.take_meta(4).unwrap(), Address(60));
    }

    #[test]
    fn no_elements_are_put_where_metadata_is_reserved() {
        let mut space = space(0);
        let header = space.take_meta(10).unwrap();
        space.reserve(100).unwrap();
        // A commit keeps what is reserved, although the file ends with it.
        space.confirm(None);
        assert_eq!((space.end(), space.end_after(None)), (110, 110));
        assert_eq!(space.take(20).unwrap(), Address(110));
        assert_eq!(space.take_collection(10).unwrap(), Address(130));
        assert_eq!(space.take_meta(60).unwrap(), Address(10));
        space.give_back(header, 10);
        space.give_back(Address(110), 20);
        assert_eq!(space.take(8).unwrap(), Address(110));
        assert_eq!(space.take_meta(8).unwrap(), Address(0));
        assert_eq!(space.take_meta(40).unwrap(), Address(70));
        // What is reserved has no more space: metadata is put anywhere.
        assert_eq!(space.take_meta(12).unwrap(), Address(118));
    }

    #[test]
    fn addresses_have_an_end() {
        let mut space = FileSpace::new(0, 0, (1, 1), 100);
        space.take(90).unwrap();
        assert_eq!(space.take(11).unwrap_err().code, Code::EVARSIZE);
        space.take(10).unwrap();
    }
}
