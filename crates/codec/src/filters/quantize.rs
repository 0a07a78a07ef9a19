//! Numcodecs `quantize`: floats rounded to a number of decimal digits behind the point, as floats of another type. The parameters are
//! the types of decoded and encoded numbers and the digits, which may be negative.

use ferrocdf_bytes::Result;

use super::conversion::{Conversion, Converted, cast, each};
use super::numbers::NumberType;
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("quantize"),
    names: &["quantize"],
    new: |params, chunk| Quantize::new(params).map(|conversion| boxed(Converted::new(conversion, chunk))),
    derive: None,
    numcodecs: Some(JsonForm {
        id: "quantize",
        write: |params| {
            let Quantize { decoded, encoded, digits, .. } = Quantize::new(params)?;
            Ok(vec![
                ("digits", digits.into()),
                ("dtype", decoded.typestring().into()),
                ("astype", encoded.typestring().into()),
            ])
        },
        read: |json| {
            let decoded = NumberType::param_of(json, "dtype", None)?;
            let encoded = NumberType::param_of(json, "astype", Some(decoded))?;
            let params = vec![decoded, encoded, json.number("digits", 0, -400..=400)? as u32];
            Quantize::new(&params).map(|_| params)
        },
    }),
    zarr_v3: None,
};

#[derive(Debug)]
struct Quantize {
    decoded: NumberType,
    encoded: NumberType,
    digits: i32,
    /// Power of two in whose reciprocal numbers are rounded.
    scale: f64,
}

impl Quantize {
    fn new(params: &[u32]) -> Result<Quantize> {
        let &[decoded, encoded, digits] = params else {
            return Err(bad_params(format!(
                "parameters {params:?}: must be two types and a number of digits"
            )));
        };
        let (decoded, encoded) = (NumberType::of_param(decoded)?, NumberType::of_param(encoded)?);
        if !decoded.is_float() || !encoded.is_float() {
            return Err(bad_params("only floats are quantized"));
        }
        let digits = digits as i32;
        let exponent = -f64::from(digits);
        let bits = 10f64.powf(-exponent).log2().ceil();
        Ok(Quantize { decoded, encoded, digits, scale: 2f64.powf(bits) })
    }
}

impl Conversion for Quantize {
    fn types(&self) -> (NumberType, NumberType) {
        (self.decoded, self.encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        cast((encoded, self.encoded), (decoded, self.decoded));
        Ok(())
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let of = self.decoded;
        each((decoded, of), (encoded, self.encoded), |from, to| {
            let scaled = of.rounded(self.scale * of.float(from)).round_ties_even();
            self.encoded.put_float(of.rounded(scaled / self.scale), to);
        });
        Ok(())
    }
}
