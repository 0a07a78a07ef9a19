//! The fill value messages, old and new: what elements are that were never written (specification, sections IV.A.2.e and
//! IV.A.2.f).
#![deny(clippy::arithmetic_side_effects)]

use ferrocdf_bytes::{Coder, Record, Result};

use crate::fields::{self, Fields};

const WHAT: &str = "fill value";

/// The fill value of a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillMessage {
    /// The value.
    pub value: Fill,
    /// When space is taken: 1 early, 2 late, 3 little by little.
    pub allocation: u8,
    /// When the value is written: 0 with the allocation, 1 never, 2 if the user set it.
    pub writing: u8,
}

/// A fill value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Zeros, the library's own.
    #[default]
    Default,
    /// Declared not to be any; read as zeros.
    Undefined,
    /// The bytes of one element.
    Value(Vec<u8>),
}

impl Fill {
    /// The bytes of one element; empty means zeros.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Fill::Value(bytes) => bytes,
            Fill::Default | Fill::Undefined => &[],
        }
    }
}

/// "Fill Value Message".
pub(crate) struct StoredFillMessage<'a> {
    pub version: u8,
    pub fill: &'a mut FillMessage,
}

/// "Fill Value Message (Old)".
pub(crate) struct OldFillMessage<'a>(pub &'a mut Fill);

impl Record for StoredFillMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        let FillMessage { value, allocation, writing } = &mut *self.fill;
        c.version(1..=3, &mut self.version)?;
        // Bit 0: there is no value; bit 1: it is in the message.
        let mut defined = match value {
            Fill::Default => 0,
            Fill::Undefined => 1,
            Fill::Value(_) => 2,
        };
        if self.version == 3 {
            if *allocation > 3 || *writing > 2 {
                return Err(c.wrong(format!("allocation time {allocation} and fill time {writing}")));
            }
            let mut flags = *allocation | *writing << 2 | defined << 4;
            c.int("flags", &mut flags)?;
            (*allocation, *writing, defined) = (flags & 3, flags >> 2 & 3, flags >> 4 & 3);
        } else {
            c.int("space allocation time", allocation)?;
            c.int("fill value write time", writing)?;
            let mut has_value = u8::from(defined != 1);
            c.int("fill value defined", &mut has_value)?;
            defined = if has_value == 0 { 1 } else { 2 };
        }
        match defined {
            0 => *value = Fill::Default,
            1 => *value = Fill::Undefined,
            2 => fields_of_value(value, c)?,
            _ => return Err(c.wrong("a value that is both defined and undefined")),
        }
        Ok(())
    }
}

impl Record for OldFillMessage<'_> {
    fn fields<C: Coder>(&mut self, c: &mut C) -> Result<()> {
        fields_of_value(self.0, c)
    }
}

/// A value behind its size, which is negative (undefined), 0 (default), or the number of bytes.
fn fields_of_value<C: Coder>(value: &mut Fill, c: &mut C) -> Result<()> {
    let mut bytes = match value {
        Fill::Value(bytes) => std::mem::take(bytes),
        Fill::Default | Fill::Undefined => vec![],
    };
    let Ok(size) = i32::try_from(bytes.len()) else {
        return Err(c.wrong(format!("a value of {} bytes", bytes.len())));
    };
    let mut size = if *value == Fill::Undefined { u32::MAX } else { size.cast_unsigned() };
    c.int("size", &mut size)?;
    *value = match size.cast_signed() {
        ..0 => Fill::Undefined,
        0 => Fill::Default,
        size => {
            c.bytes("fill value", size.unsigned_abs().into(), &mut bytes)?;
            Fill::Value(bytes)
        }
    };
    Ok(())
}

impl FillMessage {
    /// The fill value from the old message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode_old(bytes: &[u8]) -> Result<FillMessage> {
        let mut value = Fill::Default;
        fields::read(&mut OldFillMessage(&mut value), "old fill value", bytes)?;
        Ok(FillMessage { value, allocation: 2, writing: 2 })
    }

    /// The fill value from the new message, versions 1 to 3.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(bytes: &[u8]) -> Result<FillMessage> {
        let mut fill = FillMessage { value: Fill::Default, allocation: 0, writing: 0 };
        fields::read(&mut StoredFillMessage { version: 0, fill: &mut fill }, WHAT, bytes)?;
        Ok(fill)
    }

    /// The new message, of version 3.
    ///
    /// # Errors
    /// `ERANGE` for times that are none, or a value of 2^31 bytes.
    pub fn encode(&self) -> Result<Vec<u8>> {
        fields::write(&mut StoredFillMessage { version: 3, fill: &mut self.clone() }, WHAT)
    }

    /// The old message, which only holds the value; zeros if it has none.
    ///
    /// # Errors
    /// `ERANGE` for a value of 2^31 bytes.
    pub fn encode_old(&self) -> Result<Vec<u8>> {
        let mut value = match &self.value {
            Fill::Undefined => Fill::Default,
            value => value.clone(),
        };
        fields::write(&mut OldFillMessage(&mut value), "old fill value")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_versions() {
        let value = Fill::Value(vec![7, 8]);
        let message = |value: &Fill| FillMessage { value: value.clone(), allocation: 2, writing: 2 };
        let sized = [2, 0, 0, 0, 7, 8];
        assert_eq!(FillMessage::decode_old(&sized).unwrap(), message(&value));
        for version in [1, 2] {
            let bytes = [&[version, 2, 2, 1][..], &sized].concat();
            assert_eq!(FillMessage::decode(&bytes).unwrap(), message(&value));
            assert_eq!(FillMessage::decode(&[version, 2, 2, 0]).unwrap(), message(&Fill::Undefined));
            assert_eq!(
                FillMessage::decode(&[version, 2, 2, 1, 0, 0, 0, 0]).unwrap(),
                message(&Fill::Default)
            );
        }
        assert_eq!(FillMessage::decode(&[&[3, 0b10_10_10][..], &sized].concat()).unwrap(), message(&value));
        assert_eq!(FillMessage::decode(&[3, 0b01_10_10]).unwrap(), message(&Fill::Undefined));
        assert_eq!(FillMessage::decode(&[3, 0b00_10_10]).unwrap(), message(&Fill::Default));
        assert_eq!(message(&value).encode().unwrap(), [&[3, 0b10_10_10][..], &sized].concat());
        assert_eq!(message(&Fill::Undefined).encode().unwrap(), [3, 0b01_10_10]);
        assert_eq!(message(&Fill::Default).encode().unwrap(), [3, 0b00_10_10]);
        assert_eq!(message(&value).encode_old().unwrap(), sized);
        assert!(FillMessage { value, allocation: 2, writing: 3 }.encode().is_err());
    }

    #[test]
    fn nonsense_is_an_error() {
        for bytes in [&[0, 2, 2, 0][..], &[4, 2, 2, 0], &[3, 0b11_0000], &[3, 0b10_0000, 9, 0, 0, 0, 1], &[]]
        {
            assert!(FillMessage::decode(bytes).is_err(), "{bytes:?}");
        }
    }
}
