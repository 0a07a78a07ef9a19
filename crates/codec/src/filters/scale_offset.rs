//! Scale-offset (filter 6): the difference of each number from the minimum, in as few bits as the largest difference needs;
//! floats are first multiplied by a power of ten ("Scale-Offset Filter" of the HDF5 user guide).
//!
//! The encoded bytes are the number of bits (`minbits`, 4 bytes), the byte 8, the minimum (`minval`, 8 bytes), 8 zero
//! bytes, and the differences, most significant bit first. The fill value is encoded as all one bits. If the number of bits
//! is the size of the numbers, the numbers follow unchanged in little-endian order; HDF5 writes them in the byte order of
//! the machine, which a file does not record, so files of big-endian machines are misread. Floats are computed in their own
//! type, as in HDF5.

use ferrocdf_bytes::Result;

use super::bits::{BitReader, BitWriter, read_number, write_number};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

/// Number of parameters.
const PARAMS: usize = 20;
/// Size of the header in bytes.
const HEADER: usize = 21;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(6),
    names: &["scaleoffset"],
    new: |params, _| ScaleOffset::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

#[derive(Debug)]
pub struct ScaleOffset {
    kind: ScaleOffsetKind,
    /// Number of elements.
    count: usize,
    /// Size of a number in bytes: 1, 2, 4 or 8.
    size: usize,
    /// True if the byte order is big-endian.
    big: bool,
    /// Bits of the fill value, if there is one.
    fill: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ScaleOffsetKind {
    /// Integers with a fixed number of bits, or with as many bits as they need.
    Integer { signed: bool, bits: Option<u32> },
    /// Floats rounded to this number of decimal digits after the point.
    Float { digits: i32 },
    /// Integers with all their bits: the filter does not change the bytes.
    Unchanged,
}

impl ScaleOffset {
    pub fn new(params: &[u32]) -> Result<ScaleOffset> {
        let Some(&[scale, factor, count, class, size, sign, order, has_fill, low, high, ..]) =
            params.first_chunk::<PARAMS>()
        else {
            return Err(bad_params(format!("{} parameters instead of {PARAMS}", params.len())));
        };
        let factor = factor as i32;
        let kind = match (class, scale, size) {
            (0, 2, 1 | 2 | 4 | 8) if factor > size as i32 * 8 => {
                return Err(bad_params(format!("{factor} bits for numbers of {size} bytes: too many")));
            }
            (0, 2, 1 | 2 | 4 | 8) if factor == size as i32 * 8 => ScaleOffsetKind::Unchanged,
            (0, 2, 1 | 2 | 4 | 8) => ScaleOffsetKind::Integer {
                signed: sign != 0,
                bits: u32::try_from(factor).ok().filter(|&bits| bits > 0),
            },
            (1, 0, 4 | 8) => ScaleOffsetKind::Float { digits: factor },
            _ => {
                return Err(bad_params(format!(
                    "scale type {scale} is invalid for class {class} of {size} bytes"
                )));
            }
        };
        if order > 1 {
            return Err(bad_params(format!("invalid byte order {order}")));
        }
        let (count, size) = (count as usize, size as usize);
        if count.checked_mul(size).is_none() {
            return Err(bad_params(format!("{count} numbers of {size} bytes: too many")));
        }
        let fill = (u64::from(high) << 32 | u64::from(low)) & mask(size as u32 * 8);
        Ok(ScaleOffset { kind, count, size, big: order == 1, fill: (has_fill != 0).then_some(fill) })
    }

    fn all_bits(&self) -> u32 {
        self.size as u32 * 8
    }

    /// Reads differences of `bits` bits and stores the bits of the number that `value` returns for each.
    fn read(&self, bits: u32, from: &[u8], to: &mut [u8], value: impl Fn(u64) -> u64) -> Result<()> {
        let (fill, all_ones) = (self.fill, mask(bits));
        let mut from = BitReader::new(from);
        for to in to.chunks_exact_mut(self.size) {
            let Some(difference) = from.read(bits) else {
                return Err(corrupt("the encoded bytes end within a number"));
            };
            let value = match fill {
                Some(fill) if difference == all_ones => fill,
                _ => value(difference),
            };
            write_number(value, self.big, to);
        }
        Ok(())
    }

    /// Writes the header, and in `bits` bits each the differences that `difference` returns for the bits of each number.
    fn write(
        &self,
        bits: u32,
        min: u64,
        decoded: &[u8],
        encoded: &mut Vec<u8>,
        difference: impl Fn(u64) -> u64,
    ) {
        encoded.extend_from_slice(&bits.to_le_bytes());
        encoded.push(8);
        encoded.extend_from_slice(&min.to_le_bytes());
        encoded.resize(HEADER, 0);
        if bits == self.all_bits() {
            encoded.extend_from_slice(decoded);
            return self.swap_bytes(&mut encoded[HEADER..]);
        }
        if bits > 0 {
            let mut to = BitWriter::new(encoded);
            let numbers = decoded.chunks_exact(self.size);
            numbers.for_each(|from| to.write(difference(read_number(self.big, from)), bits));
            to.finish();
        }
        // Like HDF5, this counts the byte after the last full byte even if it has no bits.
        encoded.resize(HEADER + decoded.len() * bits as usize / self.all_bits() as usize + 1, 0);
    }

    /// Converts between little-endian order and the byte order of the numbers.
    fn swap_bytes(&self, numbers: &mut [u8]) {
        if self.big {
            numbers.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
        }
    }

    fn encode_integers(&self, signed: bool, bits: Option<u32>, decoded: &[u8], encoded: &mut Vec<u8>) {
        let all = self.all_bits();
        let value = |bits: u64| {
            if signed { ((bits << (64 - all)) as i64 >> (64 - all)) as i128 } else { bits.into() }
        };
        let (mut min, mut max) = (i128::MAX, i128::MIN);
        for from in decoded.chunks_exact(self.size) {
            let bits = read_number(self.big, from);
            if self.fill != Some(bits) {
                (min, max) = (min.min(value(bits)), max.max(value(bits)));
            }
        }
        if min > max {
            (min, max) = (0, 0);
        }
        let span = (max - min) as u128;
        let bits = bits.unwrap_or_else(|| match self.fill {
            _ if span > u128::from(mask(all)) - 2 => all,
            Some(_) => ceil_log2(span as u64 + 2),
            None => ceil_log2(span as u64 + 1),
        });
        let difference =
            |bits: u64| if self.fill == Some(bits) { u64::MAX } else { bits.wrapping_sub(min as u64) };
        self.write(bits, min as u64, decoded, encoded, difference);
    }
}

/// Operations on `f32` and `f64`, each in its own precision.
trait Float: Copy + PartialOrd {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    /// Returns a power of ten.
    fn ten_to(exponent: i32) -> Self;
    /// True if the number differs from the fill value by less than the last kept digit, so that it is encoded as fill value.
    fn is_fill(self, fill: Self, digits: i32) -> bool;
    /// Returns the scaled and rounded difference from `min`; `None` if a signed integer of the same size cannot hold it.
    fn difference(self, min: Self, scale: Self) -> Option<u64>;
    /// Inverse of `difference`.
    fn from_difference(difference: u64, scale: Self, min: Self) -> Self;
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($float:ident, $bits:ident, $signed:ident) => {
        impl Float for $float {
            fn from_bits(bits: u64) -> Self {
                $float::from_bits(bits as $bits)
            }
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
            fn ten_to(exponent: i32) -> Self {
                (10.0 as $float).powf(exponent as $float)
            }
            fn is_fill(self, fill: Self, digits: i32) -> bool {
                (self - fill).abs() < Self::ten_to(digits.saturating_neg())
            }
            fn difference(self, min: Self, scale: Self) -> Option<u64> {
                let rounded = (self * scale - min * scale).round();
                (rounded >= 0.0 && rounded < $signed::MAX as $float).then_some(rounded as u64)
            }
            fn from_difference(difference: u64, scale: Self, min: Self) -> Self {
                difference as $signed as $float / scale + min
            }
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
        }
    };
}

float!(f32, u32, i32);
float!(f64, u64, i64);

impl ScaleOffset {
    fn encode_floats<F: Float>(&self, digits: i32, decoded: &[u8], encoded: &mut Vec<u8>) {
        let numbers =
            || decoded.chunks_exact(self.size).map(|from| F::from_bits(read_number(self.big, from)));
        let fill = self.fill.map(F::from_bits);
        let is_fill = |number: F| fill.is_some_and(|fill| number.is_fill(fill, digits));
        let scale = F::ten_to(digits);
        let mut range: Option<(F, F)> = None;
        let mut finite = true;
        for number in numbers().filter(|&number| !is_fill(number)) {
            finite &= number.is_finite();
            range = Some(match range {
                Some((min, max)) if number < min => (number, max),
                Some((min, max)) if number > max => (min, number),
                Some(range) => range,
                None => (number, number),
            });
        }
        let zero = F::from_bits(0);
        let (min, max) = range.unwrap_or((zero, zero));
        // Numbers that cannot be scaled are stored with all their bits, which decoders accept.
        let span = max.difference(min, scale).filter(|_| finite);
        let bits = match (span, fill) {
            (Some(span), Some(_)) => ceil_log2(span + 2),
            (Some(span), None) => ceil_log2(span + 1),
            (None, _) => self.all_bits(),
        };
        let bits = bits.min(self.all_bits());
        let difference = |bits: u64| match F::from_bits(bits) {
            number if is_fill(number) => u64::MAX,
            number => number.difference(min, scale).unwrap_or(0),
        };
        self.write(bits, min.bits(), decoded, encoded, difference);
    }

    fn read_floats<F: Float>(
        &self,
        bits: u32,
        digits: i32,
        min: u64,
        from: &[u8],
        to: &mut [u8],
    ) -> Result<()> {
        let (scale, min) = (F::ten_to(digits), F::from_bits(min));
        self.read(bits, from, to, |difference| F::from_difference(difference, scale, min).bits())
    }
}

impl SliceCodec for ScaleOffset {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        if self.kind == ScaleOffsetKind::Unchanged {
            return Ok(Some(encoded.len()));
        }
        let short =
            || corrupt(format!("{} encoded bytes are too few for {} numbers", encoded.len(), self.count));
        let (header, data) = encoded.split_at_checked(HEADER).ok_or_else(short)?;
        let bits = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        if bits > self.all_bits() {
            return Err(corrupt(format!("header: {bits} bits for numbers of {} bytes", self.size)));
        }
        if (self.count as u64 * u64::from(bits)).div_ceil(8) > data.len() as u64 {
            return Err(short());
        }
        Ok(Some(self.count * self.size))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len = decoded.len();
        if self.kind == ScaleOffsetKind::Unchanged {
            decoded.copy_from_slice(encoded);
            return Ok(Some(len));
        }
        let Some((&[a, b, c, d, size, ref rest @ ..], data)) = encoded.split_first_chunk::<HEADER>() else {
            return Err(corrupt(format!("{} bytes: shorter than the header of {HEADER}", encoded.len())));
        };
        let bits = u32::from_le_bytes([a, b, c, d]);
        let min = read_number(false, &rest[..usize::from(size).min(8)]);
        match self.kind {
            _ if bits == self.all_bits() => {
                decoded.copy_from_slice(&data[..len]);
                self.swap_bytes(decoded);
            }
            ScaleOffsetKind::Float { digits } if self.size == 4 => {
                self.read_floats::<f32>(bits, digits, min, data, decoded)?
            }
            ScaleOffsetKind::Float { digits } => self.read_floats::<f64>(bits, digits, min, data, decoded)?,
            _ => self.read(bits, data, decoded, |difference| difference.wrapping_add(min))?,
        }
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if self.kind == ScaleOffsetKind::Unchanged {
            encoded.extend_from_slice(decoded);
            return Ok(Some(()));
        }
        if decoded.len() != self.count * self.size {
            return Err(bad_params(format!(
                "the parameters are for {} numbers of {} bytes, but the chunk has {} bytes",
                self.count,
                self.size,
                decoded.len()
            )));
        }
        match self.kind {
            ScaleOffsetKind::Float { digits } if self.size == 4 => {
                self.encode_floats::<f32>(digits, decoded, encoded)
            }
            ScaleOffsetKind::Float { digits } => self.encode_floats::<f64>(digits, decoded, encoded),
            ScaleOffsetKind::Integer { signed, bits } => self.encode_integers(signed, bits, decoded, encoded),
            ScaleOffsetKind::Unchanged => {}
        }
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        // Equal numbers have differences of 0 bits.
        if self.kind == ScaleOffsetKind::Unchanged { encoded } else { self.count * self.size }
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        (self.kind == ScaleOffsetKind::Unchanged).then_some(decoded)
    }
}

/// Returns a mask of the low `bits` bits.
fn mask(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits.min(64)) }
}

/// Returns the number of bits that can represent this number of values.
fn ceil_log2(values: u64) -> u32 {
    64 - (values - 1).leading_zeros()
}
