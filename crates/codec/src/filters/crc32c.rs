//! CRC-32C (no HDF5 number; Zarr v3 core codec `crc32c`): the data, followed by a little-endian checksum of four bytes.
//!
//! Numcodecs can also put the checksum before the data; the parameter is then 1.

use super::checksum::{END_OR_START, located, location, read_location, write_location};
use crate::filter::bad_params;
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("crc32c"),
    names: &["crc32c"],
    new: |params, _| located(crc32c::crc32c, END_OR_START, params),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "crc32c",
        write: |params| write_location(END_OR_START, params),
        read: |json| read_location(END_OR_START, json),
    }),
    zarr_v3: Some(JsonForm {
        id: "crc32c",
        write: |params| match location(END_OR_START, params)? {
            "start" => Err(bad_params("crc32c: in Zarr v3 the checksum follows the data")),
            _ => Ok(vec![]),
        },
        read: |_| Ok(vec![]),
    }),
};
