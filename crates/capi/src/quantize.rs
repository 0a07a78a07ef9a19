//! Numbers that keep only so many digits or bits, so that they compress better: `nc_def_var_quantize`.
//!
//! Values are made so before they are written, in the type of the variable; zeros, NaN and the fill value stay as they
//! are, and so do infinities, which the reference turns into other numbers. The settings become an attribute of the
//! variable when it is made.

use std::ffi::c_int;

use ferrocdf::model::Attr;
use ferrocdf::{Atomic, Code, Model, Name, Owner, Result, Values, VarId};

use crate::boundary::fail;

/// The ways to do it, with the attributes that tell of them.
const WAYS: [(&str, c_int); 3] = [
    ("_QuantizeBitGroomNumberOfSignificantDigits", BIT_GROOM),
    ("_QuantizeGranularBitRoundNumberOfSignificantDigits", GRANULAR),
    ("_QuantizeBitRoundNumberOfSignificantBits", BIT_ROUND),
];
const BIT_GROOM: c_int = 1;
const GRANULAR: c_int = 2;
const BIT_ROUND: c_int = 3;

/// What is asked for: the way, and how many digits or bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantize {
    pub(crate) way: c_int,
    pub(crate) left: c_int,
}

impl Quantize {
    /// Not at all.
    pub(crate) const NONE: Quantize = Quantize { way: 0, left: 0 };

    /// Checks a wish. Fails with `NC_EINVAL`.
    pub(crate) fn new(model: &Model, var: VarId, way: c_int, left: c_int) -> Result<Quantize> {
        if way == 0 {
            return Ok(Quantize::NONE);
        }
        let most = match (way, model.atomic_type(var)) {
            (BIT_GROOM | GRANULAR, Ok(Atomic::Float)) => 6,
            (BIT_GROOM | GRANULAR, Ok(Atomic::Double)) => 15,
            (BIT_ROUND, Ok(Atomic::Float)) => 23,
            (BIT_ROUND, Ok(Atomic::Double)) => 52,
            _ => {
                return fail(Code::EINVAL, format!("no way {way} to quantize, or no floating-point numbers"));
            }
        };
        if !(1..=most).contains(&left) {
            return fail(Code::EINVAL, format!("{left} digits or bits, there are 1 to {most}"));
        }
        Ok(Quantize { way, left })
    }

    /// What the attributes of a variable say.
    pub(crate) fn of(model: &Model, var: VarId) -> Quantize {
        let found = WAYS.iter().find_map(|&(name, way)| {
            match model.find_attr(Owner::Var(var), name.as_bytes())?.value {
                Values::Int(ref numbers) => Some(Quantize { way, left: *numbers.first()? }),
                _ => None,
            }
        });
        found.unwrap_or(Quantize::NONE)
    }

    /// Says it in an attribute, before all others.
    pub(crate) fn say(self, model: &mut Model, var: VarId) -> Result<()> {
        let Some((name, _)) = WAYS.iter().find(|(_, way)| *way == self.way) else { return Ok(()) };
        let attrs = &mut model.var_mut(var).attrs;
        let mut all = vec![Attr { name: Name::new(name)?, value: self.left.into() }];
        all.extend(attrs.iter().cloned());
        *attrs = all.into();
        Ok(())
    }
}

/// Numbers that bits can be taken from.
trait Float: Copy + PartialEq {
    /// Bits behind the leading one.
    const BITS: i32;
    const ZERO: Self;
    fn wide(self) -> f64;
    /// With the lowest `count` bits zero.
    fn shave(self, count: i32) -> Self;
    /// With the lowest `count` bits one.
    fn set(self, count: i32) -> Self;
    /// Rounded to a number whose lowest `count` bits are zero.
    fn round(self, count: i32) -> Self;
}

macro_rules! float {
    ($float:ty, $bits:ty, $count:expr) => {
        impl Float for $float {
            const BITS: i32 = $count;
            const ZERO: Self = 0.0;

            fn wide(self) -> f64 {
                self.into()
            }

            fn shave(self, count: i32) -> Self {
                Self::from_bits(self.to_bits() & !low::<{ <$bits>::BITS }>(count) as $bits)
            }

            fn set(self, count: i32) -> Self {
                Self::from_bits(self.to_bits() | low::<{ <$bits>::BITS }>(count) as $bits)
            }

            fn round(self, count: i32) -> Self {
                let half = (low::<{ <$bits>::BITS }>(count) as $bits).div_ceil(2) & low::<64>(count) as $bits;
                Self::from_bits(self.to_bits().wrapping_add(half)).shave(count)
            }
        }
    };
}

float!(f32, u32, 23);
float!(f64, u64, 52);

/// The lowest `count` bits of `WIDTH`; none for a negative count.
fn low<const WIDTH: u32>(count: i32) -> u64 {
    match u32::try_from(count) {
        Ok(count) if count >= WIDTH => u64::MAX,
        Ok(count) => (1u64 << count) - 1,
        Err(_) => 0,
    }
}

/// Quantizes values of a variable; an error for a type that it does not go with.
pub(crate) fn apply(wish: Quantize, fill: Option<&Values>, values: &mut Values) -> Result<()> {
    match values {
        Values::Float(list) => {
            each(wish, if let Some(Values::Float(fill)) = fill { fill } else { &[] }, list)
        }
        Values::Double(list) => {
            each(wish, if let Some(Values::Double(fill)) = fill { fill } else { &[] }, list)
        }
        _ => return fail(Code::EINVAL, "only floating-point numbers are quantized"),
    }
    Ok(())
}

fn each<T: Float>(wish: Quantize, fill: &[T], list: &mut [T]) {
    for (at, value) in list.iter_mut().enumerate() {
        if !value.wide().is_finite() || *value == T::ZERO || fill.contains(value) {
            continue;
        }
        *value = match wish.way {
            BIT_GROOM => {
                let kept = (f64::from(wish.left) * std::f64::consts::LOG2_10).ceil() as i32 + 1;
                let lost = T::BITS - kept;
                if at % 2 == 0 { value.shave(lost) } else { value.set(lost) }
            }
            GRANULAR => value.round(T::BITS - bits_of_digits(value.wide(), wish.left)),
            _ => value.round(T::BITS - wish.left),
        }
    }
}

/// How many explicit bits of a number, neither zero nor infinite, its first decimal digits need.
fn bits_of_digits(value: f64, digits: c_int) -> i32 {
    let (bits, places) = (std::f64::consts::LOG2_10, std::f64::consts::LOG10_2);
    let (fraction, exponent) = split(value.abs());
    let log = fraction.log10();
    let before = (f64::from(exponent) * places + log).floor() as i32 + 1;
    let power = (bits * f64::from(before - digits)).floor() as i32;
    ((f64::from(exponent) - bits * log).floor() as i32 - power).abs() - 1
}

/// A positive number as a fraction from a half to one, and a power of two.
fn split(value: f64) -> (f64, i32) {
    let subnormal = value < f64::MIN_POSITIVE;
    let scaled = if subnormal { value * 2f64.powi(64) } else { value };
    let exponent = (scaled.to_bits() >> 52) as i32 - 1022;
    let fraction = f64::from_bits(scaled.to_bits() & low::<64>(52) | 1022 << 52);
    (fraction, if subnormal { exponent - 64 } else { exponent })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantized(way: c_int, left: c_int, list: Vec<f32>) -> Vec<f32> {
        let mut values = Values::Float(list);
        apply(Quantize { way, left }, Some(&Values::Float(vec![1e36])), &mut values).unwrap();
        let Values::Float(list) = values else { panic!("it stays what it is") };
        list
    }

    /// Numbers of the reference's tests of quantizing.
    #[test]
    fn digits_are_kept() {
        let pi = std::f32::consts::PI;
        assert_eq!(quantized(BIT_GROOM, 3, vec![1.1111111, 1.0]), [1.1110839, 1.0002440]);
        assert_eq!(quantized(GRANULAR, 3, vec![pi]), [3.140625]);
        assert_eq!(quantized(BIT_ROUND, 9, vec![pi]), [3.140625]);
        let kept = [0.0, f32::INFINITY, f32::NEG_INFINITY, 1e36];
        for way in [BIT_GROOM, GRANULAR, BIT_ROUND] {
            assert_eq!(quantized(way, 1, kept.to_vec()), kept);
        }
        assert_eq!(split(8.0), (0.5, 4));
    }
}
