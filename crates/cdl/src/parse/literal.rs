//! Values of number, character and text literals.
//!
//! The rules are those of `ncgen`, except where it loses data. An integer without suffix is the smallest of `int`,
//! `uint`, `int64`, `uint64` that holds it. An integer with a suffix has the type of the suffix; a signed type
//! truncates it. Digits after a leading zero are octal; `0x…` without suffix is opaque bytes. Defects of `ncgen` that
//! are not reproduced: it reads `-1b` as 255 in a wider type, `18446744073709551615` as -1, `\x41` as two wrong bytes,
//! and `-0` without the sign that `ncdump` prints for a negative zero.

use ferrocdf_model::Atomic;

use super::constant::Const;

/// Parses a number token: `[+-]digits…` with suffix.
pub(super) fn number(text: &[u8]) -> Result<Const, String> {
    let digits_start = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let digits_end = text[digits_start..]
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .map_or(text.len(), |n| digits_start + n);
    match text.get(digits_end) {
        None if text == b"-0" => Ok(Const::MinusZero),
        Some(b'.' | b'e' | b'E') => real(text),
        _ => integer(text, digits_start, digits_end),
    }
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

fn real(text: &[u8]) -> Result<Const, String> {
    let (plain, suffix) = match text.split_last() {
        Some((b'f' | b'F', plain)) => (plain, b'f'),
        Some((b'd' | b'D' | b'l' | b'L', plain)) => (plain, b'd'),
        _ => (text, b'd'),
    };
    if suffix == b'f' {
        let bad = |_| format!("bad float constant: {}", shown(text));
        return fast_float2::parse(plain).map(Const::Float).map_err(bad);
    }
    let bad = |_| format!("bad long or double constant: {}", shown(text));
    fast_float2::parse(plain).map(Const::Double).map_err(bad)
}

/// Returns the type of an integer suffix: the outer `None` for an illegal suffix, the inner one for no suffix.
fn suffix_type(suffix: &[u8]) -> Option<Option<Atomic>> {
    let lower = suffix.to_ascii_lowercase();
    Some(Some(match &*lower {
        b"" => return Some(None),
        b"b" => Atomic::Byte,
        b"s" => Atomic::Short,
        b"l" => Atomic::Int,
        b"ll" => Atomic::Int64,
        b"ub" => Atomic::Ubyte,
        b"us" => Atomic::Ushort,
        b"u" | b"ul" => Atomic::Uint,
        b"ull" => Atomic::Uint64,
        _ => return None,
    }))
}

fn integer(text: &[u8], digits_start: usize, digits_end: usize) -> Result<Const, String> {
    let (digits, suffix) = (&text[digits_start..digits_end], &text[digits_end..]);
    let plain = || shown(&text[..digits_end]);
    let Some(asked) = suffix_type(suffix) else {
        return Err(format!("Illegal integer suffix: {}", shown(suffix)));
    };
    let negative = text[0] == b'-';
    let unsigned =
        asked.is_some_and(|ty| matches!(ty, Atomic::Ubyte | Atomic::Ushort | Atomic::Uint | Atomic::Uint64));
    if negative && unsigned {
        return Err(format!("Unsigned integer cannot be signed: {}", plain()));
    }
    let Some(size) = magnitude(digits) else {
        return Err(format!("integer constant out of range: {}", plain()));
    };
    let value = if negative { -i128::from(size) } else { i128::from(size) };
    let out_of_range = || Err("Value out of range".to_string());
    let (ty, value) = match asked {
        None => match value {
            -0x8000_0000..=0x7fff_ffff => (Atomic::Int, value),
            0x8000_0000..=0xffff_ffff => (Atomic::Uint, value),
            0x1_0000_0000.. => (Atomic::Uint64, value),
            -0x8000_0000_0000_0000..=-0x8000_0001 => (Atomic::Int64, value),
            _ => return Err(format!("integer constant out of range: {}", plain())),
        },
        // `200b` is -56 in `byte`, and 200 in wider types.
        Some(Atomic::Byte) if value >= 0 => (Atomic::Byte, i128::from(value as u8)),
        Some(Atomic::Byte) => (Atomic::Byte, i128::from(value as i8)),
        Some(Atomic::Short) => (Atomic::Short, i128::from(value as i16)),
        Some(Atomic::Int) => (Atomic::Int, i128::from(value as i32)),
        Some(Atomic::Int64) => (Atomic::Int64, i128::from(value as i64)),
        Some(Atomic::Ubyte) if value > 0xff => return out_of_range(),
        Some(Atomic::Ushort) if value > 0xffff => return out_of_range(),
        Some(Atomic::Uint) if value > 0xffff_ffff => return out_of_range(),
        Some(ty) => (ty, value),
    };
    Ok(Const::Int(ty, value))
}

/// Parses digits; octal after a leading zero, where parsing stops at an 8 or 9 as in C.
fn magnitude(digits: &[u8]) -> Option<u64> {
    let octal = digits.len() > 1 && digits[0] == b'0';
    let (radix, used) = match octal {
        true => (8, digits.iter().position(|&byte| byte > b'7').unwrap_or(digits.len())),
        false => (10, digits.len()),
    };
    digits[..used]
        .iter()
        .try_fold(0u64, |sum, &byte| sum.checked_mul(radix)?.checked_add(u64::from(byte - b'0')))
}

/// Returns the value of `0x…` with an integer suffix: unsigned, truncated to 32 bits.
pub(super) fn hexadecimal(digits: &[u8]) -> Const {
    let value = digits.iter().fold(0u32, |sum, &byte| (sum << 4) | u32::from(hex_digit(byte).unwrap_or(0)));
    Const::Int(Atomic::Uint, i128::from(value))
}

/// Returns the bytes of `0x…` without suffix; a missing last digit is 0.
pub(super) fn opaque(digits: &[u8]) -> Vec<u8> {
    let value = |byte: Option<&u8>| byte.and_then(|&byte| hex_digit(byte)).unwrap_or(0);
    digits.chunks(2).map(|pair| (value(pair.first()) << 4) | value(pair.get(1))).collect()
}

fn hex_digit(byte: u8) -> Option<u8> {
    Some(match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'f' => byte - b'a' + 10,
        b'A'..=b'F' => byte - b'A' + 10,
        _ => return None,
    })
}

/// Replaces the escapes between the quotes of a text or a character. Fails on an octal escape of other than three
/// digits.
pub(super) fn unescape(text: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'\\') {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let (byte, used) = match rest {
            [b'x' | b'X', high, low, ..] if hex_digit(*high).is_some() && hex_digit(*low).is_some() => {
                (opaque(&rest[1..3])[0], 3)
            }
            [b'0'..=b'7', ..] => match rest {
                [a, b, c, ..] if [a, b, c].iter().all(|digit| (b'0'..=b'7').contains(digit)) => {
                    (((a - b'0') << 6) | ((b - b'0') << 3) | (c - b'0'), 3)
                }
                _ => return Err(format!("Bad octal constant: {}", shown(text))),
            },
            [byte, ..] => (control(*byte), 1),
            [] => (b'\\', 0),
        };
        plain.push(byte);
        rest = &rest[used..];
    }
    plain.extend_from_slice(rest);
    Ok(plain)
}

/// Returns the byte of a one-letter escape.
fn control(letter: u8) -> u8 {
    match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'?' => 127,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(ty: Atomic, value: i128) -> Result<Const, String> {
        Ok(Const::Int(ty, value))
    }

    #[test]
    fn integers_take_the_type_of_their_suffix_or_the_smallest() {
        for (text, ty, value) in [
            ("0", Atomic::Int, 0),
            ("-2147483648", Atomic::Int, -2147483648),
            ("2147483648", Atomic::Uint, 2147483648),
            ("-2147483649", Atomic::Int64, -2147483649),
            ("4294967296", Atomic::Uint64, 4294967296),
            ("18446744073709551615", Atomic::Uint64, 18446744073709551615),
            ("-9223372036854775808", Atomic::Int64, -9223372036854775808),
            ("300b", Atomic::Byte, 44),
            ("200b", Atomic::Byte, 200),
            ("-1b", Atomic::Byte, -1),
            ("65535s", Atomic::Short, -1),
            ("5000000000L", Atomic::Int, 705032704),
            ("7LL", Atomic::Int64, 7),
            ("255ub", Atomic::Ubyte, 255),
            ("3US", Atomic::Ushort, 3),
            ("3u", Atomic::Uint, 3),
            ("3uL", Atomic::Uint, 3),
            ("18446744073709551615ULL", Atomic::Uint64, 18446744073709551615),
            ("010", Atomic::Int, 8),
            ("-010", Atomic::Int, -8),
            ("018", Atomic::Int, 1),
        ] {
            assert_eq!(number(text.as_bytes()), int(ty, value), "{text}");
        }
    }

    #[test]
    fn wrong_integers_say_why() {
        for (text, why) in [
            ("256ub", "Value out of range"),
            ("65536us", "Value out of range"),
            ("4294967296u", "Value out of range"),
            ("-1ub", "Unsigned integer cannot be signed: -1"),
            ("18446744073709551616", "integer constant out of range: 18446744073709551616"),
        ] {
            assert_eq!(number(text.as_bytes()), Err(why.to_string()));
        }
    }

    #[test]
    fn reals_are_those_of_strtod() {
        assert_eq!(number(b"1.5"), Ok(Const::Double(1.5)));
        assert_eq!(number(b"-.5e1L"), Ok(Const::Double(-5.0)));
        assert_eq!(number(b"1e400"), Ok(Const::Double(f64::INFINITY)));
        assert_eq!(number(b"3e3f"), Ok(Const::Float(3000.0)));
        assert_eq!(number(b"16777217.f"), Ok(Const::Float(16777216.0)));
        assert_eq!(number(b"."), Err("bad long or double constant: .".to_string()));
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(br#"a\n\t\\\"\'\101\x41\q\?"#).unwrap(), b"a\n\t\\\"'AAq\x7f");
        assert_eq!(unescape(br"\777").unwrap(), [0xff]);
        assert_eq!(unescape(br"a\0z").unwrap_err(), r"Bad octal constant: a\0z");
        assert_eq!(opaque(b"1aB"), [0x1a, 0xb0]);
        assert_eq!(hexadecimal(b"1ffffffff"), Const::Int(Atomic::Uint, 0xffff_ffff));
    }
}
