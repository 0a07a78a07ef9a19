//! Numcodecs `jenkins_lookup3`: the data, followed by a little-endian checksum of four bytes, the hash of HDF5 metadata. The parameter
//! is the number that the hash starts with, 0 by default.

use super::checksum::{Checked, Checksum};
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("jenkins_lookup3"),
    names: &["jenkins_lookup3"],
    new: |params, _| Lookup3::new(params).map(|lookup3| boxed(Checked(lookup3))),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "jenkins_lookup3",
        write: |params| {
            let Lookup3 { initial } = Lookup3::new(params)?;
            Ok(vec![("initval", initial.into()), ("prefix", serde_json::Value::Null)])
        },
        read: |json| {
            // A prefix is bytes, for which numcodecs has no form in JSON.
            match json.text("prefix")? {
                None => Ok(vec![json.number("initval", 0, 0..=u32::MAX.into())? as u32]),
                Some(_) => Err(bad_params("jenkins_lookup3: a prefix is not supported")),
            }
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Lookup3 {
    initial: u32,
}

impl Lookup3 {
    fn new(params: &[u32]) -> ferrocdf_bytes::Result<Lookup3> {
        match *params {
            [] => Ok(Lookup3 { initial: 0 }),
            [initial] => Ok(Lookup3 { initial }),
            _ => Err(bad_params(format!("parameters {params:?}: must be one initial value"))),
        }
    }
}

impl Checksum for Lookup3 {
    fn compute(&self, data: &[u8]) -> u32 {
        ferrocdf_bytes::lookup3(data, self.initial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::SliceCodec;

    /// Checksums that numcodecs 0.16 computed.
    #[test]
    fn checksums_are_those_of_numcodecs() {
        for (data, initial, wanted) in [
            (&b""[..], 0, 3_735_928_559u32),
            (b"a", 12345, 1_019_571_802),
            (b"abcdefghijkl", 0, 1_074_985_083),
            (b"abcdefghijklm", 12345, 2_458_768_661),
        ] {
            let filter = Checked(Lookup3::new(&[initial]).unwrap());
            let mut encoded = vec![];
            filter.encode(data, &mut encoded).unwrap();
            assert_eq!(encoded, [data, &wanted.to_le_bytes()].concat());
            assert_eq!(filter.decoded_len(&encoded), Ok(Some(data.len())));
            encoded[0] ^= 1;
            assert!(filter.decoded_len(&encoded).is_err());
        }
    }
}
