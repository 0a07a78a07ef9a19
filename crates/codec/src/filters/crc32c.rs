//! CRC-32C (no HDF5 number; Zarr v3 core codec `crc32c`): the data, followed by a little-endian checksum of four bytes.
//!
//! Numcodecs can also put the checksum before the data; the parameter is then 1.

use ferrocdf_bytes::Result;

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Size of the checksum in bytes.
const CHECKSUM_LEN: usize = 4;

/// Values of numcodecs `location`, indexed by the parameter.
const LOCATIONS: &[&str] = &["end", "start"];

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("crc32c"),
    names: &["crc32c"],
    new: |params, _| Crc32c::new(params).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "crc32c",
        write: |params| {
            Ok(match Crc32c::new(params)?.at_start {
                true => vec![("location", LOCATIONS[1].into())],
                false => vec![],
            })
        },
        read: |json| Ok(if json.position("location", 0, LOCATIONS)? == 1 { vec![1] } else { vec![] }),
    }),
    zarr_v3: Some(JsonForm {
        id: "crc32c",
        write: |params| match Crc32c::new(params)?.at_start {
            true => Err(bad_params("crc32c: in Zarr v3 the checksum follows the data")),
            false => Ok(vec![]),
        },
        read: |_| Ok(vec![]),
    }),
};

#[derive(Debug)]
struct Crc32c {
    at_start: bool,
}

impl Crc32c {
    fn new(params: &[u32]) -> Result<Crc32c> {
        match *params {
            [] | [0] => Ok(Crc32c { at_start: false }),
            [1] => Ok(Crc32c { at_start: true }),
            _ => {
                Err(bad_params(format!("parameters {params:?}: must be one location, 0 (end) or 1 (start)")))
            }
        }
    }

    /// Returns the data without the checksum, after verifying it.
    fn verify<'a>(&self, encoded: &'a [u8]) -> Result<&'a [u8]> {
        let (data, stored) = self.split(encoded)?;
        let (stored, computed) = (u32::from_le_bytes(*stored), crc32c::crc32c(data));
        if stored != computed {
            return Err(corrupt(format!(
                "the checksum of {} bytes is {computed:#010x}, but {stored:#010x} is stored",
                data.len()
            )));
        }
        Ok(data)
    }

    fn split<'a>(&self, encoded: &'a [u8]) -> Result<(&'a [u8], &'a [u8; CHECKSUM_LEN])> {
        let parts = match self.at_start {
            true => encoded.split_first_chunk().map(|(sum, data)| (data, sum)),
            false => encoded.split_last_chunk(),
        };
        parts.ok_or_else(|| corrupt(format!("{} encoded bytes are too few for a checksum", encoded.len())))
    }
}

impl SliceCodec for Crc32c {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        self.verify(encoded).map(|data| Some(data.len()))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (data, _) = self.split(encoded)?;
        let Some(target) = decoded.get_mut(..data.len()) else { return Ok(None) };
        target.copy_from_slice(data);
        Ok(Some(data.len()))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let sum = crc32c::crc32c(decoded).to_le_bytes();
        let (first, last) = if self.at_start { (&sum[..], decoded) } else { (decoded, &sum[..]) };
        encoded.extend_from_slice(first);
        encoded.extend_from_slice(last);
        Ok(Some(()))
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_sub(CHECKSUM_LEN)
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.checked_add(CHECKSUM_LEN)
    }

    fn borrow_payload<'a>(&self, encoded: &'a [u8]) -> Option<Result<&'a [u8]>> {
        Some(self.verify(encoded))
    }
}
