//! Canonical Huffman codes: the code lengths that a block stores, and a table that finds the symbol of the next bits.
//!
//! The codes of one length are consecutive, followed by the codes of the next length. As in libbz2, lengths that leave codes
//! unused, or that need more codes than exist, are not an error; only bits that match no code are.

use ferrocdf_bytes::{Result, ToUsize};

use super::super::bits::BitReader;
use super::bad_block;

/// Maximum number of symbols: the two run digits, 255 positions of bytes other than the first, and the end of the block.
pub const MAX_SYMBOLS: usize = 258;

/// Maximum length of a code in bits.
const MAX_LENGTH: usize = 20;

/// Maximum length of the codes in the lookup table, in bits.
const LOOKUP_BITS: u32 = 10;

/// Number of low bits of a lookup entry that contain the code length; the symbol is above them.
const LENGTH_BITS: u32 = 5;

/// Decoding table.
pub struct Table {
    /// Symbol and code length by the next [`LOOKUP_BITS`] bits; 0 if the code is longer or invalid.
    lookup: [u16; 1 << LOOKUP_BITS],
    /// By length, the end of the codes of this length and all shorter ones, left-aligned in 20 bits.
    ends: [u32; MAX_LENGTH + 1],
    /// By length, the number to be added to a code to get its index in `symbols`, modulo 2^32.
    offsets: [u32; MAX_LENGTH + 1],
    /// Symbols, ordered by their codes.
    symbols: [u16; MAX_SYMBOLS],
}

impl Table {
    /// Creates a table without codes.
    pub fn new() -> Table {
        Table {
            lookup: [0; 1 << LOOKUP_BITS],
            ends: [0; MAX_LENGTH + 1],
            offsets: [0; MAX_LENGTH + 1],
            symbols: [0; MAX_SYMBOLS],
        }
    }

    /// Reads the code lengths of `symbols` symbols, at most [`MAX_SYMBOLS`], and fills the table from them.
    pub fn read(&mut self, bits: &mut BitReader, symbols: usize) -> Result<()> {
        let mut lengths = [0u8; MAX_SYMBOLS];
        let lengths = &mut lengths[..symbols];
        read_lengths(bits, lengths)?;
        self.fill(lengths);
        Ok(())
    }

    fn fill(&mut self, lengths: &[u8]) {
        self.lookup.fill(0);
        let (mut end, mut ordered) = (0u32, 0);
        for length in 1..=MAX_LENGTH {
            let first = end << 1;
            self.offsets[length] = (ordered as u32).wrapping_sub(first);
            end = first;
            for (symbol, _) in lengths.iter().enumerate().filter(|&(_, &is)| usize::from(is) == length) {
                self.symbols[ordered] = symbol as u16;
                ordered += 1;
                if let Some(spare) = LOOKUP_BITS.checked_sub(length as u32)
                    && let Some(same) =
                        self.lookup.get_mut((end as usize) << spare..(end as usize + 1) << spare)
                {
                    same.fill((symbol << LENGTH_BITS | length) as u16);
                }
                end += 1;
            }
            // With at most 258 codes of each length, this cannot overflow.
            self.ends[length] = end << (MAX_LENGTH - length);
        }
    }

    /// Reads a code and returns its symbol; `None` if the code is invalid or the encoded bytes end within it.
    #[inline(always)]
    pub fn next(&self, bits: &mut BitReader) -> Option<u16> {
        bits.need(MAX_LENGTH as u32);
        let entry = self.lookup[bits.peek(LOOKUP_BITS).saturate()];
        if entry != 0 {
            bits.skip(u32::from(entry) & ((1 << LENGTH_BITS) - 1))?;
            return Some(entry >> LENGTH_BITS);
        }
        self.next_long(bits)
    }

    #[cold]
    fn next_long(&self, bits: &mut BitReader) -> Option<u16> {
        let code = bits.peek(MAX_LENGTH as u32) as u32;
        let length = (LOOKUP_BITS as usize + 1..=MAX_LENGTH).find(|&length| code < self.ends[length])?;
        let index = (code >> (MAX_LENGTH - length)).wrapping_add(self.offsets[length]);
        bits.skip(length as u32)?;
        self.symbols.get(index as usize).copied()
    }
}

/// Reads code lengths: the first one is stored, then for each symbol its difference from the previous length in steps of
/// one.
fn read_lengths(bits: &mut BitReader, lengths: &mut [u8]) -> Result<()> {
    let mut length = bits.read_word(5).ok_or_else(|| bad_block("ends within its code lengths"))?;
    for result in lengths {
        loop {
            if !(1..=MAX_LENGTH as u64).contains(&length) {
                return Err(bad_block(format!("has a code of {length} bits (1 to {MAX_LENGTH} are valid)")));
            }
            bits.need(2);
            let (step, count) = match bits.peek(2) {
                0 | 1 => (None, 1),
                2 => (Some(length + 1), 2),
                _ => (Some(length - 1), 2),
            };
            bits.skip(count).ok_or_else(|| bad_block("ends within its code lengths"))?;
            match step {
                Some(next) => length = next,
                None => break,
            }
        }
        *result = length as u8;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds a symbol and the length of its code as libbz2 does: by the first length whose last code is not below the bits.
    fn by_search(lengths: &[u8], code: u32) -> Option<(u16, u32)> {
        let (mut end, mut symbols) = (0u32, Vec::new());
        for length in 1..=MAX_LENGTH as u32 {
            end <<= 1;
            let of_length = lengths.iter().enumerate().filter(|&(_, &is)| u32::from(is) == length);
            let before = symbols.len() as u32;
            symbols.extend(of_length.map(|(symbol, _)| symbol as u16));
            let first = end;
            end += symbols.len() as u32 - before;
            let bits = code >> (MAX_LENGTH as u32 - length);
            if bits < end && end > first {
                return Some((symbols[(before + bits - first) as usize], length));
            }
        }
        None
    }

    #[test]
    fn table_finds_the_same_symbols_as_a_search() {
        let sets: [&[u8]; 5] = [
            &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 20],
            &[3, 3, 5, 12, 12, 14, 4],
            &[2, 2, 2, 2, 2, 3, 11, 12],
            &[11; 258],
            &[5, 10, 11, 5, 20, 20, 9],
        ];
        for lengths in sets {
            let mut table = Table::new();
            table.fill(lengths);
            for code in (0..1u32 << MAX_LENGTH).step_by(37).chain([(1 << MAX_LENGTH) - 1]) {
                let bytes = (code << (32 - MAX_LENGTH)).to_be_bytes();
                let mut bits = BitReader::new(&bytes);
                let found = table.next(&mut bits);
                let expected = by_search(lengths, code);
                assert_eq!(found, expected.map(|(symbol, _)| symbol), "{code:020b} of {lengths:?}");
                if let Some((_, length)) = expected {
                    assert_eq!(bits.read(32 - length), Some(u64::from(code << 12 << length >> length)));
                }
            }
        }
    }
}
