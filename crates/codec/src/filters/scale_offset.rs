//! Scale-offset (filter 6): how far each number is above the smallest one, in as few bits as the largest needs; floating
//! numbers are scaled by a power of ten first ("Scale-Offset Filter" of the HDF5 user guide).
//!
//! Stored is the count of bits in four bytes, a byte that says 8, the smallest number in 8 bytes, 8 bytes of zero, and the
//! bits, the highest first. A number that is the fill value has all bits set. With as many bits as the numbers have, they
//! are encoded as they are in little-endian order: HDF5 leaves them in the order of the machine that wrote them, and
//! big-endian machines are not told apart. Floating numbers are computed in their own type, as HDF5 does.

use ferrocdf_bytes::Result;

use super::bits::{Bits, Writer, get, put};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::registry::Entry;

const PARAMS: usize = 20;
const HEADER: usize = 21;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::Hdf5(6),
    names: &["scaleoffset"],
    make: |params, _| ScaleOffset::new(params).map(boxed),
    derive: None,
    numcodecs: None,
    zarr_v3: None,
};

#[derive(Debug)]
pub struct ScaleOffset {
    kind: Kind,
    count: usize,
    /// Bytes of a number: 1, 2, 4 or 8.
    size: usize,
    big: bool,
    /// The bits of the fill value, if there is one.
    fill: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Integers in this many bits, or in as many as are needed.
    Integer { signed: bool, bits: Option<u32> },
    /// Floating numbers with this many decimal digits after the point.
    Float { digits: i32 },
    /// Integers that keep all their bits: nothing is done.
    Plain,
}

impl ScaleOffset {
    pub fn new(params: &[u32]) -> Result<ScaleOffset> {
        let Some(&[scale, factor, count, class, size, sign, order, has_fill, low, high, ..]) =
            params.first_chunk::<PARAMS>()
        else {
            return Err(bad_params(format!("{} parameters and not {PARAMS}", params.len())));
        };
        let factor = factor as i32;
        let kind = match (class, scale, size) {
            (0, 2, 1 | 2 | 4 | 8) if factor > size as i32 * 8 => {
                return Err(bad_params(format!("{factor} bits for numbers of {size} bytes")));
            }
            (0, 2, 1 | 2 | 4 | 8) if factor == size as i32 * 8 => Kind::Plain,
            (0, 2, 1 | 2 | 4 | 8) => {
                Kind::Integer { signed: sign != 0, bits: u32::try_from(factor).ok().filter(|&bits| bits > 0) }
            }
            (1, 0, 4 | 8) => Kind::Float { digits: factor },
            _ => {
                return Err(bad_params(format!(
                    "there is no scale type {scale} for class {class} of {size} bytes"
                )));
            }
        };
        if order > 1 {
            return Err(bad_params(format!("there is no byte order {order}")));
        }
        let (count, size) = (count as usize, size as usize);
        if count.checked_mul(size).is_none() {
            return Err(bad_params(format!("{count} numbers of {size} bytes are too many")));
        }
        let fill = (u64::from(high) << 32 | u64::from(low)) & mask(size as u32 * 8);
        Ok(ScaleOffset { kind, count, size, big: order == 1, fill: (has_fill != 0).then_some(fill) })
    }

    fn all_bits(&self) -> u32 {
        self.size as u32 * 8
    }

    /// Reads numbers of `bits` bits and puts what `decoded` makes of each.
    fn read(&self, bits: u32, from: &[u8], to: &mut [u8], decoded: impl Fn(u64) -> u64) -> Result<()> {
        let (fill, full) = (self.fill, mask(bits));
        let mut from = Bits::new(from);
        for to in to.chunks_exact_mut(self.size) {
            let Some(raw) = from.read(bits) else {
                return Err(corrupt("the bits end within a number"));
            };
            let value = match fill {
                Some(fill) if raw == full => fill,
                _ => decoded(raw),
            };
            put(value, self.big, to);
        }
        Ok(())
    }

    fn write(
        &self,
        bits: u32,
        smallest: u64,
        decoded: &[u8],
        encoded: &mut Vec<u8>,
        raw: impl Fn(u64) -> u64,
    ) {
        encoded.extend_from_slice(&bits.to_le_bytes());
        encoded.push(8);
        encoded.extend_from_slice(&smallest.to_le_bytes());
        encoded.resize(HEADER, 0);
        if bits == self.all_bits() {
            encoded.extend_from_slice(decoded);
            return self.swap(&mut encoded[HEADER..]);
        }
        if bits > 0 {
            let mut to = Writer::new(encoded);
            decoded.chunks_exact(self.size).for_each(|from| to.write(raw(get(self.big, from)), bits));
            to.finish();
        }
        // HDF5 counts the byte after the last bit even where it has no bit.
        encoded.resize(HEADER + decoded.len() * bits as usize / self.all_bits() as usize + 1, 0);
    }

    /// From little-endian order to that of the numbers, and back.
    fn swap(&self, numbers: &mut [u8]) {
        if self.big {
            numbers.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
        }
    }

    fn encode_integers(&self, signed: bool, bits: Option<u32>, decoded: &[u8], encoded: &mut Vec<u8>) {
        let all = self.all_bits();
        let value =
            |raw: u64| if signed { ((raw << (64 - all)) as i64 >> (64 - all)) as i128 } else { raw.into() };
        let (mut low, mut high) = (i128::MAX, i128::MIN);
        for from in decoded.chunks_exact(self.size) {
            let raw = get(self.big, from);
            if self.fill != Some(raw) {
                (low, high) = (low.min(value(raw)), high.max(value(raw)));
            }
        }
        if low > high {
            (low, high) = (0, 0);
        }
        let span = (high - low) as u128;
        let bits = bits.unwrap_or_else(|| match self.fill {
            _ if span > u128::from(mask(all)) - 2 => all,
            Some(_) => ceil_log2(span as u64 + 2),
            None => ceil_log2(span as u64 + 1),
        });
        let raw = |raw: u64| if self.fill == Some(raw) { u64::MAX } else { raw.wrapping_sub(low as u64) };
        self.write(bits, low as u64, decoded, encoded, raw);
    }
}

/// What differs between the two floating types.
trait Float: Copy + PartialOrd {
    fn from_bits(bits: u64) -> Self;
    fn bits(self) -> u64;
    fn ten_to(power: i32) -> Self;
    /// Whether the fill value is so near that it is meant.
    fn is_near(self, fill: Self, digits: i32) -> bool;
    /// How far this is above the smallest, scaled and rounded; `None` if that is no number of `SPAN` bits.
    fn above(self, smallest: Self, scale: Self) -> Option<u64>;
    fn back(raw: u64, scale: Self, smallest: Self) -> Self;
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
            fn ten_to(power: i32) -> Self {
                (10.0 as $float).powf(power as $float)
            }
            fn is_near(self, fill: Self, digits: i32) -> bool {
                (self - fill).abs() < Self::ten_to(digits.saturating_neg())
            }
            fn above(self, smallest: Self, scale: Self) -> Option<u64> {
                let steps = (self * scale - smallest * scale).round();
                (steps >= 0.0 && steps < $signed::MAX as $float).then_some(steps as u64)
            }
            fn back(raw: u64, scale: Self, smallest: Self) -> Self {
                raw as $signed as $float / scale + smallest
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
        let numbers = || decoded.chunks_exact(self.size).map(|from| F::from_bits(get(self.big, from)));
        let fill = self.fill.map(F::from_bits);
        let is_fill = |number: F| fill.is_some_and(|fill| number.is_near(fill, digits));
        let scale = F::ten_to(digits);
        let mut range: Option<(F, F)> = None;
        let mut finite = true;
        for number in numbers().filter(|&number| !is_fill(number)) {
            finite &= number.is_finite();
            range = Some(match range {
                Some((low, high)) if number < low => (number, high),
                Some((low, high)) if number > high => (low, number),
                Some(range) => range,
                None => (number, number),
            });
        }
        let zero = F::from_bits(0);
        let (low, high) = range.unwrap_or((zero, zero));
        // Numbers that no scale fits keep all their bits, which decoders take.
        let span = high.above(low, scale).filter(|_| finite);
        let bits = match (span, fill) {
            (Some(span), Some(_)) => ceil_log2(span + 2),
            (Some(span), None) => ceil_log2(span + 1),
            (None, _) => self.all_bits(),
        };
        let bits = bits.min(self.all_bits());
        let raw = |raw: u64| match F::from_bits(raw) {
            number if is_fill(number) => u64::MAX,
            number => number.above(low, scale).unwrap_or(0),
        };
        self.write(bits, low.bits(), decoded, encoded, raw);
    }

    fn read_floats<F: Float>(
        &self,
        bits: u32,
        digits: i32,
        low: u64,
        from: &[u8],
        to: &mut [u8],
    ) -> Result<()> {
        let (scale, low) = (F::ten_to(digits), F::from_bits(low));
        self.read(bits, from, to, |raw| F::back(raw, scale, low).bits())
    }
}

impl SliceCodec for ScaleOffset {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        if self.kind == Kind::Plain {
            return Ok(Some(encoded.len()));
        }
        let short = || corrupt(format!("{} stored bytes do not hold {} numbers", encoded.len(), self.count));
        let (header, data) = encoded.split_at_checked(HEADER).ok_or_else(short)?;
        let bits = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        if bits > self.all_bits() {
            return Err(corrupt(format!("{bits} bits for numbers of {} bytes", self.size)));
        }
        if (self.count as u64 * u64::from(bits)).div_ceil(8) > data.len() as u64 {
            return Err(short());
        }
        Ok(Some(self.count * self.size))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len = decoded.len();
        if self.kind == Kind::Plain {
            decoded.copy_from_slice(encoded);
            return Ok(Some(len));
        }
        let Some((&[a, b, c, d, size, ref rest @ ..], data)) = encoded.split_first_chunk::<HEADER>() else {
            return Err(corrupt("there is no header"));
        };
        let bits = u32::from_le_bytes([a, b, c, d]);
        let low = get(false, &rest[..usize::from(size).min(8)]);
        match self.kind {
            _ if bits == self.all_bits() => {
                decoded.copy_from_slice(&data[..len]);
                self.swap(decoded);
            }
            Kind::Float { digits } if self.size == 4 => {
                self.read_floats::<f32>(bits, digits, low, data, decoded)?
            }
            Kind::Float { digits } => self.read_floats::<f64>(bits, digits, low, data, decoded)?,
            _ => self.read(bits, data, decoded, |raw| raw.wrapping_add(low))?,
        }
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        if self.kind == Kind::Plain {
            encoded.extend_from_slice(decoded);
            return Ok(Some(()));
        }
        if decoded.len() != self.count * self.size {
            return Err(bad_params(format!(
                "the parameters are for {} numbers of {} bytes, not for {} bytes",
                self.count,
                self.size,
                decoded.len()
            )));
        }
        match self.kind {
            Kind::Float { digits } if self.size == 4 => self.encode_floats::<f32>(digits, decoded, encoded),
            Kind::Float { digits } => self.encode_floats::<f64>(digits, decoded, encoded),
            Kind::Integer { signed, bits } => self.encode_integers(signed, bits, decoded, encoded),
            Kind::Plain => {}
        }
        Ok(Some(()))
    }

    fn most_decoded(&self, encoded: usize) -> usize {
        // Equal numbers take no bits.
        if self.kind == Kind::Plain { encoded } else { self.count * self.size }
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        (self.kind == Kind::Plain).then_some(decoded)
    }
}

/// The low `bits` bits.
fn mask(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits.min(64)) }
}

/// Bits in which that many values can be told apart.
fn ceil_log2(values: u64) -> u32 {
    64 - (values - 1).leading_zeros()
}
