//! Filters that store numbers as numbers of another type, one for one.

use std::fmt::Debug;

use ferrocdf_bytes::Result;

use super::numbers::NumberType;
use crate::codecs::ChunkInfo;
use crate::filter::{SliceCodec, corrupt};

/// A conversion of all numbers of a chunk, in their order.
pub trait Conversion: Debug + Send + Sync {
    /// Returns the types of decoded and of encoded numbers.
    fn types(&self) -> (NumberType, NumberType);

    /// Decodes numbers; both slices have as many.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()>;

    /// Encodes numbers; both slices have as many.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()>;
}

/// A conversion as a filter.
#[derive(Debug)]
pub struct Converted<C> {
    conversion: C,
    /// Element type and shape of the encoded chunk.
    encoded: Option<ChunkInfo>,
}

impl<C: Conversion> Converted<C> {
    /// Creates the filter for chunks that `chunk` describes.
    pub fn new(conversion: C, chunk: Option<&ChunkInfo>) -> Converted<C> {
        let (number, stored) = conversion.types();
        let encoded =
            chunk.filter(|chunk| chunk.element_size.is_multiple_of(number.size)).map(|chunk| ChunkInfo {
                element_size: chunk.element_size / number.size * stored.size,
                number: Some(stored),
                shape: chunk.shape.clone(),
            });
        Converted { conversion, encoded }
    }
}

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
        let (decoded, stored) = self.conversion.types();
        bytes_as(encoded.len(), stored, decoded).map(Some)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (number, stored) = self.conversion.types();
        let len = bytes_as(encoded.len(), stored, number)?;
        let Some(decoded) = decoded.get_mut(..len) else { return Ok(None) };
        self.conversion.decode(encoded, decoded)?;
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let (number, stored) = self.conversion.types();
        encoded.resize(bytes_as(decoded.len(), number, stored)?, 0);
        self.conversion.encode(decoded, encoded)?;
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        let (number, stored) = self.conversion.types();
        (encoded / stored.size).saturating_mul(number.size)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        let (number, stored) = self.conversion.types();
        (decoded / number.size).checked_mul(stored.size)
    }

    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        self.encoded.clone()
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
