//! Small pieces of text: elements of XML, percent escapes.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

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
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

/// All characters but those that a path may have (RFC 3986, `pchar` and the slash).
const NOT_OF_PATHS: AsciiSet = {
    let plain = b"-._~!$&'()*+,;=:@/";
    let (mut set, mut at) = (NON_ALPHANUMERIC.remove(plain[0]), 1);
    while at < plain.len() {
        set = set.remove(plain[at]);
        at += 1;
    }
    set
};

/// Writes a path for a URL, with escapes for the characters that a path cannot have.
pub(crate) fn percent_encode_path(path: &str) -> String {
    utf8_percent_encode(path, &NOT_OF_PATHS).to_string()
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
}
