//! Codecs that change the type or the shape of a chunk, between an array and the objects of a store.

use ferrocdf_array::{In, Out, Selection, flush, read, write};
use ferrocdf_codec::Codecs;
use ferrocdf_store::{ByteRange, MemoryBlob, Store};
use ferrocdf_zarr::{ArrayMetadata, Version, WriteOptions};

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
        ArrayMetadata::parse(Version::V3, &json(&text)).unwrap().pipeline.unwrap_err().to_string()
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
        let metadata = ArrayMetadata::parse(Version::V2, &json(&text)).unwrap();
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
