//! Formats of C's `printf` with one conversion, for the attribute `C_format`.
//!
//! Numbers are converted exactly, for any width and precision. C reads an unrelated register if the conversion does not
//! suit the type of the value. Here an integer under `%f` is converted to floating point, and [`Format::fits`] is false
//! in all other cases, so that the caller prints the value in its default form. `%a`, `%n` and `*` are not supported.

use super::float::{exponent_text, split_exponent};

/// Format: text, one conversion, text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Format {
    before: Vec<u8>,
    spec: Spec,
    after: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    bits: u32,
    conversion: u8,
}

/// Kind of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Character.
    Char,
    /// Integer.
    Integer,
    /// Floating-point number.
    Float,
}

/// Largest accepted width and precision.
const WIDEST: usize = 4096;

impl Format {
    /// Parses a format; `None` if it does not have exactly one supported conversion.
    pub(super) fn parse(text: &[u8]) -> Option<Format> {
        let mut parts = [vec![], vec![]];
        let mut spec = None;
        let mut rest = text;
        while let Some((&byte, tail)) = rest.split_first() {
            rest = tail;
            let part = &mut parts[usize::from(spec.is_some())];
            if byte != b'%' {
                part.push(byte);
            } else if rest.first() == Some(&b'%') {
                part.push(b'%');
                rest = &rest[1..];
            } else if spec.is_some() {
                return None;
            } else {
                spec = Some(Spec::parse(&mut rest)?);
            }
        }
        let [before, after] = parts;
        Some(Format { before, spec: spec?, after })
    }

    /// True if this format can print a value of this kind.
    pub(super) fn fits(&self, kind: Kind) -> bool {
        match self.spec.conversion {
            b'c' | b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => kind != Kind::Float,
            _ => kind != Kind::Char,
        }
    }

    /// Appends an integer.
    pub(super) fn integer(&self, value: i128, out: &mut Vec<u8>) {
        let spec = &self.spec;
        let mask = (1i128 << spec.bits) - 1;
        let unsigned = value & mask;
        let signed = if unsigned >> (spec.bits - 1) == 1 { unsigned - mask - 1 } else { unsigned };
        let digits = match spec.conversion {
            b'c' => return self.wrap("", "", &[unsigned as u8], false, out),
            b'd' | b'i' => signed.unsigned_abs().to_string(),
            b'u' => unsigned.to_string(),
            b'o' => format!("{unsigned:o}"),
            b'x' => format!("{unsigned:x}"),
            b'X' => format!("{unsigned:X}"),
            _ => return self.float(value as f64, out),
        };
        let digits = match spec.precision {
            Some(0) if unsigned == 0 => String::new(),
            Some(least) => format!("{digits:0>least$}"),
            None => digits,
        };
        let prefix = match spec.conversion {
            b'o' if spec.alternate && !digits.starts_with('0') => "0",
            b'x' if spec.alternate && unsigned != 0 => "0x",
            b'X' if spec.alternate && unsigned != 0 => "0X",
            _ => "",
        };
        let sign = if matches!(spec.conversion, b'd' | b'i') { self.sign(signed < 0) } else { "" };
        self.wrap(sign, prefix, digits.as_bytes(), spec.precision.is_none(), out);
    }

    /// Appends a finite floating-point number.
    pub(super) fn float(&self, value: f64, out: &mut Vec<u8>) {
        let spec = &self.spec;
        let precision = spec.precision.unwrap_or(6);
        let size = value.abs();
        let mut body = match spec.conversion.to_ascii_lowercase() {
            b'f' => fixed(size, precision, spec.alternate),
            b'e' => exponential(size, precision, spec.alternate),
            _ => shortest(size, precision.max(1), spec.alternate),
        };
        if spec.conversion.is_ascii_uppercase() {
            body.make_ascii_uppercase();
        }
        self.wrap(self.sign(value.is_sign_negative()), "", &body, true, out);
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.spec.plus, self.spec.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn wrap(&self, sign: &str, prefix: &str, body: &[u8], zeros: bool, out: &mut Vec<u8>) {
        let spec = &self.spec;
        let fill = spec.width.saturating_sub(sign.len() + prefix.len() + body.len());
        let zeros = zeros && spec.zero && !spec.left;
        out.extend_from_slice(&self.before);
        if !spec.left && !zeros {
            out.resize(out.len() + fill, b' ');
        }
        out.extend_from_slice(sign.as_bytes());
        out.extend_from_slice(prefix.as_bytes());
        if zeros {
            out.resize(out.len() + fill, b'0');
        }
        out.extend_from_slice(body);
        if spec.left {
            out.resize(out.len() + fill, b' ');
        }
        out.extend_from_slice(&self.after);
    }
}

impl Spec {
    /// Parses the conversion after the `%`, and moves `rest` behind it.
    fn parse(rest: &mut &[u8]) -> Option<Spec> {
        let mut spec = Spec { bits: 32, ..Spec::default() };
        loop {
            match rest.first()? {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            *rest = &rest[1..];
        }
        spec.width = number(rest)?;
        if rest.first() == Some(&b'.') {
            *rest = &rest[1..];
            spec.precision = Some(number(rest)?);
        }
        while let Some(&size @ (b'h' | b'l' | b'j' | b'z' | b't' | b'q' | b'L')) = rest.first() {
            spec.bits = match (size, spec.bits) {
                (b'h', 32) => 16,
                (b'h', _) => 8,
                _ => 64,
            };
            *rest = &rest[1..];
        }
        spec.conversion = *rest.first()?;
        *rest = &rest[1..];
        b"cdiuoxXeEfFgG".contains(&spec.conversion).then_some(spec)
    }
}

/// Parses a number, 0 if there are no digits; `None` if it exceeds `WIDEST`.
fn number(rest: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    while let Some(digit @ b'0'..=b'9') = rest.first() {
        number = (number * 10 + usize::from(digit - b'0')).min(WIDEST + 1);
        *rest = &rest[1..];
    }
    (number <= WIDEST).then_some(number)
}

fn fixed(size: f64, precision: usize, point: bool) -> Vec<u8> {
    let mut body = format!("{size:.precision$}").into_bytes();
    if point && precision == 0 {
        body.push(b'.');
    }
    body
}

fn exponential(size: f64, precision: usize, point: bool) -> Vec<u8> {
    let text = format!("{size:.precision$e}");
    let (mantissa, exponent) = split_exponent(&text);
    let mut body = mantissa.as_bytes().to_vec();
    if point && precision == 0 {
        body.push(b'.');
    }
    exponent_text(exponent, &mut body);
    body
}

/// Formats as `%g`: the exponent selects `%e` or `%f`; trailing zeros are removed unless the `#` flag keeps them.
fn shortest(size: f64, digits: usize, keep: bool) -> Vec<u8> {
    let text = format!("{:.*e}", digits - 1, size);
    let exponent = split_exponent(&text).1;
    let small = exponent < -4 || exponent >= digits as i32;
    let mut body = if small {
        exponential(size, digits - 1, keep)
    } else {
        fixed(size, (digits as i32 - 1 - exponent) as usize, keep)
    };
    if !keep && body.contains(&b'.') {
        let end = body.iter().position(|&byte| byte == b'e').unwrap_or(body.len());
        let tail = body.split_off(end);
        while body.last() == Some(&b'0') {
            body.pop();
        }
        if body.last() == Some(&b'.') {
            body.pop();
        }
        body.extend_from_slice(&tail);
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(format: &str, value: f64) -> String {
        let mut out = vec![];
        Format::parse(format.as_bytes()).unwrap().float(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn integer(format: &str, value: i128) -> String {
        let mut out = vec![];
        Format::parse(format.as_bytes()).unwrap().integer(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn floats_as_c_prints_them() {
        for (format, value, expected) in [
            ("%8.3f", 3.45678, "   3.457"),
            ("%-8.3f|", 3.45678, "3.457   |"),
            ("%08.3f", -3.45678, "-003.457"),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 15.0, "2e+01"),
            ("%#.0f", 2.5, "2."),
            ("%+.1f%%", 2.25, "+2.2%"),
            ("% g", 100000.0, " 100000"),
            ("%g", 1000000.0, "1e+06"),
            ("%#g", 1.0, "1.00000"),
            ("%.10g", 0.1, "0.1"),
            ("%G", 1e-10, "1E-10"),
            ("%.3g", 0.00012345, "0.000123"),
            ("%f", -0.0, "-0.000000"),
            ("v=%.2f m", 1.005, "v=1.00 m"),
            ("%lf", 1.5, "1.500000"),
            ("%.25f", 0.1, "0.1000000000000000055511151"),
        ] {
            assert_eq!(float(format, value), expected, "{format}");
        }
    }

    #[test]
    fn integers_as_c_prints_them() {
        for (format, value, expected) in [
            ("%5d", 42, "   42"),
            ("%-5d|", 42, "42   |"),
            ("%05d", -42, "-0042"),
            ("%+d", 42, "+42"),
            ("%.4d", -42, "-0042"),
            ("%8.4d", 42, "    0042"),
            ("%x", -1, "ffffffff"),
            ("%#X", 255, "0XFF"),
            ("%#o", 8, "010"),
            ("%hhd", 300, "44"),
            ("%lld", i128::from(i64::MIN), "-9223372036854775808"),
            ("%d", 1 << 32 | 5, "5"),
            ("%u", -1, "4294967295"),
            ("%c", 65, "A"),
            ("%.2f", 3, "3.00"),
        ] {
            assert_eq!(integer(format, value), expected, "{format}");
        }
    }

    #[test]
    fn what_is_not_a_format() {
        for format in ["", "abc", "%", "%d %d", "%s", "%n", "%*d", "%99999d", "%-"] {
            assert_eq!(Format::parse(format.as_bytes()), None, "{format}");
        }
        assert!(!Format::parse(b"%d").unwrap().fits(Kind::Float));
        assert!(Format::parse(b"%f").unwrap().fits(Kind::Integer));
        assert!(!Format::parse(b"%f").unwrap().fits(Kind::Char));
    }
}
