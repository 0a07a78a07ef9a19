//! Codecs that change the type or the shape of a chunk, between an array and the objects of a store.

use std::sync::Arc;

use ferrocdf_array::{In, Out, Selection, flush, read, write};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_codec::{ArrayInfo, Chain, Codecs, DatasetInfo, Filter, FilterId, Provider, Step};
use ferrocdf_store::{ByteRange, MemoryBlob, Store};
use ferrocdf_zarr::{ArrayMetadata, Json, Version, WriteOptions};

use crate::{array, json};

const BIG: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;

/// Writes the floats of one chunk, checks the object, and reads them.
fn check(shape: &str, codecs: &str, values: &[f32], object: &[u8]) {
    let metadata = array(shape, shape, "\"float32\"", "0", codecs);
    let store = crate::store(&[]);
    let own = metadata
        .array_to_write(store.clone(), "a", &Codecs::default(), WriteOptions::default())
        .unwrap_or_else(|error| panic!("{codecs}: {error}"));
    let all = Selection::all(&metadata.shape);
    let blob = MemoryBlob::default();
    let _ = write(&blob, &own, &all, In::new(values)).unwrap();
    flush(&blob, &own).unwrap();
    let key = ["a/c"].into_iter().map(str::to_string).chain(metadata.shape.iter().map(|_| "0".to_string()));
    let stored = store.get(&key.collect::<Vec<_>>().join("/"), ByteRange::All).unwrap().expect("a chunk");
    assert_eq!(&stored.bytes[..], object, "{codecs}");
    let mut back = vec![0f32; values.len()];
    let array = metadata.array(store, "a", &Codecs::default()).unwrap();
    let _ = read(&blob, &array, &all, Out::new(&mut back)).unwrap();
    assert_eq!(back, values, "{codecs}");
}

#[test]
fn chunks_change_their_type_and_shape_on_the_way() {
    let scale = r#"{"name": "scale_offset", "configuration": {"offset": 10, "scale": 2}}"#;
    let cast =
        |name: &str| format!(r#"{{"name": "cast_value", "configuration": {{"data_type": "{name}"}}}}"#);
    let reshape = r#"{"name": "reshape", "configuration": {"shape": [[0, 1], [2]]}}"#;
    let transpose =
        |order: &str| format!(r#"{{"name": "transpose", "configuration": {{"order": {order}}}}}"#);
    let values = [10.5, 11.0, 11.5, 12.0, 12.5, 13.0, 13.5, 14.0];
    // Both bytes of a number are in the order of `bytes`, whatever size it had before.
    check("[4]", &format!("[{scale}, {}, {BIG}]", cast("uint16")), &values[..4], &[0, 1, 0, 2, 0, 3, 0, 4]);
    // Of four rows of two, the columns.
    let codecs = format!("[{scale}, {reshape}, {}, {}, \"bytes\"]", cast("int8"), transpose("[1, 0]"));
    check("[2, 2, 2]", &codecs, &values, &[1, 3, 5, 7, 2, 4, 6, 8]);
    let bits = r#"{"name": "packbits", "configuration": {"last_bit": 3}}"#;
    let codecs = format!("[{}, {scale}, {}, {bits}]", transpose("[2, 1, 0]"), cast("uint8"));
    check("[2, 2, 2]", &codecs, &values, &[0x51, 0x73, 0x62, 0x84]);
    // Bytes of a number of pco have their own order.
    let codecs =
        format!(r#"[{}, {{"name": "numcodecs.pcodec", "configuration": {{"level": 0}}}}]"#, cast("int32"));
    let metadata = array("[4]", "[4]", "\"float64\"", "0", &codecs);
    assert!(metadata.array(crate::store(&[]), "a", &Codecs::default()).is_ok());
}

#[test]
fn codecs_compute_in_the_order_of_bytes_whatever_their_typestrings_say() {
    let values = [10.5, 11.0, 11.5, 12.0];
    let codec =
        |name: &str, rest: &str| format!(r#"{{"name": "numcodecs.{name}", "configuration": {{{rest}}}}}"#);
    let rest = r#""offset": 0, "scale": 2, "dtype": "<f4", "astype": "<i2""#;
    let codecs = format!("[{}, {BIG}]", codec("fixedscaleoffset", rest));
    check("[4]", &codecs, &values, &[0, 21, 0, 22, 0, 23, 0, 24]);
    let codecs = format!("[{}, \"bytes\"]", codec("delta", r#""dtype": ">f4""#));
    check("[4]", &codecs, &values, [10.5f32, 0.5, 0.5, 0.5].map(f32::to_le_bytes).as_flattened());
    let codecs = format!("[{}, {BIG}]", codec("astype", r#""decode_dtype": "<f4", "encode_dtype": ">f8""#));
    check("[4]", &codecs, &values, values.map(f64::from).map(f64::to_be_bytes).as_flattened());
}

#[test]
fn chunks_that_are_stored_like_the_fill_value_are_not_left_out() {
    // The fill value of 0 is clamped to the number that 10 is.
    let codecs = r#"[{"name": "scale_offset", "configuration": {"offset": 10}},
        {"name": "cast_value", "configuration": {"data_type": "uint8", "out_of_range": "clamp"}}, "bytes"]"#;
    check("[2]", codecs, &[10.0, 10.0], &[0, 0]);
}

#[test]
fn codecs_in_a_wrong_order_are_refused() {
    let error = |codecs: &str| {
        let text = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32", "fill_value": 0,
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "codecs": {codecs}}}"#
        );
        ArrayMetadata::parse(Version::V3, &json(&text), &Codecs::default())
            .unwrap()
            .pipeline
            .unwrap_err()
            .to_string()
    };
    let reshape = r#"{"name": "reshape", "configuration": {"shape": [2, 2]}}"#;
    for (codecs, reason) in [
        (format!("[{BIG}, {reshape}]"), "follows one that makes bytes"),
        (format!("[{BIG}, \"packbits\"]"), "follows one that makes bytes"),
        (format!("[\"packbits\", {BIG}]"), "follows one that makes bytes already"),
        (format!("[{reshape}]"), "none that makes bytes"),
        (
            format!(r#"[{reshape}, {{"name": "transpose", "configuration": {{"order": [0]}}}}, {BIG}]"#),
            "each of 2 dimensions",
        ),
        (r#"[{"name": "cast_value", "configuration": {}}, "bytes"]"#.to_string(), "data_type"),
    ] {
        let error = error(&codecs);
        assert!(error.contains(reason), "{codecs}: {error}");
    }
}

#[test]
fn texts_with_labels_are_read_as_text() {
    for (dtype, bytes) in [("|O", vec![2u8, 0, 1, 9]), ("<U3", vec![2, 0, 1, 9])] {
        let text = format!(
            r#"{{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "{dtype}", "fill_value": "", "order": "C", "compressor": null,
            "filters": [{{"id": "categorize", "labels": ["ab", "é"], "dtype": "{dtype}", "astype": "|u1"}}]}}"#
        );
        let metadata = ArrayMetadata::parse(Version::V2, &json(&text), &Codecs::default()).unwrap();
        let store = crate::store(&[("a/0", &bytes)]);
        let texts: Vec<String> = match dtype {
            "|O" => {
                let elements = metadata.elements(store, "a", &Codecs::default()).unwrap();
                let read = elements.read(&Selection::all(&[4])).unwrap();
                read.into_iter().map(|text| String::from_utf8(text.unwrap().into()).unwrap()).collect()
            }
            _ => {
                let array = metadata.array(store, "a", &Codecs::default()).unwrap();
                let mut bytes = vec![0u8; 4 * 12];
                let _ = read(&MemoryBlob::default(), &array, &Selection::all(&[4, 12]), Out::new(&mut bytes))
                    .unwrap();
                let char =
                    |unit: &[u8]| char::from_u32(u32::from_le_bytes(unit.try_into().unwrap())).unwrap();
                let text = |units: &[u8]| units.chunks(4).map(char).filter(|&char| char != '\0').collect();
                bytes.chunks(12).map(text).collect()
            }
        };
        assert_eq!(texts, ["é", "", "ab", ""], "{dtype}");
    }
}

/// A plugin for the codec `turn`: every byte plus a number, which the filter derives from that of the user and the length of the array.
#[derive(Debug)]
struct Turning;

/// The number of the filter.
const TURN: u32 = 40_000;

#[derive(Debug)]
struct Turn(u8);

impl Filter for Turn {
    fn decode(
        &self,
        encoded: &[u8],
        decoded: &mut Vec<u8>,
        _expected: Option<usize>,
        _limit: usize,
    ) -> Result<()> {
        decoded.clear();
        decoded.extend(encoded.iter().map(|byte| byte.wrapping_sub(self.0)));
        Ok(())
    }

    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<Option<()>> {
        encoded.clear();
        encoded.extend(decoded.iter().map(|byte| byte.wrapping_add(self.0)));
        Ok(Some(()))
    }
}

impl Provider for Turning {
    fn has(&self, id: u32) -> bool {
        id == TURN
    }

    fn filter(&self, id: u32, step: &Step) -> Option<Result<Box<dyn Filter>>> {
        (id == TURN).then(|| Ok(Box::new(Turn(step.params[0] as u8)) as Box<dyn Filter>))
    }

    fn prepare(&self, _steps: &mut [Step], _at: usize, _dataset: &DatasetInfo) -> Option<Result<()>> {
        None
    }

    fn derives(&self, _id: u32) -> bool {
        false
    }

    fn search_path(&self) -> String {
        "in /plugins (HDF5_PLUGIN_PATH)".to_string()
    }

    fn parse_numcodecs(&self, id: &str, json: &str) -> Option<Result<(u32, Vec<u32>)>> {
        let codec = Json::parse(json.as_bytes()).unwrap();
        assert_eq!(codec.get("id").and_then(Json::as_str), Some(id));
        (id == "turn").then(|| Ok((TURN, vec![codec.get("by").and_then(Json::as_u64).unwrap() as u32])))
    }

    fn derived_params(
        &self,
        number: u32,
        params: &mut Vec<u32>,
        array: &ArrayInfo<'_>,
    ) -> Option<Result<Vec<u32>>> {
        let description = (array.name, &array.dataset.chunk[..], array.dataset.element.size);
        assert_eq!(description, ("a", &[2][..], 1), "the array and its chunks");
        (number == TURN).then(|| Ok(vec![params[0] + array.shape[0] as u32]))
    }
}

#[test]
fn codecs_of_plugins_decode_with_the_parameters_that_they_derive() {
    let codecs = Codecs::new(Arc::new(Turning), false);
    let v2 = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1", "fill_value": 0, "order": "C", "filters": null,
        "compressor": {"id": "turn", "by": 6}}"#;
    let v3 = |name: &str| {
        let text = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "v2"}, "codecs": ["bytes", {"name": "NAME", "configuration": {"by": 6}}]}"#;
        text.replace("NAME", name)
    };
    for (version, text) in
        [(Version::V2, v2.to_string()), (Version::V3, v3("turn")), (Version::V3, v3("numcodecs.turn"))]
    {
        let metadata = ArrayMetadata::parse(version, &json(&text), &codecs).unwrap();
        let step = &metadata.pipeline.as_ref().unwrap().steps[0];
        assert_eq!((&step.id, &step.params[..]), (&FilterId::Hdf5(TURN), &[6][..]), "{text}");
        let array = metadata.array(crate::store(&[("a/0", &[11, 12])]), "a", &codecs).unwrap();
        let mut values = [9u8; 4];
        let _ = read(&MemoryBlob::default(), &array, &Selection::all(&[4]), Out::new(&mut values)).unwrap();
        assert_eq!(values, [1, 2, 0, 0], "{text}");
        let unknown = ArrayMetadata::parse(version, &json(&text), &Codecs::default()).unwrap();
        let error = unknown.array(crate::store(&[]), "a", &codecs).unwrap_err();
        assert_eq!(error.code, Code::ENOFILTER);
    }
    let other = ArrayMetadata::parse(Version::V2, &json(&v2.replace("turn", "spin")), &codecs).unwrap();
    let error = other.pipeline.unwrap_err().to_string();
    assert!(
        error.contains("\"spin\" is not known; searched among the built-in filters and in /plugins"),
        "{error}"
    );
}

/// netCDF-C writes the two parameters that a user gives.
#[test]
fn szip_has_the_parameters_that_hdf5_derives_from_type_and_chunk() {
    for (dtype, params, bytes) in [
        ("<i2", [169, 8, 16, 24], 2),
        (">i2", [177, 8, 16, 24], 2),
        ("<f8", [169, 8, 64, 24], 8),
        ("|S3", [169, 8, 8, 24], 3),
    ] {
        let fill = if dtype == "|S3" { "\"\"" } else { "0" };
        let text = format!(
            r#"{{"zarr_format": 2, "shape": [4, 24], "chunks": [4, 24], "dtype": "{dtype}", "fill_value": {fill}, "order": "C",
            "filters": null, "compressor": {{"id": "szip", "mask": 32, "pixels-per-block": 8}}}}"#
        );
        let metadata = ArrayMetadata::parse(Version::V2, &json(&text), &Codecs::default()).unwrap();
        let decoded: Vec<u8> = (0..4 * 24 * bytes).map(|at| (at / 4) as u8).collect();
        let step = Step { id: 4.into(), name: String::new(), optional: false, params: params.to_vec() };
        let mut encoded = vec![];
        Chain::new(vec![step], &Codecs::default()).encode(&decoded, &mut encoded).unwrap();
        let store = crate::store(&[("a/0.0", &encoded)]);
        let array = metadata.with_bytes().array(store, "a", &Codecs::default());
        // Bytes have no numbers: only those are read so whose pixels are bytes.
        if dtype == "|S3" {
            let mut read_back = vec![0u8; decoded.len()];
            let all = Selection::all(&[4, 24, 3]);
            let _ = read(&MemoryBlob::default(), &array.unwrap(), &all, Out::new(&mut read_back)).unwrap();
            assert_eq!(read_back, decoded);
            continue;
        }
        let array = metadata.array(crate::store(&[("a/0.0", &encoded)]), "a", &Codecs::default()).unwrap();
        let mut numbers = vec![0f64; 4 * 24];
        let all = Selection::all(&[4, 24]);
        let _ = read(&MemoryBlob::default(), &array, &all, Out::new(&mut numbers)).unwrap();
        let number = |at: usize| match (dtype, &decoded[at * bytes..(at + 1) * bytes]) {
            ("<i2", number) => f64::from(i16::from_le_bytes(number.try_into().unwrap())),
            (">i2", number) => f64::from(i16::from_be_bytes(number.try_into().unwrap())),
            (_, number) => f64::from_le_bytes(number.try_into().unwrap()),
        };
        let expected: Vec<f64> = (0..4 * 24).map(number).collect();
        assert_eq!(numbers, expected, "{dtype}");
    }
}
