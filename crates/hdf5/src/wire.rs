//! Structures out of bytes and into bytes: a writer of several records, checksums, and the errors of all.
//!
//! The writer keeps its first error until the end, so that an encoder reads like the structure.

use std::fmt;

use ferrocdf_bytes::{Code, Decoder, Encoder, Error, Record, Result, lookup3};

use crate::Address;
use crate::source::ORDER;

/// Bytes of a metadata checksum.
pub const CHECKSUM: usize = 4;

/// An error about something in an HDF5 file.
pub fn bad(what: impl Into<String>) -> Error {
    Error::new(Code::EHDFERR, what)
}

/// Puts a structure together, front to back.
#[derive(Clone, Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    what: &'static str,
    /// The first number that did not fit.
    error: Option<Error>,
}

impl Writer {
    /// A writer of nothing yet; `what` names the structure in errors.
    pub fn new(what: &'static str) -> Self {
        Writer { bytes: Vec::new(), what, error: None }
    }

    /// Notes that something cannot be written.
    pub fn fail(&mut self, why: impl fmt::Display) {
        let (what, at) = (self.what, self.bytes.len());
        self.error.get_or_insert_with(|| Error::new(Code::ERANGE, format!("{what} (byte {at}): {why}")));
    }

    /// An unsigned number of `width` bytes, 0 to 8.
    pub fn uint(&mut self, width: usize, value: u64) {
        if width < 8 && value >> (8 * width) != 0 {
            self.fail(format_args!("{value} is more than {width} bytes hold"));
        }
        self.bytes.extend_from_slice(&value.to_le_bytes()[..width.min(8)]);
    }

    /// A number of one byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// A number of four bytes.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A structure.
    pub fn record(&mut self, record: &mut impl Record) {
        let mut encoder = Encoder::behind(std::mem::take(&mut self.bytes), ORDER);
        let written = record.fields(&mut encoder);
        self.bytes = encoder.finish();
        if let Err(error) = written {
            self.fail(&error.what);
        }
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// That many zeros.
    pub fn zeros(&mut self, len: usize) {
        self.bytes.resize(self.bytes.len().saturating_add(len), 0);
    }

    /// Zeros up to the next multiple of `unit`, counted from the start.
    pub fn pad(&mut self, unit: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(unit), 0);
    }

    /// Zeros up to a byte counted from the start.
    pub fn pad_to(&mut self, len: usize) {
        self.zeros(len.saturating_sub(self.bytes.len()));
    }

    /// Bytes written so far.
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// The checksum of all that was written so far.
    pub fn checksum(&mut self) {
        self.u32(lookup3(&self.bytes, 0));
    }

    /// Puts the checksum of all that was written so far over four bytes of it.
    pub fn checksum_at(&mut self, at: usize) {
        let checksum = lookup3(&self.bytes, 0).to_le_bytes();
        if let Some(place) = self.bytes.get_mut(at..).and_then(|bytes| bytes.first_chunk_mut()) {
            *place = checksum;
        }
    }

    /// The structure.
    pub fn finish(self) -> Result<Vec<u8>> {
        match self.error {
            None => Ok(self.bytes),
            Some(error) => Err(error),
        }
    }

    /// The structure with its checksum behind it.
    pub fn finish_checked(mut self) -> Result<Vec<u8>> {
        self.checksum();
        self.finish()
    }
}

/// The number that up to 8 bytes make, least significant first; of more, the first 8.
pub fn number(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    let len = bytes.len().min(8);
    wide[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(wide)
}

/// Bytes needed for any number up to `largest`.
pub fn width_of(largest: u64) -> usize {
    // 1 to 8.
    (largest.max(1).ilog2() / 8 + 1) as usize
}

/// The bytes up to the first NUL, or all.
pub fn up_to_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Checks that the last four bytes are the checksum of those before them, which it gives.
pub fn checked<'a>(what: &str, at: Address, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let Some((body, stored)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return Err(bad(format!("{what} at {at}: {} bytes hold no checksum", bytes.len())));
    };
    check(what, at, lookup3(body, 0), u32::from_le_bytes(*stored))?;
    Ok(body)
}

/// An error if a stored checksum is not the computed one.
pub fn check(what: &str, at: Address, computed: u32, stored: u32) -> Result<()> {
    if computed == stored {
        return Ok(());
    }
    Err(bad(format!("{what} at {at}: wrong checksum (stored {stored:#010x}, computed {computed:#010x})")))
}

/// Fills in a structure from the bytes it was read as.
pub fn decode(record: &mut impl Record, what: &str, at: Address, bytes: &[u8]) -> Result<()> {
    let mut decoder = Decoder::new(bytes, ORDER, true);
    record.fields(&mut decoder).map_err(|error| bad(format!("{what} at {at}: {}", error.what)))
}

/// The bytes of a structure.
pub fn encode(record: &mut impl Record) -> Result<Vec<u8>> {
    let mut encoder = Encoder::new(ORDER, 0);
    record.fields(&mut encoder)?;
    Ok(encoder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_keeps_its_first_error() {
        let mut writer = Writer::new("thing");
        writer.bytes(b"ABCD");
        writer.u8(1);
        writer.uint(2, 0x0302);
        writer.pad(8);
        let checked = writer.finish_checked().unwrap();
        assert_eq!(wire_checked(&checked), [b'A', b'B', b'C', b'D', 1, 2, 3, 0]);
        let mut writer = Writer::new("thing");
        writer.uint(1, 255);
        writer.uint(1, 256);
        writer.uint(1, 257);
        let error = writer.finish().unwrap_err();
        assert_eq!(&*error.what, "thing (byte 1): 256 is more than 1 bytes hold");
    }

    fn wire_checked(bytes: &[u8]) -> &[u8] {
        checked("thing", Address(0), bytes).unwrap()
    }

    #[test]
    fn widths() {
        assert_eq!([0, 1, 255, 256, 65_535, 65_536, u64::MAX].map(width_of), [1, 1, 1, 2, 2, 3, 8]);
    }

    #[test]
    fn checksums() {
        let good = [b"abc".as_slice(), &lookup3(b"abc", 0).to_le_bytes()].concat();
        assert_eq!(checked("thing", Address(8), &good).unwrap(), b"abc");
        let error = checked("thing", Address(8), &[&good[..6], &[0]].concat()).unwrap_err();
        assert!(error.what.starts_with("thing at 0x8: wrong checksum"), "{error}");
    }
}
