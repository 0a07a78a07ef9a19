//! The fill value messages, old and new: what elements are that were never written (specification, sections IV.A.2.e and
//! IV.A.2.f).

use ferrocdf_bytes::Result;

use crate::wire::{Reader, Writer};

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

impl FillMessage {
    /// The fill value from the old message.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode_old(bytes: &[u8]) -> Result<FillMessage> {
        let mut r = Reader::new("old fill value", bytes);
        Ok(FillMessage { value: value(&mut r)?, allocation: 2, writing: 2 })
    }

    /// The fill value from the new message, versions 1 to 3.
    ///
    /// # Errors
    /// `EHDFERR` for bytes that are no such message.
    pub fn decode(bytes: &[u8]) -> Result<FillMessage> {
        let mut r = Reader::new("fill value", bytes);
        if r.version(1..=3)? == 3 {
            let flags = r.u8()?;
            let value = match flags >> 4 & 3 {
                0 => Fill::Default,
                1 => Fill::Undefined,
                2 => value(&mut r)?,
                _ => return Err(r.error("a value that is both defined and undefined")),
            };
            return Ok(FillMessage { value, allocation: flags & 3, writing: flags >> 2 & 3 });
        }
        let (allocation, writing, defined) = (r.u8()?, r.u8()?, r.u8()?);
        let value = if defined == 0 { Fill::Undefined } else { value(&mut r)? };
        Ok(FillMessage { value, allocation, writing })
    }

    /// The new message, of version 3.
    ///
    /// # Errors
    /// `ERANGE` for times that are none, or a value of 2^31 bytes.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut w = Writer::new("fill value");
        w.u8(3);
        if self.allocation > 3 || self.writing > 2 {
            w.fail(format_args!("allocation time {} and fill time {}", self.allocation, self.writing));
        }
        let defined = match &self.value {
            Fill::Default => 0,
            Fill::Undefined => 1,
            Fill::Value(_) => 2,
        };
        w.u8(self.allocation & 3 | (self.writing & 3) << 2 | defined << 4);
        if let Fill::Value(value) = &self.value {
            encode_value(&mut w, value);
        }
        w.finish()
    }

    /// The old message, which only holds the value; zeros if it has none.
    ///
    /// # Errors
    /// `ERANGE` for a value of 2^31 bytes.
    pub fn encode_old(&self) -> Result<Vec<u8>> {
        let mut w = Writer::new("old fill value");
        encode_value(&mut w, self.value.bytes());
        w.finish()
    }
}

/// A value behind its size.
fn encode_value(w: &mut Writer, value: &[u8]) {
    if value.len() > i32::MAX as usize {
        w.fail(format_args!("a value of {} bytes", value.len()));
    }
    w.count(4, value.len());
    w.bytes(value);
}

/// A value behind its size, which is negative (undefined), 0 (default), or the number of bytes.
fn value(r: &mut Reader<'_>) -> Result<Fill> {
    match r.u32()?.cast_signed() {
        ..0 => Ok(Fill::Undefined),
        0 => Ok(Fill::Default),
        size => Ok(Fill::Value(r.take(size as usize)?.to_vec())),
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
