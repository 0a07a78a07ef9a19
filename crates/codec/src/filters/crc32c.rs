//! CRC-32C (no HDF5 number; Zarr v3 core codec `crc32c`): the data, followed by a little-endian checksum of four bytes.
//!
//! Numcodecs can also put the checksum before the data; the parameter is then 1.

use ferrocdf_bytes::Result;

use super::checksum::{Checked, Checksum};
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// Values of numcodecs `location`, indexed by the parameter.
const LOCATIONS: &[&str] = &["end", "start"];

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("crc32c"),
    names: &["crc32c"],
    new: |params, _| Crc32c::new(params).map(Checked).map(boxed),
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
}

impl Checksum for Crc32c {
    fn compute(&self, data: &[u8]) -> u32 {
        crc32c::crc32c(data)
    }

    fn is_at_start(&self) -> bool {
        self.at_start
    }
}
