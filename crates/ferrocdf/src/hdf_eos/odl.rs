//! The text of `StructMetadata`: groups and objects of `KEY=VALUE` lines, in the Object Description Language (ODL) that the HDF-EOS2
//! library writes.
//!
//! The parser keeps borrowed bytes: names may be in any encoding, and the meaning of a value depends on its key. A list is the
//! list of its items; any other value is a list of one item.
//!
//! Not done: units, dates and nested lists of ODL, which the HDF-EOS2 library never writes.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Code, Error, Result};

/// Maximum depth of nested groups. The HDF-EOS2 library writes four levels.
const MAX_DEPTH: usize = 16;

/// A group or an object, or the whole text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Node<'a> {
    /// The name behind `GROUP=` or `OBJECT=`; empty for the whole text.
    pub name: &'a [u8],
    /// Keys and the items of their values, in their order.
    pub values: Vec<(&'a [u8], Vec<&'a [u8]>)>,
    /// Groups and objects inside, in their order.
    pub children: Vec<Node<'a>>,
}

impl<'a> Node<'a> {
    /// Returns the group or object of this name.
    pub fn child(&self, name: &str) -> Option<&Node<'a>> {
        self.children.iter().find(|child| child.name == name.as_bytes())
    }

    /// Returns the items of the value of a key.
    pub fn items(&self, key: &str) -> Option<&[&'a [u8]]> {
        let value = self.values.iter().find(|(known, _)| *known == key.as_bytes());
        value.map(|(_, items)| items.as_slice())
    }

    /// Returns the value of a key that is no list.
    pub fn value(&self, key: &str) -> Option<&'a [u8]> {
        match self.items(key) {
            Some(&[item]) => Some(item),
            _ => None,
        }
    }
}

/// Parses a text. It ends at the line `END`, at a zero byte, or at its last byte.
///
/// # Errors
/// `NC_EHDFERR` for text that is not of this form: the error has the byte offset.
pub(super) fn parse(text: &[u8]) -> Result<Node<'_>> {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let mut parser = Parser { text: text.get(..end).unwrap_or_default(), at: 0 };
    let mut open = vec![Node::default()];
    while let Some(key) = parser.key()? {
        let is_end = matches!(key, b"END_GROUP" | b"END_OBJECT");
        if key == b"END" {
            break;
        }
        let at = parser.at;
        let items = parser.items()?;
        let node = open.last_mut().ok_or_else(|| malformed(at, "more groups end than begin"))?;
        match key {
            b"GROUP" | b"OBJECT" => {
                let &[name] = items.as_slice() else { return Err(malformed(at, "a group has no name")) };
                if open.len() > MAX_DEPTH {
                    return Err(malformed(at, &format!("groups are nested deeper than {MAX_DEPTH} levels")));
                }
                open.push(Node { name, ..Node::default() });
            }
            _ if is_end => {
                if items.first().is_some_and(|&name| name != node.name) {
                    return Err(malformed(at, "the end of a group names another group"));
                }
                let node = open.pop().unwrap_or_default();
                match open.last_mut() {
                    Some(parent) => parent.children.push(node),
                    None => return Err(malformed(at, "more groups end than begin")),
                }
            }
            _ => node.values.push((key, items)),
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(whole), true) => Ok(whole),
        _ => Err(malformed(parser.at, "a group has no end")),
    }
}

fn malformed(at: usize, why: &str) -> Error {
    Error::new(Code::EHDFERR, format!("StructMetadata, byte {at}: {why}"))
}

/// A position in the text.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the bytes up to one that satisfies `ends`, or up to the end of the text, and steps over them.
    fn until(&mut self, ends: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|&byte| ends(byte)).unwrap_or(rest.len());
        self.at = self.at.saturating_add(len);
        rest.get(..len).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.until(|byte| !byte.is_ascii_whitespace());
    }

    /// Steps over one byte, if it is the next one.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.rest().first() == Some(&byte);
        self.at = self.at.saturating_add(usize::from(is_next));
        is_next
    }

    /// Returns the next key, and steps over the `=` behind it; `None` at the end of the text.
    fn key(&mut self) -> Result<Option<&'a [u8]>> {
        self.skip_spaces();
        let key = self.until(|byte| byte == b'=' || byte == b'\n').trim_ascii();
        match key {
            [] if self.rest().is_empty() => Ok(None),
            b"END" => Ok(Some(key)),
            _ if self.takes(b'=') => Ok(Some(key)),
            _ => Err(malformed(self.at, "a line has no \"=\"")),
        }
    }

    /// Returns the items of a value.
    fn items(&mut self) -> Result<Vec<&'a [u8]>> {
        self.until(|byte| !matches!(byte, b' ' | b'\t'));
        if !self.takes(b'(') {
            return Ok(vec![self.item(|byte| matches!(byte, b'\n' | b'\r'))?]);
        }
        let mut items = vec![];
        loop {
            self.skip_spaces();
            if self.takes(b')') {
                return Ok(items);
            }
            items.push(self.item(|byte| matches!(byte, b',' | b')'))?);
            self.skip_spaces();
            if !self.takes(b',') && self.rest().first() != Some(&b')') {
                return Err(malformed(self.at, "a list has no end"));
            }
        }
    }

    /// Returns a quoted text without its quotes, or the bytes up to one that satisfies `ends`.
    fn item(&mut self, ends: impl Fn(u8) -> bool) -> Result<&'a [u8]> {
        if !self.takes(b'"') {
            return Ok(self.until(ends).trim_ascii());
        }
        let item = self.until(|byte| byte == b'"');
        match self.takes(b'"') {
            true => Ok(item),
            false => Err(malformed(self.at, "a quoted text has no end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_objects_and_values_are_parsed() {
        let text = b"GROUP=A\n\tGROUP=B_1\n\t\tName=\"x, (y)\"\n\t\tSize = 12 \r\n\t\tEmpty=\n\t\tList=(\"a\",\n\"b c\" , 3.5)\n\
            \t\tOBJECT=O\n\t\tEND_OBJECT=O\n\tEND_GROUP=B_1\nEND_GROUP=A\nEND\njunk";
        let whole = parse(text).unwrap();
        let b = whole.child("A").unwrap().child("B_1").unwrap();
        assert_eq!(b.value("Name"), Some(&b"x, (y)"[..]));
        assert_eq!(b.value("Size"), Some(&b"12"[..]));
        assert_eq!(b.value("Empty"), Some(&b""[..]));
        assert_eq!(b.items("List"), Some(&[&b"a"[..], b"b c", b"3.5"][..]));
        assert_eq!(b.value("List"), None);
        assert_eq!(b.children.len(), 1);
    }

    #[test]
    fn text_ends_at_a_zero_byte() {
        assert_eq!(parse(b"A=1\n\0)(=").unwrap().value("A"), Some(&b"1"[..]));
        assert_eq!(parse(b"").unwrap(), Node::default());
        assert_eq!(parse(b"A=()").unwrap().items("A"), Some(&[][..]));
    }

    #[test]
    fn malformed_text_is_an_error_with_its_offset() {
        for (text, why) in [
            (&b"GROUP=A\nEND_GROUP=B\nEND"[..], "byte 18: the end of a group names another group"),
            (b"GROUP=A\nEND", "byte 11: a group has no end"),
            (b"END_GROUP=", "more groups end than begin"),
            (b"A=1\nnothing\n", "byte 11: a line has no \"=\""),
            (b"A=(\"x\",\"y\nB=1", "a quoted text has no end"),
            (b"A=(1,2\nB=(3", "a list has no end"),
            (b"A=(1 , \"x\" y)", "a list has no end"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.to_string().contains(why), "{}: {error}", text.escape_ascii());
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let error = parse(&b"GROUP=A\n".repeat(1 << 17)).unwrap_err();
        assert!(error.to_string().contains("nested deeper than 16 levels"), "{error}");
    }
}
