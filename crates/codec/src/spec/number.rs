//! Numbers at the start of a text, as the `scanf` of C reads them: blanks before, anything behind.

/// A decimal integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    /// Whether a minus sign stands before it.
    pub negative: bool,
    /// Its value without the sign; larger ones are the largest of this type.
    pub size: u128,
    /// Where it ends.
    pub end: usize,
}

impl Integer {
    /// What `%lu` makes of it.
    pub fn unsigned(self) -> u64 {
        match u64::try_from(self.size) {
            Ok(size) if self.negative => size.wrapping_neg(),
            Ok(size) => size,
            Err(_) => u64::MAX,
        }
    }

    /// What `%ld` makes of it.
    pub fn signed(self) -> i64 {
        match (i64::try_from(self.size), self.negative) {
            (Ok(size), false) => size,
            (Ok(size), true) => -size,
            (Err(_), false) => i64::MAX,
            (Err(_), true) => i64::MIN,
        }
    }
}

/// Reads an integer; `None` if there is none.
pub fn integer(text: &[u8]) -> Option<Integer> {
    let (negative, start) = sign(text);
    let end = start + digits(&text[start..]);
    if end == start {
        return None;
    }
    let add = |size: u128, digit: &u8| size.saturating_mul(10).saturating_add(u128::from(digit - b'0'));
    Some(Integer { negative, size: text[start..end].iter().fold(0, add), end })
}

/// Reads a number with a fraction, and tells where it ends; `None` if there is none.
pub fn float(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, start) = sign(text);
    let (size, len) = unsigned_float(&text[start..])?;
    Some((if negative { -size } else { size }, start + len))
}

fn unsigned_float(text: &[u8]) -> Option<(f64, usize)> {
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    for (word, value) in [("infinity", f64::INFINITY), ("inf", f64::INFINITY), ("nan", f64::NAN)] {
        if begins(word.as_bytes()) {
            return Some((value, word.len()));
        }
    }
    if let (true, Some(found)) = (begins(b"0x"), hexadecimal(text)) {
        return Some(found);
    }
    let whole = digits(text);
    let fraction = match text.get(whole) {
        Some(b'.') => 1 + digits(&text[whole + 1..]),
        _ => 0,
    };
    if whole == 0 && fraction <= 1 {
        return None;
    }
    let mut end = whole + fraction;
    if let Some(b'e' | b'E') = text.get(end) {
        let (_, after) = sign_here(&text[end + 1..]);
        let power = digits(&text[end + 1 + after..]);
        if power > 0 {
            end += 1 + after + power;
        }
    }
    std::str::from_utf8(&text[..end]).ok()?.parse().ok().map(|value| (value, end))
}

/// A number in base 16 behind `0x`, with a power of 2 behind `p`. Beyond 53 bits it may be wrong in the last one.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let (mut value, mut power, mut any, mut end) = (0.0, 0i32, false, 2);
    let mut fraction = false;
    while let Some(&byte) = text.get(end) {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                value = value * 16.0 + f64::from(digit);
                power = power.saturating_sub(if fraction { 4 } else { 0 });
                any = true;
            }
            None if byte == b'.' && !fraction => fraction = true,
            None => break,
        }
        end += 1;
    }
    if let Some(b'p' | b'P') = text.get(end) {
        let (negative, after) = sign_here(&text[end + 1..]);
        let at = end + 1 + after;
        let count = digits(&text[at..]);
        if count > 0 {
            let said = integer(&text[at..])?.signed().clamp(0, 1 << 20) as i32;
            power = power.saturating_add(if negative { -said } else { said });
            end = at + count;
        }
    }
    // In two steps, so that no power is out of range by itself.
    let half = power / 2;
    any.then_some((value * 2f64.powi(half) * 2f64.powi(power - half), end))
}

/// Skips blanks and a sign: whether it is a minus, and where the rest begins.
fn sign(text: &[u8]) -> (bool, usize) {
    let blanks = text.len() - text.trim_ascii_start().len();
    let (negative, len) = sign_here(&text[blanks..]);
    (negative, blanks + len)
}

fn sign_here(text: &[u8]) -> (bool, usize) {
    match text.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    }
}

/// How many digits come first.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let of = |text: &str| integer(text.as_bytes()).map(|found| (found.signed(), found.end));
        assert_eq!((of("17b"), of(" -5"), of("+3,")), (Some((17, 2)), Some((-5, 3)), Some((3, 2))));
        assert_eq!((of(""), of("-"), of("x1")), (None, None, None));
        assert_eq!(of("-9223372036854775809").unwrap().0, i64::MIN);
        let huge = integer(&[b'9'; 60]).unwrap();
        assert_eq!((huge.signed(), huge.unsigned(), huge.end), (i64::MAX, u64::MAX, 60));
        assert_eq!(integer(b"-1").unwrap().unsigned(), u64::MAX);
    }

    #[test]
    fn floats() {
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
