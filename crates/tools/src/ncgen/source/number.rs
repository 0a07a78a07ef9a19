//! Values as the text of a constant.
//!
//! Reals have eight significant digits, or sixteen if they are of double precision, as in the reference; one more when
//! those do not read back as the same value, for which the reference writes a program that makes another file.

use ferrocdf::Values;

/// One number of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LiteralNumber {
    Integer(i128),
    Float(f32),
    Double(f64),
}

impl LiteralNumber {
    /// The number at a position; `None` for text and user-defined types.
    pub fn of(values: &Values, at: usize) -> Option<LiteralNumber> {
        Some(match values {
            Values::Byte(list) => LiteralNumber::Integer(list[at].into()),
            Values::Short(list) => LiteralNumber::Integer(list[at].into()),
            Values::Int(list) => LiteralNumber::Integer(list[at].into()),
            Values::Int64(list) => LiteralNumber::Integer(list[at].into()),
            Values::Ubyte(list) => LiteralNumber::Integer(list[at].into()),
            Values::Ushort(list) => LiteralNumber::Integer(list[at].into()),
            Values::Uint(list) => LiteralNumber::Integer(list[at].into()),
            Values::Uint64(list) => LiteralNumber::Integer(list[at].into()),
            Values::Float(list) => LiteralNumber::Float(list[at]),
            Values::Double(list) => LiteralNumber::Double(list[at]),
            Values::Char(_) | Values::String(_) | Values::User(..) => return None,
        })
    }

    pub fn is_nan(self) -> bool {
        match self {
            LiteralNumber::Integer(_) => false,
            LiteralNumber::Float(value) => value.is_nan(),
            LiteralNumber::Double(value) => value.is_nan(),
        }
    }

    fn is_negative_zero(self) -> bool {
        match self {
            LiteralNumber::Integer(_) => false,
            LiteralNumber::Float(value) => value == 0.0 && value.is_sign_negative(),
            LiteralNumber::Double(value) => value == 0.0 && value.is_sign_negative(),
        }
    }

    /// The same with a point in it, if the number is of double precision.
    pub fn digits_with_point(self) -> String {
        let mut digits = self.digits();
        if matches!(self, LiteralNumber::Double(value) if value.is_finite()) && !digits.contains('.') {
            digits.insert(digits.find('e').unwrap_or(digits.len()), '.');
        }
        digits
    }

    /// The number in digits, without what a language puts around it.
    pub fn digits(self) -> String {
        match self {
            // Without the point it would be the integer 0, which has no sign.
            _ if self.is_negative_zero() => "-0.".to_string(),
            LiteralNumber::Integer(value) => value.to_string(),
            LiteralNumber::Float(value) => {
                let reads_back = |text: &str| text.parse::<f64>().is_ok_and(|read| read as f32 == value);
                exact(value.into(), 8, reads_back)
            }
            LiteralNumber::Double(value) => exact(value, 16, |text| text.parse() == Ok(value)),
        }
    }
}

/// Whether a list holds values that no digits stand for.
pub(super) fn has_special(values: &Values) -> bool {
    match values {
        Values::Float(list) => !list.iter().all(|value| value.is_finite()),
        Values::Double(list) => !list.iter().all(|value| value.is_finite()),
        _ => false,
    }
}

fn exact(value: f64, digits: usize, reads_back: impl Fn(&str) -> bool) -> String {
    let text = general(value, digits);
    if reads_back(&text) || !value.is_finite() { text } else { general(value, digits + 1) }
}

/// A real with so many significant digits, as `%.*g` of C prints it.
fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if value.is_nan() { "nan" } else { "inf" });
    }
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs());
    }
    let places = (digits as i32 - 1 - exponent) as usize;
    without_zeros(&format!("{value:.places$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_c() {
        for (number, text) in [
            (LiteralNumber::Integer(-128), "-128"),
            (LiteralNumber::Float(9.969_21e36), "9.96921e+36"),
            (LiteralNumber::Float(1.0), "1"),
            (LiteralNumber::Float(0.1), "0.1"),
            (LiteralNumber::Float(1e-5), "9.9999997e-06"),
            (LiteralNumber::Double(1e16), "1e+16"),
            (LiteralNumber::Double(1234567890123457e2), "1.234567890123457e+17"),
            (LiteralNumber::Double(-0.0), "-0."),
            (LiteralNumber::Float(-0.0), "-0."),
            (LiteralNumber::Float(0.0), "0"),
            (LiteralNumber::Double(1e100), "1e+100"),
            (LiteralNumber::Double(f64::NEG_INFINITY), "-inf"),
            (LiteralNumber::Float(f32::NAN), "nan"),
        ] {
            assert_eq!(number.digits(), text);
        }
    }

    #[test]
    fn one_digit_more_where_the_value_would_change() {
        assert_eq!(LiteralNumber::Double(0.1 + 0.2).digits(), "0.30000000000000004");
        assert_eq!(LiteralNumber::Float(16777217.0 / 128.0).digits(), "131072");
        assert_eq!(
            LiteralNumber::Float(f32::from_bits(0x4D3A_1D5F)).digits().parse(),
            Ok(f32::from_bits(0x4D3A_1D5F))
        );
    }
}
