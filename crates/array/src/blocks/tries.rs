//! What each try at reading some blocks gave, where somebody else may change them meanwhile.
//!
//! A block that lies where it did in the look before may have been elsewhere in between, and its place written over: whoever
//! writes uses two places in turn. So a block is settled by its bytes: those read there before the last look and after it are
//! the same, then they are what was there when that look found the block. Settled blocks are not read again, even if they
//! move: each block is as it was at some time, all of them maybe not at one.

use super::index::Place;

/// The mark of a block that is not stored.
const MISSING: u64 = 0;

/// One block.
#[derive(Clone, Copy, Default)]
pub(super) struct Try {
    /// Where it lay in the try before and what mark its bytes have, if it was read then.
    before: Option<(Place, u64)>,
    /// The same of this try.
    now: Option<(Place, u64)>,
    is_settled: bool,
    /// Whether its numbers were in range.
    fits: bool,
}

impl Try {
    /// Notes that it was read, in any try but the first with nothing read ahead before its look at the index, and what mark
    /// its bytes have: those that are stored, or what is made of them, but the same of both in all tries.
    pub(super) fn note(&mut self, place: Place, mark: u64, fits: bool) {
        let read = Some((place, mark));
        (self.now, self.is_settled, self.fits) = (read, self.before == read, fits);
    }

    /// Whether it was read in the try before from the same place and with the same mark; notes that it was so again, and is
    /// settled.
    pub(super) fn is_as_before(&mut self, place: Place, mark: u64) -> bool {
        let is_same = self.before == Some((place, mark));
        if is_same {
            self.note(place, mark, self.fits);
        }
        is_same
    }

    /// Notes that it is not stored.
    pub(super) fn note_missing(&mut self, fits: bool) {
        self.note(Place::Missing, MISSING, fits);
    }

    /// Whether it need not be read again.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }
}

/// All blocks in their order; none as long as no marks are taken.
#[derive(Default)]
pub(super) struct Tries(Vec<Try>);

impl Tries {
    /// Begins another try; marks of so many blocks are taken from now on if it is `marked`.
    pub(super) fn begin(&mut self, marked: bool, blocks: usize) {
        if marked {
            self.0.resize(blocks, Try::default());
        }
        self.0.iter_mut().for_each(|block| block.before = block.now.take());
    }

    /// The blocks, if marks are taken.
    pub(super) fn blocks(&mut self) -> &mut [Try] {
        &mut self.0
    }

    /// The block of this number, if marks are taken.
    pub(super) fn block(&mut self, number: usize) -> Option<&mut Try> {
        self.0.get_mut(number)
    }

    /// Whether marks are taken.
    pub(super) fn is_marked(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether the block of this number need not be read again.
    pub(super) fn is_settled(&self, number: usize) -> bool {
        self.0.get(number).is_some_and(Try::is_settled)
    }

    /// Whether no block need be read again.
    pub(super) fn are_settled(&self) -> bool {
        self.is_marked() && self.0.iter().all(Try::is_settled)
    }

    /// Whether the numbers of all settled blocks were in range.
    pub(super) fn fit(&self) -> bool {
        self.0.iter().all(|block| block.fits || !block.is_settled)
    }
}

/// A number that other bytes of the same length hardly have: each word changes all that follows, and none is lost.
pub(super) fn mark<'b>(rows: impl Iterator<Item = &'b [u8]>) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let add = |mark: u64, word: u64| (mark ^ word).wrapping_mul(FACTOR).rotate_left(29);
    rows.fold(1, |mark, row| {
        let (words, rest) = row.as_chunks::<8>();
        let mark = words.iter().fold(mark, |mark, word| add(mark, u64::from_le_bytes(*word)));
        rest.iter().fold(mark, |mark, &byte| add(mark, byte.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Place = Place::At { at: 8, len: 8, mask: 0 };
    const THERE: Place = Place::At { at: 16, len: 8, mask: 0 };

    #[test]
    fn a_block_is_settled_by_two_tries_in_a_row_that_gave_the_same_from_one_place() {
        let settled = |tries: &[Option<(Place, u64)>]| {
            let mut all = Tries::default();
            for read in tries {
                all.begin(true, 1);
                if let Some((place, mark)) = *read {
                    all.blocks()[0].note(place, mark, true);
                }
            }
            all.are_settled()
        };
        assert!(!settled(&[Some((HERE, 1))]));
        assert!(settled(&[Some((HERE, 1)), Some((HERE, 1))]));
        assert!(settled(&[Some((THERE, 1)), Some((HERE, 1)), Some((HERE, 1))]));
        assert!(!settled(&[Some((HERE, 1)), Some((HERE, 2))]));
        assert!(!settled(&[Some((HERE, 1)), Some((THERE, 1))]));
        assert!(!settled(&[Some((HERE, 1)), None, Some((HERE, 1))]));
        assert!(!settled(&[Some((HERE, 1)), Some((HERE, 2)), Some((HERE, 1))]));
    }

    #[test]
    fn what_is_stored_as_in_the_try_before_is_settled_and_its_numbers_are_what_they_were() {
        for fits in [true, false] {
            let mut all = Tries::default();
            all.begin(true, 1);
            assert!(!all.blocks()[0].is_as_before(HERE, 1));
            all.blocks()[0].note(HERE, 1, fits);
            all.begin(true, 1);
            let block = &mut all.blocks()[0];
            assert!(!block.is_as_before(THERE, 1) && !block.is_as_before(HERE, 2) && !block.is_settled());
            assert!(block.is_as_before(HERE, 1));
            assert_eq!((all.are_settled(), all.fit()), (true, fits));
        }
    }

    #[test]
    fn marks_tell_every_bit() {
        let mut bytes = [7u8; 35];
        let split = |bytes: &[u8]| mark([&bytes[..19], &bytes[19..]].into_iter());
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
