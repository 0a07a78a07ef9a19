//! Bit rounding (no HDF5 number; numcodecs and registered Zarr v3 codec `bitround`): floats of which only some bits of the mantissa
//! are kept, rounded to the nearest, of two the even one. Nothing is to be decoded. The parameter is the number of bits.

use ferrocdf_bytes::Result;

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
    /// Size of a little-endian float in bytes; `None` if it is not known.
    size: Option<usize>,
    encoded: Option<ChunkInfo>,
}

impl BitRound {
    fn new(params: &[u32], chunk: Option<&ChunkInfo>) -> Result<BitRound> {
        let &[keep] = params else {
            return Err(bad_params(format!("parameters {params:?}: must be one number of bits")));
        };
        Ok(BitRound { keep, size: chunk.map(|chunk| chunk.element_size), encoded: chunk.cloned() })
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
        encoded.extend_from_slice(decoded);
        let (size, mantissa) = match self.size {
            Some(2) => (2, 10),
            Some(4) => (4, 23),
            Some(8) => (8, 52),
            _ => return Err(bad_params("only floats of 2, 4 or 8 bytes are rounded")),
        };
        let Some(drop) = u32::checked_sub(mantissa, self.keep).filter(|&drop| drop > 0) else {
            return Ok(Some(()));
        };
        for float in encoded.chunks_exact_mut(size) {
            let mut bits = [0; 8];
            bits[..size].copy_from_slice(float);
            let bits = u64::from_le_bytes(bits);
            let half = (1u64 << (drop - 1)) - 1;
            let rounded = bits.wrapping_add((bits >> drop & 1) + half) >> drop << drop;
            float.copy_from_slice(&rounded.to_le_bytes()[..size]);
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
