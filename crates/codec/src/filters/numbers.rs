//! Numbers of the types that numcodecs names by NumPy's typestrings, such as `<f4`, for filters that compute with them.

use ferrocdf_bytes::Result;
use half::f16;

use crate::filter::bad_params;
use crate::json::CodecObject;

/// Type and byte order of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberType {
    /// Kind of the numbers.
    pub kind: NumberKind,
    /// Size in bytes: 1, 2, 4 or 8.
    pub size: usize,
    /// True if the byte order is big-endian.
    pub is_big: bool,
}

/// NumberKind of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// One byte, 0 or 1.
    Bool,
    /// An integer in two's complement.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// An IEEE number.
    Float,
}

const KINDS: [(NumberKind, char); 4] = [
    (NumberKind::Bool, 'b'),
    (NumberKind::Signed, 'i'),
    (NumberKind::Unsigned, 'u'),
    (NumberKind::Float, 'f'),
];

/// Returns the two types that parameters stand for.
pub fn two_types(params: &[u32]) -> Result<[NumberType; 2]> {
    match *params {
        [first, second] => Ok([NumberType::of_param(first)?, NumberType::of_param(second)?]),
        _ => Err(bad_params(format!("parameters {params:?}: must be two types of numbers"))),
    }
}

impl NumberType {
    /// Reads a typestring, or the name of a type of Zarr v3; `None` for types that are not those of numbers.
    pub fn parse(text: &str) -> Option<NumberType> {
        const NAMES: [(&str, NumberKind); 4] = [
            ("uint", NumberKind::Unsigned),
            ("int", NumberKind::Signed),
            ("float", NumberKind::Float),
            ("bool", NumberKind::Bool),
        ];
        if let Some((bits, kind)) =
            NAMES.iter().find_map(|&(name, kind)| Some((text.strip_prefix(name)?, kind)))
        {
            let bytes =
                if bits.is_empty() && kind == NumberKind::Bool { 1 } else { bits.parse::<usize>().ok()? / 8 };
            return NumberType { kind, size: bytes, is_big: false }.checked();
        }
        let is_big = text.starts_with('>');
        let text = text.strip_prefix(['<', '>', '|', '=']).unwrap_or(text);
        let (kind, _) = KINDS.into_iter().find(|&(_, letter)| text.starts_with(letter))?;
        NumberType { kind, size: text[1..].parse().ok()?, is_big }.checked()
    }

    /// Returns the type if there is one of this kind and size.
    fn checked(self) -> Option<NumberType> {
        let is_number = match self.kind {
            NumberKind::Bool => self.size == 1,
            NumberKind::Signed | NumberKind::Unsigned => matches!(self.size, 1 | 2 | 4 | 8),
            NumberKind::Float => matches!(self.size, 2 | 4 | 8),
        };
        is_number.then_some(self)
    }

    /// Returns the typestring.
    pub fn typestring(self) -> String {
        let order = if self.size == 1 {
            '|'
        } else if self.is_big {
            '>'
        } else {
            '<'
        };
        let letter = KINDS.iter().find(|(kind, _)| *kind == self.kind).map_or('V', |&(_, letter)| letter);
        format!("{order}{letter}{}", self.size)
    }

    /// Returns the parameter of a filter (`astype` and the like) that stands for the type.
    pub fn param(self) -> u32 {
        let kind = KINDS.iter().position(|(kind, _)| *kind == self.kind).unwrap_or(0);
        (kind as u32) << 16 | (self.size as u32) << 8 | u32::from(self.is_big)
    }

    /// Returns the type that a parameter stands for.
    pub fn of_param(param: u32) -> Result<NumberType> {
        let kind = KINDS.get((param >> 16) as usize);
        let number = kind.map(|&(kind, _)| NumberType {
            kind,
            size: (param >> 8 & 0xff) as usize,
            is_big: param & 1 == 1,
        });
        let number = number.and_then(NumberType::checked);
        number.ok_or_else(|| bad_params(format!("the parameter {param} stands for no type of numbers")))
    }

    /// Returns the parameter of the typestring that a codec has under a key; `default` if there is none.
    pub fn param_of(json: &CodecObject, key: &str, default: Option<u32>) -> Result<u32> {
        match (json.text(key)?, default) {
            (Some(text), _) => match NumberType::parse(text) {
                Some(number) => Ok(number.param()),
                None => Err(bad_params(format!("{key:?} is {text:?}, not the typestring of a number"))),
            },
            (None, Some(default)) => Ok(default),
            (None, None) => Err(bad_params(format!("no {key:?}"))),
        }
    }

    /// Returns the name of the type in Zarr v3.
    pub fn name(self) -> String {
        let bits = 8 * self.size;
        match self.kind {
            NumberKind::Bool => "bool".to_string(),
            NumberKind::Signed => format!("int{bits}"),
            NumberKind::Unsigned => format!("uint{bits}"),
            NumberKind::Float => format!("float{bits}"),
        }
    }

    /// True for booleans.
    pub fn is_bool(self) -> bool {
        self.kind == NumberKind::Bool
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        self.kind == NumberKind::Float
    }

    /// Returns the 8 bytes of a number, least significant first, without its sign extended.
    fn little(self, bytes: &[u8]) -> [u8; 8] {
        let mut little = [0; 8];
        little[..self.size].copy_from_slice(bytes);
        if self.is_big {
            little[..self.size].reverse();
        }
        little
    }

    fn put(self, little: [u8; 8], to: &mut [u8]) {
        to.copy_from_slice(&little[..self.size]);
        if self.is_big {
            to.reverse();
        }
    }

    /// Returns the bits of an integer, its sign extended to 64 bits.
    pub fn integer(self, bytes: &[u8]) -> i64 {
        let bits = i64::from_le_bytes(self.little(bytes));
        let unused = 64 - 8 * self.size as u32;
        if self.kind == NumberKind::Signed { bits << unused >> unused } else { bits }
    }

    /// Stores the low bits of an integer; of a boolean there is one.
    pub fn put_integer(self, integer: i64, to: &mut [u8]) {
        let integer = if self.kind == NumberKind::Bool { integer & 1 } else { integer };
        self.put(integer.to_le_bytes(), to);
    }

    /// Returns a number as the nearest of 64 bits.
    pub fn float(self, bytes: &[u8]) -> f64 {
        let little = self.little(bytes);
        match (self.kind, self.size) {
            (NumberKind::Float, 2) => f16::from_le_bytes([little[0], little[1]]).to_f64(),
            (NumberKind::Float, 4) => f32::from_le_bytes([little[0], little[1], little[2], little[3]]).into(),
            (NumberKind::Float, _) => f64::from_le_bytes(little),
            (NumberKind::Signed, _) => self.integer(bytes) as f64,
            (NumberKind::Unsigned | NumberKind::Bool, _) => u64::from_le_bytes(little) as f64,
        }
    }

    /// Stores a number: integers without what is behind the point.
    pub fn put_float(self, number: f64, to: &mut [u8]) {
        match (self.kind, self.size) {
            (NumberKind::Float, 2) => self.put_bits(u64::from(f16::from_f64(number).to_bits()), to),
            (NumberKind::Float, 4) => self.put_bits((number as f32).to_bits().into(), to),
            (NumberKind::Float, _) => self.put_bits(number.to_bits(), to),
            (NumberKind::Signed, _) => self.put_integer(number as i64, to),
            (NumberKind::Unsigned, _) => self.put_bits(number as u64, to),
            (NumberKind::Bool, _) => to[0] = u8::from(number != 0.0),
        }
    }

    fn put_bits(self, bits: u64, to: &mut [u8]) {
        self.put(bits.to_le_bytes(), to);
    }

    /// Stores a number of another type.
    pub fn put_cast(self, from: NumberType, bytes: &[u8], to: &mut [u8]) {
        if from.is_float()
            || self.is_float()
            || (self.kind == NumberKind::Bool && from.kind != NumberKind::Bool)
        {
            self.put_float(from.float(bytes), to);
        } else {
            self.put_integer(from.integer(bytes), to);
        }
    }

    /// Rounds a number to the nearest of this type, as a computation in it does.
    pub fn rounded(self, number: f64) -> f64 {
        match (self.kind, self.size) {
            (NumberKind::Float, 2) => f16::from_f64(number).to_f64(),
            (NumberKind::Float, 4) => (number as f32).into(),
            _ => number,
        }
    }
}
