//! Numcodecs `fixedscaleoffset`: numbers minus an offset, times a scale, rounded, as numbers of another type. The parameters are the
//! types of decoded and encoded numbers, then the bits of offset and scale, the high word first.

use ferrocdf_bytes::Result;

use super::conversion::{Conversion, Converted, each};
use super::numbers::NumberType;
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("fixedscaleoffset"),
    names: &["fixedscaleoffset"],
    new: |params, chunk| {
        FixedScaleOffset::new(params).map(|conversion| boxed(Converted::new(conversion, chunk)))
    },
    derive: None,
    numcodecs: Some(JsonForm {
        id: "fixedscaleoffset",
        write: |params| {
            let FixedScaleOffset { decoded, encoded, offset, scale } = FixedScaleOffset::new(params)?;
            Ok(vec![
                ("scale", scale.into()),
                ("offset", offset.into()),
                ("dtype", decoded.typestring().into()),
                ("astype", encoded.typestring().into()),
            ])
        },
        read: |json| {
            let decoded = NumberType::param_of(json, "dtype", None)?;
            let encoded = NumberType::param_of(json, "astype", Some(decoded))?;
            let mut params = vec![decoded, encoded];
            for key in ["offset", "scale"] {
                let bits = json.float(key, f64::NAN)?.to_bits();
                params.extend([(bits >> 32) as u32, bits as u32]);
            }
            FixedScaleOffset::new(&params).map(|_| params)
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct FixedScaleOffset {
    decoded: NumberType,
    encoded: NumberType,
    offset: f64,
    scale: f64,
}

impl FixedScaleOffset {
    fn new(params: &[u32]) -> Result<FixedScaleOffset> {
        let [decoded, encoded, offset @ .., scale_high, scale_low] = params else {
            return Err(bad_params(format!(
                "parameters {params:?}: must be two types, an offset and a scale"
            )));
        };
        let &[offset_high, offset_low] = offset else {
            return Err(bad_params(format!(
                "parameters {params:?}: must be two types, an offset and a scale"
            )));
        };
        let float = |high: u32, low: u32| f64::from_bits(u64::from(high) << 32 | u64::from(low));
        let (offset, scale) = (float(offset_high, offset_low), float(*scale_high, *scale_low));
        if !offset.is_finite() || !scale.is_finite() {
            return Err(bad_params(format!("offset {offset} and scale {scale}: must be numbers")));
        }
        let (decoded, encoded) = (NumberType::of_param(*decoded)?, NumberType::of_param(*encoded)?);
        Ok(FixedScaleOffset { decoded, encoded, offset, scale })
    }
}

impl Conversion for FixedScaleOffset {
    fn types(&self) -> (NumberType, NumberType) {
        (self.decoded, self.encoded)
    }

    // NumPy computes in the type of floats, and with 64 bits for integers.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        let of = self.encoded;
        let (scale, offset) = (of.rounded(self.scale), of.rounded(self.offset));
        each((encoded, of), (decoded, self.decoded), |from, to| {
            self.decoded.put_float(of.rounded(of.rounded(of.float(from) / scale) + offset), to);
        });
        Ok(())
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let of = self.decoded;
        let (scale, offset) = (of.rounded(self.scale), of.rounded(self.offset));
        each((decoded, of), (encoded, self.encoded), |from, to| {
            let scaled = of.rounded(of.rounded(of.float(from) - offset) * scale);
            self.encoded.put_float(scaled.round_ties_even(), to);
        });
        Ok(())
    }
}
