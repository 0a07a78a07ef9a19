//! Quantization: the last bits of numbers are made alike, so that they compress better.
//!
//! Three ways, as the reference does them (BitGroom, Granular BitRound, BitRound). Fill values, zeros and what is no
//! number stay as they are, and so does infinity, which the reference turns into something else.

use ferrocdf_array::{Array, In, Kind, RangeCheck, Selection, Stored};
use ferrocdf_bytes::Result;
use ferrocdf_model::{Quantization, Quantize};
use ferrocdf_store::MemoryBlob;

/// The attributes that say that a variable is quantized, with the way.
pub(crate) const ATTRIBUTES: [(&str, Quantization); 3] = [
    ("_QuantizeBitGroomNumberOfSignificantDigits", Quantization::BitGroom),
    ("_QuantizeGranularBitRoundNumberOfSignificantDigits", Quantization::GranularBitRound),
    ("_QuantizeBitRoundNumberOfSignificantBits", Quantization::BitRound),
];

/// The attribute of a way.
pub(crate) fn attribute(way: Quantization) -> &'static str {
    let [(groom, _), (granular, _), (round, _)] = ATTRIBUTES;
    match way {
        Quantization::BitGroom => groom,
        Quantization::GranularBitRound => granular,
        Quantization::BitRound => round,
    }
}

/// The elements of memory in this machine's order, as a selection of a shape takes them, quantized. `fill` is the fill
/// value in this machine's order.
pub(crate) fn apply(
    how: Quantize,
    kind: Kind,
    count: &[u64],
    fill: &[u8],
    input: In<'_>,
) -> Result<(RangeCheck, Vec<u8>)> {
    let blob = MemoryBlob::default();
    let array = Array::contiguous(count.to_vec(), Stored::native(kind), 0)?;
    let fit = ferrocdf_array::write(&blob, &array, &Selection::all(count), input)?;
    let mut bytes = blob.to_bytes();
    match kind {
        Kind::F32 => {
            let missing = fill.try_into().ok().map(f32::from_ne_bytes);
            for (number, part) in bytes.chunks_exact_mut(4).enumerate() {
                let Ok(stored) = <[u8; 4]>::try_from(&*part) else { continue };
                let value = f32::from_ne_bytes(stored);
                if value != 0.0 && value.is_finite() && Some(value) != missing {
                    let bits = u64::from(value.to_bits());
                    let made = quantized(how, f64::from(value), bits, 23, number) as u32;
                    part.copy_from_slice(&made.to_ne_bytes());
                }
            }
        }
        Kind::F64 => {
            let missing = fill.try_into().ok().map(f64::from_ne_bytes);
            for (number, part) in bytes.chunks_exact_mut(8).enumerate() {
                let Ok(stored) = <[u8; 8]>::try_from(&*part) else { continue };
                let value = f64::from_ne_bytes(stored);
                if value != 0.0 && value.is_finite() && Some(value) != missing {
                    let made = quantized(how, value, value.to_bits(), 52, number);
                    part.copy_from_slice(&made.to_ne_bytes());
                }
            }
        }
        _ => {}
    }
    Ok((fit, bytes))
}

/// The bits of a value with so many bits of mantissa, which is the `number`-th of its request.
fn quantized(how: Quantize, value: f64, bits: u64, mantissa: u32, number: usize) -> u64 {
    let digits = f64::from(how.digits);
    let kept = match how.way {
        Quantization::BitGroom => (digits * std::f64::consts::LOG2_10).ceil() + 1.0,
        Quantization::BitRound => digits,
        Quantization::GranularBitRound => granular(value, digits),
    };
    let zeros = mantissa - (kept.max(0.0) as u32).min(mantissa);
    let tail = (1u64 << zeros) - 1;
    match how.way {
        Quantization::BitGroom if number.is_multiple_of(2) => bits & !tail,
        Quantization::BitGroom => bits | tail,
        _ if zeros == 0 => bits,
        _ => bits.wrapping_add(1 << (zeros - 1)) & !tail,
    }
}

/// The bits that a value needs for so many digits (Delaunay et al. 2019, equations 7 and 8).
fn granular(value: f64, digits: f64) -> f64 {
    use std::f64::consts::{LN_2, LN_10};
    // Rounded as the reference computes them: powers of ten are at the edge.
    const LOG2_10: f64 = LN_10 / LN_2;
    const LOG10_2: f64 = LN_2 / LN_10;
    // The value is `part` times 2 to the power of `exponent`, `part` from 1/2 to 1.
    let mut exponent = value.abs().log2().floor() + 1.0;
    let mut part = value.abs() / exponent.exp2();
    if part >= 1.0 {
        (part, exponent) = (part / 2.0, exponent + 1.0);
    } else if part < 0.5 {
        (part, exponent) = (part * 2.0, exponent - 1.0);
    }
    let tens = (exponent * LOG10_2 + part.log10()).floor() + 1.0;
    let power = (LOG2_10 * (tens - digits)).floor();
    ((exponent - LOG2_10 * part.log10()).floor() - power).abs() - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(way: Quantization, digits: u32, values: &[f32]) -> Vec<f32> {
        let fill = 9e9f32.to_ne_bytes();
        let count = [values.len() as u64];
        let (_, bytes) = apply(Quantize { way, digits }, Kind::F32, &count, &fill, In::new(values)).unwrap();
        bytes.chunks_exact(4).map(|part| f32::from_ne_bytes(part.try_into().unwrap())).collect()
    }

    /// At powers of ten the number of digits changes, and the last bit of a logarithm decides where.
    #[test]
    fn powers_of_ten_are_rounded_as_the_reference_does() {
        let values: Vec<f32> = (0..16).map(|power| 10f32.powi(power)).collect();
        let wanted = [
            0x3f800000, 0x41200000, 0x42c80000, 0x447a0000, 0x461c4000, 0x47c36000, 0x49742000, 0x4b18a000,
            0x4cbec000, 0x4e6e6000, 0x50150000, 0x51ba4000, 0x5368e000, 0x55118000, 0x56b60000, 0x58636000,
        ];
        let made = of(Quantization::GranularBitRound, 3, &values);
        assert_eq!(made.iter().map(|value| value.to_bits()).collect::<Vec<_>>(), wanted);
    }

    /// What the reference makes of the same numbers.
    #[test]
    fn as_the_reference_quantizes() {
        use Quantization::{BitGroom, BitRound, GranularBitRound};
        let values = [1.111_111, 1.0, 9.99999, 1.23456e20, std::f32::consts::PI, -2.71828e-7, 12345.678];
        let cases = [
            (
                BitGroom,
                1,
                [0x3f8c0000, 0x3f83ffff, 0x411c0000, 0x60d7ffff, 0x40480000, 0xb493ffff, 0x46400000],
            ),
            (
                BitGroom,
                3,
                [0x3f8e3000, 0x3f800fff, 0x411ff000, 0x60d62fff, 0x40490000, 0xb491efff, 0x4640e000],
            ),
            (
                BitGroom,
                5,
                [0x3f8e38e0, 0x3f80001f, 0x411fffe0, 0x60d6297f, 0x40490fc0, 0xb491efdf, 0x4640e6a0],
            ),
            (
                GranularBitRound,
                1,
                [0x3f800000, 0x3f800000, 0x41200000, 0x61000000, 0x40400000, 0xb4a00000, 0x46800000],
            ),
            (
                GranularBitRound,
                3,
                [0x3f8e0000, 0x3f800000, 0x41200000, 0x60d60000, 0x40490000, 0xb4920000, 0x46410000],
            ),
            (
                GranularBitRound,
                5,
                [0x3f8e3800, 0x3f800000, 0x41200000, 0x60d62800, 0x40491000, 0xb491f000, 0x4640e800],
            ),
            (
                BitRound,
                1,
                [0x3f800000, 0x3f800000, 0x41000000, 0x60c00000, 0x40400000, 0xb4800000, 0x46400000],
            ),
            (
                BitRound,
                3,
                [0x3f900000, 0x3f800000, 0x41200000, 0x60d00000, 0x40500000, 0xb4900000, 0x46400000],
            ),
            (
                BitRound,
                5,
                [0x3f900000, 0x3f800000, 0x41200000, 0x60d80000, 0x40480000, 0xb4900000, 0x46400000],
            ),
        ];
        for (way, digits, wanted) in cases {
            let made: Vec<u32> = of(way, digits, &values).iter().map(|value| value.to_bits()).collect();
            assert_eq!(made, wanted, "{way:?} {digits}");
        }
    }

    #[test]
    fn some_values_stay() {
        let values = [f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 9e9, 9e9];
        for way in [Quantization::BitGroom, Quantization::GranularBitRound, Quantization::BitRound] {
            assert_eq!(of(way, 2, &values), values);
            assert!(of(way, 2, &[f32::NAN, f32::NAN])[1].is_nan());
        }
    }
}
