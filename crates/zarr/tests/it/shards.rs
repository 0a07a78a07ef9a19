//! Chunks in shards: at either end of the index, in shards of shards, with missing chunks and shards, and damaged.

use std::sync::Arc;
use std::time::Duration;

use ferrocdf_array::{Out, RangeCheck, Selection, read};
use ferrocdf_bytes::{Code, Result};
use ferrocdf_codec::Codecs;
use ferrocdf_store::testing::Simulated;
use ferrocdf_store::{Cost, MemoryBlob, MemoryStore, Store};
use ferrocdf_zarr::ArrayMetadata;

use crate::array;

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

fn sharded(chunk: &str, codecs: &str, index_codecs: &str, location: &str) -> String {
    format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunk}, "codecs": {codecs},
        "index_codecs": {index_codecs}, "index_location": "{location}"}}}}]"#
    )
}

/// Returns a shard with an index at its end, of chunks of which `None` is missing.
fn shard(chunks: &[Option<&[u8]>]) -> Vec<u8> {
    let (mut bytes, mut index) = (vec![], vec![]);
    for chunk in chunks {
        let (at, len) = match chunk {
            Some(chunk) => (bytes.len() as u64, chunk.len() as u64),
            None => (u64::MAX, u64::MAX),
        };
        bytes.extend_from_slice(chunk.unwrap_or_default());
        index.extend([at.to_le_bytes(), len.to_le_bytes()].concat());
    }
    bytes.extend(index);
    bytes
}

fn values(metadata: &ArrayMetadata, store: Arc<dyn Store>, sel: &Selection) -> Result<Vec<i16>> {
    let array = metadata.array(store, "a", &Codecs::default())?;
    let mut values = vec![0; sel.elements().unwrap() as usize];
    assert_eq!(read(&MemoryBlob::default(), &array, sel, Out::new(&mut values))?, RangeCheck::InRange);
    Ok(values)
}

#[test]
fn chunks_are_found_in_shards() {
    // Four shards of 4 chunks of 2 elements; one shard and two chunks are missing.
    let metadata = array(
        "[30]",
        "[8]",
        "\"int16\"",
        "7",
        &sharded("[2]", &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end"),
    );
    let one = shard(&[Some(&[1, 0, 2, 0]), None, Some(&[3, 0, 4, 0]), Some(&[5, 0, 6, 0])]);
    let last = shard(&[Some(&[9, 0, 8, 0]), Some(&[7, 0, 6, 0]), Some(&[5, 0, 4, 0]), None]);
    let store = crate::store(&[("a/c/0", &one), ("a/c/1", &one), ("a/c/3", &last)]);
    let first = [1, 2, 7, 7, 3, 4, 5, 6];
    let wanted = [&first[..], &first, &[7; 8], &[9, 8, 7, 6, 5, 4]].concat();
    assert_eq!(values(&metadata, store.clone(), &Selection::all(&[30])).unwrap(), wanted);
    let part: Vec<i16> = wanted[3..].iter().step_by(5).copied().collect();
    let count = part.len() as u64;
    assert_eq!(values(&metadata, store, &Selection::strided(&[3], &[count], &[5])).unwrap(), part);
}

#[test]
fn an_index_at_the_begin_and_shards_in_shards() {
    let inner = shard(&[Some(&[1, 0]), Some(&[2, 0])]);
    // An index of big-endian numbers at the begin; positions count from there.
    let big = |number: u64| number.to_be_bytes();
    let len = inner.len() as u64;
    let outer = [&[big(32), big(len), big(32 + len), big(len)].concat()[..], &inner, &inner].concat();
    let inner_codecs = sharded("[1]", &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end");
    let big_codec = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;
    let metadata = array("[4]", "[4]", "\"int16\"", "0", &sharded("[2]", &inner_codecs, big_codec, "start"));
    let store = crate::store(&[("a/c/0", &outer)]);
    assert_eq!(values(&metadata, store, &Selection::all(&[4])).unwrap(), [1, 2, 1, 2]);
}

#[test]
fn a_selection_takes_two_rounds_from_a_slow_store() {
    let metadata = array(
        "[64]",
        "[8]",
        "\"int16\"",
        "0",
        &sharded("[2]", &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end"),
    );
    let memory = MemoryStore::default();
    let one = shard(&[Some(&[1, 0, 2, 0][..]); 4]);
    (0..8).for_each(|number| drop(memory.put(&format!("a/c/{number}"), &one).unwrap()));
    let store = Arc::new(Simulated::new(memory, Cost::REMOTE, Duration::ZERO));
    store.take_traffic();
    let all = Selection::all(&[64]);
    assert_eq!(values(&metadata, store.clone(), &all).unwrap(), [1, 2].repeat(32));
    // The indexes of 8 shards, then 32 chunks.
    let traffic = store.take_traffic();
    assert_eq!((traffic.rounds, traffic.requests), (2, 8 + 32));
}

#[test]
fn damaged_shards_are_errors() {
    let crc = format!(r#"[{LITTLE}, {{"name": "crc32c"}}]"#);
    let metadata = array(
        "[4]",
        "[4]",
        "\"int16\"",
        "0",
        &sharded("[2]", &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end"),
    );
    let whole = shard(&[Some(&[1, 0, 2, 0]), Some(&[3, 0, 4, 0])]);
    let with = |at: usize, number: u64| {
        let mut bytes = whole.clone();
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        bytes
    };
    for (bytes, code) in [
        (whole[..20].to_vec(), Code::ETRUNC),
        (vec![], Code::ETRUNC),
        // A position past the end, one that overflows, and chunks that are too short and too long.
        (with(8, 1000), Code::ETRUNC),
        (with(8, u64::MAX - 1), Code::ETRUNC),
        (with(16, 3), Code::ETRUNC),
        (with(16, 5), Code::ETRUNC),
    ] {
        let store = crate::store(&[("a/c/0", &bytes)]);
        let error = values(&metadata, store, &Selection::all(&[4])).unwrap_err();
        assert!(error.code == code || error.code == Code::EHDFERR, "{error:?} {}", bytes.len());
        assert!(error.to_string().contains("a/c/0"), "{error}");
    }
    let metadata =
        array("[4]", "[4]", "\"int16\"", "0", &sharded("[2]", &format!("[{LITTLE}]"), &crc, "end"));
    let store = crate::store(&[("a/c/0", &[&whole[..], &[1, 2, 3, 4]].concat())]);
    let error = values(&metadata, store, &Selection::all(&[4])).unwrap_err();
    assert!(error.to_string().contains("checksum"), "{error}");
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let pipeline = |chunk: &str| {
        array(
            "[4]",
            "[4]",
            "\"int16\"",
            "0",
            &sharded(chunk, &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end"),
        )
        .pipeline
    };
    for chunk in ["[3]", "[0]", "[2, 2]", "[8]"] {
        assert_eq!(pipeline(chunk).unwrap_err().code, Code::EZARRMETA, "{chunk}");
    }
    let huge = array(
        "[1099511627776]",
        "[1099511627776]",
        "\"int16\"",
        "0",
        &sharded("[1]", &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end"),
    );
    assert!(huge.pipeline.unwrap_err().to_string().contains("in one"));
}

#[test]
fn codecs_before_and_behind_those_of_shards() {
    // Four rows and two columns, stored as two rows of four: shards of all, chunks of one row of two.
    let inner = sharded("[1, 2]", &format!("[{LITTLE}]"), &format!("[{LITTLE}]"), "end");
    let inner = &inner[1..inner.len() - 1];
    let codecs = format!(
        r#"[{{"name": "transpose", "configuration": {{"order": [1, 0]}}}}, {inner}, {{"name": "crc32c"}}]"#
    );
    let metadata = array("[4, 2]", "[4, 2]", "\"int16\"", "0", &codecs);
    let pipeline = metadata.pipeline.as_ref().unwrap();
    assert_eq!(
        (&pipeline.shards[0].chunk_shape[..], &pipeline.shards[0].counts[..]),
        (&[2, 1][..], &[2, 2][..])
    );
    let mut object = shard(&[Some(&[1, 0, 2, 0]), Some(&[3, 0, 4, 0]), Some(&[5, 0, 6, 0]), None]);
    let sum = object.clone();
    object.extend(crc32c(&sum).to_le_bytes());
    let store = crate::store(&[("a/c/0/0", &object)]);
    let wanted = [1, 5, 2, 6, 3, 0, 4, 0];
    assert_eq!(values(&metadata, store, &Selection::all(&[4, 2])).unwrap(), wanted);
    object[0] ^= 1;
    let store = crate::store(&[("a/c/0/0", &object)]);
    let error = values(&metadata, store, &Selection::all(&[4, 2])).unwrap_err();
    assert!(error.to_string().contains("a/c/0/0") && error.to_string().contains("checksum"), "{error}");
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), bit))
}
