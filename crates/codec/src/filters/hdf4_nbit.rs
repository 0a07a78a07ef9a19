//! HDF4 n-bit: a range of bits of each number, one behind the other, the most significant bit first (`cnbit.c` of HDF4).
//!
//! The parameters are the size of a number in bytes, flags for "extend the sign" and "fill with ones", the first (most significant)
//! bit of the range, counted from the least significant one, and the number of bits. A number is taken as big-endian, whatever the
//! dataset says.

use ferrocdf_bytes::Result;

use super::bits::{BitReader, BitWriter, read_number};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;
use crate::stream::{Progress, StreamDecoder};

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("hdf4_nbit"),
    names: &["hdf4_nbit"],
    new: |params, _| Hdf4Nbit::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

#[derive(Clone, Debug)]
struct Hdf4Nbit {
    /// Size of a number in bytes, 1 to 8.
    size: usize,
    /// Number of bits that are stored, 1 to `8 * size`.
    bits: u32,
    /// Number of bits below them.
    shift: u32,
    /// What the other bits are.
    fill: u64,
    /// The bits above the stored ones, if they repeat the first stored one; else none.
    sign: u64,
}

impl Hdf4Nbit {
    /// Returns the number whose stored bits are these.
    fn number(&self, stored: u64) -> u64 {
        let value = stored << self.shift | self.fill;
        match self.sign {
            0 => value,
            sign if stored >> (self.bits - 1) & 1 != 0 => value | sign,
            sign => value & !sign,
        }
    }

    fn new(params: &[u32]) -> Result<Hdf4Nbit> {
        let &[size, sign_extends, fills_with_ones, first, bits] = params else {
            return Err(bad_params(format!("hdf4_nbit: {} parameters instead of 5", params.len())));
        };
        if !(1..=8).contains(&size) || first >= 8 * size || bits == 0 || bits > first + 1 {
            return Err(bad_params(format!(
                "hdf4_nbit: {bits} bits from bit {first} on in numbers of {size} bytes"
            )));
        }
        let shift = first + 1 - bits;
        let stored = u64::MAX >> (64 - bits) << shift;
        let above = (u64::MAX << first) << 1;
        Ok(Hdf4Nbit {
            size: size as usize,
            bits,
            shift,
            fill: if fills_with_ones == 1 { !stored } else { 0 },
            sign: if sign_extends != 0 { above } else { 0 },
        })
    }
}

/// A decoder between two bytes.
#[derive(Clone, Debug)]
struct Numbers {
    nbit: Hdf4Nbit,
    /// Bits of the first encoded byte that are consumed.
    bit: u32,
    /// The number that is decoded in part: how many of its bytes, the last ones, are to come.
    split: [u8; 8],
    left: usize,
}

impl Numbers {
    /// Writes what is left of a number to the front of `to`; returns how many bytes fit.
    fn finish_number(&mut self, to: &mut [u8]) -> usize {
        let fits = self.left.min(to.len());
        to[..fits].copy_from_slice(&self.split[8 - self.left..][..fits]);
        self.left -= fits;
        fits
    }
}

impl StreamDecoder for Numbers {
    fn decode(&mut self, encoded: &[u8], is_last: bool, decoded: &mut [u8]) -> Result<Progress> {
        let size = self.nbit.size;
        let mut written = self.finish_number(decoded);
        let Some(mut bits) = BitReader::from_bit(encoded, self.bit) else {
            return Ok(Progress { written, ..Progress::default() });
        };
        let wanted = (decoded.len() - written).div_ceil(size);
        let available = (8 * encoded.len() - self.bit as usize) / self.nbit.bits as usize;
        if available < wanted && is_last {
            return Err(corrupt("stream ends early"));
        }
        for number in decoded[written..].chunks_mut(size).take(available) {
            let Some(stored) = bits.read(self.nbit.bits) else { break };
            self.split = self.nbit.number(stored).to_be_bytes();
            number.copy_from_slice(&self.split[8 - size..][..number.len()]);
            // A number may be cut by the end of `decoded`.
            self.left = size - number.len();
            written += number.len();
        }
        let (taken, bit) = bits.position(encoded);
        self.bit = bit;
        Ok(Progress { taken, written, is_end: false })
    }

    fn fork(&self) -> Box<dyn StreamDecoder> {
        Box::new(self.clone())
    }

    fn memory(&self) -> usize {
        size_of::<Self>()
    }

    fn seek(&self, position: u64) -> Option<(u64, Box<dyn StreamDecoder>)> {
        let size = self.nbit.size as u64;
        if !position.is_multiple_of(size) {
            return None;
        }
        let bit = (position / size).checked_mul(self.nbit.bits.into())?;
        Some((bit / 8, Box::new(Numbers { bit: (bit % 8) as u32, left: 0, ..self.clone() })))
    }
}

impl SliceCodec for Hdf4Nbit {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let numbers = decoded.len().div_ceil(self.size) as u64;
        let needed = numbers.saturating_mul(self.bits.into()).div_ceil(8);
        if needed > encoded.len() as u64 {
            return Err(corrupt(format!(
                "{numbers} numbers need {needed} bytes instead of {}",
                encoded.len()
            )));
        }
        let mut numbers = Numbers { nbit: self.clone(), bit: 0, split: [0; 8], left: 0 };
        numbers.decode(encoded, true, decoded).map(|done| Some(done.written))
    }

    fn stream(&self, _len: u64) -> Option<Box<dyn StreamDecoder>> {
        Some(Box::new(Numbers { nbit: self.clone(), bit: 0, split: [0; 8], left: 0 }))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if !decoded.len().is_multiple_of(self.size) {
            return Ok(None);
        }
        let mut bits = BitWriter::new(encoded);
        for number in decoded.chunks_exact(self.size) {
            let stored = read_number(true, number) >> self.shift & (u64::MAX >> (64 - self.bits));
            // A word has up to 32 bits.
            if self.bits > 32 {
                bits.write_word(stored >> 32, self.bits - 32);
            }
            bits.write_word(stored & u64::from(u32::MAX), self.bits.min(32));
        }
        bits.finish();
        // Numbers that other bits make another number of are not encoded.
        let mut again = vec![0; decoded.len()];
        self.decode(encoded, &mut again)?;
        Ok((again == decoded).then_some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        let numbers = encoded.saturating_mul(8) / self.bits as usize;
        numbers.saturating_mul(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_outside_the_range_are_filled_or_repeat_the_sign() {
        // Bits 4 to 1 of numbers of 16 bits: 1010 and 0101.
        let decode = |sign, ones| {
            let nbit = Hdf4Nbit::new(&[2, sign, ones, 4, 4]).unwrap();
            let mut numbers = [0; 4];
            nbit.decode(&[0b1010_0101], &mut numbers).unwrap();
            [u16::from_be_bytes([numbers[0], numbers[1]]), u16::from_be_bytes([numbers[2], numbers[3]])]
        };
        assert_eq!(decode(0, 0), [0b1_0100, 0b0_1010]);
        assert_eq!(decode(0, 1), [0xffe0 | 0b1_0101, 0xffe0 | 0b0_1011]);
        assert_eq!(decode(1, 0), [0xffe0 | 0b1_0100, 0b0_1010]);
        assert_eq!(decode(1, 1), [0xffe0 | 0b1_0101, 0b0_1011]);
    }

    #[test]
    fn numbers_come_back_and_bad_parameters_are_refused() {
        let nbit = Hdf4Nbit::new(&[4, 1, 0, 20, 21]).unwrap();
        let numbers: Vec<u8> = (-50i32..50).flat_map(|number| (number * 9973).to_be_bytes()).collect();
        let (mut encoded, mut again) = (vec![], vec![0; numbers.len()]);
        assert!(nbit.encode(&numbers, &mut encoded).unwrap().is_some());
        assert_eq!(encoded.len(), (100 * 21usize).div_ceil(8));
        nbit.decode(&encoded, &mut again).unwrap();
        assert_eq!(again, numbers);
        assert!(nbit.decode(&encoded[1..], &mut again).is_err());
        let mut whole = [0; 8];
        Hdf4Nbit::new(&[8, 0, 0, 63, 64]).unwrap().decode(&[1, 2, 3, 4, 5, 6, 7, 8], &mut whole).unwrap();
        assert_eq!(whole, [1, 2, 3, 4, 5, 6, 7, 8]);
        for bad in [[0, 0, 0, 0, 1], [9, 0, 0, 0, 1], [4, 0, 0, 32, 1], [4, 0, 0, 3, 5], [4, 0, 0, 3, 0]] {
            assert!(Hdf4Nbit::new(&bad).is_err(), "{bad:?}");
        }
    }
}
