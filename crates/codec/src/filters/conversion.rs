//! Filters of numcodecs that store numbers as numbers of another type, one for one.

use std::fmt::Debug;

use ferrocdf_bytes::Result;

use super::numbers::NumberType;
use crate::filter::{SliceCodec, corrupt};

/// A conversion of all numbers of a chunk, in their order.
pub trait Conversion: Debug + Send + Sync {
    /// Returns the types of decoded and of encoded numbers.
    fn types(&self) -> (NumberType, NumberType);

    /// Decodes numbers; both slices have as many.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]);

    /// Encodes numbers; both slices have as many.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]);
}

/// A conversion as a filter.
#[derive(Debug)]
pub struct Converted<C>(pub C);

/// Returns the number of bytes that as many numbers of another type have.
fn bytes_as(len: usize, from: NumberType, to: NumberType) -> Result<usize> {
    let count = len / from.size;
    match len.is_multiple_of(from.size) {
        true => count.checked_mul(to.size).ok_or_else(|| corrupt(format!("{count} numbers: too many"))),
        false => Err(corrupt(format!("{len} bytes are no whole number of {}", from.typestring()))),
    }
}

impl<C: Conversion> SliceCodec for Converted<C> {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let (decoded, stored) = self.0.types();
        bytes_as(encoded.len(), stored, decoded).map(Some)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (number, stored) = self.0.types();
        let len = bytes_as(encoded.len(), stored, number)?;
        let Some(decoded) = decoded.get_mut(..len) else { return Ok(None) };
        self.0.decode(encoded, decoded);
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let (number, stored) = self.0.types();
        encoded.resize(bytes_as(decoded.len(), number, stored)?, 0);
        self.0.encode(decoded, encoded);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        let (number, stored) = self.0.types();
        (encoded / stored.size).saturating_mul(number.size)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        let (number, stored) = self.0.types();
        (decoded / number.size).checked_mul(stored.size)
    }
}

/// Calls a function with each pair of numbers.
pub fn each(
    from: (&[u8], NumberType),
    to: (&mut [u8], NumberType),
    mut convert: impl FnMut(&[u8], &mut [u8]),
) {
    let pairs = from.0.chunks_exact(from.1.size).zip(to.0.chunks_exact_mut(to.1.size));
    pairs.for_each(|(from, to)| convert(from, to));
}

/// Converts numbers to another type.
pub fn cast(from: (&[u8], NumberType), to: (&mut [u8], NumberType)) {
    let types = (from.1, to.1);
    each(from, to, |from, to| types.1.put_cast(types.0, from, to));
}
