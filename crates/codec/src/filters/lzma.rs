//! Numcodecs `lzma`: the formats of Python's module `lzma`, which are those of liblzma: `.xz`, `.lzma` ("alone"), or bare streams of
//! LZMA and LZMA2 behind filters of bytes.
//!
//! The parameters are format, check and preset, then each filter: its number, and as many parameters as [`Coder`] says. A parameter
//! of [`UNSET`] is not given. A decoder's dictionary grows with the data, so that a size in a header allocates nothing.

use std::io::{Read, Write};

use ferrocdf_bytes::Result;
use lzma_rust2::filter::bcj::{BcjReader, BcjWriter};
use lzma_rust2::filter::delta::{DeltaReader, DeltaWriter};
use lzma_rust2::{
    CheckType, EncodeMode, FilterConfig, FilterType, Lzma2Options, Lzma2Reader, Lzma2Writer, LzmaOptions,
    LzmaReader, LzmaWriter, MfType, XzOptions, XzReader, XzWriter,
};
use serde_json::{Map, Value};

use crate::filter::{SliceCodec, bad_params, boxed, corrupt};
use crate::identity::FilterId;
use crate::json::{CodecObject, Fields, JsonForm};
use crate::registry::Entry;

/// See [`Entry`].
pub const ENTRY: Entry = Entry {
    id: FilterId::named("lzma"),
    names: &["lzma", "xz"],
    new: |params, _| Lzma::new(params).map(boxed),
    derive: None,
    numcodecs: Some(JsonForm { id: "lzma", write: |params| Lzma::new(params)?.write(), read }),
    zarr_v3: None,
};

/// A parameter that is not given: `null` in JSON, and the check -1.
const UNSET: u32 = u32::MAX;

/// Format numbers of Python's module `lzma`.
const FORMAT_AUTO: u32 = 0;
const FORMAT_XZ: u32 = 1;
const FORMAT_ALONE: u32 = 2;
const FORMAT_RAW: u32 = 3;

/// Check numbers of the .xz format ("Stream Flags").
const CHECKS: [(u32, CheckType); 5] = [
    (UNSET, CheckType::Crc64),
    (0, CheckType::None),
    (1, CheckType::Crc32),
    (4, CheckType::Crc64),
    (10, CheckType::Sha256),
];

/// Preset of liblzma without a given one, and the bit for its slower variant.
const DEFAULT_PRESET: u32 = 6;
const EXTREME: u32 = 1 << 31;

/// Filter numbers of the .xz format ("Filter IDs").
const DELTA: u32 = 3;
const BCJ_X86: u32 = 4;
const BCJ_RISC_V: u32 = 0x0b;
const LZMA2: u32 = 0x21;
/// liblzma's number of LZMA, which is not in .xz files, and the parameter that stands for it.
const LZMA1_JSON: i64 = 0x4000_0000_0000_0001;
const LZMA1: u32 = 1;

/// Most filters of a chain, LZMA among them.
const MAX_FILTERS: usize = 4;

/// Names and bounds of the options of LZMA, in the order of the parameters.
const OPTIONS: [(&str, i64, i64); 9] = [
    ("preset", 0, u32::MAX as i64),
    ("dict_size", 4096, 1536 << 20),
    ("lc", 0, 4),
    ("lp", 0, 4),
    ("pb", 0, 4),
    ("mode", 1, 2),
    ("nice_len", 2, 273),
    ("mf", 3, 20),
    ("depth", 0, u32::MAX as i64 - 1),
];

/// Maximum ratio of decoded to encoded size: a match of 273 bytes takes 14 binary decisions, of at least 0.022 bits each.
const MAX_RATIO: usize = 8192;

/// One filter of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Coder {
    /// Difference of each byte to the one at a distance before it. Its parameter is the distance, 1 to 256.
    Delta(u32),
    /// Jump targets of machine code, for a processor. Its parameter is the start offset.
    Bcj(FilterType, u32),
    /// LZMA or LZMA2 with [`OPTIONS`].
    Lzma { is_lzma2: bool, options: [u32; OPTIONS.len()] },
}

#[derive(Debug)]
struct Lzma {
    format: u32,
    check: u32,
    preset: u32,
    /// The filters, the one that encodes first being the first; empty for LZMA with the preset.
    coders: Vec<Coder>,
}

impl Lzma {
    fn new(params: &[u32]) -> Result<Lzma> {
        let invalid =
            || bad_params(format!("parameters {params:?}: must be format, check, preset and filters"));
        let [format @ ..=FORMAT_RAW, check, preset, rest @ ..] = params else { return Err(invalid()) };
        let mut coders = vec![];
        let mut rest = rest;
        while let [id, more @ ..] = rest {
            let (coder, more) = match (*id, more) {
                (DELTA, [distance @ 1..=256, more @ ..]) => (Coder::Delta(*distance), more),
                (BCJ_X86..=BCJ_RISC_V, [start, more @ ..]) => {
                    let kind = FilterType::try_from(u64::from(*id)).map_err(|()| invalid())?;
                    (Coder::Bcj(kind, *start), more)
                }
                (LZMA1 | LZMA2, more) => {
                    let (options, more) = more.split_first_chunk().ok_or_else(invalid)?;
                    (Coder::Lzma { is_lzma2: *id == LZMA2, options: *options }, more)
                }
                _ => return Err(invalid()),
            };
            coders.push(coder);
            rest = more;
        }
        let lzma = Lzma { format: *format, check: *check, preset: *preset, coders };
        lzma.check_chain()?;
        Ok(lzma)
    }

    /// Checks that the chain of filters is one of the format.
    fn check_chain(&self) -> Result<()> {
        if !CHECKS.iter().any(|(check, _)| *check == self.check) {
            return Err(bad_params(format!("check {}: must be -1, 0, 1, 4 or 10", self.check)));
        }
        let kinds = |coder: &Coder| matches!(coder, Coder::Lzma { .. });
        let is_lzma2 = match (&self.coders[..], self.format) {
            ([], FORMAT_RAW) => return Err(bad_params("the raw format needs filters")),
            ([], _) => None,
            ([first @ .., Coder::Lzma { is_lzma2, .. }], _)
                if first.len() < MAX_FILTERS && !first.iter().any(kinds) =>
            {
                Some(*is_lzma2)
            }
            _ => return Err(bad_params("the last filter, and no other, must be LZMA")),
        };
        match (self.format, is_lzma2) {
            (FORMAT_XZ | FORMAT_AUTO, Some(false)) => Err(bad_params("the .xz format has LZMA2, not LZMA")),
            (FORMAT_ALONE, Some(is_lzma2)) if is_lzma2 || self.coders.len() > 1 => {
                Err(bad_params("the .lzma format has LZMA and no other filter"))
            }
            _ => self.options(usize::MAX).map(drop),
        }
    }

    /// Returns the options of LZMA, with a dictionary that is not larger than `len` bytes need.
    fn options(&self, len: usize) -> Result<LzmaOptions> {
        let options = match self.coders.last() {
            Some(Coder::Lzma { options, .. }) => *options,
            _ => [self.preset, UNSET, UNSET, UNSET, UNSET, UNSET, UNSET, UNSET, UNSET],
        };
        let is_valid = options.iter().zip(OPTIONS).skip(1).all(|(&option, (_, least, most))| {
            option == UNSET || (least..=most).contains(&i64::from(option))
        });
        let [preset, dict_size, lc, lp, pb, mode, nice_len, finder, depth] = options;
        let preset = if preset == UNSET { DEFAULT_PRESET } else { preset };
        if !is_valid || preset & !EXTREME > 9 {
            return Err(bad_params(format!("options {options:?} of LZMA: out of range")));
        }
        let mut lzma = LzmaOptions::with_preset(preset & !EXTREME);
        if preset & EXTREME != 0 {
            (lzma.mode, lzma.mf, lzma.nice_len, lzma.depth_limit) = (EncodeMode::Normal, MfType::Bt4, 273, 0);
        }
        let or = |option: u32, usual: u32| if option == UNSET { usual } else { option };
        (lzma.lc, lzma.lp, lzma.pb) = (or(lc, lzma.lc), or(lp, lzma.lp), or(pb, lzma.pb));
        if lzma.lc + lzma.lp > 4 {
            return Err(bad_params(format!(
                "\"lc\" {} and \"lp\" {}: more than 4 together",
                lzma.lc, lzma.lp
            )));
        }
        lzma.nice_len = or(nice_len, lzma.nice_len).max(LzmaOptions::NICE_LEN_MIN);
        match mode {
            1 => lzma.mode = EncodeMode::Fast,
            2 => lzma.mode = EncodeMode::Normal,
            _ => {}
        }
        match finder {
            3 | 4 => lzma.mf = MfType::Hc4,
            18..=20 => lzma.mf = MfType::Bt4,
            UNSET => {}
            _ => return Err(bad_params(format!("\"mf\" {finder}: must be 3, 4, 18, 19 or 20"))),
        }
        if depth != UNSET {
            lzma.depth_limit = depth.min(1 << 20) as i32;
        }
        // Encoders allocate several times the dictionary's size.
        let needed = u32::try_from(len).ok().and_then(u32::checked_next_power_of_two).unwrap_or(u32::MAX);
        lzma.dict_size = or(dict_size, lzma.dict_size).min(needed.max(4096));
        Ok(lzma)
    }

    /// Returns the reader of the decoded bytes.
    fn reader<'a>(&self, encoded: &'a [u8]) -> std::io::Result<Box<dyn Read + 'a>> {
        const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";
        let is_xz = match self.format {
            FORMAT_AUTO => encoded.starts_with(XZ_MAGIC),
            format => format == FORMAT_XZ,
        };
        if is_xz {
            return Ok(Box::new(XzReader::new(encoded, true)));
        }
        if self.format != FORMAT_RAW {
            return Ok(Box::new(LzmaReader::new_mem_limit(encoded, u32::MAX, None)?));
        }
        let options = self.options(usize::MAX).map_err(std::io::Error::other)?;
        let mut reader: Box<dyn Read> = Box::new(encoded);
        for coder in self.coders.iter().rev() {
            reader = match *coder {
                Coder::Lzma { is_lzma2: true, .. } => {
                    Box::new(Lzma2Reader::new(reader, options.dict_size, None))
                }
                Coder::Lzma { is_lzma2: false, .. } => {
                    let (props, dict_size) = (options.get_props(), options.dict_size);
                    Box::new(LzmaReader::new_with_props(reader, u64::MAX, props, dict_size, None)?)
                }
                Coder::Delta(distance) => Box::new(DeltaReader::new(reader, distance as usize)),
                Coder::Bcj(kind, start) => {
                    let start = start as usize;
                    Box::new(match kind {
                        FilterType::BcjPpc => BcjReader::new_ppc(reader, start),
                        FilterType::BcjIa64 => BcjReader::new_ia64(reader, start),
                        FilterType::BcjArm => BcjReader::new_arm(reader, start),
                        FilterType::BcjArmThumb => BcjReader::new_arm_thumb(reader, start),
                        FilterType::BcjSparc => BcjReader::new_sparc(reader, start),
                        FilterType::BcjArm64 => BcjReader::new_arm64(reader, start),
                        FilterType::BcjRiscv => BcjReader::new_riscv(reader, start),
                        _ => BcjReader::new_x86(reader, start),
                    })
                }
            };
        }
        Ok(reader)
    }

    /// Compresses to the end of `encoded`.
    fn compress(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> std::io::Result<()> {
        let lzma_options = self.options(decoded.len()).map_err(std::io::Error::other)?;
        match self.format {
            FORMAT_ALONE => {
                let mut writer = LzmaWriter::new_use_header(encoded, &lzma_options, None)?;
                writer.write_all(decoded)?;
                writer.finish().map(drop)
            }
            FORMAT_RAW => {
                let (filtered, is_lzma2) = self.filter(decoded)?;
                if is_lzma2 {
                    let options = Lzma2Options { lzma_options, chunk_size: None };
                    let mut writer = Lzma2Writer::new(encoded, options);
                    writer.write_all(&filtered)?;
                    writer.finish().map(drop)
                } else {
                    let mut writer = LzmaWriter::new_no_header(encoded, &lzma_options, true)?;
                    writer.write_all(&filtered)?;
                    writer.finish().map(drop)
                }
            }
            _ => {
                let config = |coder: &Coder| match *coder {
                    Coder::Delta(distance) => Some(FilterConfig::new_delta(distance)),
                    Coder::Bcj(filter_type, property) => Some(FilterConfig { filter_type, property }),
                    Coder::Lzma { .. } => None,
                };
                let check = CHECKS.iter().find(|(check, _)| *check == self.check);
                let check_type = check.map_or(CheckType::Crc64, |&(_, check)| check);
                let filters = self.coders.iter().filter_map(config).collect();
                let options = XzOptions { lzma_options, check_type, block_size: None, filters };
                let mut writer = XzWriter::new(encoded, options)?;
                writer.write_all(decoded)?;
                writer.finish().map(drop)
            }
        }
    }

    /// Returns the bytes after all filters before LZMA, and true if that is LZMA2.
    fn filter(&self, decoded: &[u8]) -> std::io::Result<(Vec<u8>, bool)> {
        let (mut bytes, mut ends_in_lzma2) = (decoded.to_vec(), false);
        for coder in &self.coders {
            bytes = match *coder {
                Coder::Lzma { is_lzma2, .. } => {
                    ends_in_lzma2 = is_lzma2;
                    bytes
                }
                Coder::Delta(distance) => {
                    let mut writer = DeltaWriter::new(vec![], distance as usize);
                    writer.write_all(&bytes)?;
                    writer.into_inner()
                }
                Coder::Bcj(kind, start) => {
                    let (out, start) = (vec![], start as usize);
                    let mut writer = match kind {
                        FilterType::BcjPpc => BcjWriter::new_ppc(out, start),
                        FilterType::BcjIa64 => BcjWriter::new_ia64(out, start),
                        FilterType::BcjArm => BcjWriter::new_arm(out, start),
                        FilterType::BcjArmThumb => BcjWriter::new_arm_thumb(out, start),
                        FilterType::BcjSparc => BcjWriter::new_sparc(out, start),
                        FilterType::BcjArm64 => BcjWriter::new_arm64(out, start),
                        FilterType::BcjRiscv => BcjWriter::new_riscv(out, start),
                        _ => BcjWriter::new_x86(out, start),
                    };
                    writer.write_all(&bytes)?;
                    writer.finish()?
                }
            };
        }
        Ok((bytes, ends_in_lzma2))
    }

    /// Returns the members of the numcodecs configuration.
    fn write(&self) -> Result<Fields> {
        let or_null = |param: u32| if param == UNSET { Value::Null } else { param.into() };
        let filters = match &self.coders[..] {
            [] => Value::Null,
            coders => coders.iter().map(Coder::json).collect(),
        };
        let check = if self.check == UNSET { (-1).into() } else { self.check.into() };
        Ok(vec![
            ("format", self.format.into()),
            ("check", check),
            ("preset", or_null(self.preset)),
            ("filters", filters),
        ])
    }

    fn format_name(&self) -> &'static str {
        match self.format {
            FORMAT_XZ => "xz",
            FORMAT_ALONE => "an lzma file",
            FORMAT_RAW => "an LZMA stream",
            _ => "xz or an lzma file",
        }
    }
}

impl Coder {
    fn json(&self) -> Value {
        let member = |(key, value): (&str, Value)| (key.to_string(), value);
        let members: Map<String, Value> = match self {
            Coder::Delta(distance) => {
                [("id", DELTA.into()), ("dist", (*distance).into())].map(member).into_iter().collect()
            }
            Coder::Bcj(kind, start) => {
                let id = (BCJ_X86..=BCJ_RISC_V).find(|&id| FilterType::try_from(u64::from(id)) == Ok(*kind));
                [("id", id.into()), ("start_offset", (*start).into())].map(member).into_iter().collect()
            }
            Coder::Lzma { is_lzma2, options } => {
                let id = if *is_lzma2 { LZMA2.into() } else { LZMA1_JSON.into() };
                let given = OPTIONS.iter().zip(options).filter(|&(_, &option)| option != UNSET);
                let given = given.map(|(&(key, ..), &option)| (key, option.into()));
                [("id", id)].into_iter().chain(given).map(member).collect()
            }
        };
        Value::Object(members)
    }
}

/// Returns the parameters of a numcodecs configuration.
fn read(json: &CodecObject) -> Result<Vec<u32>> {
    let unset = i64::from(UNSET);
    let format = json.number("format", FORMAT_XZ.into(), 0..=FORMAT_RAW.into())? as u32;
    let check = json.number("check", -1, -1..=15)? as u32;
    let mut params = vec![format, check, json.number("preset", unset, 0..=unset)? as u32];
    for filter in json.objects("filters")?.unwrap_or_default() {
        let id = match filter.number("id", 0, i64::MIN..=i64::MAX)? {
            LZMA1_JSON => LZMA1,
            id => u32::try_from(id).ok().filter(|&id| id != LZMA1).unwrap_or(0),
        };
        params.push(id);
        match id {
            DELTA => params.push(filter.number("dist", 1, 1..=256)? as u32),
            BCJ_X86..=BCJ_RISC_V => {
                params.push(filter.number("start_offset", 0, 0..=u32::MAX.into())? as u32);
            }
            _ => {
                for (key, least, most) in OPTIONS {
                    params.push(filter.number(key, unset, least..=most.max(unset))? as u32);
                }
            }
        }
    }
    Lzma::new(&params).map(|_| params)
}

impl SliceCodec for Lzma {
    fn decoded_len(&self, _encoded: &[u8]) -> Result<Option<usize>> {
        Ok(None)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<Option<usize>> {
        let not_lzma = |error: std::io::Error| {
            corrupt(format!("the {} encoded bytes are not {}: {error}", encoded.len(), self.format_name()))
        };
        let mut reader = self.reader(encoded).map_err(not_lzma)?;
        let mut len = 0;
        while len < decoded.len() {
            match reader.read(&mut decoded[len..]).map_err(not_lzma)? {
                0 => return Ok(Some(len)),
                more => len += more,
            }
        }
        // What follows the last byte is checked too: the checksum, and that there is no more.
        Ok((reader.read(&mut [0]).map_err(not_lzma)? == 0).then_some(len))
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        match self.compress(decoded, encoded) {
            Ok(()) => Ok(Some(())),
            Err(error) => Err(corrupt(format!("lzma: compression failed: {error}"))),
        }
    }

    fn check_encode(&self) -> Result<()> {
        match self.format {
            FORMAT_AUTO => {
                Err(bad_params("format 0 is for decoding: which one is to be encoded is not given"))
            }
            _ => Ok(()),
        }
    }

    fn max_decoded_len(&self, encoded: usize) -> usize {
        encoded.saturating_mul(MAX_RATIO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{from_numcodecs, to_numcodecs};

    fn data() -> Vec<u8> {
        (0..20_000u32).flat_map(|number| (number * number % 1009).to_le_bytes()).collect()
    }

    fn decode(json: &str, encoded: &[u8]) -> Result<Vec<u8>> {
        let (_, params) = from_numcodecs(json).unwrap().unwrap();
        let mut decoded = vec![];
        boxed(Lzma::new(&params)?).decode(encoded, &mut decoded, None, 1 << 20).map(|()| decoded)
    }

    #[test]
    fn each_format_decodes_to_the_data() {
        for json in [
            r#"{"id": "lzma"}"#,
            r#"{"id": "lzma", "format": 1, "check": 0, "preset": 0}"#,
            r#"{"id": "lzma", "format": 1, "check": 10, "preset": 2147483649}"#,
            r#"{"id": "lzma", "format": 2}"#,
            r#"{"id": "lzma", "format": 2, "filters": [{"id": 4611686018427387905, "lc": 0, "lp": 2, "mf": 4}]}"#,
            r#"{"id": "lzma", "format": 3, "filters": [{"id": 33, "preset": 1}]}"#,
            r#"{"id": "lzma", "format": 3, "filters": [{"id": 3, "dist": 4}, {"id": 4}, {"id": 33, "dict_size": 4096}]}"#,
            r#"{"id": "lzma", "format": 3, "filters": [{"id": 3}, {"id": 4611686018427387905}]}"#,
            r#"{"id": "lzma", "format": 1, "filters": [{"id": 3, "dist": 4}, {"id": 7}, {"id": 33}]}"#,
        ] {
            let (id, params) = from_numcodecs(json).unwrap().unwrap();
            let written = to_numcodecs(&id, &params).unwrap().unwrap();
            assert_eq!(from_numcodecs(&written), Some(Ok((id, params.clone()))), "{written}");
            let lzma = Lzma::new(&params).unwrap();
            for data in [&data()[..], &data()[..3], &[]] {
                let mut encoded = vec![];
                lzma.encode(data, &mut encoded).unwrap();
                assert_eq!(decode(json, &encoded).unwrap(), data, "{json}");
                if data.len() > 3 {
                    assert!(encoded.len() < data.len() / 2, "{json}: {}", encoded.len());
                    assert!(decode(json, &encoded[..encoded.len() - 9]).is_err(), "{json}");
                    assert_eq!(lzma.decode(&encoded, &mut vec![0; data.len() - 1]).unwrap(), None);
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_not_of_the_format_are_an_error() {
        let mut xz = vec![];
        let (_, params) = from_numcodecs(r#"{"id": "lzma"}"#).unwrap().unwrap();
        Lzma::new(&params).unwrap().encode(&data(), &mut xz).unwrap();
        assert_eq!(decode(r#"{"id": "lzma", "format": 0}"#, &xz).unwrap(), data());
        assert!(decode(r#"{"id": "lzma", "format": 2}"#, &xz).is_err());
        let raw = r#"{"id": "lzma", "format": 3, "filters": [{"id": 33}]}"#;
        assert!(decode(raw, &xz).is_err());
        for at in [0, 7, 20, 400, xz.len() - 20, xz.len() - 3] {
            let mut damaged = xz.clone();
            damaged[at] ^= 0x10;
            assert!(decode(r#"{"id": "lzma"}"#, &damaged).is_err(), "byte {at}");
        }
        // A dictionary of 4 GiB in the header allocates nothing.
        let mut alone = vec![0x5d, 0xff, 0xff, 0xff, 0xff];
        alone.extend([0xff; 8]);
        alone.extend([0; 100]);
        assert!(decode(r#"{"id": "lzma", "format": 2}"#, &alone).is_err());
    }

    #[test]
    fn damaged_bytes_end_in_an_error_or_in_other_bytes() {
        let data = &data()[..6000];
        for json in [
            r#"{"id": "lzma", "check": 0, "filters": [{"id": 3, "dist": 4}, {"id": 4}, {"id": 33}]}"#,
            r#"{"id": "lzma", "format": 2}"#,
            r#"{"id": "lzma", "format": 3, "filters": [{"id": 33}]}"#,
        ] {
            let lzma = Lzma::new(&from_numcodecs(json).unwrap().unwrap().1).unwrap();
            let mut encoded = vec![];
            lzma.encode(data, &mut encoded).unwrap();
            let (lzma, mut decoded, mut state, mut errors) = (boxed(lzma), vec![], 1u32, 0);
            for round in 0..2000 {
                let mut damaged = encoded.clone();
                for _ in 0..1 + round % 4 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    // Most of the structure is at the begin.
                    let span = if round % 2 == 0 { 40 } else { damaged.len() };
                    damaged[(state >> 8) as usize % span] ^= state as u8;
                }
                errors +=
                    usize::from(lzma.decode(&damaged, &mut decoded, Some(data.len()), 1 << 20).is_err());
            }
            assert!(errors > 100, "{json}: {errors}");
        }
    }

    #[test]
    fn decoded_size_of_zeros_is_within_the_bound() {
        let zeros = vec![0; 4 << 20];
        for json in [
            r#"{"id": "lzma", "check": 0}"#,
            r#"{"id": "lzma", "format": 3, "filters": [{"id": 4611686018427387905}]}"#,
        ] {
            let lzma = Lzma::new(&from_numcodecs(json).unwrap().unwrap().1).unwrap();
            let mut encoded = vec![];
            lzma.encode(&zeros, &mut encoded).unwrap();
            let mut decoded = vec![1; zeros.len()];
            assert!(zeros.len() <= lzma.max_decoded_len(encoded.len()), "{}", encoded.len());
            assert_eq!(lzma.decode(&encoded, &mut decoded).unwrap(), Some(zeros.len()));
            assert_eq!(decoded, zeros);
        }
    }

    #[test]
    fn chains_that_a_format_does_not_have_are_refused() {
        for json in [
            r#"{"id": "lzma", "format": 4}"#,
            r#"{"id": "lzma", "check": 2}"#,
            r#"{"id": "lzma", "preset": 10}"#,
            r#"{"id": "lzma", "format": 3}"#,
            r#"{"id": "lzma", "filters": [{"id": 3, "dist": 0}, {"id": 33}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 33}, {"id": 3}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 33}, {"id": 33}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 3}, {"id": 3}, {"id": 3}, {"id": 3}, {"id": 33}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 4611686018427387905}]}"#,
            r#"{"id": "lzma", "format": 2, "filters": [{"id": 33}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 1}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 33, "lc": 3, "lp": 2}]}"#,
            r#"{"id": "lzma", "filters": [{"id": 33, "mf": 7}]}"#,
            r#"{"id": "lzma", "filters": [33]}"#,
        ] {
            assert!(from_numcodecs(json).unwrap().is_err(), "{json}");
        }
    }
}
