//! Numcodecs `pcodec`: numbers as a standalone file of pco, which names their type. The parameters are the level, the mode, what is
//! done to differences, their order ([`UNSET`] if it is not given), and the most numbers in a page.

use ferrocdf_bytes::Result;
use half::f16;
use pco::data_types::{Number, NumberType as PcoType};
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

use super::numbers::{NumberKind, NumberType};
use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::JsonForm;
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("pcodec"),
    names: &["pcodec"],
    new: |params, chunk| {
        parts(params)?;
        let number = chunk.and_then(|chunk| chunk.number);
        Ok(boxed(PCodec { params: params.to_vec(), number }))
    },
    derive: None,
    numcodecs: Some(JsonForm {
        id: "pcodec",
        write: |params| {
            let [level, mode, delta, order, page] = parts(params)?;
            Ok(vec![
                ("level", level.into()),
                ("mode_spec", MODES[mode as usize].into()),
                ("delta_spec", DELTAS[delta as usize].into()),
                ("paging_spec", PAGINGS[0].into()),
                ("delta_encoding_order", if order == UNSET { serde_json::Value::Null } else { order.into() }),
                ("equal_pages_up_to", page.into()),
            ])
        },
        read: |json| {
            json.position("paging_spec", 0, &PAGINGS)?;
            let delta = json.position("delta_spec", 0, &DELTAS)?;
            Ok(vec![
                json.number("level", 8, 0..=12)? as u32,
                json.position("mode_spec", 0, &MODES)?,
                delta,
                json.number("delta_encoding_order", UNSET.into(), 0..=7)? as u32,
                json.number("equal_pages_up_to", 1 << 18, 1..=MAX_PAGE.into())? as u32,
            ])
        },
    }),
    zarr_v3: None,
};

const UNSET: u32 = u32::MAX;

/// Values of `mode_spec`, `delta_spec` and `paging_spec`, the usual one first.
const MODES: [&str; 2] = ["auto", "classic"];
const DELTAS: [&str; 5] = ["auto", "none", "no_op", "try_consecutive", "try_lookback"];
const PAGINGS: [&str; 1] = ["equal_pages_up_to"];

/// Most numbers of a chunk of pco, and of a page.
const MAX_PAGE: u32 = 1 << 24;

fn parts(params: &[u32]) -> Result<[u32; 5]> {
    match *params {
        [level @ 0..=12, mode @ 0..=1, delta @ 0..=4, order @ (0..=7 | UNSET), page @ 1..=MAX_PAGE] => {
            Ok([level, mode, delta, order, page])
        }
        _ => Err(bad_params(format!("parameters {params:?}: no level, mode, differences, order and page"))),
    }
}

#[derive(Debug)]
struct PCodec {
    params: Vec<u32>,
    /// Type of the numbers when encoding; `None` if it is not known.
    number: Option<NumberType>,
}

/// A number of a type that pco has, as little-endian bytes.
trait PcoElement: Number {
    fn put(self, to: &mut [u8]);
    fn get(from: &[u8]) -> Self;
}

macro_rules! elements {
    ($($name:ty),*) => {$(
        impl PcoElement for $name {
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
elements!(u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64);

fn not_pco(error: &pco::errors::PcoError) -> ferrocdf_bytes::Error {
    corrupt(format!("not numbers of pco: {error}"))
}

/// What is left after a chunk of pco: the encoded bytes behind it and the number of decoded bytes; `None` behind the last one.
type Rest<'a> = Option<(&'a [u8], usize)>;

/// Decodes one chunk of pco into the front of `decoded`; `None` if that is too short.
fn chunk<'a, T: PcoElement>(
    file: &FileDecompressor,
    encoded: &'a [u8],
    decoded: &mut [u8],
) -> Result<Option<Rest<'a>>> {
    let item = file.chunk_decompressor::<T, _>(encoded).map_err(|error| not_pco(&error))?;
    let DecompressorItem::Chunk(mut chunk) = item else { return Ok(Some(None)) };
    let count = chunk.n();
    let Some(decoded) = decoded.get_mut(..count.saturating_mul(size_of::<T>())) else { return Ok(None) };
    let mut numbers = vec![T::get(&vec![0; size_of::<T>()]); count];
    let progress = chunk.read(&mut numbers).map_err(|error| not_pco(&error))?;
    if progress.n_processed != count {
        return Err(corrupt(format!("{} numbers in a chunk of {count}", progress.n_processed)));
    }
    for (number, to) in numbers.into_iter().zip(decoded.chunks_exact_mut(size_of::<T>())) {
        number.put(to);
    }
    Ok(Some(Some((chunk.into_src(), decoded.len()))))
}

impl PCodec {
    fn config(&self) -> Result<ChunkConfig> {
        let [level, mode, delta, order, page] = parts(&self.params)?;
        let delta = match (order, DELTAS[delta as usize]) {
            (_, "none" | "no_op") => DeltaSpec::NoOp,
            (_, "try_lookback") => DeltaSpec::TryLookback,
            (UNSET, "try_consecutive") => DeltaSpec::TryConsecutive(1),
            (UNSET, _) => DeltaSpec::Auto,
            (order, _) => DeltaSpec::TryConsecutive(order as usize),
        };
        let mut config = ChunkConfig::default()
            .with_compression_level(level as usize)
            .with_mode_spec(if mode == 0 { ModeSpec::Auto } else { ModeSpec::Classic })
            .with_delta_spec(delta)
            .with_paging_spec(PagingSpec::EqualPagesUpTo(page as usize));
        config.enable_8_bit = true;
        Ok(config)
    }

    fn compress<T: PcoElement>(&self, decoded: &[u8]) -> Result<Vec<u8>> {
        let (numbers, rest) = (decoded.chunks_exact(size_of::<T>()), decoded.len() % size_of::<T>());
        if rest != 0 {
            return Err(corrupt(format!("{} bytes are no whole number of numbers", decoded.len())));
        }
        let numbers: Vec<T> = numbers.map(T::get).collect();
        let failed = |error| corrupt(format!("pcodec: compression failed: {error}"));
        simple_compress(&numbers, &self.config()?).map_err(failed)
    }
}

impl SliceCodec for PCodec {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let (file, mut rest) = FileDecompressor::new(encoded).map_err(|error| not_pco(&error))?;
        let mut len = 0;
        loop {
            let number = file.peek_number_type_or_termination(rest).map_err(|error| not_pco(&error))?;
            let Some(number) = number else { return Ok(Some(len)) };
            let to = &mut decoded[len..];
            let next = match number {
                PcoType::U8 => chunk::<u8>(&file, rest, to),
                PcoType::U16 => chunk::<u16>(&file, rest, to),
                PcoType::U32 => chunk::<u32>(&file, rest, to),
                PcoType::U64 => chunk::<u64>(&file, rest, to),
                PcoType::I8 => chunk::<i8>(&file, rest, to),
                PcoType::I16 => chunk::<i16>(&file, rest, to),
                PcoType::I32 => chunk::<i32>(&file, rest, to),
                PcoType::I64 => chunk::<i64>(&file, rest, to),
                PcoType::F16 => chunk::<f16>(&file, rest, to),
                PcoType::F32 => chunk::<f32>(&file, rest, to),
                PcoType::F64 => chunk::<f64>(&file, rest, to),
                _ => return Err(corrupt("numbers of a type of pco that is not known")),
            }?;
            match next {
                None => return Ok(None),
                Some(None) => return Ok(Some(len)),
                Some(Some((behind, more))) => (rest, len) = (behind, len + more),
            }
        }
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        self.check_encode()?;
        let compressed = match self.number.map(|number| (number.kind, number.size)) {
            Some((NumberKind::Unsigned, 1)) => self.compress::<u8>(decoded),
            Some((NumberKind::Unsigned, 2)) => self.compress::<u16>(decoded),
            Some((NumberKind::Unsigned, 4)) => self.compress::<u32>(decoded),
            Some((NumberKind::Unsigned, _)) => self.compress::<u64>(decoded),
            Some((NumberKind::Signed, 1)) => self.compress::<i8>(decoded),
            Some((NumberKind::Signed, 2)) => self.compress::<i16>(decoded),
            Some((NumberKind::Signed, 4)) => self.compress::<i32>(decoded),
            Some((NumberKind::Signed, _)) => self.compress::<i64>(decoded),
            Some((NumberKind::Float, 2)) => self.compress::<f16>(decoded),
            Some((NumberKind::Float, 4)) => self.compress::<f32>(decoded),
            Some((NumberKind::Float, _)) => self.compress::<f64>(decoded),
            Some((NumberKind::Bool, _)) | None => Err(bad_params("pcodec: the elements are not numbers")),
        }?;
        encoded.extend_from_slice(&compressed);
        Ok(Some(()))
    }

    fn check_encode(&self) -> Result<()> {
        match self.number {
            Some(number) if !number.is_big && !number.is_bool() => Ok(()),
            Some(number) if number.is_big => {
                Err(bad_params("pcodec: only little-endian numbers are encoded"))
            }
            _ => Err(bad_params("pcodec: the elements are not numbers")),
        }
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        // A chunk of equal numbers takes a few bytes, however many they are.
        encoded.saturating_mul(MAX_PAGE as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::ChunkInfo;
    use crate::filter::Filter;
    use crate::json::{from_numcodecs, to_numcodecs};

    fn filter(name: &str, more: &str) -> Box<dyn Filter> {
        let (id, params) = from_numcodecs(&format!(r#"{{"id": "pcodec"{more}}}"#)).unwrap().unwrap();
        let written = to_numcodecs(&id, &params).unwrap().unwrap();
        assert_eq!(from_numcodecs(&written), Some(Ok((id, params.clone()))));
        let number = NumberType::parse(name).unwrap();
        let chunk = ChunkInfo { element_size: number.size, number: Some(number), shape: vec![1] };
        (ENTRY.new)(&params, Some(&chunk)).unwrap()
    }

    #[test]
    fn numbers_of_each_type_come_back() {
        let bytes: Vec<u8> = (0..6000u32).flat_map(|number| (number * number % 1009).to_le_bytes()).collect();
        for name in [
            "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
            "float64",
        ] {
            for more in [
                "",
                r#", "level": 0, "mode_spec": "classic", "delta_encoding_order": 2, "equal_pages_up_to": 300"#,
            ] {
                let (filter, mut encoded, mut decoded) = (filter(name, more), vec![], vec![]);
                for data in [&bytes[..], &bytes[..8], &[]] {
                    filter.encode(data, &mut encoded).unwrap();
                    filter.decode(&encoded, &mut decoded, None, 1 << 20).unwrap();
                    assert_eq!(decoded, data, "{name}");
                }
            }
        }
    }

    #[test]
    fn damaged_bytes_end_in_an_error_or_in_other_numbers() {
        let numbers: Vec<u8> =
            (0..3000i64).flat_map(|number| (number * 7 + number % 11).to_le_bytes()).collect();
        let (filter, mut encoded, mut decoded) = (filter("int64", ""), vec![], vec![]);
        filter.encode(&numbers, &mut encoded).unwrap();
        assert!(encoded.len() < numbers.len() / 4);
        let mut state = 1u32;
        let mut errors = 0;
        for round in 0..20_000 {
            let mut damaged = encoded.clone();
            for _ in 0..1 + round % 4 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Most of the structure is at the begin.
                let span = if round % 2 == 0 { 64 } else { damaged.len() };
                let at = (state >> 8) as usize % span;
                damaged[at] ^= state as u8;
            }
            damaged.truncate(damaged.len() - round % 3);
            errors +=
                usize::from(filter.decode(&damaged, &mut decoded, Some(numbers.len()), 1 << 20).is_err());
        }
        assert!(errors > 1000, "{errors}");
        let shorter = filter.decode_into(&encoded, &mut vec![0; numbers.len() - 8]);
        assert!(shorter.is_err());
    }

    #[test]
    fn elements_that_are_not_numbers_are_refused() {
        assert!(filter("bool", "").check_encode().is_err());
        assert!(filter(">i4", "").check_encode().is_err());
        for json in [
            r#""level": 13"#,
            r#""mode_spec": "other""#,
            r#""delta_encoding_order": 8"#,
            r#""equal_pages_up_to": 0"#,
        ] {
            assert!(from_numcodecs(&format!(r#"{{"id": "pcodec", {json}}}"#)).unwrap().is_err(), "{json}");
        }
    }
}
