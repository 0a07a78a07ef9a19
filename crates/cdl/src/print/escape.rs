//! Escapes of CDL in names and text. Bytes that are not UTF-8 are printed unchanged.

use super::PrintFailure;
use crate::parse::has_meaning;

/// Place of a text in CDL, which determines its escapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// Attribute in the classic model: one piece per line of text.
    AttributeLines,
    /// Attribute of a netCDF-4 file, or a string: one piece, since several pieces would be several strings.
    OnePiece,
    /// Row of a character variable: one piece per line of text, and bytes above 126 as octal escapes.
    Row,
    /// Characters of a compound: one piece, and bytes above 126 as octal escapes.
    Field,
}

/// Appends text in quotes.
pub(super) fn quoted(text: &[u8], place: Place, out: &mut Vec<u8>) {
    out.push(b'"');
    escaped(text, place, out);
    out.push(b'"');
}

/// Appends text with escapes, without quotes.
pub(super) fn escaped(text: &[u8], place: Place, out: &mut Vec<u8>) {
    for &byte in text {
        let letter = match byte {
            b'\n' => {
                out.extend_from_slice(match place {
                    Place::AttributeLines => b"\\n\",\n\t\t\t\"",
                    Place::Row => b"\\n\",\n    \"",
                    Place::OnePiece | Place::Field => b"\\n",
                });
                continue;
            }
            0x08 => b'b',
            0x0C => b'f',
            b'\r' => b'r',
            b'\t' => b't',
            0x0B => b'v',
            b'\\' | b'\'' | b'"' => byte,
            _ => {
                let raw_high = matches!(place, Place::AttributeLines | Place::OnePiece);
                if byte.is_ascii_control() || (byte >= 0x80 && !raw_high) {
                    let digit = |shift: u8| b'0' + (byte >> shift & 7);
                    out.extend_from_slice(&[b'\\', digit(6), digit(3), digit(0)]);
                } else {
                    out.push(byte);
                }
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
}

/// Returns the text without trailing NULs.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
    &text[..end]
}

/// Returns the text up to its first NUL, as C reads it.
pub(super) fn c_text(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Bytes that need an escape in names, control characters included.
const SPECIAL: [bool; 256] = {
    let (mut special, mut rest) = ([false; 256], b" !\"#$&'()*,:;<=>?[]\\^`{|}~\x7F".as_slice());
    while let Some((&byte, others)) = rest.split_first() {
        special[byte as usize] = true;
        rest = others;
    }
    let mut control = 0;
    while control < b' ' {
        special[control as usize] = true;
        control += 1;
    }
    special
};

/// Rule for escapes in names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameEscapes {
    /// Escapes of `ncdump`, and more only where no program could read the text otherwise.
    Reference,
    /// Escapes that keep every name distinct from all other words of CDL.
    Escaped,
}

/// True if text begins with the two hexadecimal digits of a control character.
fn is_control_code(text: &[u8]) -> bool {
    let digits = text.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
    let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
    code.is_some_and(|code| code.is_ascii_control())
}

/// Appends a name with escapes. With [`NameEscapes::Reference`] a name that begins with a space or a control character
/// is an error, as in `ncdump`.
pub(super) fn name(name: &[u8], names: NameEscapes, out: &mut Vec<u8>) -> Result<(), PrintFailure> {
    let name = c_text(name);
    let escaped = names == NameEscapes::Escaped;
    let second = name.get(1).copied().unwrap_or(0);
    let is_word = second.is_ascii_alphabetic() || second == b'_' || second >= 0x80;
    match name.first() {
        Some(&first @ (1..=0x20 | 0x7F)) if !escaped => {
            let mut text = b"name begins with space or control-character: ".to_vec();
            text.push(first);
            return Err(PrintFailure::Refused(text));
        }
        Some(b'0'..=b'9') => out.push(b'\\'),
        // These signs begin a name before a letter, otherwise a number or nothing.
        Some(b'.' | b'+' | b'-') if escaped || !is_word || name.starts_with(b"-Inf") => out.push(b'\\'),
        Some(b'@') if escaped => out.push(b'\\'),
        // `//` and `/*` would begin a comment.
        Some(b'/') if matches!(second, b'/' | b'*') => out.push(b'\\'),
        Some(_) if escaped && has_meaning(name) => out.push(b'\\'),
        _ => {}
    }
    let is_special = |byte: u8| SPECIAL[usize::from(byte)] || (escaped && byte == b'%');
    let mut rest = name;
    while let Some(at) = rest.iter().position(|&byte| is_special(byte)) {
        let byte = rest[at];
        out.extend_from_slice(&rest[..at]);
        match byte.is_ascii_control() {
            // `\%` and these digits would be read as a control character.
            _ if byte == b'%' && is_control_code(&rest[at + 1..]) => out.push(byte),
            true => out.extend_from_slice(format!("\\%{byte:02x}").as_bytes()),
            false => out.extend_from_slice(&[b'\\', byte]),
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8], place: Place) -> Vec<u8> {
        let mut out = vec![];
        quoted(bytes, place, &mut out);
        out
    }

    #[test]
    fn each_place_has_its_rules() {
        let bytes = b"a\n\"\x01\xff'\t\x0b\\";
        assert_eq!(text(bytes, Place::AttributeLines), b"\"a\\n\",\n\t\t\t\"\\\"\\001\xff\\'\\t\\v\\\\\"");
        assert_eq!(text(bytes, Place::OnePiece), b"\"a\\n\\\"\\001\xff\\'\\t\\v\\\\\"");
        assert_eq!(text(bytes, Place::Row), b"\"a\\n\",\n    \"\\\"\\001\\377\\'\\t\\v\\\\\"");
        assert_eq!(text(bytes, Place::Field), b"\"a\\n\\\"\\001\\377\\'\\t\\v\\\\\"");
    }

    #[test]
    fn ends_of_text() {
        assert_eq!(trimmed(b"a\0b\0\0"), b"a\0b");
        assert_eq!(trimmed(b"\0\0"), b"");
        assert_eq!(c_text(b"a\0b"), b"a");
    }

    #[test]
    fn names() {
        let escaped = |bytes: &[u8]| {
            let mut out = vec![];
            name(bytes, NameEscapes::Reference, &mut out).map(|()| String::from_utf8_lossy(&out).into_owned())
        };
        assert_eq!(escaped(b"1a b.c-d@e+f%g").unwrap(), "\\1a\\ b.c-d@e+f%g");
        assert_eq!(escaped("tür\x07".as_bytes()).unwrap(), "tür\\%07");
        assert!(escaped(b" a").is_err());
    }

    #[test]
    fn names_are_escaped_where_no_program_could_read_them_or_all_the_same() {
        let printed = |bytes: &[u8], names| {
            let mut out = vec![];
            name(bytes, names, &mut out).map(|()| String::from_utf8_lossy(&out).into_owned()).ok()
        };
        for (bytes, reference, escaped) in [
            (&b"string"[..], Some("string"), "\\string"),
            (b"data", Some("data"), "\\data"),
            (b"NaN", Some("NaN"), "\\NaN"),
            (b".silo", Some(".silo"), "\\.silo"),
            (b".5", Some("\\.5"), "\\.5"),
            (b"-", Some("\\-"), "\\-"),
            (b"-Inf", Some("\\-Inf"), "\\-Inf"),
            (b"@a", Some("@a"), "\\@a"),
            (b"//a", Some("\\//a"), "\\//a"),
            (b"#refs#", Some("\\#refs\\#"), "\\#refs\\#"),
            (b" format", None, "\\ format"),
            (b"\x07", None, "\\%07"),
            (b"a%b", Some("a%b"), "a\\%b"),
            (b"a%07", Some("a%07"), "a%07"),
        ] {
            assert_eq!(printed(bytes, NameEscapes::Reference).as_deref(), reference);
            assert_eq!(printed(bytes, NameEscapes::Escaped).as_deref(), Some(escaped));
        }
    }
}
