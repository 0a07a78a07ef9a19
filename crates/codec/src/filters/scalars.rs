//! Numbers in the configurations of Zarr v3 codecs, in the JSON form of fill values, as parameters of a filter.
//!
//! What a text means depends on the type of the numbers, which only a chain of filters knows, so parameters keep what JSON says.

use ferrocdf_bytes::Result;
use serde_json::Value;

use super::numbers::{NumberKind, NumberType};
use crate::filter::bad_params;

/// A number of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// An integer, not below the least one of 64 bits, nor above the greatest without a sign.
    Integer(i128),
    /// A number that is not an integer.
    Float(f64),
    /// The bits of a float, in JSON a text such as `0x7fc00001`, and the number of hexadecimal digits.
    Bits(u64, u8),
}

/// A number of any type: integers are exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Integer(i128),
    Float(f64),
}

/// Parameters of one number.
pub const PARAMS: usize = 3;

/// Texts of floats that JSON has no numbers for; the first of each pair is written.
const TEXTS: [(&str, f64); 4] = [
    ("NaN", f64::NAN),
    ("Infinity", f64::INFINITY),
    ("+Infinity", f64::INFINITY),
    ("-Infinity", f64::NEG_INFINITY),
];

impl Scalar {
    /// Reads a number; `None` for JSON that is not one.
    pub fn read(json: &Value) -> Option<Scalar> {
        match json {
            Value::Number(number) => number
                .as_i64()
                .map(i128::from)
                .or_else(|| number.as_u64().map(i128::from))
                .map(Scalar::Integer)
                .or_else(|| number.as_f64().map(Scalar::Float)),
            Value::String(text) => match text.strip_prefix("0x") {
                Some(digits) if digits.len() <= 16 => {
                    Some(Scalar::Bits(u64::from_str_radix(digits, 16).ok()?, digits.len() as u8))
                }
                _ => TEXTS.iter().find(|(name, _)| name == text).map(|&(_, float)| Scalar::Float(float)),
            },
            _ => None,
        }
    }

    /// Returns the JSON form.
    pub fn json(self) -> Value {
        match self {
            Scalar::Integer(number) => match i64::try_from(number) {
                Ok(number) => number.into(),
                Err(_) => (number as u64).into(),
            },
            Scalar::Float(number) => {
                match TEXTS.iter().find(|(_, float)| float.to_bits() == number.to_bits()) {
                    Some((text, _)) => (*text).into(),
                    None => number.into(),
                }
            }
            Scalar::Bits(bits, digits) => format!("0x{bits:0width$x}", width = usize::from(digits)).into(),
        }
    }

    /// Returns the parameters that stand for the number.
    pub fn params(self) -> [u32; PARAMS] {
        let (tag, bits) = match self {
            Scalar::Integer(number) => (u32::from(number < 0), number as u64),
            Scalar::Float(number) => (2, number.to_bits()),
            Scalar::Bits(bits, digits) => (3 | u32::from(digits) << 8, bits),
        };
        [tag, (bits >> 32) as u32, bits as u32]
    }

    /// Returns the number that parameters stand for.
    pub fn of_params(&[tag, high, low]: &[u32; PARAMS]) -> Result<Scalar> {
        let bits = u64::from(high) << 32 | u64::from(low);
        match (tag & 0xff, tag >> 8) {
            (0, 0) => Ok(Scalar::Integer(bits.into())),
            (1, 0) if (bits as i64) < 0 => Ok(Scalar::Integer((bits as i64).into())),
            // The text of another NaN would be another number.
            (2, 0) if !f64::from_bits(bits).is_nan() || bits == f64::NAN.to_bits() => {
                Ok(Scalar::Float(f64::from_bits(bits)))
            }
            (3, digits @ 0..=16) => Ok(Scalar::Bits(bits, digits as u8)),
            _ => Err(bad_params(format!("the parameters {:?} stand for no number", [tag, high, low]))),
        }
    }

    /// Returns the value as a number of a type.
    ///
    /// # Errors
    /// `NC_EFILTER` if the type does not have it.
    pub fn value(self, number: NumberType) -> Result<Number> {
        let value = match (self, number.kind) {
            (Scalar::Integer(integer), NumberKind::Float) => {
                Some(Number::Float(number.rounded(integer as f64)))
            }
            (Scalar::Float(float), NumberKind::Float) => Some(Number::Float(number.rounded(float))),
            (Scalar::Bits(bits, _), NumberKind::Float)
                if number.size == 8 || bits >> (8 * number.size) == 0 =>
            {
                let little = NumberType { is_big: false, ..number };
                Some(Number::Float(little.float(&bits.to_le_bytes()[..number.size])))
            }
            (Scalar::Integer(integer), _) => Some(Number::Integer(integer)),
            (Scalar::Float(float), _) if float.fract() == 0.0 && float.abs() < 2f64.powi(64) => {
                Some(Number::Integer(float as i128))
            }
            _ => None,
        };
        let value = value.filter(|value| match *value {
            Number::Integer(integer) => number.has_integer(integer),
            Number::Float(_) => true,
        });
        value.ok_or_else(|| bad_params(format!("{} is no {}", self.json(), number.name())))
    }
}

impl NumberType {
    /// Returns the least and the greatest integer of an integer type.
    pub fn integers(self) -> (i128, i128) {
        let bits = 8 * self.size as u32;
        match self.kind {
            NumberKind::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            NumberKind::Bool => (0, 1),
            NumberKind::Unsigned | NumberKind::Float => (0, (1 << bits) - 1),
        }
    }

    /// True if an integer type has this integer.
    pub fn has_integer(self, integer: i128) -> bool {
        let (least, greatest) = self.integers();
        (least..=greatest).contains(&integer)
    }

    /// Returns a stored number.
    pub fn get(self, bytes: &[u8]) -> Number {
        match self.kind {
            NumberKind::Float => Number::Float(self.float(bytes)),
            NumberKind::Signed => Number::Integer(self.integer(bytes).into()),
            NumberKind::Unsigned | NumberKind::Bool => Number::Integer((self.integer(bytes) as u64).into()),
        }
    }

    /// Stores a number that the type has.
    pub fn set(self, number: Number, to: &mut [u8]) {
        match number {
            Number::Integer(integer) => self.put_integer(integer as i64, to),
            Number::Float(float) => self.put_float(float, to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for json in [
            "0",
            "-9223372036854775808",
            "18446744073709551615",
            "0.1",
            "1e300",
            "\"NaN\"",
            "\"-Infinity\"",
            "\"0x7fc00001\"",
        ] {
            let json: Value = serde_json::from_str(json).unwrap();
            let scalar = Scalar::read(&json).unwrap();
            let again = Scalar::of_params(&scalar.params()).unwrap();
            assert_eq!((again.params(), again.json()), (scalar.params(), json));
        }
        for json in ["null", "\"1\"", "\"0x\"", "\"0x11112222333344445\"", "[1]"] {
            assert_eq!(Scalar::read(&serde_json::from_str(json).unwrap()), None, "{json}");
        }
    }

    #[test]
    fn a_type_has_some_numbers() {
        let number = |name| NumberType::parse(name).unwrap();
        for (json, name, wanted) in [
            ("255", "uint8", Some(Number::Integer(255))),
            ("256", "uint8", None),
            ("-1", "uint8", None),
            ("2.0", "int16", Some(Number::Integer(2))),
            ("2.5", "int16", None),
            ("\"NaN\"", "int16", None),
            ("18446744073709551615", "uint64", Some(Number::Integer(u64::MAX.into()))),
            ("0.1", "float32", Some(Number::Float(f64::from(0.1f32)))),
            ("\"0x3fc00000\"", "float32", Some(Number::Float(1.5))),
            ("\"0x13fc00000\"", "float32", None),
            ("\"0x3fc00000\"", "int32", None),
        ] {
            let scalar = Scalar::read(&serde_json::from_str(json).unwrap()).unwrap();
            assert_eq!(scalar.value(number(name)).ok(), wanted, "{json} {name}");
        }
    }
}
