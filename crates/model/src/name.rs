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
///
/// Zero bytes behind a name are room: a classic file keeps them when a name gets shorter outside define mode. They are
/// no part of the name.
#[derive(Clone, Default)]
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

    /// A name that an attribute or a member of a type has in an HDF5 file of another program: one of netCDF, or else any
    /// UTF-8 text, as it is.
    ///
    /// Fails with `NC_EBADNAME` if it is empty, not UTF-8, or holds a zero byte, which ends the name for C programs.
    pub fn of_hdf5(name: impl AsRef<[u8]>) -> Result<Self> {
        let bytes = name.as_ref();
        match (Name::new(bytes), std::str::from_utf8(bytes)) {
            (Err(_), Ok(text)) if !text.is_empty() && !text.contains('\0') => Ok(Name::stored(bytes)),
            (done, _) => done,
        }
    }

    /// A name that a link to an object has in an HDF5 file of another program: as [`Name::of_hdf5`], without slashes, and
    /// not `.`, which is the group itself (HDF5 Reference Manual, "Links").
    pub fn of_link(name: impl AsRef<[u8]>) -> Result<Self> {
        let bytes = name.as_ref();
        if bytes.contains(&b'/') || bytes == b"." { Name::new(bytes) } else { Name::of_hdf5(bytes) }
    }

    /// A name as a file holds it, whatever its bytes.
    pub fn stored(bytes: &[u8]) -> Self {
        Name(SmallVec::from_slice(bytes))
    }

    /// A name as a file holds it, whatever its bytes, which are kept where they are. It ends at its first zero byte, as it
    /// does for every C program; what is behind it becomes room.
    pub fn stored_in(mut bytes: SmallVec<[u8; 16]>) -> Self {
        if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
            bytes[end..].fill(0);
        }
        Name(bytes)
    }

    /// This name in the room that another one has in the file: outside define mode nothing in a classic header moves.
    ///
    /// Fails with `NC_ENOTINDEFINE` if it is longer.
    pub fn in_room_of(mut self, other: &Name) -> Result<Self> {
        let room = other.0.len();
        if self.0.len() > room {
            let what =
                format!("\"{self}\" is longer than \"{other}\", which it replaces: enter define mode first");
            return Err(Error::new(Code::ENOTINDEFINE, what));
        }
        self.0.resize(room, 0);
        Ok(self)
    }

    /// The name to look for when a user asks for `name`: normalized if it is UTF-8, else as it is.
    pub fn wanted(name: &[u8]) -> Cow<'_, [u8]> {
        match std::str::from_utf8(name) {
            Ok(text) if !is_nfc(text) => Cow::Owned(text.nfc().collect::<String>().into_bytes()),
            _ => Cow::Borrowed(name),
        }
    }

    /// Its bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        if self.0.last() != Some(&0) {
            return &self.0;
        }
        let len = self.0.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        &self.0[..len]
    }

    /// The bytes in the file: its own, and its room.
    pub fn with_room(&self) -> &[u8] {
        &self.0
    }

    /// The name as text; bytes that are not UTF-8 become replacement characters.
    pub fn to_str(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.as_bytes())
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Name {}

impl std::hash::Hash for Name {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl std::borrow::Borrow<[u8]> for Name {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.as_bytes().escape_ascii())
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_bytes() == other.as_bytes()
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
    fn room_is_no_part_of_a_name() {
        let long = Name::new("abcdef").unwrap();
        let short = Name::new("abc").unwrap().in_room_of(&long).unwrap();
        assert_eq!((short.as_bytes(), short.with_room()), (&b"abc"[..], &b"abc\0\0\0"[..]));
        assert_eq!(short, Name::new("abc").unwrap());
        assert_eq!(Name::stored_in(SmallVec::from_slice(b"abc\0xy")).with_room(), b"abc\0\0\0");
        let back = Name::new("uvwxyz").unwrap().in_room_of(&short).unwrap();
        assert_eq!(back.as_bytes(), b"uvwxyz");
        assert_eq!(Name::new("uvwxyz1").unwrap().in_room_of(&back).unwrap_err().code, Code::ENOTINDEFINE);
    }

    #[test]
    fn normal_form() {
        assert_eq!(Name::new("e\u{301}").unwrap(), "\u{e9}");
        assert_eq!(&*Name::wanted("e\u{301}".as_bytes()), "\u{e9}".as_bytes());
        assert_eq!(&*Name::wanted(b"\xff"), b"\xff");
    }
}
