//! The codes of symbols: their lengths as a block stores them, and a table that finds the symbol of the next bits.
//!
//! The codes of one length follow each other, and those of the next length follow them. Lengths that leave codes over, or
//! that want more codes than there are, are no fault by themselves, as in libbz2: only bits that have no symbol are.

use ferrocdf_bytes::Result;

use super::super::bits::Bits;
use super::broken;

/// The bytes, the two digits of a run less the byte in front, which has no symbol, and the end.
pub const MOST_SYMBOLS: usize = 258;

/// The bits of the longest code.
const LONGEST: usize = 20;

/// Codes up to this many bits are looked up.
const QUICK: u32 = 10;

/// The low bits of an entry that hold the length of the code, below the symbol.
const LENGTH: u32 = 5;

/// Finds symbols by their codes.
pub struct Table {
    /// By the next bits, the symbol and the length of its code; zero if that is longer or there is none.
    quick: [u16; 1 << QUICK],
    /// By length, the end of the codes of this length and all shorter ones, as 20 bits from the top.
    ends: [u32; LONGEST + 1],
    /// By length, what is added to a code for its place in `symbols`, as a wrapping number.
    search_path: [u32; LONGEST + 1],
    /// Ordered by their codes.
    symbols: [u16; MOST_SYMBOLS],
}

impl Table {
    /// A table without a code.
    pub fn new() -> Table {
        Table {
            quick: [0; 1 << QUICK],
            ends: [0; LONGEST + 1],
            search_path: [0; LONGEST + 1],
            symbols: [0; MOST_SYMBOLS],
        }
    }

    /// Reads the lengths of the codes of that many symbols, at most [`MOST_SYMBOLS`], and makes the table of them.
    pub fn read(&mut self, bits: &mut Bits, symbols: usize) -> Result<()> {
        let mut lengths = [0u8; MOST_SYMBOLS];
        let lengths = &mut lengths[..symbols];
        read_lengths(bits, lengths)?;
        self.fill(lengths);
        Ok(())
    }

    fn fill(&mut self, lengths: &[u8]) {
        self.quick.fill(0);
        let (mut end, mut ordered) = (0u32, 0);
        for length in 1..=LONGEST {
            let first = end << 1;
            self.search_path[length] = (ordered as u32).wrapping_sub(first);
            end = first;
            for (symbol, _) in lengths.iter().enumerate().filter(|&(_, &is)| usize::from(is) == length) {
                self.symbols[ordered] = symbol as u16;
                ordered += 1;
                if let Some(spare) = QUICK.checked_sub(length as u32)
                    && let Some(same) =
                        self.quick.get_mut((end as usize) << spare..(end as usize + 1) << spare)
                {
                    same.fill((symbol << LENGTH | length) as u16);
                }
                end += 1;
            }
            // At most 258 codes of each length, so that this is far from the end of numbers.
            self.ends[length] = end << (LONGEST - length);
        }
    }

    /// The symbol of the next bits, which are taken; `None` if there is none, or the encoded bytes end before.
    #[inline(always)]
    pub fn next(&self, bits: &mut Bits) -> Option<u16> {
        bits.need(LONGEST as u32);
        let entry = self.quick[bits.peek(QUICK) as usize];
        if entry != 0 {
            bits.skip(u32::from(entry) & ((1 << LENGTH) - 1))?;
            return Some(entry >> LENGTH);
        }
        self.next_long(bits)
    }

    #[cold]
    fn next_long(&self, bits: &mut Bits) -> Option<u16> {
        let code = bits.peek(LONGEST as u32) as u32;
        let length = (QUICK as usize + 1..=LONGEST).find(|&length| code < self.ends[length])?;
        let place = (code >> (LONGEST - length)).wrapping_add(self.search_path[length]);
        bits.skip(length as u32)?;
        self.symbols.get(place as usize).copied()
    }
}

/// The first length is encoded, and of each the steps from the one before it.
fn read_lengths(bits: &mut Bits, lengths: &mut [u8]) -> Result<()> {
    let mut length = bits.read_word(5).ok_or_else(|| broken("ends in its codes"))?;
    for encoded in lengths {
        loop {
            if !(1..=LONGEST as u64).contains(&length) {
                return Err(broken(format!("has a code of {length} bits")));
            }
            bits.need(2);
            let (step, count) = match bits.peek(2) {
                0 | 1 => (None, 1),
                2 => (Some(length + 1), 2),
                _ => (Some(length - 1), 2),
            };
            bits.skip(count).ok_or_else(|| broken("ends in its codes"))?;
            match step {
                Some(next) => length = next,
                None => break,
            }
        }
        *encoded = length as u8;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What libbz2 finds: the first length whose last code is not below the bits.
    fn slow(lengths: &[u8], code: u32) -> Option<(u16, u32)> {
        let (mut end, mut symbols) = (0u32, Vec::new());
        for length in 1..=LONGEST as u32 {
            end <<= 1;
            let of_length = lengths.iter().enumerate().filter(|&(_, &is)| u32::from(is) == length);
            let before = symbols.len() as u32;
            symbols.extend(of_length.map(|(symbol, _)| symbol as u16));
            let first = end;
            end += symbols.len() as u32 - before;
            let bits = code >> (LONGEST as u32 - length);
            if bits < end && end > first {
                return Some((symbols[(before + bits - first) as usize], length));
            }
        }
        None
    }

    #[test]
    fn symbols_are_those_of_their_codes() {
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
            for code in (0..1u32 << LONGEST).step_by(37).chain([(1 << LONGEST) - 1]) {
                let bytes = (code << (32 - LONGEST)).to_be_bytes();
                let mut bits = Bits::new(&bytes);
                let found = table.next(&mut bits);
                let wanted = slow(lengths, code);
                assert_eq!(found, wanted.map(|(symbol, _)| symbol), "{code:020b} of {lengths:?}");
                if let Some((_, length)) = wanted {
                    assert_eq!(bits.read(32 - length), Some(u64::from(code << 12 << length >> length)));
                }
            }
        }
    }
}
