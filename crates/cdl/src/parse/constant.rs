//! Constants of CDL, and their conversion to each type.
//!
//! Numbers are converted as by C casts on x86-64: integers keep their low bytes, reals lose their fraction, and a real
//! that is out of range of an integer type becomes the result of the processor's conversion (the smallest `int` or
//! `int64`, of which smaller types keep the low bytes).

use ferrocdf_model::{Atomic, Values};

/// Constant as written in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Const {
    /// Integer, of the type given by its suffix or magnitude.
    Int(Atomic, i128),
    /// `-0`: an `int`, but a negative zero in real types, for which `ncdump` prints it.
    MinusZero,
    /// Real with the suffix `f`.
    Float(f32),
    /// Real without the suffix `f`.
    Double(f64),
    /// Text in double quotes.
    Text(Vec<u8>),
    /// Bytes, `0x…`.
    Opaque(Vec<u8>),
    /// `_`
    Fill,
    /// `NIL`
    Nil,
    /// Name of an enum member.
    Name(Vec<u8>),
    /// `{ … }`
    List(Vec<Item>),
}

/// Constant with its line number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub line: u32,
    pub value: Const,
}

/// Number type to which constants are converted.
pub(super) trait ParsedNumber: Copy + Default + Send + 'static {
    /// True for floating-point types.
    const REAL: bool;
    fn from_integer(value: i128) -> Self;
    fn from_i64(value: i64) -> Self;
    fn from_f64(value: f64) -> Self;
    fn from_f32(value: f32) -> Self;
    fn wrap(values: Vec<Self>) -> Values;
    /// Returns the default fill value.
    fn fill() -> Self;
}

/// Runs `$body` with `$number` standing for the Rust type of an atomic type, or `$other` for text.
macro_rules! with_number {
    ($atomic:expr, $number:ident => $body:expr, _ => $other:expr) => {
        match $atomic {
            Atomic::Byte => {
                type $number = i8;
                $body
            }
            Atomic::Short => {
                type $number = i16;
                $body
            }
            Atomic::Int => {
                type $number = i32;
                $body
            }
            Atomic::Float => {
                type $number = f32;
                $body
            }
            Atomic::Double => {
                type $number = f64;
                $body
            }
            Atomic::Ubyte => {
                type $number = u8;
                $body
            }
            Atomic::Ushort => {
                type $number = u16;
                $body
            }
            Atomic::Uint => {
                type $number = u32;
                $body
            }
            Atomic::Int64 => {
                type $number = i64;
                $body
            }
            Atomic::Uint64 => {
                type $number = u64;
                $body
            }
            Atomic::Char | Atomic::String => $other,
        }
    };
}
pub(super) use with_number;

/// Converts a real to 32 bits as the processor does.
fn to_i32(value: f64) -> i32 {
    let whole = value.trunc();
    if (-2147483648.0..=2147483647.0).contains(&whole) { whole as i32 } else { i32::MIN }
}

/// Converts a real to 64 bits as the processor does.
fn to_i64(value: f64) -> i64 {
    if (-9223372036854775808.0..9223372036854775808.0).contains(&value) { value as i64 } else { i64::MIN }
}

/// Converts a real to an unsigned 64-bit integer as C compilers do.
fn to_u64(value: f64) -> u64 {
    if value >= 9223372036854775808.0 {
        (to_i64(value - 9223372036854775808.0) as u64) ^ (1 << 63)
    } else {
        to_i64(value) as u64
    }
}

macro_rules! integers {
    ($($ty:ty, $variant:ident, $through:expr;)*) => { $(
        impl ParsedNumber for $ty {
            const REAL: bool = false;
            fn from_integer(value: i128) -> Self {
                value as $ty
            }
            fn from_i64(value: i64) -> Self {
                value as $ty
            }
            fn from_f64(value: f64) -> Self {
                $through(value) as $ty
            }
            fn from_f32(value: f32) -> Self {
                $through(f64::from(value)) as $ty
            }
            fn wrap(values: Vec<Self>) -> Values {
                Values::$variant(values)
            }
            fn fill() -> Self {
                match Values::default_fill(Atomic::$variant) {
                    Values::$variant(list) => list[0],
                    _ => Self::default(),
                }
            }
        }
    )* };
}

integers! {
    i8, Byte, to_i32;
    u8, Ubyte, to_i32;
    i16, Short, to_i32;
    u16, Ushort, to_i32;
    i32, Int, to_i32;
    u32, Uint, to_i64;
    i64, Int64, to_i64;
    u64, Uint64, to_u64;
}

macro_rules! reals {
    ($($ty:ty, $variant:ident;)*) => { $(
        impl ParsedNumber for $ty {
            const REAL: bool = true;
            fn from_integer(value: i128) -> Self {
                value as $ty
            }
            fn from_i64(value: i64) -> Self {
                value as $ty
            }
            fn from_f64(value: f64) -> Self {
                if value.is_nan() { <$ty>::NAN } else { value as $ty }
            }
            fn from_f32(value: f32) -> Self {
                if value.is_nan() { <$ty>::NAN } else { value as $ty }
            }
            fn wrap(values: Vec<Self>) -> Values {
                Values::$variant(values)
            }
            fn fill() -> Self {
                match Values::default_fill(Atomic::$variant) {
                    Values::$variant(list) => list[0],
                    _ => Self::default(),
                }
            }
        }
    )* };
}

reals! { f32, Float; f64, Double; }

/// Returns the integer at the start of a text, as `scanf` reads it; 0 if there is none.
fn leading_integer(text: &[u8]) -> i128 {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let text = &text[blanks..];
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let digits = text[sign..].iter().take_while(|byte| byte.is_ascii_digit()).take(30);
    let size = digits.fold(0i128, |sum, &digit| sum * 10 + i128::from(digit - b'0'));
    if text.first() == Some(&b'-') { -size } else { size }
}

/// Returns the real at the start of a text, as `scanf` reads it; 0 if there is none.
fn leading_real(text: &[u8]) -> f64 {
    let blanks = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    fast_float2::parse_partial::<f64, _>(&text[blanks..]).map_or(0.0, |(value, _)| value)
}

impl Const {
    /// Returns the type and value of an integer constant.
    pub fn integer(&self) -> Option<(Atomic, i128)> {
        match self {
            Const::Int(ty, value) => Some((*ty, *value)),
            Const::MinusZero => Some((Atomic::Int, 0)),
            _ => None,
        }
    }

    /// Converts the constant to a number; `None` if that is impossible.
    pub fn to_number<T: ParsedNumber>(&self) -> Option<T> {
        Some(match self {
            Const::Int(_, value) => T::from_integer(*value),
            Const::MinusZero => T::from_f64(-0.0),
            Const::Float(value) => T::from_f32(*value),
            Const::Double(value) => T::from_f64(*value),
            // As in `ncgen`, the bytes are the memory representation of the number.
            Const::Opaque(bytes) => {
                let mut memory = [0; 8];
                let len = bytes.len().min(size_of::<T>());
                memory[..len].copy_from_slice(&bytes[..len]);
                return from_memory(memory, T::wrap(vec![T::default()]).atomic()?);
            }
            Const::Text(text) => match T::wrap(vec![]) {
                Values::Float(_) | Values::Double(_) => T::from_f64(leading_real(text)),
                _ => T::from_integer(leading_integer(text)),
            },
            Const::Fill | Const::Nil | Const::Name(_) | Const::List(_) => return None,
        })
    }

    /// Converts the constant to text; `None` if that is impossible.
    pub fn to_text(&self) -> Option<Vec<u8>> {
        Some(match self {
            Const::Text(text) => text.clone(),
            Const::Int(_, value) => value.to_string().into_bytes(),
            Const::MinusZero => b"0".to_vec(),
            Const::Float(value) => eight_digits(f64::from(*value)).into_bytes(),
            Const::Double(value) => eight_digits(*value).into_bytes(),
            Const::Opaque(_) | Const::Fill | Const::Nil | Const::Name(_) | Const::List(_) => return None,
        })
    }

    /// Returns the bytes that the constant adds to character data; `None` if it is neither text nor a byte.
    pub fn to_chars(&self) -> Option<Vec<u8>> {
        match self {
            Const::Text(text) => Some(text.clone()),
            Const::Int(Atomic::Byte | Atomic::Ubyte, value) => Some(vec![*value as u8]),
            _ => None,
        }
    }
}

/// Reads a number of type `ty` from little-endian memory, and converts it to `T`.
fn from_memory<T: ParsedNumber>(memory: [u8; 8], ty: Atomic) -> Option<T> {
    let bits = u64::from_le_bytes(memory);
    Some(match ty {
        Atomic::Float => T::from_f32(f32::from_bits(bits as u32)),
        Atomic::Double => T::from_f64(f64::from_bits(bits)),
        _ => T::from_integer(i128::from(bits)),
    })
}

/// Formats a real as C does with `%.8g`.
fn eight_digits(value: f64) -> String {
    const DIGITS: i32 = 8;
    if value == 0.0 || !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        let name = if value.is_nan() {
            "nan"
        } else if value == 0.0 {
            "0"
        } else {
            "inf"
        };
        return format!("{sign}{name}");
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{value:.*}", (DIGITS - 1 - exponent) as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_those_of_c() {
        let real = Const::Double;
        assert_eq!(real(3.9).to_number::<i8>(), Some(3));
        assert_eq!(real(-3.9).to_number::<i8>(), Some(-3));
        assert_eq!(real(1e30).to_number::<i8>(), Some(0));
        assert_eq!(real(1e30).to_number::<i32>(), Some(i32::MIN));
        assert_eq!(real(f64::NAN).to_number::<i32>(), Some(i32::MIN));
        assert_eq!(real(-1.0).to_number::<u32>(), Some(u32::MAX));
        assert_eq!(real(1e19).to_number::<u64>(), Some(10_000_000_000_000_000_000));
        assert_eq!(Const::Int(Atomic::Int, 300).to_number::<i8>(), Some(44));
        assert_eq!(Const::Opaque(vec![0x12, 0x30]).to_number::<i16>(), Some(12306));
        assert_eq!(Const::Opaque(vec![0x12]).to_number::<f32>(), Some(f32::from_bits(0x12)));
        assert_eq!(Const::Text(b" -12x".to_vec()).to_number::<i32>(), Some(-12));
        assert_eq!(Const::Text(b"1.5x".to_vec()).to_number::<f32>(), Some(1.5));
        assert_eq!(Const::Nil.to_number::<f32>(), None);
        assert_eq!(Const::MinusZero.to_number::<f32>().map(f32::to_bits), Some((-0.0f32).to_bits()));
        assert_eq!(Const::MinusZero.to_number::<i32>(), Some(0));
    }

    #[test]
    fn numbers_as_text() {
        for (value, text) in [
            (0.0, "0"),
            (1.5, "1.5"),
            (100.0, "100"),
            (123456789.0, "1.2345679e+08"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (-2.5e100, "-2.5e+100"),
        ] {
            assert_eq!(Const::Double(value).to_text(), Some(text.as_bytes().to_vec()));
        }
    }
}
