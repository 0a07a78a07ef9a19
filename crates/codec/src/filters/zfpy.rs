//! Numcodecs `zfpy`: numbers as a stream of zfp with its full header, which has their type and the shape of the array.
//!
//! The parameters are the mode (2 rate, 3 precision, 4 accuracy, 5 reversible), the tolerance and the rate as two halves of a 64-bit
//! float each, the lower half first, and the precision. A negative value stands for none, which makes the stream reversible.

use ferrocdf_bytes::Result;
use serde_json::{Map, Value};
use zfp_rs::{
    ZfpBitStream, ZfpConfig, ZfpDimensionality, ZfpField, ZfpFieldMetadata, ZfpFieldMut, ZfpHeaderMask,
    ZfpScalar, ZfpScalarType, ZfpStreamAlignment,
};

use super::numbers::NumberKind;
use crate::codecs::ChunkInfo;
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("zfpy"),
    names: &["zfpy"],
    new: |params, chunk| {
        let settings = Settings::of(params)?;
        Ok(boxed(Zfpy { settings, chunk: chunk.cloned() }))
    },
    derive: None,
    numcodecs: Some(JsonForm {
        id: "zfpy",
        write: |params| {
            let Settings { mode, tolerance, rate, precision } = Settings::of(params)?;
            let mut fields = vec![("mode", mode.into())];
            let own: Option<(&str, Value)> = match mode {
                RATE => Some(("rate", rate.into())),
                PRECISION => Some(("precision", precision.into())),
                ACCURACY => Some(("tolerance", tolerance.into())),
                _ => None,
            };
            // What numcodecs makes of the others.
            if let Some((key, value)) = own {
                fields
                    .push(("compression_kwargs", Value::Object(Map::from_iter([(key.to_string(), value)]))));
            }
            fields.extend([
                ("tolerance", tolerance.into()),
                ("rate", rate.into()),
                ("precision", precision.into()),
            ]);
            Ok(fields)
        },
        read: |json| {
            let mode = json.number("mode", ACCURACY.into(), RATE.into()..=REVERSIBLE.into())? as u32;
            let halves = |number: f64| [number.to_bits() as u32, (number.to_bits() >> 32) as u32];
            let precision = json.number("precision", -1, -1..=i64::from(i32::MAX))? as i32 as u32;
            let ([tolerance, tolerance_high], [rate, rate_high]) =
                (halves(json.float("tolerance", -1.0)?), halves(json.float("rate", -1.0)?));
            Ok(vec![mode, tolerance, tolerance_high, rate, rate_high, precision])
        },
    }),
    zarr_v3: None,
};

/// Modes of zfp (`zfp_mode` in `zfp.h`).
const RATE: u32 = 2;
const PRECISION: u32 = 3;
const ACCURACY: u32 = 4;
const REVERSIBLE: u32 = 5;

/// Most numbers in a block of zfp, which takes a bit at least, and most bytes of a number.
const MAX_BLOCK: usize = 256;
const MAX_NUMBER: usize = 8;

/// Least bytes of a full header: 32 bits that mark it, 52 of type and shape, and 12 of the mode.
const HEADER: usize = 12;

/// Bytes of a word, of which streams of libzfp are made on the machines that have wheels of zfpy.
const WORD: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Settings {
    mode: u32,
    tolerance: f64,
    rate: f64,
    precision: i32,
}

impl Settings {
    fn of(params: &[u32]) -> Result<Settings> {
        let number = |low: u32, high: u32| f64::from_bits(u64::from(high) << 32 | u64::from(low));
        match *params {
            [mode @ RATE..=REVERSIBLE, tolerance, tolerance_high, rate, rate_high, precision] => {
                Ok(Settings {
                    mode,
                    tolerance: number(tolerance, tolerance_high),
                    rate: number(rate, rate_high),
                    precision: precision as i32,
                })
            }
            _ => Err(bad_params(format!("parameters {params:?}: no mode, tolerance, rate and precision"))),
        }
    }
}

#[derive(Debug)]
struct Zfpy {
    settings: Settings,
    /// The numbers when encoding; `None` if they are not known.
    chunk: Option<ChunkInfo>,
}

/// A number of zfp, as little-endian bytes.
trait ZfpElement: ZfpScalar + Copy + Default {
    fn put(self, to: &mut [u8]);
    fn get(from: &[u8]) -> Self;
}

macro_rules! elements {
    ($($name:ty),*) => {$(
        impl ZfpElement for $name {
            fn put(self, to: &mut [u8]) {
                to.copy_from_slice(&self.to_le_bytes());
            }

            fn get(from: &[u8]) -> Self {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(from);
                Self::from_le_bytes(bytes)
            }
        }
    )*};
}
elements!(i32, i64, f32, f64);

/// Runs an expression with the type of the numbers as `T`.
macro_rules! with_type {
    ($scalar:expr, $T:ident => $run:expr) => {
        match $scalar {
            ZfpScalarType::I32 => {
                type $T = i32;
                $run
            }
            ZfpScalarType::I64 => {
                type $T = i64;
                $run
            }
            ZfpScalarType::F32 => {
                type $T = f32;
                $run
            }
            ZfpScalarType::F64 => {
                type $T = f64;
                $run
            }
        }
    };
}

fn size_of_scalar(scalar: ZfpScalarType) -> usize {
    with_type!(scalar, T => size_of::<T>())
}

/// A stream, its header, and the number of decoded bytes.
struct Opened {
    stream: ZfpBitStream,
    config: ZfpConfig,
    metadata: ZfpFieldMetadata,
    len: usize,
}

fn open(encoded: &[u8]) -> Result<Opened> {
    // The library would take zeros for missing bytes of a word.
    if encoded.len() < HEADER || !encoded.len().is_multiple_of(WORD) {
        return Err(corrupt(format!("{} bytes are no header of zfp and whole words", encoded.len())));
    }
    let mut stream = ZfpBitStream::from_bytes(encoded).map_err(|error| corrupt(error.to_string()))?;
    let header = stream.read_header(ZfpHeaderMask::FULL).map_err(|error| corrupt(error.to_string()))?;
    let (Some(config), Some(metadata)) = (header.config, header.metadata) else {
        return Err(corrupt("the header of zfp is not complete"));
    };
    let dims = metadata.dims.iter().take_while(|&&dim| dim > 0);
    let numbers = dims.fold(1usize, |count, &dim| count.saturating_mul(dim));
    let len = numbers.saturating_mul(size_of_scalar(metadata.scalar_type));
    Ok(Opened { stream, config, metadata, len })
}

/// Makes a field of the numbers, with one dimension for each that is not 0.
macro_rules! field {
    ($Field:ident, $numbers:expr, $dims:expr) => {
        match $dims {
            [x, 0, 0, 0] => $Field::new($numbers, [x]),
            [x, y, 0, 0] => $Field::new($numbers, [x, y]),
            [x, y, z, 0] => $Field::new($numbers, [x, y, z]),
            dims => $Field::new($numbers, dims),
        }
    };
}

fn decode<T: ZfpElement>(opened: Opened, decoded: &mut [u8]) -> Result<()> {
    let Opened { mut stream, config, metadata, len } = opened;
    let mut numbers = vec![T::default(); len / size_of::<T>()];
    let mut field =
        field!(ZfpFieldMut, &mut numbers, metadata.dims).map_err(|error| corrupt(error.to_string()))?;
    stream.decompress(&config, &mut field).map_err(|error| corrupt(error.to_string()))?;
    for (number, to) in numbers.into_iter().zip(decoded.chunks_exact_mut(size_of::<T>())) {
        number.put(to);
    }
    Ok(())
}

impl Zfpy {
    /// Returns the type and the dimensions of the numbers, the fastest first.
    fn numbers(&self) -> Result<(ZfpScalarType, [usize; 4])> {
        let refused = |why: &str| Err(bad_params(format!("zfpy: {why}")));
        let Some(chunk) = &self.chunk else { return refused("the type of the elements is not known") };
        let scalar = match chunk.number {
            Some(number) if number.is_big => return refused("only little-endian numbers are encoded"),
            Some(number) if number.size != chunk.element_size => return refused("complex numbers"),
            Some(number) => match (number.kind, number.size) {
                (NumberKind::Signed, 4) => ZfpScalarType::I32,
                (NumberKind::Signed, 8) => ZfpScalarType::I64,
                (NumberKind::Float, 4) => ZfpScalarType::F32,
                (NumberKind::Float, 8) => ZfpScalarType::F64,
                _ => return refused("elements are signed integers or floats of 4 or 8 bytes"),
            },
            None => return refused("the elements are not numbers"),
        };
        let mut dims = [0; 4];
        if chunk.shape.is_empty() || chunk.shape.len() > dims.len() || chunk.shape.contains(&0) {
            return refused("chunks have one to four dimensions");
        }
        dims.iter_mut().zip(chunk.shape.iter().rev()).for_each(|(dim, &len)| *dim = len);
        Ok((scalar, dims))
    }

    /// Returns the settings of the stream (`compress_numpy` of zfpy).
    fn config(&self, scalar: ZfpScalarType, dims: [usize; 4]) -> Result<ZfpConfig> {
        let Settings { mode, tolerance, rate, precision } = self.settings;
        let rank = match dims {
            [_, 0, ..] => ZfpDimensionality::D1,
            [_, _, 0, _] => ZfpDimensionality::D2,
            [_, _, _, 0] => ZfpDimensionality::D3,
            _ => ZfpDimensionality::D4,
        };
        Ok(match mode {
            ACCURACY if tolerance >= 0.0 => ZfpConfig::fixed_accuracy(tolerance),
            RATE if rate >= 0.0 => ZfpConfig::fixed_rate(rate, scalar, rank, ZfpStreamAlignment::Unaligned)
                .map_err(|error| bad_params(format!("zfpy: {error}")))?,
            PRECISION if precision >= 0 => ZfpConfig::fixed_precision(precision.unsigned_abs()),
            _ => ZfpConfig::reversible(),
        })
    }

    fn compress<T: ZfpElement>(&self, decoded: &[u8], dims: [usize; 4], encoded: &mut Vec<u8>) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| corrupt(format!("zfpy: compression failed: {error}"));
        let numbers: Vec<T> = decoded.chunks_exact(size_of::<T>()).map(T::get).collect();
        let field = field!(ZfpField, &numbers, dims).map_err(|error| failed(&error))?;
        let config = self.config(field.scalar_type(), dims)?;
        let most =
            config.maximum_size(field.scalar_type(), dims).ok_or_else(|| failed(&"too many numbers"))?;
        let mut stream = ZfpBitStream::new(most).map_err(|error| failed(&error))?;
        stream
            .write_header(&config, &field.metadata(), ZfpHeaderMask::FULL)
            .map_err(|error| failed(&error))?;
        stream.compress(&config, &field).map_err(|error| failed(&error))?;
        encoded.extend_from_slice(stream.as_bytes());
        Ok(())
    }
}

impl SliceCodec for Zfpy {
    fn decoded_len(&self, encoded: &[u8]) -> Result<Option<usize>> {
        open(encoded).map(|opened| Some(opened.len))
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let opened = open(encoded)?;
        let len = opened.len;
        let Some(decoded) = decoded.get_mut(..len) else { return Ok(None) };
        with_type!(opened.metadata.scalar_type, T => decode::<T>(opened, decoded))?;
        Ok(Some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        let (scalar, dims) = self.numbers()?;
        with_type!(scalar, T => self.compress::<T>(decoded, dims, encoded))?;
        Ok(Some(()))
    }

    fn check_encode(&self) -> Result<()> {
        let (scalar, dims) = self.numbers()?;
        self.config(scalar, dims).map(drop)
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(8 * MAX_BLOCK * MAX_NUMBER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;
    use crate::filters::NumberType;
    use crate::json::{from_numcodecs, to_numcodecs};

    fn filter(json: &str, number: Option<NumberType>, shape: &[usize]) -> Box<dyn Filter> {
        let (id, params) = from_numcodecs(json).unwrap().unwrap();
        let written = to_numcodecs(&id, &params).unwrap().unwrap();
        assert_eq!(from_numcodecs(&written), Some(Ok((id, params.clone()))), "{written}");
        let element_size = number.map_or(8, |number| number.size);
        let chunk = ChunkInfo { element_size, number, shape: shape.to_vec() };
        (ENTRY.new)(&params, Some(&chunk)).unwrap()
    }

    const DOUBLE: NumberType = NumberType { kind: NumberKind::Float, size: 8, is_big: false };

    #[test]
    fn numbers_come_back_as_exactly_as_the_settings_say() {
        let numbers: Vec<f64> = (0..60).map(|at| (f64::from(at) / 7.0).sin() * 100.0).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        for (settings, error) in [
            (r#""mode": 5"#, 0.0),
            (r#""mode": 4, "tolerance": -1"#, 0.0),
            (r#""mode": 4, "tolerance": 0.01"#, 0.01),
            (r#""mode": 3, "precision": 30"#, 0.001),
            (r#""mode": 2, "rate": 32"#, 0.001),
        ] {
            let filter = filter(&format!(r#"{{"id": "zfpy", {settings}}}"#), Some(DOUBLE), &[3, 4, 5]);
            let (mut encoded, mut decoded) = (vec![], vec![]);
            filter.encode(&bytes, &mut encoded).unwrap().unwrap();
            assert!(bytes.len() <= filter.max_decoded_len(encoded.len()));
            filter.decode(&encoded, &mut decoded, Some(bytes.len()), bytes.len()).unwrap();
            let back = decoded.chunks_exact(8).map(f64::get);
            let worst = back.zip(&numbers).map(|(back, number)| (back - number).abs()).fold(0.0, f64::max);
            assert!(worst <= error && (error == 0.0 || worst > 0.0), "{settings}: {worst}");
            // The end is padded to whole words.
            for len in 0..encoded.len() / 2 {
                assert!(filter.decode_into(&encoded[..len], &mut decoded).is_err(), "{settings}: {len}");
            }
        }
    }

    #[test]
    fn what_zfp_cannot_hold_is_refused() {
        let json = r#"{"id": "zfpy"}"#;
        let short = NumberType { size: 2, ..DOUBLE };
        let big = NumberType { is_big: true, ..DOUBLE };
        for (number, shape) in [
            (None, &[4][..]),
            (Some(short), &[4]),
            (Some(big), &[4]),
            (Some(DOUBLE), &[]),
            (Some(DOUBLE), &[1; 5]),
        ] {
            assert!(filter(json, number, shape).check_encode().is_err(), "{number:?} {shape:?}");
        }
        assert!(from_numcodecs(r#"{"id": "zfpy", "mode": 1}"#).unwrap().is_err());
        let mut decoded = vec![];
        let filter = filter(json, Some(DOUBLE), &[4]);
        // The header names more numbers than memory holds.
        let mut stream = ZfpBitStream::new(64).unwrap();
        let metadata =
            ZfpFieldMetadata { scalar_type: ZfpScalarType::F64, dims: [1 << (usize::BITS / 2 + 8), 0, 0, 0] };
        stream.write_header(&ZfpConfig::reversible(), &metadata, ZfpHeaderMask::FULL).unwrap();
        stream.flush();
        assert!(filter.decode(stream.as_bytes(), &mut decoded, None, usize::MAX).is_err());
    }
}
