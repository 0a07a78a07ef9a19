//! Move-to-front transform: a byte is encoded as the number of distinct other bytes since its last occurrence.
//!
//! Most bytes are among the first sixteen of the list, which are moved as one number of 128 bits.

/// The list of bytes, the most recent first.
pub struct MoveToFront {
    bytes: [u8; 256],
}

/// Number of bytes that are moved as one number.
const FIRST: usize = 16;

impl MoveToFront {
    pub fn new(bytes: [u8; 256]) -> MoveToFront {
        MoveToFront { bytes }
    }

    /// Returns the first byte.
    #[inline(always)]
    pub fn first(&self) -> u8 {
        self.bytes[0]
    }

    /// Moves the byte at this position (below 256) to the front and returns it.
    #[inline(always)]
    pub fn move_to_front(&mut self, position: usize) -> u8 {
        let position = position % self.bytes.len();
        if position >= FIRST {
            let byte = self.bytes[position];
            self.bytes.copy_within(..position, 1);
            self.bytes[0] = byte;
            return byte;
        }
        let first = &mut self.bytes.as_chunks_mut::<FIRST>().0[0];
        let before = u128::from_le_bytes(*first);
        let byte = before >> (8 * position) & 0xff;
        // The bytes after the moved byte stay unchanged.
        let unchanged = (!0 << (8 * position)) << 8;
        *first = (before & unchanged | (before << 8 | byte) & !unchanged).to_le_bytes();
        byte as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_moved_from_any_position() {
        let mut list: Vec<u8> = (0..=255).map(|at: u8| at.wrapping_mul(77)).collect();
        let mut front = MoveToFront::new(*list.first_chunk().unwrap());
        for round in 0..5000usize {
            let position = round * round * 31 % 256 / (1 + round % 17);
            let byte = list.remove(position);
            list.insert(0, byte);
            assert_eq!((front.move_to_front(position), front.first()), (byte, byte), "position {position}");
        }
    }
}
