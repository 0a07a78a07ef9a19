//! Adler-32 (no HDF5 number; numcodecs `adler32`): the data after a little-endian checksum of four bytes, zlib's checksum (RFC 1950).
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
    id: FilterId::named("adler32"),
    names: &["adler32"],
    new: |params, _| Adler32::new(params).map(Checked).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "adler32",
        write: |params| {
            Ok(match Adler32::new(params)?.at_start {
                true => vec![],
                false => vec![("location", LOCATIONS[1].into())],
            })
        },
        read: |json| Ok(if json.position("location", 0, LOCATIONS)? == 1 { vec![1] } else { vec![] }),
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Adler32 {
    at_start: bool,
}

impl Adler32 {
    fn new(params: &[u32]) -> Result<Adler32> {
        match *params {
            [] | [0] => Ok(Adler32 { at_start: true }),
            [1] => Ok(Adler32 { at_start: false }),
            _ => {
                Err(bad_params(format!("parameters {params:?}: must be one location, 0 (start) or 1 (end)")))
            }
        }
    }
}

impl Checksum for Adler32 {
    fn compute(&self, data: &[u8]) -> u32 {
        libdeflater::adler32(data)
    }

    fn is_at_start(&self) -> bool {
        self.at_start
    }
}
