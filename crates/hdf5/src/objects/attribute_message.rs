//! "Attribute Message" (IV.A.2.m), versions 1 to 3, cut into its parts.
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};
use smallvec::SmallVec;

use crate::fields::{self, Fields};
use crate::wire::up_to_nul;

const WHAT: &str = "attribute message";
/// The version that is written.
const VERSION: u8 = 3;

/// The bytes of a name, a datatype or a dataspace, most of which are short.
pub(crate) type Part = SmallVec<[u8; 40]>;

/// An attribute message. Datatype and dataspace are messages themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttributeMessage<'a> {
    /// Bit 0 if the datatype, bit 1 if the dataspace is a shared message.
    pub flags: u8,
    /// The name, which has no NUL in it.
    pub name: Part,
    /// The encoding of the name: 0 ASCII, 1 UTF-8.
    pub charset: u8,
    /// The datatype message.
    pub datatype: Part,
    /// The dataspace message.
    pub dataspace: Part,
    /// The elements; there may be something behind them.
    pub data: &'a [u8],
}

/// "Attribute Message" without its last field, "Data", which takes the rest.
pub(crate) struct Prefix<'m, 'a> {
    pub version: u8,
    pub message: &'m mut AttributeMessage<'a>,
}

impl Record for Prefix<'_, '_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let AttributeMessage { flags, name, charset, datatype, dataspace, .. } = &mut *self.message;
        c.version(1..=3, &mut self.version)?;
        let version = self.version;
        match version {
            1 => c.reserved(1)?,
            _ => c.int("flags", flags)?,
        }
        if !C::READS {
            if name.contains(&0) {
                return Err(c.wrong("a name with a NUL in it"));
            }
            name.push(0);
        }
        let mut sizes = [name.len() as u64, datatype.len() as u64, dataspace.len() as u64];
        c.uint("name size", 2, &mut sizes[0])?;
        c.uint("datatype size", 2, &mut sizes[1])?;
        c.uint("dataspace size", 2, &mut sizes[2])?;
        if version == 3 {
            c.int("name character set encoding", charset)?;
        }
        // Padded in the first version.
        let unit = if version == 1 { 8 } else { 1 };
        c.bytes("name", sizes[0], name)?;
        name.truncate(up_to_nul(name).len());
        c.pad(unit)?;
        c.bytes("datatype", sizes[1], datatype)?;
        c.pad(unit)?;
        c.bytes("dataspace", sizes[2], dataspace)?;
        c.pad(unit)
    }
}

impl<'a> AttributeMessage<'a> {
    /// Cuts a message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(body: &'a [u8]) -> Result<AttributeMessage<'a>> {
        let mut message = AttributeMessage::default();
        let taken = fields::read(&mut Prefix { version: 0, message: &mut message }, WHAT, body)?;
        message.data = body.get(taken..).unwrap_or_default();
        Ok(message)
    }

    /// The message, of version 3.
    ///
    /// # Errors
    /// `ERANGE` for parts of 64 KiB, and a NUL in the name.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = fields::write(&mut Prefix { version: VERSION, message: &mut self.clone() }, WHAT)?;
        bytes.extend_from_slice(self.data);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_versions_are_cut_and_written_as_the_latest() {
        let cut = AttributeMessage {
            flags: 1,
            name: b"ab"[..].into(),
            charset: 1,
            datatype: b"types"[..].into(),
            dataspace: b"space"[..].into(),
            data: b"xy",
        };
        let decode = |bytes: &[u8]| {
            let message = AttributeMessage::decode(bytes).unwrap();
            (message.encode().unwrap(), message.flags, message.charset)
        };
        let three = cut.encode().unwrap();
        assert_eq!(three, [&[3, 1, 3, 0, 5, 0, 5, 0, 1][..], b"ab\0typesspacexy"].concat());
        assert_eq!(AttributeMessage::decode(&three).unwrap(), cut);
        let with = |flags, charset| {
            (AttributeMessage { flags, charset, ..cut.clone() }.encode().unwrap(), flags, charset)
        };
        let two = [&[2, 1, 3, 0, 5, 0, 5, 0][..], b"ab\0typesspacexy"].concat();
        assert_eq!(decode(&two), with(1, 0));
        let one = [&[1, 0, 3, 0, 5, 0, 5, 0][..], b"ab\0\0\0\0\0\0types\0\0\0space\0\0\0xy"].concat();
        assert_eq!(decode(&one), with(0, 0));
        assert!(AttributeMessage { name: b"a\0"[..].into(), ..cut }.encode().is_err());
    }
}
