//! Floating-point numbers in the form of C's `%.Ng`, fast and always correctly rounded.
//!
//! The number times a power of ten is computed to 128 bits with a known error bound. If the remainder differs from a
//! rounding boundary by more than that bound, the digits are correct. The few other cases use the exact conversion of
//! the standard library, which rounds ties to even as glibc does. So no result depends on an estimate.

use super::power::{least_from_power_of_ten, power_of_ten};

/// Largest number of digits of the fast path; more digits need the exact conversion.
const MOST_FAST_DIGITS: usize = 17;

const POWERS: [u64; 19] = {
    let mut powers = [1; 19];
    let mut at = 1;
    while at < 19 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

const PAIRS: [u8; 200] = {
    let mut pairs = [0; 200];
    let mut at = 0;
    while at < 100 {
        pairs[2 * at] = b'0' + (at / 10) as u8;
        pairs[2 * at + 1] = b'0' + (at % 10) as u8;
        at += 1;
    }
    pairs
};

/// Rule for a decimal point without digits after it; trailing zeros are always removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Point {
    /// The point is removed: `1`, as `%.Ng` prints it.
    IfNeeded,
    /// The point is kept: `1.`, as in attributes.
    Always,
}

/// Appends a finite number with at most `digits` significant digits.
pub(super) fn general(value: f64, digits: usize, point: Point, out: &mut Vec<u8>) {
    let digits = digits.max(1);
    if digits > MOST_FAST_DIGITS {
        return general_exact(value, digits, point, out);
    }
    // No branch: the signs of data are hard to predict.
    let start = out.len();
    out.push(b'-');
    out.truncate(start + usize::from(value.is_sign_negative()));
    if value == 0.0 {
        out.extend_from_slice(if point == Point::Always { b"0." } else { b"0" });
        return;
    }
    let (decimal, exponent) = decimal(value.abs(), digits);
    if digits <= MOST_PACKED_DIGITS {
        packed(decimal, digits, exponent, point, out);
    } else {
        let mut text = [b'0'; 17];
        write_digits(decimal, &mut text[..digits]);
        place(&text[..digits], exponent, point, out);
    }
}

/// Largest number of digits that are packed into two words.
const MOST_PACKED_DIGITS: usize = 16;

/// Appends a number of at most 16 digits with its point and exponent. The digits are computed in two registers of eight
/// digits each, first digit in the lowest byte: computing them byte by byte in memory would stall the processor.
#[inline]
fn packed(decimal: u64, digits: usize, exponent: i32, point: Point, out: &mut Vec<u8>) {
    let (high, low) = if digits <= 8 {
        (eight_figures((decimal * POWERS[8 - digits]) as u32), 0)
    } else {
        let decimal = decimal * POWERS[16 - digits];
        (eight_figures((decimal / POWERS[8]) as u32), eight_figures((decimal % POWERS[8]) as u32))
    };
    let bytes = |word: u64| 8 - word.leading_zeros() as usize / 8;
    let len = if low == 0 { bytes(high).max(1) } else { 8 + bytes(low) };
    let words = Words { high: high | ZEROS, low: low | ZEROS };
    if exponent < -4 || exponent >= digits as i32 {
        words.put(0, 1, out);
        if len > 1 || point == Point::Always {
            out.push(b'.');
            words.put(1, len - 1, out);
        }
        exponent_text(exponent, out);
    } else if exponent < 0 {
        out.extend_from_slice(&b"0.000"[..(1 - exponent) as usize]);
        words.put(0, len, out);
    } else {
        let whole = exponent as usize + 1;
        words.put(0, whole, out);
        if len > whole {
            out.push(b'.');
            words.put(whole, len - whole, out);
        } else if point == Point::Always {
            out.push(b'.');
        }
    }
}

/// Sixteen digits.
struct Words {
    high: u64,
    low: u64,
}

const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);

impl Words {
    /// Appends `count` digits from the digit at `from` on.
    #[inline]
    fn put(&self, from: usize, count: usize, out: &mut Vec<u8>) {
        let end = out.len() + count;
        // Each copy has a fixed length, which compiles to one store; surplus bytes are truncated.
        if from < 8 {
            out.extend_from_slice(&(self.high >> (8 * from)).to_le_bytes());
            if from + count <= 8 {
                return out.truncate(end);
            }
            out.truncate(end - (from + count - 8));
            out.extend_from_slice(&self.low.to_le_bytes());
        } else {
            out.extend_from_slice(&(self.low >> (8 * (from - 8))).to_le_bytes());
        }
        out.truncate(end);
    }
}

/// Returns the eight digits of a number below 10^8, one per byte, the first digit in the lowest byte.
fn eight_figures(number: u32) -> u64 {
    // Two halves of four digits, then four pairs, then eight digits; each step handles all parts at once.
    // Multiplication and shift divide by 100 and by 10 exactly for numbers of that size.
    let halves = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    let tops = ((halves * 10_486) >> 20) & 0x7F_0000_007F;
    let pairs = tops | (halves - 100 * tops) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000F_000F_000F_000F;
    tens | (pairs - 10 * tens) << 8
}

/// Appends digits with their point and exponent.
fn place(text: &[u8], exponent: i32, point: Point, out: &mut Vec<u8>) {
    let len = text.iter().rposition(|&byte| byte != b'0').map_or(1, |at| at + 1);
    let mut put = |part: &[u8]| out.extend_from_slice(part);
    if exponent < -4 || exponent >= text.len() as i32 {
        put(&text[..1]);
        if len > 1 || point == Point::Always {
            put(b".");
        }
        put(&text[1..len]);
        exponent_text(exponent, out);
    } else if exponent < 0 {
        put(&b"0.000"[..(1 - exponent) as usize]);
        put(&text[..len]);
    } else {
        let whole = exponent as usize + 1;
        put(&text[..whole]);
        if len > whole || point == Point::Always {
            put(b".");
        }
        put(text.get(whole..len).unwrap_or_default());
    }
}

/// Appends `e+05`, with two digits at least.
pub(super) fn exponent_text(exponent: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    let size = exponent.unsigned_abs();
    if size >= 100 {
        out.push(b'0' + (size / 100) as u8);
    }
    let pair = (size % 100) as usize * 2;
    out.extend_from_slice(&PAIRS[pair..pair + 2]);
}

fn general_exact(value: f64, digits: usize, point: Point, out: &mut Vec<u8>) {
    let text = format!("{:.*e}", digits - 1, value.abs());
    let (mantissa, exponent) = split_exponent(&text);
    let figures: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    if value.is_sign_negative() {
        out.push(b'-');
    }
    place(&figures, exponent, point, out);
}

/// Splits `1.5e-7` into mantissa and exponent.
pub(super) fn split_exponent(text: &str) -> (&str, i32) {
    let at = text.rfind('e').unwrap_or(text.len());
    (&text[..at], text.get(at + 1..).and_then(|exponent| exponent.parse().ok()).unwrap_or(0))
}

/// Rounds a positive number to `digits` decimal digits, ties to even: returns `(d, x)` for `d * 10^(x - digits + 1)`,
/// where `d` has exactly `digits` digits.
#[inline]
fn decimal(value: f64, digits: usize) -> (u64, i32) {
    let bits = value.to_bits();
    let stored = (bits >> 52) as i32 & 0x7FF;
    if stored == 0 {
        return decimal_exact(value, digits);
    }
    let (mantissa, exponent) = (bits << 11 | 1 << 63, stored - 1086);
    // Power of ten below the largest power of two that is not above the number; the number may be one power of ten
    // higher.
    let tens = ((exponent + 63) * 315_653) >> 20;
    let tens = tens + i32::from(value >= least_from_power_of_ten(tens + 1));
    let (power, power_exponent, exact) = power_of_ten(digits as i32 - 1 - tens);

    if digits <= MOST_DIGITS_IN_64_BITS {
        // The product is [high, high + 2) * 2^-point.
        let high = ((u128::from(mantissa) * (power >> 64)) >> 64) as u64;
        let point = -(exponent + power_exponent + 128) as u32;
        let (decimal, rest, half) = (high >> point, high & ((1 << point) - 1), 1u64 << (point - 1));
        if rest > half || rest + 2 <= half {
            let decimal = decimal + u64::from(rest > half);
            let carry = decimal == POWERS[digits];
            return (if carry { POWERS[digits - 1] } else { decimal }, tens + i32::from(carry));
        }
    }

    // The product is [high.low, high.low + 2) * 2^-point if the power is truncated.
    let low_part = u128::from(mantissa) * (power & u128::from(u64::MAX));
    let high = u128::from(mantissa) * (power >> 64) + (low_part >> 64);
    let more_below = low_part as u64 != 0;
    let point = -(exponent + power_exponent + 64) as u32;
    let (mut decimal, rest, half) = ((high >> point) as u64, high & ((1 << point) - 1), 1u128 << (point - 1));
    if exact {
        let above = rest > half || (rest == half && (more_below || decimal & 1 == 1));
        decimal += u64::from(above);
    } else if rest + 2 > half && rest <= half {
        return decimal_exact(value, digits);
    } else {
        decimal += u64::from(rest > half);
    }
    if decimal == POWERS[digits] {
        return (POWERS[digits - 1], tens + 1);
    }
    (decimal, tens)
}

/// Largest number of digits for which a product of 64 bits is usually precise enough.
const MOST_DIGITS_IN_64_BITS: usize = 9;

/// [`decimal`] computed by the standard library with arbitrary precision.
#[cold]
fn decimal_exact(value: f64, digits: usize) -> (u64, i32) {
    let text = format!("{:.*e}", digits - 1, value);
    let (mantissa, exponent) = split_exponent(&text);
    let decimal = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    (decimal, exponent)
}

/// Writes a number that has at most `text.len()` digits, with leading zeros.
fn write_digits(mut number: u64, text: &mut [u8]) {
    let mut at = text.len();
    while at > 8 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    let mut number = number as u32;
    while at > 1 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if at == 1 {
        text[0] = b'0' + (number % 10) as u8;
    }
}

/// Appends an unsigned integer.
pub(super) fn unsigned(mut number: u64, out: &mut Vec<u8>) {
    if number < 10 {
        return out.push(b'0' + number as u8);
    }
    let mut text = [0; 20];
    let mut at = text.len();
    while number >= 10 {
        let pair = (number % 100) as usize * 2;
        number /= 100;
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if number > 0 {
        at -= 1;
        text[at] = b'0' + number as u8;
    }
    out.extend_from_slice(&text[at..]);
}

/// Appends a signed integer.
pub(super) fn signed(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    unsigned(number.unsigned_abs(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: f64, digits: usize) -> String {
        let mut out = vec![];
        general(value, digits, Point::IfNeeded, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn as_c_prints_them() {
        for (value, digits, expected) in [
            (0.0, 7, "0"),
            (-0.0, 7, "-0"),
            (1.0, 7, "1"),
            (100000.0, 7, "100000"),
            (1234567.0, 7, "1234567"),
            (12345675.0, 7, "1.234568e+07"), // a tie, to even
            (12345665.0, 7, "1.234566e+07"),
            (0.0001, 7, "0.0001"),
            (0.00001, 7, "1e-05"),
            (9999999.5, 7, "1e+07"),
            (0.1, 15, "0.1"),
            (0.1, 17, "0.10000000000000001"),
            (0.1, 20, "0.10000000000000000555"),
            (123456.0, 20, "123456"),
            (1e22, 20, "1e+22"),
            (-2.5, 1, "-2"),
            (3.5, 1, "4"),
            (9.5, 1, "1e+01"),
            (f64::MAX, 15, "1.79769313486232e+308"),
            (5e-324, 15, "4.94065645841247e-324"),
            (f64::MIN_POSITIVE, 9, "2.22507386e-308"),
            (9.969209968386869e36, 7, "9.96921e+36"),
        ] {
            assert_eq!(text(value, digits), expected, "{value:e} with {digits} digits");
        }
    }

    #[test]
    fn the_point_stays_in_attributes() {
        for (value, digits, expected) in
            [(0.0, 7, "0."), (1.0, 7, "1."), (1e10, 7, "1.e+10"), (1.5, 7, "1.5"), (1e20, 20, "1.e+20")]
        {
            let mut out = vec![];
            general(value, digits, Point::Always, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    /// Compares the fast path with the exact conversion, for numbers on and next to ties.
    #[test]
    fn ties_and_their_neighbours() {
        let mut state = 0x1234_5678_9ABC_DEF1u64;
        for round in 0..200_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let digits = 1 + (state % 17) as usize;
            let short = (state >> 20) % POWERS[digits.min(15)];
            let tie = (short as f64 + 0.5) * 10f64.powi((round % 60) - 30);
            for value in [
                tie,
                f64::from_bits(tie.to_bits() + 1),
                f64::from_bits(tie.to_bits() - 1),
                f64::from_bits(state & !(3 << 62)),
            ] {
                if value > 0.0 && value.is_finite() {
                    assert_eq!(decimal(value, digits), decimal_exact(value, digits), "{value:e} {digits}");
                }
            }
        }
    }

    #[test]
    fn integers() {
        let mut out = vec![];
        for number in [0, 9, 10, -7, 99, 100, i64::MIN, i64::MAX] {
            signed(number, &mut out);
            out.push(b' ');
        }
        unsigned(u64::MAX, &mut out);
        let expected = "0 9 10 -7 99 100 -9223372036854775808 9223372036854775807 18446744073709551615";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
