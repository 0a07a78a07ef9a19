//! Match finding and copying for the LZ77 formats LZ4, LZF and BloscLZ.
//!
//! Copies write whole words, and past the end of the requested bytes if the buffer is long enough: most copies are so short
//! that a call of `memcpy` costs more. The next copy overwrites the excess bytes.

use std::cell::RefCell;

use crate::scratch::with_thread_local;

/// Binary logarithm of the size of the hash table.
const TABLE_LOG2: u32 = 13;

thread_local! {
    static TABLE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Finder of matches by a hash of three bytes.
pub struct MatchFinder<'a> {
    bytes: &'a [u8],
    /// Last position plus one of each hash; 0 if there is none. Positions that do not fit in 32 bits are not stored.
    table: &'a mut [u32],
}

/// Runs `work` with a match finder whose table is empty.
pub fn with_match_finder<T>(bytes: &[u8], work: impl FnOnce(MatchFinder) -> T) -> T {
    with_thread_local(&TABLE, Vec::new, |table| {
        table.clear();
        table.resize(1 << TABLE_LOG2, 0);
        work(MatchFinder { bytes, table })
    })
}

impl MatchFinder<'_> {
    /// Stores the position `at`, and returns the distance and the length of an earlier match of at least three bytes, with a
    /// distance of at most `max_distance` and a length of at most `max_len`.
    #[inline]
    pub fn find(&mut self, at: usize, max_distance: usize, max_len: usize) -> Option<(usize, usize)> {
        let three = self.bytes.get(at..at + 3)?;
        let word = u32::from_le_bytes([three[0], three[1], three[2], 0]);
        let slot = &mut self.table[(word.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_LOG2)) as usize];
        let before = (*slot as usize).checked_sub(1);
        *slot = u32::try_from(at + 1).unwrap_or(0);
        let from =
            before.filter(|&from| at - from <= max_distance && self.bytes[from..from + 3] == *three)?;
        let end = at + max_len.min(self.bytes.len() - at);
        let len = self.bytes[from..].iter().zip(&self.bytes[at..end]).take_while(|(a, b)| a == b).count();
        Some((at - from, len))
    }
}

/// Number of bytes that are copied at a time.
pub const WORD: usize = 16;

/// Copies `len` bytes from the front of `from` to position `at` of `to`; `None` if one of the slices is too short. A copy
/// of at most `N` bytes copies `N` bytes if both slices are long enough.
#[inline(always)]
pub fn copy_run<const N: usize>(from: &[u8], to: &mut [u8], at: usize, len: usize) -> Option<()> {
    if len <= N
        && let Some(word) = from.first_chunk::<N>()
        && let Some(target) = to.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<N>())
    {
        *target = *word;
        return Some(());
    }
    copy_exactly(from, to, at, len)
}

/// Slow path of [`copy_run`], in its own function, because the compiler otherwise merges both paths into one `memcpy` call.
#[cold]
#[inline(never)]
fn copy_exactly(from: &[u8], to: &mut [u8], at: usize, len: usize) -> Option<()> {
    to.get_mut(at..)?.get_mut(..len)?.copy_from_slice(from.get(..len)?);
    Some(())
}

/// Copies `len` bytes from the distance `back` before position `to`. Source and target may overlap; then the first `back`
/// bytes repeat. The caller ensures that both are in the slice and that `back` is not zero.
#[inline(always)]
pub fn copy_back(bytes: &mut [u8], back: usize, to: usize, len: usize) {
    let from = to - back;
    if len > MAX_WORD_COPY || bytes.len() - to < len + WORD {
        return copy_back_exactly(bytes, back, to, len);
    }
    let bytes = &mut bytes[from..to + len + WORD];
    let mut at = 0;
    if back >= len.min(WORD) {
        while at < len {
            let word = word_at(bytes, at);
            put_word(bytes, back + at, word);
            at += WORD;
        }
        return;
    }
    let (word, step) = repeat(word_at(bytes, 0), back);
    while at < len {
        put_word(bytes, back + at, word);
        at += step;
    }
}

/// [`copy_back`] for at most `WORD + 2` bytes, if two words fit in the slice after `to`.
#[inline(always)]
pub fn copy_words(bytes: &mut [u8], back: usize, to: usize, len: usize) {
    let bytes = &mut bytes[to - back..to + 2 * WORD];
    if back >= len.min(WORD) {
        let first = word_at(bytes, 0);
        put_word(bytes, back, first);
        // Only if needed: a load of bytes that were just stored is slow.
        if len > WORD {
            let second = word_at(bytes, WORD);
            put_word(bytes, back + WORD, second);
        }
        return;
    }
    let (word, step) = repeat(word_at(bytes, 0), back);
    put_word(bytes, back, word);
    if len > step {
        put_word(bytes, back + step, word);
    }
}

/// Maximum length that is copied in words; for longer copies a call of `memcpy` is faster.
const MAX_WORD_COPY: usize = 128;

#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> [u8; WORD] {
    bytes[at..at + WORD].as_chunks().0[0]
}

#[inline(always)]
fn put_word(bytes: &mut [u8], at: usize, word: [u8; WORD]) {
    bytes[at..at + WORD].copy_from_slice(&word);
}

/// Returns a word that repeats the first `back` (1 to 15) bytes of `word`, and the length of its whole repeats, the distance
/// at which the word can be stored again.
#[inline(always)]
fn repeat(word: [u8; WORD], back: usize) -> ([u8; WORD], usize) {
    let (mask, factor, step) = REPEATS[back % WORD];
    let word = (u128::from_le_bytes(word) & mask).wrapping_mul(factor);
    (word.to_le_bytes(), step)
}

/// Constants of [`repeat`] by distance: mask of the first bytes, factor that repeats them, and the largest multiple of the
/// distance that is at most [`WORD`].
const REPEATS: [(u128, u128, usize); WORD] = {
    let mut repeats = [(0, 0, WORD); WORD];
    let mut back = 1;
    while back < WORD {
        let (mut factor, mut at) = (0, 0);
        while at < WORD {
            factor |= 1 << (8 * at);
            at += back;
        }
        repeats[back] = ((1 << (8 * back)) - 1, factor, WORD / back * back);
        back += 1;
    }
    repeats
};

/// [`copy_back`] that does not write past the end of the target.
#[inline(never)]
fn copy_back_exactly(bytes: &mut [u8], back: usize, to: usize, len: usize) {
    let from = to - back;
    if back >= len {
        bytes.copy_within(from..from + len, to);
    } else if back == 1 {
        let byte = bytes[from];
        bytes[to..to + len].fill(byte);
    } else {
        // The length doubles with each copy, because the copied bytes repeat the source.
        let mut done = 0;
        while done < len {
            let step = (back + done).min(len - done);
            bytes.copy_within(from..from + step, to + done);
            done += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_copies_equal_byte_by_byte_copies() {
        for back in 1..40 {
            for len in 0..200 {
                for excess in [0, 15, 16, 40] {
                    let mut bytes: Vec<u8> =
                        (0..(40 + len + excess) as u32).map(|at| (at * 37) as u8).collect();
                    let mut expected = bytes.clone();
                    for at in 40..40 + len {
                        expected[at] = expected[at - back];
                    }
                    copy_back(&mut bytes, back, 40, len);
                    assert_eq!(bytes[..40 + len], expected[..40 + len], "{len} bytes from {back} back");
                    let after = (40 + len + WORD).min(bytes.len());
                    assert_eq!(bytes[after..], expected[after..], "after {len} bytes from {back} back");
                }
            }
        }
    }

    #[test]
    fn copy_run_fails_if_a_slice_is_too_short() {
        let from: Vec<u8> = (1..=40).collect();
        for len in 0..=40 {
            let mut to = [0; 50];
            assert_eq!(copy_run::<16>(&from, &mut to, 10, len), Some(()));
            assert_eq!(to[10..10 + len], from[..len]);
        }
        assert_eq!(copy_run::<16>(&from, &mut [0; 50], 11, 40), None);
        assert_eq!(copy_run::<16>(&from, &mut [0; 50], 51, 0), None);
        assert_eq!(copy_run::<16>(&from[..8], &mut [0; 50], 0, 9), None);
    }
}
