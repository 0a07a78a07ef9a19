//! Adler-32 (no HDF5 number; numcodecs `adler32`): the data after a little-endian checksum of four bytes, zlib's checksum (RFC 1950).
//!
//! Numcodecs can also put the checksum behind the data; the parameter is then 1.

use super::checksum::{START_OR_END, located, read_location, write_location};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("adler32"),
    names: &["adler32"],
    new: |params, _| located(libdeflater::adler32, START_OR_END, params),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "adler32",
        write: |params| write_location(START_OR_END, params),
        read: |json| read_location(START_OR_END, json),
    }),
    zarr_v3: None,
};
