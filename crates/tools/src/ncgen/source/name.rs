//! Names and text, as the languages take them.

/// What stands in an identifier for a character that may not.
const REPLACED: [(u8, &str); 32] = [
    (b' ', "SPACE"),
    (b'!', "EXCLAMATION"),
    (b'"', "QUOTATION"),
    (b'#', "HASH"),
    (b'$', "DOLLAR"),
    (b'%', "PERCENT"),
    (b'&', "AMPERSAND"),
    (b'\'', "APOSTROPHE"),
    (b'(', "LEFTPAREN"),
    (b')', "RIGHTPAREN"),
    (b'*', "ASTERISK"),
    (b'+', "PLUS"),
    (b',', "COMMA"),
    (b'-', "MINUS"),
    (b'.', "PERIOD"),
    (b'/', "SLASH"),
    (b':', "COLON"),
    (b';', "SEMICOLON"),
    (b'<', "LESSTHAN"),
    (b'=', "EQUALS"),
    (b'>', "GREATERTHAN"),
    (b'?', "QUESTION"),
    (b'@', "ATSIGN"),
    (b'[', "LEFTBRACKET"),
    (b'\\', "BACKSLASH"),
    (b']', "RIGHTBRACKET"),
    (b'^', "CIRCUMFLEX"),
    (b'`', "BACKQUOTE"),
    (b'{', "LEFTCURLY"),
    (b'|', "VERTICALBAR"),
    (b'}', "RIGHTCURLY"),
    (b'~', "TILDE"),
];

/// An identifier of C and Java that stands for a name. The first underscore is taken away if it comes first.
pub(super) fn identifier(name: &[u8]) -> String {
    let made = spelled(name);
    made.strip_prefix('_').map(str::to_string).unwrap_or(made)
}

/// A name with words for what may not stand in identifiers.
pub(super) fn spelled(name: &[u8]) -> String {
    let mut made = String::new();
    for (at, &byte) in name.iter().enumerate() {
        match byte {
            b'0'..=b'9' if at == 0 => made.push_str(&format!("DIGIT_{}_", char::from(byte))),
            128.. => made.push_str(&format!("_X{byte:02X}")),
            _ => match REPLACED.iter().find(|&&(from, _)| from == byte) {
                Some((_, word)) => made.push_str(&format!("_{word}_")),
                None => made.push(char::from(byte)),
            },
        }
    }
    made
}

/// Appends a byte of a C constant between such quotes. Bytes above ASCII stay as they are.
pub(super) fn c_byte(byte: u8, quote: u8, into: &mut Vec<u8>) {
    let letter = match byte {
        b'\\' => b'\\',
        _ if byte == quote => quote,
        8 => b'b',
        9 => b't',
        10 => b'n',
        11 => b'v',
        12 => b'f',
        13 => b'r',
        0..32 | 127 => return into.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        _ => return into.push(byte),
    };
    into.extend_from_slice(&[b'\\', letter]);
}

/// The contents of a C string.
pub(super) fn c_text(text: &[u8]) -> Vec<u8> {
    let mut made = Vec::with_capacity(text.len());
    for &byte in text {
        c_byte(byte, b'"', &mut made);
    }
    made
}

/// Appends a unit of UTF-16 as it stands in a Java constant between such quotes.
pub(super) fn java_unit(unit: u16, quote: u8, into: &mut String) {
    match u8::try_from(unit) {
        Ok(byte) if byte == quote || byte == b'\\' => {
            into.push('\\');
            into.push(char::from(byte));
        }
        Ok(byte @ 32..127) => into.push(char::from(byte)),
        Ok(8) => into.push_str("\\b"),
        Ok(9) => into.push_str("\\t"),
        Ok(10) => into.push_str("\\n"),
        Ok(12) => into.push_str("\\f"),
        Ok(13) => into.push_str("\\r"),
        _ => into.push_str(&format!("\\u{unit:04X}")),
    }
}

/// The contents of a Java string, up to the first zero byte. What is not UTF-8 is taken for Latin-1.
pub(super) fn java_text(text: &[u8]) -> String {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = &text[..end];
    let mut made = String::with_capacity(text.len());
    match std::str::from_utf8(text) {
        Ok(utf8) => utf8.encode_utf16().for_each(|unit| java_unit(unit, b'"', &mut made)),
        Err(_) => text.iter().for_each(|&byte| java_unit(byte.into(), b'"', &mut made)),
    }
    made
}

/// A Fortran expression for a text: what cannot be printed stands between the parts by its number.
pub(super) fn fortran_text(text: &[u8]) -> String {
    let mut made = String::new();
    let mut quoted = false;
    for &byte in text {
        let plain = (32..127).contains(&byte);
        if quoted && !plain {
            made.push('\'');
        }
        let joins = quoted && plain;
        if !made.is_empty() && !joins {
            made.push_str("//");
        }
        if plain && !joins {
            made.push('\'');
        }
        match byte {
            b'\'' => made.push_str("''"),
            _ if plain => made.push(char::from(byte)),
            _ => made.push_str(&format!("char({byte})")),
        }
        quoted = plain;
    }
    match (text.is_empty(), quoted) {
        (true, _) => "char(0)".to_string(),
        (_, true) => made + "'",
        (_, false) => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        for (name, made) in [
            ("a_b", "a_b"),
            ("4a", "DIGIT_4_a"),
            ("_x", "x"),
            ("a-b.c", "a_MINUS_b_PERIOD_c"),
            ("é", "XC3_XA9"),
            ("a4", "a4"),
        ] {
            assert_eq!(identifier(name.as_bytes()), made);
        }
    }

    #[test]
    fn text_of_each_language() {
        let text = b"a\"\\'\n\x01\x7f\0b";
        assert_eq!(c_text(text), br#"a\"\\'\n\001\177\000b"#);
        assert_eq!(java_text(text), r#"a\"\\'\n\u0001\u007F"#);
        assert_eq!(fortran_text(text), r#"'a"\'''//char(10)//char(1)//char(127)//char(0)//'b'"#);
        assert_eq!(fortran_text(b""), "char(0)");
        assert_eq!(fortran_text("é'".as_bytes()), "char(195)//char(169)//''''");
        assert_eq!(java_text("é😀".as_bytes()), r"\u00E9\uD83D\uDE00");
        assert_eq!(java_text(b"\xe9"), r"\u00E9");
    }
}
