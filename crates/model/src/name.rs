//! Names of dimensions, variables, attributes, types and groups.
//!
//! A name is bytes: old files hold names in any encoding, and those must survive being read, copied and edited. A name
//! that a user gives is checked and put into Unicode normal form NFC (netCDF file format specification, "Note on
//! names"), so that equal names are equal bytes.

use std::borrow::Cow;
use std::fmt;

use ferrocdf_bytes::{Code, Error, Result};
use smallvec::SmallVec;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The longest name in bytes (`NC_MAX_NAME`).
pub const MAX_NAME: usize = 256;

/// A name as it stands in a file. Names of up to 16 bytes, which is most, take no memory of their own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Name(SmallVec<[u8; 16]>);

impl Name {
    /// The name a user asked for: checked, and normalized to NFC.
    ///
    /// Fails with `NC_EBADNAME` if it is empty, not UTF-8, starts with other than a letter, digit, underscore or
    /// non-ASCII character, holds `/` or a control character, or ends in a space, and with `NC_EMAXNAME` if it is
    /// longer than 256 bytes.
    pub fn new(name: impl AsRef<[u8]>) -> Result<Self> {
        let bytes = name.as_ref();
        let bad =
            |why: &str| Err(Error::new(Code::EBADNAME, format!("name \"{}\" {why}", bytes.escape_ascii())));
        let Some(&first) = bytes.first() else { return bad("is empty") };
        let Ok(text) = std::str::from_utf8(bytes) else { return bad("is not UTF-8") };
        if bytes.contains(&b'/') {
            return bad("holds a slash");
        }
        if bytes.len() > MAX_NAME {
            return Err(Error::new(
                Code::EMAXNAME,
                format!("a name of {} bytes, {MAX_NAME} are allowed", bytes.len()),
            ));
        }
        if !(first.is_ascii_alphanumeric() || first == b'_' || first >= 0x80) {
            return bad("does not start with a letter, a digit or an underscore");
        }
        if bytes.iter().any(u8::is_ascii_control) {
            return bad("holds a control character");
        }
        if bytes.ends_with(b" ") {
            return bad("ends in a space");
        }
        if is_nfc(text) {
            return Ok(Name::stored(bytes));
        }
        Ok(Name::stored(text.nfc().collect::<String>().as_bytes()))
    }

    /// A name as a file holds it, whatever its bytes.
    pub fn stored(bytes: &[u8]) -> Self {
        Name(SmallVec::from_slice(bytes))
    }

    /// Cuts it at its first zero byte.
    pub fn end_at_zero(&mut self) {
        if let Some(end) = self.0.iter().position(|&byte| byte == 0) {
            self.0.truncate(end);
        }
    }

    /// The name to look for when a user asks for `name`: normalized if it is UTF-8, else as it is.
    pub fn wanted(name: &[u8]) -> Cow<'_, [u8]> {
        match std::str::from_utf8(name) {
            Ok(text) if !is_nfc(text) => Cow::Owned(text.nfc().collect::<String>().into_bytes()),
            _ => Cow::Borrowed(name),
        }
    }

    /// The bytes in the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name as text; bytes that are not UTF-8 become replacement characters.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }
}

impl AsRef<[u8]> for Name {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl ferrocdf_bytes::Bytes for Name {
    fn of(bytes: &[u8]) -> Self {
        Name::stored(bytes)
    }
}

impl std::borrow::Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_names() {
        for name in ["x", "_x", "9", "a b", "a!\"#$%&'()*,:;<=>?[]^`{|}~\\", "温度", "x@y+z-w."] {
            assert_eq!(Name::new(name).unwrap(), name);
        }
    }

    #[test]
    fn illegal_names() {
        for name in ["", " a", "a ", "a/b", "-a", "a\tb", "a\x7f", "\x01"] {
            assert_eq!(Name::new(name).unwrap_err().code, Code::EBADNAME, "{name:?}");
        }
        assert_eq!(Name::new(b"a\xff").unwrap_err().code, Code::EBADNAME);
        assert_eq!(Name::new("n".repeat(257)).unwrap_err().code, Code::EMAXNAME);
        assert!(Name::new("n".repeat(256)).is_ok());
    }

    #[test]
    fn normal_form() {
        assert_eq!(Name::new("e\u{301}").unwrap(), "\u{e9}");
        assert_eq!(&*Name::wanted("e\u{301}".as_bytes()), "\u{e9}".as_bytes());
        assert_eq!(&*Name::wanted(b"\xff"), b"\xff");
    }
}
