//! Numcodecs `packbits`: a boolean of one byte as one bit, the most significant bit first, after a byte with the number of bits at the
//! end that mean nothing.

use ferrocdf_bytes::Result;

use crate::filter::{SliceCodec, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("packbits"),
    names: &["packbits"],
    new: |_, _| Ok(boxed(PackBits)),
    derive: None,
    numcodecs: Some(JsonForm { id: "packbits", write: |_| Ok(vec![]), read: |_| Ok(vec![]) }),
    zarr_v3: None,
};

#[derive(Debug)]
struct PackBits;

impl SliceCodec for PackBits {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        match encoded {
            [] => Err(corrupt("no byte with the number of unused bits")),
            [unused @ 0..8, bits @ ..] if 8 * bits.len() >= usize::from(*unused) => {
                Ok(Some(8 * bits.len() - usize::from(*unused)))
            }
            [unused, bits @ ..] => Err(corrupt(format!("{unused} unused bits in {} bytes", bits.len()))),
        }
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let len = self.decoded_len(encoded)?.unwrap_or(0);
        let Some(decoded) = decoded.get_mut(..len) else { return Ok(None) };
        for (booleans, byte) in decoded.chunks_mut(8).zip(&encoded[1..]) {
            for (at, boolean) in booleans.iter_mut().enumerate() {
                *boolean = byte >> (7 - at) & 1;
            }
        }
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.push((8 - decoded.len() % 8) as u8 % 8);
        encoded.extend(decoded.chunks(8).map(|booleans| {
            booleans
                .iter()
                .enumerate()
                .fold(0, |byte, (at, &boolean)| byte | u8::from(boolean != 0) << (7 - at))
        }));
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_sub(1).saturating_mul(8)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded.div_ceil(8) + 1)
    }
}
