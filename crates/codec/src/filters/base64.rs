//! Numcodecs `base64`: bytes as text of 64 letters (RFC 4648), with padding.

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeSliceError, Engine};
use ferrocdf_bytes::Result;

use crate::filter::{SliceCodec, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("base64"),
    names: &["base64"],
    new: |_, _| Ok(boxed(Base64)),
    derive: None,
    numcodecs: Some(JsonForm { id: "base64", write: |_| Ok(vec![]), read: |_| Ok(vec![]) }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Base64;

impl SliceCodec for Base64 {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        let padding = encoded.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
        Ok(Some((encoded.len() / 4 * 3).saturating_sub(padding)))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        match STANDARD.decode_slice(encoded, decoded) {
            Ok(len) => Ok(Some(len)),
            Err(DecodeSliceError::OutputSliceTooSmall) => Ok(None),
            Err(DecodeSliceError::DecodeError(error)) => Err(corrupt(format!("not base64: {error}"))),
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.extend_from_slice(STANDARD.encode(decoded).as_bytes());
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded / 4 * 3
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.div_ceil(3).checked_mul(4)
    }
}
