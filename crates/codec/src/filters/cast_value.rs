//! Casting (no HDF5 number; registered Zarr v3 codec `cast_value`): numbers stored as numbers of another type, with the same values
//! as far as that has them.
//!
//! The parameters are the stored type, the rounding, what becomes of numbers that are out of range, the number of pairs that are mapped
//! when encoding, and the pairs, as [`Scalar`] has numbers: those for encoding, then those for decoding.

use ferrocdf_bytes::Result;
use serde_json::{Map, Value};

use super::conversion::{Conversion, Converted};
use super::numbers::NumberType;
use super::scalars::{Number, PARAMS, Scalar};
use super::scale_offset_v3::plain_number;
use crate::filter::{bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::{CodecObject, Fields, JsonForm};
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("cast_value"),
    names: &["cast_value"],
    new: |params, chunk| {
        let decoded = plain_number("cast_value", chunk)?;
        let parts = CastValueParams::new(params)?;
        let encoded = NumberType { is_big: decoded.is_big, ..parts.stored };
        let cast = CastValue {
            encode: Cast::new(decoded, encoded, &parts, &parts.encode)?,
            decode: Cast::new(encoded, decoded, &parts, &parts.decode)?,
        };
        Ok(boxed(Converted::new(cast, chunk)))
    },
    derive: None,
    numcodecs: None,
    zarr_v3: Some(JsonForm { id: "cast_value", write, read }),
};

/// Values of `rounding` and of `out_of_range`, the usual one first.
const ROUNDINGS: [&str; 5] =
    ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"];
const OUT_OF_RANGE: [&str; 3] = ["error", "clamp", "wrap"];

/// Most pairs of a map.
const MAX_PAIRS: usize = 256;

/// A number and what is stored in its place.
type Pair = [Scalar; 2];

/// What the parameters mean.
struct CastValueParams {
    stored: NumberType,
    rounding: &'static str,
    out_of_range: &'static str,
    encode: Vec<Pair>,
    decode: Vec<Pair>,
}

impl CastValueParams {
    fn new(params: &[u32]) -> Result<CastValueParams> {
        let invalid = || bad_params(format!("parameters {params:?}: no type, rounding, range and pairs"));
        let [stored, rounding, out_of_range, encoded, pairs @ ..] = params else { return Err(invalid()) };
        let (pairs, []) = pairs.as_chunks::<{ 2 * PARAMS }>() else { return Err(invalid()) };
        let (encode, decode) = pairs.split_at_checked(*encoded as usize).ok_or_else(invalid)?;
        let pair = |&[a, b, c, d, e, f]: &[u32; 2 * PARAMS]| {
            Ok([Scalar::of_params(&[a, b, c])?, Scalar::of_params(&[d, e, f])?])
        };
        let name = |names: &[&'static str], at: u32| names.get(at as usize).copied().ok_or_else(invalid);
        let parts = CastValueParams {
            stored: NumberType::of_param(*stored)?,
            rounding: name(&ROUNDINGS, *rounding)?,
            out_of_range: name(&OUT_OF_RANGE, *out_of_range)?,
            encode: encode.iter().map(pair).collect::<Result<_>>()?,
            decode: decode.iter().map(pair).collect::<Result<_>>()?,
        };
        if parts.stored.is_bool() || parts.stored.is_big {
            return Err(bad_params("cast_value: the stored type is not one of integers or floats"));
        }
        if parts.out_of_range == "wrap" && parts.stored.is_float() {
            return Err(bad_params("cast_value: \"wrap\" is for integers"));
        }
        Ok(parts)
    }
}

fn write(params: &[u32]) -> Result<Fields> {
    let parts = CastValueParams::new(params)?;
    let mut fields = vec![("data_type", parts.stored.name().into())];
    if parts.rounding != ROUNDINGS[0] {
        fields.push(("rounding", parts.rounding.into()));
    }
    if parts.out_of_range != OUT_OF_RANGE[0] {
        fields.push(("out_of_range", parts.out_of_range.into()));
    }
    let mut map = Map::new();
    for (key, pairs) in [("encode", parts.encode), ("decode", parts.decode)] {
        if !pairs.is_empty() {
            let pair = |pair: &Pair| Value::Array(pair.map(Scalar::json).to_vec());
            map.insert(key.to_string(), pairs.iter().map(pair).collect());
        }
    }
    if !map.is_empty() {
        fields.push(("scalar_map", Value::Object(map)));
    }
    Ok(fields)
}

fn read(json: &CodecObject) -> Result<Vec<u32>> {
    json.only(&["data_type", "rounding", "out_of_range", "scalar_map"])?;
    let named = |name: &str| NumberType::parse(name).filter(|number| number.name() == name);
    let stored = json.value("data_type").and_then(Value::as_str).and_then(named);
    let stored = stored.ok_or_else(|| json.invalid("data_type", "not a type of integers or floats"))?;
    let mut params = vec![
        stored.param(),
        json.position("rounding", 0, &ROUNDINGS)?,
        json.position("out_of_range", 0, &OUT_OF_RANGE)?,
        0,
    ];
    let wanted = "not an object with lists of pairs of numbers";
    let invalid = || json.invalid("scalar_map", wanted);
    let map = match json.value("scalar_map") {
        None | Some(Value::Null) => &Map::new(),
        Some(Value::Object(map)) if map.keys().all(|key| matches!(&**key, "encode" | "decode")) => map,
        Some(_) => return Err(invalid()),
    };
    for key in ["encode", "decode"] {
        let pairs = match map.get(key) {
            None => &vec![],
            Some(Value::Array(pairs)) if pairs.len() <= MAX_PAIRS => pairs,
            Some(_) => return Err(invalid()),
        };
        if key == "encode" {
            params[3] = pairs.len() as u32;
        }
        for pair in pairs {
            let Some([from, to]) = pair.as_array().map(|pair| &pair[..]) else { return Err(invalid()) };
            for number in [from, to] {
                params.extend(Scalar::read(number).ok_or_else(invalid)?.params());
            }
        }
    }
    CastValueParams::new(&params).map(|_| params)
}

#[derive(Debug)]
struct CastValue {
    encode: Cast,
    decode: Cast,
}

/// The cast of one direction.
#[derive(Debug)]
struct Cast {
    from: NumberType,
    to: NumberType,
    /// Rounds to an integer.
    round: fn(f64) -> f64,
    out_of_range: &'static str,
    map: Vec<(Number, Number)>,
}

impl Cast {
    fn new(from: NumberType, to: NumberType, parts: &CastValueParams, pairs: &[Pair]) -> Result<Cast> {
        let pair = |[key, value]: &Pair| Ok((key.value(from)?, value.value(to)?));
        let round = match parts.rounding {
            "towards-zero" => f64::trunc,
            "towards-positive" => f64::ceil,
            "towards-negative" => f64::floor,
            "nearest-away" => f64::round,
            _ => f64::round_ties_even,
        };
        let map = pairs.iter().map(pair).collect::<Result<_>>()?;
        Ok(Cast { from, to, round, out_of_range: parts.out_of_range, map })
    }

    fn all(&self, from: &[u8], to: &mut [u8]) -> Result<()> {
        let pairs = from.chunks_exact(self.from.size).zip(to.chunks_exact_mut(self.to.size));
        for (from, to) in pairs {
            self.to.set(self.one(self.from.get(from))?, to);
        }
        Ok(())
    }

    fn one(&self, number: Number) -> Result<Number> {
        let is_same = |key: Number| match (key, number) {
            (Number::Float(key), Number::Float(number)) => key == number || key.is_nan() && number.is_nan(),
            (key, number) => key == number,
        };
        if let Some(&(_, value)) = self.map.iter().find(|&&(key, _)| is_same(key)) {
            return Ok(value);
        }
        match (number, self.to.is_float()) {
            // Through 64 bits, a number could be rounded twice.
            (Number::Integer(integer), true) if self.to.size == 4 => self.to_float((integer as f32).into()),
            (Number::Integer(integer), true) => self.to_float(integer as f64),
            (Number::Float(float), true) => self.to_float(float),
            (Number::Integer(integer), false) => self.to_integer(integer),
            (Number::Float(float), false) if float.is_nan() => {
                Err(corrupt(format!("NaN is no {}", self.to.name())))
            }
            (Number::Float(float), false) => {
                let rounded = (self.round)(float);
                if rounded.abs() < 2f64.powi(100) {
                    return self.to_integer(rounded as i128);
                }
                match self.out_of_range {
                    "wrap" if rounded.is_finite() => {
                        // Multiples of 2^47 and more: the remainder is exact.
                        self.to_integer((rounded % 2f64.powi(64)) as i128)
                    }
                    // Far out of range of all types.
                    "clamp" => self.to_integer(if rounded < 0.0 { -(1 << 100) } else { 1 << 100 }),
                    _ => Err(self.not_in_range(&float)),
                }
            }
        }
    }

    fn to_integer(&self, integer: i128) -> Result<Number> {
        if self.to.has_integer(integer) {
            return Ok(Number::Integer(integer));
        }
        let (least, greatest) = self.to.integers();
        match self.out_of_range {
            "clamp" => Ok(Number::Integer(integer.clamp(least, greatest))),
            // The low bits of a number are those that are stored.
            "wrap" => Ok(Number::Integer(integer)),
            _ => Err(self.not_in_range(&integer)),
        }
    }

    fn to_float(&self, float: f64) -> Result<Number> {
        let rounded = self.to.rounded(float);
        if rounded.is_finite() || !float.is_finite() {
            return Ok(Number::Float(rounded));
        }
        let greatest = match self.to.size {
            2 => half::f16::MAX.to_f64(),
            4 => f32::MAX.into(),
            _ => f64::MAX,
        };
        match self.out_of_range {
            "clamp" => Ok(Number::Float(greatest.copysign(float))),
            _ => Err(self.not_in_range(&float)),
        }
    }

    fn not_in_range(&self, number: &dyn std::fmt::Display) -> ferrocdf_bytes::Error {
        corrupt(format!("{number} is out of the range of {}", self.to.name()))
    }
}

impl Conversion for CastValue {
    fn types(&self) -> (NumberType, NumberType) {
        (self.encode.from, self.encode.to)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<()> {
        self.decode.all(encoded, decoded)
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<()> {
        self.encode.all(decoded, encoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Chain, Step};
    use crate::codecs::{ChunkInfo, Codecs};
    use crate::json::{from_zarr_v3, to_zarr_v3};

    /// Returns the chain of a cast, with its JSON form: what is given beside the type.
    fn chain(from: &str, to: &str, more: &str) -> Chain {
        let json = format!(r#"{{"name":"cast_value","configuration":{{"data_type":"{to}"{more}}}}}"#);
        let (id, params) = from_zarr_v3(&json).unwrap().unwrap();
        assert_eq!(to_zarr_v3(&id, &params), Some(Ok(json)));
        let number = NumberType::parse(from).unwrap();
        let chunk = ChunkInfo { element_size: number.size, number: Some(number), shape: vec![1] };
        Chain::for_chunks(
            vec![Step { id, name: String::new(), optional: false, params }],
            chunk,
            &Codecs::default(),
        )
    }

    fn encode(from: &str, to: &str, more: &str, number: &[u8]) -> Result<Vec<u8>> {
        let mut encoded = vec![];
        chain(from, to, more).encode(number, &mut encoded).map(|_| encoded)
    }

    const WRAP: &str = r#","out_of_range":"wrap""#;
    const CLAMP: &str = r#","out_of_range":"clamp""#;

    #[test]
    fn floats_are_rounded_to_integers() {
        for (rounding, wanted) in [
            ("", [2, 4, -2i8]),
            (r#","rounding":"towards-zero""#, [2, 3, -2]),
            (r#","rounding":"towards-positive""#, [3, 4, -2]),
            (r#","rounding":"towards-negative""#, [2, 3, -3]),
            (r#","rounding":"nearest-away""#, [3, 4, -3]),
        ] {
            for (number, wanted) in [2.5f32, 3.5, -2.5].into_iter().zip(wanted) {
                assert_eq!(
                    encode("<f4", "int8", rounding, &number.to_le_bytes()).unwrap(),
                    [wanted as u8],
                    "{rounding}"
                );
            }
        }
        assert_eq!(encode(">f8", "int16", "", &300f64.to_be_bytes()).unwrap(), 300i16.to_be_bytes());
    }

    #[test]
    fn numbers_out_of_range_are_refused_clamped_or_wrapped() {
        let f8 = f64::to_le_bytes;
        for (from, to, number, clamped, wrapped) in [
            ("<f8", "uint8", f8(256.0).to_vec(), Some(vec![255]), Some(vec![0])),
            ("<f8", "uint8", f8(-1.0).to_vec(), Some(vec![0]), Some(vec![255])),
            ("<f8", "int8", f8(128.0).to_vec(), Some(vec![127]), Some(vec![128])),
            ("<f8", "uint64", f8(-2f64.powi(120)).to_vec(), Some(vec![0; 8]), Some(vec![0; 8])),
            ("<f8", "uint8", f8(f64::INFINITY).to_vec(), Some(vec![255]), None),
            ("<f8", "uint8", f8(f64::NAN).to_vec(), None, None),
            ("<i8", "uint16", (-2i64).to_le_bytes().to_vec(), Some(vec![0, 0]), Some(vec![0xfe, 0xff])),
            (
                "<u8",
                "int64",
                u64::MAX.to_le_bytes().to_vec(),
                Some(i64::MAX.to_le_bytes().to_vec()),
                Some(vec![255; 8]),
            ),
        ] {
            assert!(encode(from, to, "", &number).is_err(), "{from} {to} {number:?}");
            assert_eq!(encode(from, to, CLAMP, &number).ok(), clamped, "{from} {to} {number:?}");
            assert_eq!(encode(from, to, WRAP, &number).ok(), wrapped, "{from} {to} {number:?}");
        }
        assert!(encode("<f8", "float32", "", &f8(1e300)).is_err());
        assert_eq!(encode("<f8", "float32", CLAMP, &f8(-1e300)).unwrap(), f32::MIN.to_le_bytes());
        assert_eq!(encode("<f8", "float16", "", &f8(f64::INFINITY)).unwrap(), [0, 0x7c]);
        // Rounded once, not first to 64 bits.
        let number = (1u64 << 63 | 1 << 39 | 1).to_le_bytes();
        assert_eq!(
            encode("<u8", "float32", "", &number).unwrap(),
            ((1u64 << 63 | 1 << 39 | 1) as f32).to_le_bytes()
        );
    }

    #[test]
    fn mapped_numbers_come_back() {
        let map = r#","scalar_map":{"encode":[["NaN",0],[-1,255]],"decode":[[0,"NaN"]]}"#;
        let chain = chain("<f4", "uint8", map);
        for (number, stored, back) in [(f32::NAN, 0, f32::NAN), (7.0, 7, 7.0), (-1.0, 255, 255.0)] {
            let mut encoded = vec![];
            chain.encode(&number.to_le_bytes(), &mut encoded).unwrap();
            assert_eq!(encoded, [stored]);
            let mut decoded = [0; 4];
            chain.decode(0, &encoded, &mut decoded).unwrap();
            assert_eq!(f32::from_le_bytes(decoded).total_cmp(&back), std::cmp::Ordering::Equal);
        }
    }

    #[test]
    fn configurations_that_cannot_be_are_refused() {
        for configuration in [
            "{}",
            r#"{"data_type":"bool"}"#,
            r#"{"data_type":"<i2"}"#,
            r#"{"data_type":{"name":"numpy.datetime64","configuration":{"unit":"s","scale_factor":1}}}"#,
            r#"{"data_type":"float32","out_of_range":"wrap"}"#,
            r#"{"data_type":"int8","rounding":"up"}"#,
            r#"{"data_type":"int8","more":1}"#,
            r#"{"data_type":"int8","scalar_map":{"encode":[[1]]}}"#,
            r#"{"data_type":"int8","scalar_map":{"other":[]}}"#,
        ] {
            let json = format!(r#"{{"name":"cast_value","configuration":{configuration}}}"#);
            assert!(from_zarr_v3(&json).unwrap().is_err(), "{json}");
        }
        // A number that the type does not have.
        let chain = chain("<f4", "uint8", r#","scalar_map":{"encode":[["NaN",256]]}"#);
        assert!(chain.check(0).is_err());
    }
}
