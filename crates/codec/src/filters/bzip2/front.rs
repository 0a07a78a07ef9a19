//! Moving to the front: a byte is stored as the number of other bytes that were there since it was last.
//!
//! The list is in words of eight bytes, so that moving reads and writes each word as a whole.

const WORDS: usize = 32;

/// Bytes, the most recent first.
pub struct Front {
    words: [u64; WORDS],
}

impl Front {
    pub fn new(bytes: &[u8; 8 * WORDS]) -> Front {
        let mut words = [0; WORDS];
        words
            .iter_mut()
            .zip(bytes.as_chunks().0)
            .for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
        Front { words }
    }

    /// The first byte.
    #[inline(always)]
    pub fn first(&self) -> u8 {
        self.words[0] as u8
    }

    /// The byte behind that many others, below 256, which becomes the first.
    #[inline(always)]
    pub fn take(&mut self, place: usize) -> u8 {
        let (word, shift) = (place / 8 % WORDS, place as u32 % 8 * 8);
        let byte = self.words[word] >> shift & 0xff;
        let mut carry = byte;
        for word in &mut self.words[..word] {
            let moved = *word << 8 | carry;
            carry = *word >> 56;
            *word = moved;
        }
        let is = self.words[word];
        // What is behind the byte stays.
        let kept = (!0 << shift) << 8;
        self.words[word] = is & kept | (is << 8 | carry) & !kept;
        byte as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_move_to_the_front() {
        let mut list: Vec<u8> = (0..=255).map(|at: u8| at.wrapping_mul(77)).collect();
        let mut front = Front::new(list.first_chunk().unwrap());
        for turn in 0..5000usize {
            let place = turn * turn * 31 % 256 / (1 + turn % 17);
            let byte = list.remove(place);
            list.insert(0, byte);
            assert_eq!((front.take(place), front.first()), (byte, byte), "place {place}");
        }
    }
}
