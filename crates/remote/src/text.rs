//! Small pieces of text: elements of XML, percent escapes.

/// Returns the text of the first XML element of this name, with the predefined entities replaced. Enough for the flat error
/// documents of S3, Azure and Google Cloud Storage.
pub(crate) fn element(xml: &str, name: &str) -> Option<String> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    let mut text = text.to_string();
    for (entity, sign) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")] {
        text = text.replace(entity, sign);
    }
    // Messages end up on a terminal.
    text.retain(|sign| !sign.is_control());
    Some(text).filter(|text| !text.is_empty())
}

/// Replaces percent escapes by their bytes; `None` if the result is not UTF-8. A `%` without two digits stays.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|&byte| (byte as char).to_digit(16));
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

/// Writes a path for a URL: all characters but those that a path may have (RFC 3986, `pchar` and the slash) become escapes.
pub(crate) fn percent_encode_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
        match is_plain {
            true => encoded.push(byte as char),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Encodes bytes in base 64 (RFC 4648), for the header of basic authentication.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let value = (0..3).fold(0, |value, at| value << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for digit in 0..4 {
            let sign = DIGITS[(value >> (18 - 6 * digit) & 63) as usize] as char;
            text.push(if digit <= group.len() { sign } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_and_unescaped() {
        let xml = "<Error><Code>A</Code><Message>a &lt;b&gt; &amp;amp; \x1bc</Message></Error>";
        assert_eq!(element(xml, "Code").as_deref(), Some("A"));
        assert_eq!(element(xml, "Message").as_deref(), Some("a <b> &amp; c"));
        assert_eq!(element(xml, "Region"), None);
        assert_eq!(element("<Code>cut", "Code"), None);
    }

    #[test]
    fn paths_are_escaped_and_back() {
        assert_eq!(percent_encode_path("a b/ü%+#?"), "a%20b/%C3%BC%25+%23%3F");
        assert_eq!(percent_decode("a%20b/%C3%bc%25+%zz%2").as_deref(), Some("a b/ü%+%zz%2"));
        assert_eq!(percent_decode("%ff"), None);
    }

    #[test]
    fn base64_has_the_examples_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
