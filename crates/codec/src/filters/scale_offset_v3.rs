//! Scale and offset (no HDF5 number; registered Zarr v3 codec `scale_offset`): numbers minus an offset, times a scale, in their own
//! type. The parameters are offset and scale, as [`Scalar`] has them. HDF5's filter of that name is another one.

use ferrocdf_bytes::Result;

use super::conversion::{Conversion, Converted, each};
use super::numbers::NumberType;
use super::scalars::{Number, PARAMS, Scalar};
use crate::codecs::ChunkInfo;
use crate::filter::{bad_params, boxed};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("scale_offset"),
    names: &["scale_offset"],
    new: |params, chunk| {
        let number = plain_number("scale_offset", chunk)?;
        Ok(boxed(Converted::new(ScaleOffsetV3::new(params, number)?, chunk)))
    },
    derive: None,
    numcodecs: None,
    zarr_v3: Some(JsonForm {
        id: "scale_offset",
        write: |params| {
            let given = [("offset", OFFSET), ("scale", SCALE)].into_iter().zip(scalars(params)?);
            let given = given.filter(|((_, usual), scalar)| usual != scalar);
            Ok(given.map(|((key, _), scalar)| (key, scalar.json())).collect())
        },
        read: |json| {
            json.only(&["offset", "scale"])?;
            let scalar = |key, usual| match json.value(key) {
                None => Ok(usual),
                Some(value) => Scalar::read(value).ok_or_else(|| json.invalid(key, "not a number")),
            };
            Ok([scalar("offset", OFFSET)?, scalar("scale", SCALE)?].map(Scalar::params).concat())
        },
    }),
};

/// Usual offset and scale.
const OFFSET: Scalar = Scalar::Integer(0);
const SCALE: Scalar = Scalar::Integer(1);

/// Returns the type of a chunk's elements, which must be integers or floats.
pub fn plain_number(filter: &str, chunk: Option<&ChunkInfo>) -> Result<NumberType> {
    let chunk =
        chunk.ok_or_else(|| bad_params(format!("{filter} must not follow a filter that outputs bytes")))?;
    let is_plain = |number: &NumberType| number.size == chunk.element_size && !number.is_bool();
    chunk
        .number
        .filter(is_plain)
        .ok_or_else(|| bad_params(format!("{filter}: the elements are not integers or floats")))
}

/// Returns offset and scale.
fn scalars(params: &[u32]) -> Result<[Scalar; 2]> {
    match params.as_chunks::<PARAMS>() {
        ([offset, scale], []) => Ok([Scalar::of_params(offset)?, Scalar::of_params(scale)?]),
        _ => Err(bad_params(format!("parameters {params:?}: must be an offset and a scale"))),
    }
}

#[derive(Debug)]
struct ScaleOffsetV3 {
    number: NumberType,
    values: Values,
}

/// Offset and scale in the type of the numbers.
#[derive(Debug)]
enum Values {
    Integers { offset: i128, scale: i128 },
    Floats { offset: f64, scale: f64 },
}

impl ScaleOffsetV3 {
    fn new(params: &[u32], number: NumberType) -> Result<ScaleOffsetV3> {
        let [offset, scale] = scalars(params)?;
        let values = match (offset.value(number)?, scale.value(number)?) {
            (Number::Integer(_), Number::Integer(0)) => {
                return Err(bad_params("scale 0: integers cannot be divided by it"));
            }
            (Number::Integer(offset), Number::Integer(scale)) => Values::Integers { offset, scale },
            (Number::Float(offset), Number::Float(scale)) => Values::Floats { offset, scale },
            _ => return Err(bad_params("offset and scale are numbers of two kinds")),
        };
        Ok(ScaleOffsetV3 { number, values })
    }

    fn each(&self, from: &[u8], to: &mut [u8], integer: impl Fn(i128) -> i128, float: impl Fn(f64) -> f64) {
        let number = self.number;
        each((from, number), (to, number), |from, to| {
            let result = match number.get(from) {
                Number::Integer(value) => Number::Integer(integer(value)),
                Number::Float(value) => Number::Float(float(value)),
            };
            number.set(result, to);
        });
    }
}

impl Conversion for ScaleOffsetV3 {
    fn types(&self) -> (NumberType, NumberType) {
        (self.number, self.number)
    }

    // Integers wrap around, and are divided to the next lower one, as in NumPy.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        let rounded = |value| self.number.rounded(value);
        match self.values {
            Values::Integers { offset, scale } => {
                let divide = |value: i128| {
                    let remainder = value % scale;
                    value / scale - i128::from(remainder != 0 && (remainder < 0) != (scale < 0))
                };
                self.each(encoded, decoded, |value| divide(value) + offset, |value| value);
            }
            Values::Floats { offset, scale } => {
                self.each(encoded, decoded, |value| value, |value| rounded(rounded(value / scale) + offset));
            }
        }
        Ok(())
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        let rounded = |value| self.number.rounded(value);
        match self.values {
            Values::Integers { offset, scale } => {
                self.each(decoded, encoded, |value| (value - offset).wrapping_mul(scale), |value| value);
            }
            Values::Floats { offset, scale } => {
                self.each(decoded, encoded, |value| value, |value| rounded(rounded(value - offset) * scale));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Chain, Step};
    use crate::codecs::Codecs;
    use crate::json::{from_zarr_v3, to_zarr_v3};

    fn chain(name: &str, configuration: &str) -> Chain {
        let json = format!(r#"{{"name":"scale_offset","configuration":{{{configuration}}}}}"#);
        let (id, params) = from_zarr_v3(&json).unwrap().unwrap();
        assert_eq!(to_zarr_v3(&id, &params), Some(Ok(json)));
        let number = NumberType::parse(name).unwrap();
        let chunk = ChunkInfo { element_size: number.size, number: Some(number), shape: vec![1] };
        Chain::for_chunks(
            vec![Step { id, name: String::new(), optional: false, params }],
            chunk,
            &Codecs::default(),
        )
    }

    /// Checks what a number is encoded to, and what this is decoded to.
    fn check<const N: usize>(chain: &Chain, number: [u8; N], stored: [u8; N], back: [u8; N]) {
        let mut encoded = vec![];
        chain.encode(&number, &mut encoded).unwrap();
        assert_eq!(encoded, stored);
        let mut decoded = [0; N];
        chain.decode(0, &encoded, &mut decoded).unwrap();
        assert_eq!(decoded, back);
    }

    #[test]
    fn numbers_are_computed_in_their_own_type() {
        let f4 = f32::to_le_bytes;
        let (offset, scale) = (5f32, 0.1f32);
        let stored = (7.3 - offset) * scale;
        check(&chain("<f4", r#""offset":5,"scale":0.1"#), f4(7.3), f4(stored), f4(stored / scale + offset));
        check(&chain("<f2", r#""scale":3"#), [0x9a, 0x2e], [0xf4, 0x34], [0x9b, 0x2e]);
        check(&chain(">f8", r#""offset":0.5"#), 2f64.to_be_bytes(), 1.5f64.to_be_bytes(), 2f64.to_be_bytes());
        // Integers wrap around, and are divided downwards.
        check(&chain("int8", r#""offset":-3,"scale":2"#), [100], [206], [228]);
        check(&chain("int8", r#""scale":-3"#), [5], [241], [5]);
        check(&chain("uint64", r#""offset":18446744073709551615"#), [0; 8], [1, 0, 0, 0, 0, 0, 0, 0], [0; 8]);
    }

    #[test]
    fn numbers_that_the_type_does_not_have_are_refused() {
        for (name, configuration) in [
            ("uint8", r#""offset":256"#),
            ("int16", r#""scale":0.5"#),
            ("int16", r#""scale":0"#),
            ("int16", r#""offset":"NaN""#),
            ("bool", r#""offset":1"#),
        ] {
            let chain = chain(name, configuration);
            assert!(chain.check(0).is_err(), "{name} {configuration}");
        }
        for configuration in [r#"{"offset":null}"#, r#"{"offset":[1]}"#, r#"{"scale":"1"}"#, r#"{"more":1}"#]
        {
            let json = format!(r#"{{"name":"scale_offset","configuration":{configuration}}}"#);
            assert!(from_zarr_v3(&json).unwrap().is_err(), "{json}");
        }
    }
}
