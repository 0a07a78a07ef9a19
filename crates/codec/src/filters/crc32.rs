//! CRC-32 (no HDF5 number; numcodecs `crc32`): the data after a little-endian checksum of four bytes, the checksum of gzip and zip (ISO 3309).
//!
//! Numcodecs can also put the checksum behind the data; the parameter is then 1.

use super::checksum::{START_OR_END, located, read_location, write_location};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("crc32"),
    names: &["crc32"],
    new: |params, _| located(libdeflater::crc32, START_OR_END, params),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "crc32",
        write: |params| write_location(START_OR_END, params),
        read: |json| read_location(START_OR_END, json),
    }),
    zarr_v3: None,
};
