//! Numbers at the start of a text, parsed as C's `scanf` does: blanks may precede, any text may follow.

/// A decimal integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// True if the number has a minus sign.
    pub negative: bool,
    /// Value without the sign, saturated at `u128::MAX`.
    pub magnitude: u128,
    /// Offset of the end of the number in the text.
    pub end: usize,
}

impl Integer {
    /// Returns the value that `%lu` gives.
    pub fn unsigned(self) -> u64 {
        match u64::try_from(self.magnitude) {
            Ok(magnitude) if self.negative => magnitude.wrapping_neg(),
            Ok(magnitude) => magnitude,
            Err(_) => u64::MAX,
        }
    }

    /// Returns the value that `%ld` gives.
    pub fn signed(self) -> i64 {
        match (i64::try_from(self.magnitude), self.negative) {
            (Ok(magnitude), false) => magnitude,
            (Ok(magnitude), true) => -magnitude,
            (Err(_), false) => i64::MAX,
            (Err(_), true) => i64::MIN,
        }
    }
}

/// Parses an integer; `None` if the text does not start with one.
pub fn integer(text: &[u8]) -> Option<Integer> {
    let (negative, start) = sign(text);
    let end = start + digits(&text[start..]);
    if end == start {
        return None;
    }
    let add = |sum: u128, digit: &u8| sum.saturating_mul(10).saturating_add(u128::from(digit - b'0'));
    Some(Integer { negative, magnitude: text[start..end].iter().fold(0, add), end })
}

/// Parses a floating-point number and returns it with the offset of its end; `None` if the text does not start with one.
pub fn float(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, start) = sign(text);
    let (magnitude, len) = unsigned_float(&text[start..])?;
    Some((if negative { -magnitude } else { magnitude }, start + len))
}

fn unsigned_float(text: &[u8]) -> Option<(f64, usize)> {
    let starts_with =
        |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if starts_with(word.as_bytes()) {
            return Some((value, word.len()));
        }
    }
    if let (true, Some(found)) = (starts_with(b"0x"), hexadecimal(text)) {
        return Some(found);
    }
    let integral = digits(text);
    let fraction = match text.get(integral) {
        Some(b'.') => 1 + digits(&text[integral + 1..]),
        _ => 0,
    };
    if integral == 0 && fraction <= 1 {
        return None;
    }
    let mut end = integral + fraction;
    if let Some(b'e' | b'E') = text.get(end) {
        let (_, sign_len) = sign_without_blanks(&text[end + 1..]);
        let exponent = digits(&text[end + 1 + sign_len..]);
        if exponent > 0 {
            end += 1 + sign_len + exponent;
        }
    }
    std::str::from_utf8(&text[..end]).ok()?.parse().ok().map(|value| (value, end))
}

/// Parses a hexadecimal number after `0x`, with an exponent of 2 after `p`. Of more than 53 bits the last may be wrong.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let (mut value, mut exponent, mut any, mut end) = (0.0, 0i32, false, 2);
    let mut fraction = false;
    while let Some(&byte) = text.get(end) {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                exponent = exponent.saturating_sub(if fraction { 4 } else { 0 });
                any = true;
            }
            None if byte == b'.' && !fraction => fraction = true,
            None => break,
        }
        end += 1;
    }
    if let Some(b'p' | b'P') = text.get(end) {
        let (negative, sign_len) = sign_without_blanks(&text[end + 1..]);
        let start = end + 1 + sign_len;
        let count = digits(&text[start..]);
        if count > 0 {
            let written = integer(&text[start..])?.signed().clamp(0, 1 << 20) as i32;
            exponent = exponent.saturating_add(if negative { -written } else { written });
            end = start + count;
        }
    }
    // Two factors, neither of which overflows.
    let half = exponent / 2;
    any.then_some((value * 2f64.powi(half) * 2f64.powi(exponent - half), end))
}

/// Skips blanks and a sign; returns true for a minus sign, and the number of skipped bytes.
fn sign(text: &[u8]) -> (bool, usize) {
    let blanks = text.len() - text.trim_ascii_start().len();
    let (negative, len) = sign_without_blanks(&text[blanks..]);
    (negative, blanks + len)
}

fn sign_without_blanks(text: &[u8]) -> (bool, usize) {
    match text.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    }
}

/// Returns the number of digits at the start of the text.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_parsed_and_saturated_as_by_scanf() {
        let parse = |text: &str| integer(text.as_bytes()).map(|found| (found.signed(), found.end));
        assert_eq!((parse("17b"), parse(" -5"), parse("+3,")), (Some((17, 2)), Some((-5, 3)), Some((3, 2))));
        assert_eq!((parse(""), parse("-"), parse("x1")), (None, None, None));
        assert_eq!(parse("-9223372036854775809").unwrap().0, i64::MIN);
        let huge = integer(&[b'9'; 60]).unwrap();
        assert_eq!((huge.signed(), huge.unsigned(), huge.end), (i64::MAX, u64::MAX, 60));
        assert_eq!(integer(b"-1").unwrap().unsigned(), u64::MAX);
    }

    #[test]
    fn floats_are_parsed_as_by_scanf() {
        for (text, value, end) in [
            ("1.5f", 1.5, 3),
            (" -2.", -2.0, 4),
            (".5d", 0.5, 2),
            ("1e3x", 1000.0, 3),
            ("1ef", 1.0, 1),
            ("1e400", f64::INFINITY, 5),
            ("-Infinity", f64::NEG_INFINITY, 9),
            ("inff", f64::INFINITY, 3),
            ("0xf", 15.0, 3),
            ("0x1.8p1", 3.0, 7),
            ("0xg", 0.0, 1),
        ] {
            assert_eq!(float(text.as_bytes()), Some((value, end)), "{text}");
        }
        assert!(float(b"nand").is_some_and(|(value, end)| value.is_nan() && end == 3));
        assert_eq!((float(b"."), float(b""), float(b"-f")), (None, None, None));
    }
}
