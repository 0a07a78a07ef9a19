//! Space in the file: which bytes may be taken.
//!
//! The decision that shaped it: what is given up stays untouched until the commit after next has begun, since the
//! committed state still uses it; only then is it free. So a committed state is whole until the next one is.
//!
//! Metadata comes in pieces of one size, so that it lies together; what is left of the last piece is cut off by a
//! commit.

use std::collections::{BTreeMap, BTreeSet};

use ferrocdf_bytes::{Code, Error, Result};

use super::object::Extent;
use crate::Address;

/// Free pieces that are looked at for one that can be aligned.
const TRIED: usize = 32;
/// Runs of elements of at least so many bytes begin at a multiple of a page at the end of the file, unless others are asked
/// for: kernels write whole pages faster.
const RUN: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// What may be taken of a file.
#[derive(Debug)]
pub(super) struct Space {
    /// Where the file ends.
    end: u64,
    /// Free pieces by address, with their lengths; none touches another.
    free: BTreeMap<u64, u64>,
    /// The same by length.
    by_len: BTreeSet<(u64, u64)>,
    /// Pieces that the committed state uses, and the next one does not.
    given_up: Vec<(u64, u64)>,
    /// Pieces of objects that are gone, which are not free before the file is closed.
    left: Vec<(u64, u64)>,
    /// What is left of the last piece for metadata.
    meta: (u64, u64),
    /// Bytes that metadata takes at a time.
    meta_block: u64,
    /// Pieces of at least as many bytes begin at a multiple of the second.
    alignment: (u64, u64),
    /// The largest address of the file and one.
    limit: u64,
}

impl Space {
    /// The space of a file that ends here.
    pub fn new(end: u64, meta_block: u64, alignment: (u64, u64), limit: u64) -> Space {
        let alignment = (alignment.0, alignment.1.max(1));
        let (free, by_len) = (BTreeMap::new(), BTreeSet::new());
        let (given_up, left) = (Vec::new(), Vec::new());
        Space { end, free, by_len, given_up, left, meta: (0, 0), meta_block, alignment, limit }
    }

    /// Other rules for what is taken from now on.
    pub fn set(&mut self, alignment: (u64, u64), meta_block: u64) {
        (self.alignment, self.meta_block) = ((alignment.0, alignment.1.max(1)), meta_block);
    }

    /// Where the file ends.
    pub fn end(&self) -> u64 {
        self.end
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

    /// Takes space for metadata.
    pub fn take_meta(&mut self, len: u64) -> Result<Address> {
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

    /// Gives up what the committed state uses, and nobody else shall have before the file is closed.
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

    /// What is given up is free: the committed state does not use it any more.
    pub fn committed(&mut self) {
        for (at, len) in std::mem::take(&mut self.given_up) {
            self.put_back(at, len);
        }
    }

    /// Ends the file behind the last byte that is used or given up.
    pub fn cut(&mut self) {
        let (at, left) = std::mem::take(&mut self.meta);
        self.put_back(at, left);
        let Some((&at, &len)) = self.free.last_key_value() else { return };
        if at + len == self.end {
            self.remove(at, len);
            self.end = at;
        }
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

    /// Makes the file longer up to a multiple of this.
    pub fn round_end(&mut self, unit: u64) -> Result<()> {
        let rounded = self.end.div_ceil(unit).saturating_mul(unit);
        self.push_end(rounded.saturating_sub(self.end))
    }

    /// Makes the file longer by so many bytes, which are free.
    pub fn push_end(&mut self, by: u64) -> Result<()> {
        let end = self.end;
        self.extend(by)?;
        self.put_back(end, by);
        Ok(())
    }

    fn extend(&mut self, more: u64) -> Result<()> {
        let end = self.end.checked_add(more).filter(|&end| end <= self.limit);
        let full = || Error::new(Code::EVARSIZE, "the file would be longer than its addresses reach");
        self.end = end.ok_or_else(full)?;
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

    /// The smallest free piece that is large enough.
    fn take_free(&mut self, len: u64, unit: u64) -> Option<u64> {
        if len == 0 {
            return None;
        }
        let fits = |&&(have, at): &&(u64, u64)| {
            let start = at.checked_next_multiple_of(unit);
            start.is_some_and(|start| start - at <= have && have - (start - at) >= len)
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

    /// Makes a piece free, and joins it with its neighbours.
    fn put_back(&mut self, mut at: u64, mut len: u64) {
        if len == 0 {
            return;
        }
        if let Some((&before, &its)) = self.free.range(..at).next_back()
            && before + its >= at
        {
            self.remove(before, its);
            len = (at + len).max(before + its) - before;
            at = before;
        }
        while let Some((&behind, &its)) = self.free.range(at..).next()
            && behind <= at + len
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

    fn space(end: u64) -> Space {
        Space::new(end, 64, (100, 16), u64::MAX)
    }

    #[test]
    fn what_the_committed_state_uses_is_not_taken() {
        let mut space = space(1000);
        space.give_up(Address(200), 50);
        assert_eq!(space.take(50).unwrap(), Address(1000));
        space.committed();
        assert_eq!(space.take(20).unwrap(), Address(200));
        assert_eq!(space.take(30).unwrap(), Address(220));
        assert_eq!(space.take(1).unwrap(), Address(1050));
    }

    #[test]
    fn what_lies_outside_is_not_taken() {
        let mut space = space(1000);
        space.give_up(Address(980), 21);
        space.give_up(Address(u64::MAX - 10), 50);
        space.leave(Address(2000), 50);
        space.committed();
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
        let mut space = Space::new(5, 64, (0, 1), u64::MAX);
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
        let mut space = Space::new(5, 64, (100, 1000), u64::MAX);
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
    fn addresses_have_an_end() {
        let mut space = Space::new(0, 0, (1, 1), 100);
        space.take(90).unwrap();
        assert_eq!(space.take(11).unwrap_err().code, Code::EVARSIZE);
        space.take(10).unwrap();
    }
}
