//! "Attribute Message" (IV.A.2.m), versions 1 to 3, cut into its parts.
#![deny(clippy::arithmetic_side_effects)]

use std::ops::Range;

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};
use crate::wire::up_to_nul;

const WHAT: &str = "attribute message";
/// The version that is written.
const VERSION: u8 = 3;

/// An attribute message. Datatype and dataspace are messages themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AttributeMessage<'a> {
    /// Bit 0 if the datatype, bit 1 if the dataspace is a shared message.
    pub flags: u8,
    /// The name, which has no NUL in it.
    pub name: &'a [u8],
    /// The encoding of the name: 0 ASCII, 1 UTF-8.
    pub charset: u8,
    /// The datatype message.
    pub datatype: &'a [u8],
    /// The dataspace message.
    pub dataspace: &'a [u8],
    /// The elements; there may be something behind them.
    pub data: &'a [u8],
}

/// "Attribute Message" without its last field, "Data", which takes the rest.
#[derive(Default)]
pub(crate) struct AttributePrefix<'a> {
    version: u8,
    /// What is written; of what is read, the numbers.
    message: AttributeMessage<'a>,
    /// Where name, datatype and dataspace are.
    places: [Range<usize>; 3],
}

impl Record for AttributePrefix<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let AttributeMessage { flags, name, charset, datatype, dataspace, .. } = &mut self.message;
        c.version(1..=3, &mut self.version)?;
        let version = self.version;
        match version {
            1 => c.reserved(1)?,
            _ => c.int("flags", flags)?,
        }
        if name.contains(&0) {
            return Err(c.wrong("a name with a NUL in it"));
        }
        // A NUL ends the name.
        let mut sizes =
            [(name.len() as u64).saturating_add(1), datatype.len() as u64, dataspace.len() as u64];
        c.uint("name size", 2, &mut sizes[0])?;
        c.uint("datatype size", 2, &mut sizes[1])?;
        c.uint("dataspace size", 2, &mut sizes[2])?;
        if version == 3 {
            c.int("name character set encoding", charset)?;
        }
        // Padded in the first version.
        let unit = if version == 1 { 8 } else { 1 };
        let [name_place, datatype_place, dataspace_place] = &mut self.places;
        c.place("name", sizes[0], name, name_place)?;
        c.pad(unit)?;
        c.place("datatype", sizes[1], datatype, datatype_place)?;
        c.pad(unit)?;
        c.place("dataspace", sizes[2], dataspace, dataspace_place)?;
        c.pad(unit)
    }
}

impl<'a> AttributeMessage<'a> {
    /// Cuts a message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(body: &'a [u8]) -> Result<AttributeMessage<'a>> {
        let mut prefix = AttributePrefix::default();
        let taken = fields::read(&mut prefix, WHAT, body)?;
        let [name, datatype, dataspace] = prefix.places.map(|place| body.get(place).unwrap_or_default());
        let data = body.get(taken..).unwrap_or_default();
        Ok(AttributeMessage { name: up_to_nul(name), datatype, dataspace, data, ..prefix.message })
    }

    /// The message, of version 3.
    ///
    /// # Errors
    /// `ERANGE` for parts of 64 KiB, and a NUL in the name.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut prefix = AttributePrefix { version: VERSION, message: *self, places: Default::default() };
        let mut bytes = fields::write(&mut prefix, WHAT)?;
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
            name: b"ab",
            charset: 1,
            datatype: b"types",
            dataspace: b"space",
            data: b"xy",
        };
        let decode = |bytes: &[u8]| {
            let message = AttributeMessage::decode(bytes).unwrap();
            (message.encode().unwrap(), message.flags, message.charset)
        };
        let three = cut.encode().unwrap();
        assert_eq!(three, [&[3, 1, 3, 0, 5, 0, 5, 0, 1][..], b"ab\0typesspacexy"].concat());
        assert_eq!(AttributeMessage::decode(&three).unwrap(), cut);
        let with =
            |flags, charset| (AttributeMessage { flags, charset, ..cut }.encode().unwrap(), flags, charset);
        let two = [&[2, 1, 3, 0, 5, 0, 5, 0][..], b"ab\0typesspacexy"].concat();
        assert_eq!(decode(&two), with(1, 0));
        let one = [&[1, 0, 3, 0, 5, 0, 5, 0][..], b"ab\0\0\0\0\0\0types\0\0\0space\0\0\0xy"].concat();
        assert_eq!(decode(&one), with(0, 0));
        assert!(AttributeMessage { name: b"a\0", ..cut }.encode().is_err());
    }
}
