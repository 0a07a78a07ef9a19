//! Moving to the front: a byte is encoded as the number of other bytes that were there since it was last.
//!
//! Most are among the first sixteen, and these are moved as one number.

/// Bytes, the most recent first.
pub struct Front {
    bytes: [u8; 256],
}

/// Bytes that are moved at once.
const FIRST: usize = 16;

impl Front {
    pub fn new(bytes: [u8; 256]) -> Front {
        Front { bytes }
    }

    /// The first byte.
    #[inline(always)]
    pub fn first(&self) -> u8 {
        self.bytes[0]
    }

    /// The byte behind that many others, below 256, which becomes the first.
    #[inline(always)]
    pub fn take(&mut self, place: usize) -> u8 {
        let place = place % self.bytes.len();
        if place >= FIRST {
            let byte = self.bytes[place];
            self.bytes.copy_within(..place, 1);
            self.bytes[0] = byte;
            return byte;
        }
        let first = &mut self.bytes.as_chunks_mut::<FIRST>().0[0];
        let is = u128::from_le_bytes(*first);
        let byte = is >> (8 * place) & 0xff;
        // What is behind the byte stays.
        let kept = (!0 << (8 * place)) << 8;
        *first = (is & kept | (is << 8 | byte) & !kept).to_le_bytes();
        byte as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_move_to_the_front() {
        let mut list: Vec<u8> = (0..=255).map(|at: u8| at.wrapping_mul(77)).collect();
        let mut front = Front::new(*list.first_chunk().unwrap());
        for turn in 0..5000usize {
            let place = turn * turn * 31 % 256 / (1 + turn % 17);
            let byte = list.remove(place);
            list.insert(0, byte);
            assert_eq!((front.take(place), front.first()), (byte, byte), "place {place}");
        }
    }
}
