//! Bit rounding (no HDF5 number; numcodecs and registered Zarr v3 codec `bitround`): floats of which only some bits of the mantissa
//! are kept, rounded to the nearest, of two the even one; or integers of which bits are kept from the first one that is set. Nothing is
//! to be decoded. The parameter is the number of bits.

use ferrocdf_bytes::Result;

use super::numbers::{NumberKind, NumberType};
use crate::codecs::ChunkInfo;
use crate::filter::{SliceCodec, bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

const FORM: JsonForm = JsonForm {
    id: "bitround",
    write: |params| Ok(vec![("keepbits", params.first().copied().into())]),
    read: |json| Ok(vec![json.number("keepbits", 0, 0..=64)? as u32]),
};

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("bitround"),
    names: &["bitround"],
    new: |params, chunk| BitRound::new(params, chunk).map(boxed),
    derive: None,
    numcodecs: Some(FORM),
    zarr_v3: Some(FORM),
};

#[derive(Debug)]
struct BitRound {
    keep: u32,
    /// Type of the numbers; `None` if it is not known.
    number: Option<NumberType>,
    encoded: Option<ChunkInfo>,
}

impl BitRound {
    fn new(params: &[u32], chunk: Option<&ChunkInfo>) -> Result<BitRound> {
        let &[keep] = params else {
            return Err(bad_params(format!("parameters {params:?}: must be one number of bits")));
        };
        // Numcodecs takes elements for floats, whatever they are.
        let float = |size| NumberType { kind: NumberKind::Float, size, is_big: false };
        let number = |chunk: &ChunkInfo| match (chunk.number, chunk.element_size) {
            (Some(number), _) => Some(number).filter(|number| !number.is_bool()),
            (None, size @ (2 | 4 | 8)) => Some(float(size)),
            (None, _) => None,
        };
        Ok(BitRound { keep, number: chunk.and_then(number), encoded: chunk.cloned() })
    }
}

impl SliceCodec for BitRound {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        Ok(Some(encoded.len()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let Some(decoded) = decoded.get_mut(..encoded.len()) else { return Ok(None) };
        decoded.copy_from_slice(encoded);
        Ok(Some(encoded.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let number = self.number.ok_or_else(|| bad_params("only floats and integers are rounded"))?;
        encoded.extend_from_slice(decoded);
        // Sign, exponent and all bits that are kept stay; the carry may reach the exponent.
        let mantissa = match (number.kind, number.size) {
            (NumberKind::Float, 2) => Some(10),
            (NumberKind::Float, 4) => Some(23),
            (NumberKind::Float, _) => Some(52),
            _ => None,
        };
        let greatest = u64::MAX >> (64 - 8 * number.size);
        for element in encoded.chunks_exact_mut(number.size) {
            let bits = number.integer(element) as u64 & greatest;
            // Of integers the bits count from the most significant one that is set.
            let significant = mantissa.unwrap_or(64 - bits.leading_zeros());
            let Some(drop) = significant.checked_sub(self.keep).filter(|&drop| drop > 0) else { continue };
            if mantissa.is_none() && drop == 64 {
                number.put_integer(0, element);
                continue;
            }
            let half = (1u64 << (drop - 1)) - 1;
            let added = (bits >> drop & 1) + half;
            // Integers do not wrap around.
            let sum = match mantissa {
                Some(_) => bits.wrapping_add(added),
                None => bits.saturating_add(added).min(greatest),
            };
            number.put_integer((sum >> drop << drop) as i64, element);
        }
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn borrow_payload<'a>(&self, encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        Some(Ok(encoded))
    }

    fn encoded_chunk(&self) -> Option<ChunkInfo> {
        self.encoded.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(name: &str, keep: u32, decoded: &[u8]) -> Vec<u8> {
        let number = NumberType::parse(name).unwrap();
        let chunk = ChunkInfo { element_size: number.size, number: Some(number), shape: vec![2] };
        let mut encoded = vec![];
        BitRound::new(&[keep], Some(&chunk)).unwrap().encode(decoded, &mut encoded).unwrap();
        encoded
    }

    #[test]
    fn numbers_of_both_byte_orders_are_rounded() {
        let (little, big) = (1.3f32.to_le_bytes(), 1.3f32.to_be_bytes());
        assert_eq!(rounded("<f4", 2, &little), 1.25f32.to_le_bytes());
        assert_eq!(rounded(">f4", 2, &big), 1.25f32.to_be_bytes());
    }

    #[test]
    fn integers_keep_their_first_bits() {
        assert_eq!(
            rounded("uint8", 3, &[0, 1, 7, 0b1011, 0b1101_0001, 0b1001_0000]),
            [0, 1, 7, 0b1100, 0b1110_0000, 0b1000_0000]
        );
        assert_eq!(rounded("uint8", 2, &[255]), [0b1100_0000]);
        assert_eq!(rounded(">u2", 1, &[0x01, 0x90]), [0x02, 0x00]);
    }
}
