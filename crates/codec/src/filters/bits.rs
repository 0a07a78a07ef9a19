//! Reading and writing of bits, the most significant bit first, and of numbers in up to eight bytes.

/// Reader of bits from a slice.
#[derive(Clone)]
pub struct BitReader<'a> {
    rest: &'a [u8],
    /// Next bits, left-aligned. The bits below the valid ones are zero, or equal the bits that follow in `rest`.
    next: u64,
    /// Number of valid bits in `next`.
    have: u32,
}

impl<'a> BitReader<'a> {
    pub fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { rest: bytes, next: 0, have: 0 }
    }

    /// Reads from bit `bit` of the first byte on; `None` if there is none.
    pub fn from_bit(bytes: &'a [u8], bit: u32) -> Option<BitReader<'a>> {
        let mut bits = BitReader::new(bytes);
        bits.read_word(bit).map(|_| bits)
    }

    /// Returns the position in `bytes`, the ones that the reader was made for: whole bytes that are consumed, and bits of the next one.
    #[inline]
    pub fn position(&self, bytes: &[u8]) -> (usize, u32) {
        let consumed = 8 * (bytes.len() - self.rest.len()) - self.have as usize;
        (consumed / 8, (consumed % 8) as u32)
    }

    /// Fills `next` to at least 56 bits, or with all remaining bits.
    #[inline]
    fn fill(&mut self) {
        if let Some(eight) = self.rest.first_chunk::<8>() {
            self.next |= u64::from_be_bytes(*eight) >> self.have;
            let bytes = (63 - self.have) / 8;
            self.rest = &self.rest[bytes as usize..];
            self.have += bytes * 8;
            return;
        }
        while self.have <= 56
            && let Some((&byte, rest)) = self.rest.split_first()
        {
            self.next |= u64::from(byte) << (56 - self.have);
            self.have += 8;
            self.rest = rest;
        }
    }

    /// Reads `count` bits, at most 64; `None` if fewer bits remain.
    #[inline]
    pub fn read(&mut self, count: u32) -> Option<u64> {
        if count > 32 {
            let high = self.read_word(count - 32)?;
            return Some(high << 32 | self.read_word(32)?);
        }
        self.read_word(count)
    }

    /// Reads `count` bits, at most 32; `None` if fewer bits remain.
    #[inline]
    pub fn read_word(&mut self, count: u32) -> Option<u64> {
        if self.have < count {
            self.fill();
            if self.have < count {
                return None;
            }
        }
        // Two shifts, because `count` may be 0 and a shift by 64 is invalid.
        let value = self.next >> 1 >> (63 - count);
        self.next <<= count;
        self.have -= count;
        Some(value)
    }

    /// Prepares [`BitReader::peek`] and [`BitReader::skip`] of up to `count` bits, at most 56, or of all remaining bits.
    #[inline(always)]
    pub fn need(&mut self, count: u32) {
        if self.have < count {
            self.fill();
        }
    }

    /// Returns the next `count` bits, 1 to 64, without consuming them, after [`BitReader::need`]. Bits after the end are
    /// zero.
    #[inline(always)]
    pub fn peek(&self, count: u32) -> u64 {
        self.next >> (64 - count)
    }

    /// Consumes `count` bits, after [`BitReader::need`]; `None` if fewer bits remain.
    #[inline(always)]
    pub fn skip(&mut self, count: u32) -> Option<()> {
        self.have = self.have.checked_sub(count)?;
        self.next <<= count;
        Some(())
    }

    /// Reads a unary number: returns the count of 0 bits before the next 1 bit, and consumes both; `None` without a 1 bit.
    #[inline]
    pub fn read_unary(&mut self) -> Option<u32> {
        let mut zeros = 0u32;
        loop {
            if self.have < 32 {
                self.fill();
            }
            let lead = self.next.leading_zeros();
            if lead < self.have {
                self.next = self.next << lead << 1;
                self.have -= lead + 1;
                return zeros.checked_add(lead);
            }
            if self.have == 0 {
                return None;
            }
            zeros = zeros.checked_add(self.have)?;
            (self.next, self.have) = (0, 0);
        }
    }
}

/// Writer that appends bits to a buffer.
pub struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    /// Bits not yet in the buffer, left-aligned, fewer than 32 between calls.
    next: u64,
    /// Number of valid bits in `next`.
    have: u32,
}

impl<'a> BitWriter<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> BitWriter<'a> {
        BitWriter { out, next: 0, have: 0 }
    }

    /// Writes the low `count` bits of `value`, at most 64.
    #[inline]
    pub fn write(&mut self, value: u64, count: u32) {
        if count > 32 {
            self.write_word(value >> 32, count - 32);
            return self.write_word(value, 32);
        }
        self.write_word(value, count);
    }

    /// Writes the low `count` bits of `value`, at most 32.
    #[inline]
    pub fn write_word(&mut self, value: u64, count: u32) {
        let value = value & ((1 << count) - 1);
        self.next |= value << 1 << (63 - count - self.have);
        self.have += count;
        if self.have >= 32 {
            self.out.extend_from_slice(&((self.next >> 32) as u32).to_be_bytes());
            self.next <<= 32;
            self.have -= 32;
        }
    }

    /// Writes a unary number: `zeros` 0 bits and a 1 bit.
    #[inline]
    pub fn write_unary(&mut self, mut zeros: u32) {
        while zeros >= 32 {
            self.write_word(0, 32);
            zeros -= 32;
        }
        self.write_word(1, zeros + 1);
    }

    /// Pads the last byte with 0 bits and appends it to the buffer.
    pub fn finish(self) {
        let bytes = self.have.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.next.to_be_bytes()[..bytes]);
    }
}

/// Reads an unsigned number from one to eight bytes.
#[inline]
pub fn read_number(big: bool, from: &[u8]) -> u64 {
    let value = match *from {
        [a] => return a.into(),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => from.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)),
    };
    if big { value.swap_bytes() >> (64 - 8 * from.len()) } else { value }
}

/// Writes the low bytes of a number to one to eight bytes.
#[inline]
pub fn write_number(value: u64, big: bool, to: &mut [u8]) {
    let value = if big { value.swap_bytes() >> (64 - 8 * to.len()) } else { value };
    match to {
        [byte] => *byte = value as u8,
        [a, b] => [*a, *b] = (value as u16).to_le_bytes(),
        [a, b, c, d] => [*a, *b, *c, *d] = (value as u32).to_le_bytes(),
        [a, b, c, d, e, f, g, h] => [*a, *b, *c, *d, *e, *f, *g, *h] = value.to_le_bytes(),
        _ => to.iter_mut().zip(value.to_le_bytes()).for_each(|(to, byte)| *to = byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_returns_the_written_bits_and_unary_numbers() {
        let counts: Vec<u32> = (0..2000).map(|at: u32| at * 7 % 65).collect();
        let value = |at: usize, count: u32| {
            let noise = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            if count == 0 { 0 } else { noise >> (64 - count) }
        };
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        for (at, &count) in counts.iter().enumerate() {
            writer.write(value(at, count), count);
            writer.write_unary(at as u32 % 100);
        }
        writer.finish();
        let mut bits = BitReader::new(&bytes);
        for (at, &count) in counts.iter().enumerate() {
            assert_eq!(bits.read(count), Some(value(at, count)), "{count} bits");
            assert_eq!(bits.read_unary(), Some(at as u32 % 100));
        }
        assert_eq!((bits.read_unary(), bits.read(8)), (None, None));
    }

    #[test]
    fn peek_and_skip_consume_bits_up_to_the_end() {
        let mut bits = BitReader::new(&[0b1010_0000, 0xff, 0x01]);
        bits.need(20);
        assert_eq!((bits.peek(3), bits.skip(2), bits.peek(14)), (0b101, Some(()), 0b10_0000_1111_1111));
        assert_eq!((bits.skip(23), bits.skip(14), bits.peek(10)), (None, Some(()), 0b00_0000_0100));
        bits.need(20);
        assert_eq!((bits.skip(9), bits.read(8), bits.skip(1)), (None, Some(1), None));
    }

    #[test]
    fn numbers_of_one_to_eight_bytes_round_trip_in_both_byte_orders() {
        for len in 1..=8 {
            for big in [false, true] {
                let value = 0x8877_6655_4433_2211 & (u64::MAX >> (64 - 8 * len));
                let mut bytes = [0; 8];
                write_number(0x8877_6655_4433_2211, big, &mut bytes[..len]);
                assert_eq!(bytes[if big { len - 1 } else { 0 }], 0x11);
                assert_eq!(read_number(big, &bytes[..len]), value);
            }
        }
    }

    #[test]
    fn most_significant_bit_is_written_first() {
        let mut bytes = Vec::new();
        let mut writer = BitWriter::new(&mut bytes);
        writer.write(0b101, 3);
        writer.write(0x1ff, 9);
        writer.finish();
        assert_eq!(bytes, [0b1011_1111, 0b1111_0000]);
    }
}
