//! Structures out of bytes, and the errors of all of them. Everything in an HDF4 file is big-endian but data in another number format.

use ferrocdf_bytes::{Code, Coder, Context, Decoder, Error, Order, Record, Result};

/// An error about something in an HDF4 file.
pub fn bad(what: impl Into<String>) -> Error {
    Error::new(Code::EHDFERR, what)
}

/// Maximum number of dimensions of a dataset (`H4_MAX_VAR_DIMS` of the HDF4 library).
pub const MAX_RANK: usize = 32;

/// Maximum length of a dimension: lengths are signed numbers of 32 bits.
pub const MAX_LENGTH: u64 = i32::MAX as u64;

/// Decodes a structure from the start of its bytes; `what` names the structure, `at` is its position in the file.
pub fn decode<T: Record>(mut record: T, what: &str, at: u64, bytes: &[u8]) -> Result<T> {
    record.fields(&mut Decoder::new(bytes, Order::Big, true)).at(|| format!("{what} at byte {at}"))?;
    Ok(record)
}

/// Runs `c` over text that follows its length in two bytes.
pub fn text<C: Coder>(c: &mut C, name: &'static str, text: &mut Vec<u8>) -> Result<()> {
    let mut len = text.len() as u64;
    c.uint(name, 2, &mut len)?;
    c.bytes(name, len, text)
}

/// Returns text up to its first zero byte.
pub fn until_zero(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == 0).next().unwrap_or_default()
}
