//! Stores in memory: hierarchies, shards, elements without a fixed size, and what is damaged.

mod codecs;
mod elements;
mod hierarchy;
mod metadata;
mod rectilinear;
mod shards;

use std::sync::Arc;

use ferrocdf_codec::Codecs;
use ferrocdf_store::{MemoryStore, Store};
use ferrocdf_zarr::{ArrayMetadata, Json, Version};

/// A store with these objects.
fn store(objects: &[(&str, &[u8])]) -> Arc<MemoryStore> {
    let store = MemoryStore::default();
    for (key, bytes) in objects {
        store.put(key, bytes).unwrap();
    }
    Arc::new(store)
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

/// The metadata of an array of version 3, from the members that differ.
fn array(shape: &str, chunk: &str, data_type: &str, fill: &str, codecs: &str) -> ArrayMetadata {
    let text = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": {data_type}, "fill_value": {fill},
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunk}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "codecs": {codecs}, "attributes": {{}}}}"#
    );
    ArrayMetadata::parse(Version::V3, &json(&text), &Codecs::default()).unwrap()
}
