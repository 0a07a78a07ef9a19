//! LZ4 as numcodecs frames it (no HDF5 number; numcodecs `lz4`): the decoded size in four bytes, little-endian, then one block. The
//! parameter is the acceleration of the encoder, which changes nothing here.

use ferrocdf_bytes::Result;
use lz4_flex::block;

use super::lz4::MAX_RATIO;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Size of the header in bytes.
const HEADER: usize = 4;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("lz4"),
    names: &["lz4-block"],
    new: |_, _| Ok(boxed(Lz4Block)),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "lz4",
        write: |params| Ok(vec![("acceleration", params.first().copied().unwrap_or(1).into())]),
        read: |json| Ok(vec![json.number("acceleration", 1, i64::MIN..=i32::MAX.into())?.max(1) as u32]),
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Lz4Block;

fn split(encoded: &[u8]) -> Result<(usize, &[u8])> {
    let short = || corrupt(format!("{} encoded bytes are too few for a size", encoded.len()));
    let (size, rest) = encoded.split_first_chunk::<HEADER>().ok_or_else(short)?;
    Ok((u32::from_le_bytes(*size) as usize, rest))
}

impl SliceCodec for Lz4Block {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        split(encoded).map(|(size, _)| Some(size))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (size, rest) = split(encoded)?;
        let Some(decoded) = decoded.get_mut(..size) else { return Ok(None) };
        let found =
            block::decompress_into(rest, decoded).map_err(|error| corrupt(format!("LZ4: {error}")))?;
        match found == size {
            true => Ok(Some(size)),
            false => Err(corrupt(format!("LZ4: {found} bytes decoded, the header says {size}"))),
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let too_large = || bad_params(format!("{} bytes: too many for LZ4", decoded.len()));
        let size =
            u32::try_from(decoded.len()).ok().filter(|&size| size < 0x7e00_0000).ok_or_else(too_large)?;
        encoded.extend_from_slice(&size.to_le_bytes());
        encoded.resize(HEADER + block::get_maximum_output_size(decoded.len()), 0);
        let len = block::compress_into(decoded, &mut encoded[HEADER..]);
        let len = len.map_err(|error| bad_params(format!("LZ4: {error}")))?;
        encoded.truncate(HEADER + len);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_sub(HEADER).saturating_mul(MAX_RATIO)
    }
}
