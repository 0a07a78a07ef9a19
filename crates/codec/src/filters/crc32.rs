//! CRC-32 (no HDF5 number; numcodecs `crc32`): the data after a little-endian checksum of four bytes, the checksum of gzip and zip (ISO 3309).
//!
//! Numcodecs can also put the checksum behind the data; the parameter is then 1.

use ferrocdf_bytes::Result;

use super::checksum::{Checked, Checksum};
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Values of numcodecs `location`, indexed by the parameter.
const LOCATIONS: &[&str] = &["start", "end"];

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("crc32"),
    names: &["crc32"],
    new: |params, _| Crc32::new(params).map(Checked).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "crc32",
        write: |params| {
            Ok(match Crc32::new(params)?.at_start {
                true => vec![],
                false => vec![("location", LOCATIONS[1].into())],
            })
        },
        read: |json| Ok(if json.position("location", 0, LOCATIONS)? == 1 { vec![1] } else { vec![] }),
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Crc32 {
    at_start: bool,
}

impl Crc32 {
    fn new(params: &[u32]) -> Result<Crc32> {
        match *params {
            [] | [0] => Ok(Crc32 { at_start: true }),
            [1] => Ok(Crc32 { at_start: false }),
            _ => {
                Err(bad_params(format!("parameters {params:?}: must be one location, 0 (start) or 1 (end)")))
            }
        }
    }
}

impl Checksum for Crc32 {
    fn compute(&self, data: &[u8]) -> u32 {
        libdeflater::crc32(data)
    }

    fn is_at_start(&self) -> bool {
        self.at_start
    }
}
