//! Gzip (no HDF5 number; Zarr v3 core codec and numcodecs `gzip`): one member of the gzip format (RFC 1952). Its parameter
//! is the level, 0 to 9.
//!
//! HDF5's deflate, which h5py and filter specifications also call `gzip`, has the zlib format (RFC 1950) around the same
//! deflate stream. Bytes after the first member are ignored.

use ferrocdf_bytes::Result;

use super::deflate::{MAX_RATIO, Wrapper, deflate, inflate, level_of};
use crate::filter::{SliceCodec, boxed};
use crate::identity::FilterId;
use crate::json::level_form;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("gzip"),
    names: &["gzip-member"],
    new: |params, _| level_of(params).map(|level| boxed(Gzip { level })),
    derive: None,
    numcodecs: Some(level_form!("gzip", 0..=9, 1)),
    zarr_v3: Some(level_form!("gzip", 0..=9, 5)),
};

#[derive(Debug)]
struct Gzip {
    level: i32,
}

impl SliceCodec for Gzip {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        inflate(Wrapper::Gzip, encoded, decoded)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        deflate(Wrapper::Gzip, self.level, decoded, encoded).map(Some)
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(MAX_RATIO)
    }
}
