//! What LZ4, LZF and BloscLZ share: finding where bytes were before, and copying from there.
//!
//! Copies write whole words, over the end of what is asked for while there is room behind it, as most are shorter than a
//! call of `memcpy` takes. What is behind is written again by what comes next.

use std::cell::RefCell;

use crate::scratch::with_kept;

const SLOTS_LOG: u32 = 13;

thread_local! {
    static SEEN: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// Where three bytes were seen last, by a hash of them.
pub struct Finder<'a> {
    bytes: &'a [u8],
    /// Positions plus one; those that do not fit are not found again.
    seen: &'a mut [u32],
}

/// Runs `work` with a finder that has seen nothing.
pub fn with_finder<T>(bytes: &[u8], work: impl FnOnce(Finder) -> T) -> T {
    with_kept(&SEEN, Vec::new, |seen| {
        seen.clear();
        seen.resize(1 << SLOTS_LOG, 0);
        work(Finder { bytes, seen })
    })
}

impl Finder<'_> {
    /// Remembers what is at `at`, and gives where the same three bytes are at most `farthest` before it and how many
    /// bytes are the same, at most `longest`.
    #[inline]
    pub fn find(&mut self, at: usize, farthest: usize, longest: usize) -> Option<(usize, usize)> {
        let three = self.bytes.get(at..at + 3)?;
        let word = u32::from_le_bytes([three[0], three[1], three[2], 0]);
        let slot = &mut self.seen[(word.wrapping_mul(0x9e37_79b1) >> (32 - SLOTS_LOG)) as usize];
        let before = (*slot as usize).checked_sub(1);
        *slot = u32::try_from(at + 1).unwrap_or(0);
        let from = before.filter(|&from| at - from <= farthest && self.bytes[from..from + 3] == *three)?;
        let end = at + longest.min(self.bytes.len() - at);
        let same = self.bytes[from..].iter().zip(&self.bytes[at..end]).take_while(|(a, b)| a == b).count();
        Some((at - from, same))
    }
}

/// Bytes that are copied at a time.
pub const WORD: usize = 16;

/// Copies bytes from the front of `from` to `at`, if they are inside of both; at most `N` of them go at a time, with what is
/// behind them. `None` if they are not inside.
#[inline(always)]
pub fn copy_run<const N: usize>(from: &[u8], to: &mut [u8], at: usize, len: usize) -> Option<()> {
    if len <= N
        && let Some(word) = from.first_chunk::<N>()
        && let Some(room) = to.get_mut(at..).and_then(|room| room.first_chunk_mut::<N>())
    {
        *room = *word;
        return Some(());
    }
    copy_exactly(from, to, at, len)
}

/// Apart, or the compiler makes one call for both ways of [`copy_run`].
#[cold]
#[inline(never)]
fn copy_exactly(from: &[u8], to: &mut [u8], at: usize, len: usize) -> Option<()> {
    to.get_mut(at..)?.get_mut(..len)?.copy_from_slice(from.get(..len)?);
    Some(())
}

/// Copies `len` bytes from `back` bytes before `to`, where what is copied may be copied again. All is inside, and `back` is
/// not zero.
#[inline(always)]
pub fn copy_back(bytes: &mut [u8], back: usize, to: usize, len: usize) {
    let from = to - back;
    if len > LONG || bytes.len() - to < len + WORD {
        return copy_far(bytes, back, to, len);
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

/// [`copy_back`] of up to `WORD + 2` bytes where there is room for two words.
#[inline(always)]
pub fn copy_words(bytes: &mut [u8], back: usize, to: usize, len: usize) {
    let bytes = &mut bytes[to - back..to + 2 * WORD];
    if back >= len.min(WORD) {
        let first = word_at(bytes, 0);
        put_word(bytes, back, first);
        // What was just written is slow to read.
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

/// From here on a call is worth it.
const LONG: usize = 128;

#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> [u8; WORD] {
    bytes[at..at + WORD].as_chunks().0[0]
}

#[inline(always)]
fn put_word(bytes: &mut [u8], at: usize, word: [u8; WORD]) {
    bytes[at..at + WORD].copy_from_slice(&word);
}

/// A word of its first `back` bytes, 1 to 15, again and again, and how many of its bytes are whole repeats, behind which
/// the word can be put again.
#[inline(always)]
fn repeat(word: [u8; WORD], back: usize) -> ([u8; WORD], usize) {
    let (once, times, step) = REPEATS[back % WORD];
    let word = (u128::from_le_bytes(word) & once).wrapping_mul(times);
    (word.to_le_bytes(), step)
}

/// By the distance of a copy: the bits of its bytes, what they are multiplied by to be repeated, and its largest multiple in
/// a word.
const REPEATS: [(u128, u128, usize); WORD] = {
    let mut repeats = [(0, 0, WORD); WORD];
    let mut back = 1;
    while back < WORD {
        let (mut times, mut at) = (0, 0);
        while at < WORD {
            times |= 1 << (8 * at);
            at += back;
        }
        repeats[back] = ((1 << (8 * back)) - 1, times, WORD / back * back);
        back += 1;
    }
    repeats
};

/// [`copy_back`] that writes nothing behind the end.
#[inline(never)]
fn copy_far(bytes: &mut [u8], back: usize, to: usize, len: usize) {
    let from = to - back;
    if back >= len {
        bytes.copy_within(from..from + len, to);
    } else if back == 1 {
        let byte = bytes[from];
        bytes[to..to + len].fill(byte);
    } else {
        // The distance doubles with each copy, as what was copied is as good as what it was copied from.
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
    fn copies_are_those_of_single_bytes() {
        for back in 1..40 {
            for len in 0..200 {
                for room in [0, 15, 16, 40] {
                    let mut bytes: Vec<u8> =
                        (0..(40 + len + room) as u32).map(|at| (at * 37) as u8).collect();
                    let mut wanted = bytes.clone();
                    for at in 40..40 + len {
                        wanted[at] = wanted[at - back];
                    }
                    copy_back(&mut bytes, back, 40, len);
                    assert_eq!(bytes[..40 + len], wanted[..40 + len], "{len} bytes from {back} back");
                    let after = (40 + len + WORD).min(bytes.len());
                    assert_eq!(bytes[after..], wanted[after..], "behind {len} bytes from {back} back");
                }
            }
        }
    }

    #[test]
    fn runs_are_inside_of_both() {
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
