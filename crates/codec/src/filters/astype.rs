//! Numcodecs `astype`: numbers of one type stored as another. The parameters are the two types, decoded and encoded.

use ferrocdf_bytes::Result;

use super::conversion::{Conversion, Converted, cast};
use super::numbers::{NumberType, two_types};
use crate::filter::boxed;
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("astype"),
    names: &["astype"],
    new: |params, chunk| {
        let [decoded, encoded] = two_types(params)?;
        Ok(boxed(Converted::new(AsType { decoded, encoded }, chunk)))
    },
    derive: None,
    numcodecs: Some(JsonForm {
        id: "astype",
        write: |params| {
            let [decoded, encoded] = two_types(params)?.map(NumberType::typestring);
            Ok(vec![("encode_dtype", encoded.into()), ("decode_dtype", decoded.into())])
        },
        read: |json| {
            let decoded = NumberType::param_of(json, "decode_dtype", None)?;
            Ok(vec![decoded, NumberType::param_of(json, "encode_dtype", None)?])
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct AsType {
    decoded: NumberType,
    encoded: NumberType,
}

impl Conversion for AsType {
    fn types(&self) -> (NumberType, NumberType) {
        (self.decoded, self.encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        cast((encoded, self.encoded), (decoded, self.decoded));
        Ok(())
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        cast((decoded, self.decoded), (encoded, self.encoded));
        Ok(())
    }
}
