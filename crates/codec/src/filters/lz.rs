//! What LZF and BloscLZ share: finding where bytes were before, and copying from there.

use std::cell::RefCell;

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
    SEEN.with(|seen| {
        let mut seen = seen.borrow_mut();
        seen.clear();
        seen.resize(1 << SLOTS_LOG, 0);
        work(Finder { bytes, seen: &mut seen })
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

/// Copies `len` bytes from `back` bytes before `to`, where what is copied may be copied again. All is inside.
#[inline]
pub fn copy_back(bytes: &mut [u8], back: usize, to: usize, len: usize) {
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
