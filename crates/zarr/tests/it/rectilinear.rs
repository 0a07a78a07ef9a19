//! The chunk grid `rectilinear`: chunks of many lengths.

use std::sync::Arc;

use ferrocdf_array::{In, Out, Selection, flush, read, write};
use ferrocdf_bytes::Code;
use ferrocdf_codec::Codecs;
use ferrocdf_store::{ByteRange, MemoryBlob, MemoryStore, Store};
use ferrocdf_zarr::{ArrayMetadata, Version, WriteOptions};

use crate::json;

/// An array of 6 x 5 numbers of 16 bits, in chunks of 1, 1, 3 and 2 rows, of which the last reaches beyond the array, and of 2 and 3 columns.
fn metadata() -> ArrayMetadata {
    let text = r#"{"zarr_format": 3, "node_type": "array", "shape": [6, 5], "data_type": "int16", "fill_value": 7,
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[[1, 2], 3, 2], [2, 3]]}},
        "chunk_key_encoding": {"name": "default"}, "attributes": {},
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]}"#;
    ArrayMetadata::parse(Version::V3, &json(text), &Codecs::default()).unwrap()
}

fn bytes(numbers: &[i16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn object(store: &MemoryStore, key: &str) -> Option<Vec<u8>> {
    store.get(key, ByteRange::All).unwrap().map(|found| found.bytes)
}

#[test]
fn each_chunk_has_its_place_and_its_shape() {
    let store = Arc::new(MemoryStore::default());
    let number = |row: i16, column: i16| 10 * row + column;
    // The chunk of rows 2 to 4 and columns 2 to 4, and that of the last row and a row beyond the array.
    let middle: Vec<i16> = (2..5).flat_map(|row| (2..5).map(move |column| number(row, column))).collect();
    store.put("a/c/2/1", &bytes(&middle)).unwrap();
    let last = [number(5, 0), number(5, 1), 99, 99];
    store.put("a/c/3/0", &bytes(&last)).unwrap();
    let array = metadata().array(store, "a", &Codecs::default()).unwrap();
    let mut found = [0i16; 30];
    let _exact =
        read(&MemoryBlob::default(), &array, &Selection::all(&[6, 5]), Out::new(&mut found)).unwrap();
    let is_stored = |row, column| (2..5).contains(&row) && column >= 2 || row == 5 && column < 2;
    let wanted = (0..6).flat_map(|row| {
        (0..5).map(move |column| if is_stored(row, column) { number(row, column) } else { 7 })
    });
    assert_eq!(found.to_vec(), wanted.collect::<Vec<i16>>());
    let every_second = Selection::strided(&[1, 0], &[3, 3], &[2, 2]);
    let mut found = [0i16; 9];
    let _exact = read(&MemoryBlob::default(), &array, &every_second, Out::new(&mut found)).unwrap();
    assert_eq!(found, [7, 7, 7, 7, 32, 34, 50, 7, 7]);
}

#[test]
fn chunks_are_written_whole_in_their_shape() {
    let store = Arc::new(MemoryStore::default());
    let options =
        WriteOptions { stored: Some(Arc::default()), can_grow: vec![false; 2], ..WriteOptions::default() };
    let array = metadata().array_to_write(store.clone(), "a", &Codecs::default(), options).unwrap();
    let blob = MemoryBlob::default();
    // Rows 1 to 5, with the columns of both chunks in part.
    let numbers: Vec<i16> = (0..15).collect();
    let _exact = write(&blob, &array, &Selection::slab(&[1, 1], &[5, 3]), In::new(&numbers)).unwrap();
    flush(&blob, &array).unwrap();
    assert_eq!(object(&store, "a/c/0/0"), None, "nothing of it was written");
    assert_eq!(object(&store, "a/c/1/0").unwrap(), bytes(&[7, 0]));
    assert_eq!(object(&store, "a/c/2/1").unwrap(), bytes(&[4, 5, 7, 7, 8, 7, 10, 11, 7]));
    assert_eq!(object(&store, "a/c/3/0").unwrap(), bytes(&[7, 12, 7, 7]));
    assert_eq!(object(&store, "a/c/4/0"), None);
}

#[test]
fn it_does_not_grow() {
    let options =
        WriteOptions { stored: Some(Arc::default()), can_grow: vec![true, false], ..WriteOptions::default() };
    let mut array = metadata()
        .array_to_write(Arc::new(MemoryStore::default()), "a", &Codecs::default(), options)
        .unwrap();
    array.shape[0] = 8;
    let beyond =
        write(&MemoryBlob::default(), &array, &Selection::slab(&[5, 0], &[2, 5]), In::new(&[1i16; 10]));
    assert_eq!(beyond.unwrap_err().code, Code::EPERM);
}

#[test]
fn a_grid_whose_blocks_take_much_memory_is_refused() {
    let lengths = "1, 2, ".repeat(2000);
    for (data_type, fill, is_known) in [
        ("\"int16\"", "0", true),
        (r#"{"name": "fixed_length_utf32", "configuration": {"length_bytes": 400000}}"#, "\"\"", false),
    ] {
        let text = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [6000], "data_type": {data_type}, "fill_value": {fill},
            "chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": [[{}]]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "attributes": {{}}, "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#,
            lengths.trim_end_matches(", ")
        );
        let found = ArrayMetadata::parse(Version::V3, &json(&text), &Codecs::default());
        assert_eq!(found.is_ok(), is_known, "{data_type}: {:?}", found.err());
    }
}

#[test]
fn text_of_any_length_in_it_is_refused() {
    let text = r#"{"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "string", "fill_value": "",
        "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 2]]}},
        "chunk_key_encoding": {"name": "default"}, "attributes": {}, "codecs": [{"name": "vlen-utf8"}]}"#;
    let metadata = ArrayMetadata::parse(Version::V3, &json(text), &Codecs::default()).unwrap();
    let refused = metadata.elements(Arc::new(MemoryStore::default()), "a", &Codecs::default());
    assert_eq!(refused.err().unwrap().code, Code::EZARRMETA);
}
