//! What the specifications forbid is refused, with the member that is wrong.

use ferrocdf_bytes::Code;
use ferrocdf_codec::Codecs;
use ferrocdf_zarr::{ArrayMetadata, Version};

use crate::json;

const V2: &str = r#"{"zarr_format": 2, "shape": [4, 5], "chunks": [2, 5], "dtype": "<i2", "order": "C", "fill_value": 0,
    "compressor": null, "filters": null}"#;
const V3: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"}, "codecs": ["bytes"]}"#;

/// Returns the error of a document in which one text is another one.
fn error(version: Version, document: &str, from: &str, to: &str) -> String {
    assert!(document.contains(from), "{from}");
    let metadata = ArrayMetadata::parse(version, &json(&document.replace(from, to)), &Codecs::default());
    match metadata {
        Err(error) => {
            assert_eq!(error.code, Code::EZARRMETA, "{to}");
            error.to_string()
        }
        Ok(metadata) => metadata.pipeline.err().map_or(String::new(), |error| error.to_string()),
    }
}

#[test]
fn wrong_documents_of_version_2_are_refused() {
    for (from, to, wanted) in [
        ("\"zarr_format\": 2", "\"zarr_format\": 3", "\"zarr_format\" is 3, not 2"),
        ("[4, 5]", "[4, -5]", "\"shape\" is [4,-5]"),
        ("[4, 5]", "[4]", "\"chunks\" has 2 lengths"),
        ("[4, 5]", "[4294967296, 4294967296]", "2^63"),
        ("[2, 5]", "[2, 0]", "a chunk has no elements"),
        ("\"C\"", "\"A\"", "\"order\" is \"A\""),
        ("\"<i2\"", "[]", "\"dtype\" is []"),
        ("\"fill_value\": 0", "\"fill_value\": \"x\"", "\"fill_value\" is \"x\""),
        ("\"fill_value\": 0", "\"fill_value\": 40000", "\"fill_value\" is 40000"),
        ("\"filters\": null", "\"dimension_separator\": \"-\"", "\"dimension_separator\" is \"-\""),
        ("\"filters\": null", "\"filters\": {}", "\"filters\" is {}"),
        ("\"compressor\": null", "\"compressor\": {\"id\": \"none_such\"}", "\"none_such\" is not known"),
        ("\"compressor\": null", "\"compressor\": {\"id\": \"vlen-utf8\"}", "for objects"),
        ("\"<i2\"", "\"|O\"", "no value of the data type"),
    ] {
        let error = error(Version::V2, V2, from, to);
        assert!(
            error.contains(wanted) || to == "\"|O\"" && error.contains("no codec makes bytes"),
            "{to}: {error}"
        );
    }
}

#[test]
fn wrong_documents_of_version_3_are_refused() {
    for (from, to, wanted) in [
        ("\"int16\"", "\"int4\"", "\"data_type\" is \"int4\""),
        ("\"regular\"", "\"hexagonal\"", "the chunk grid \"hexagonal\" is not known"),
        ("\"default\"", "\"other\"", "the chunk key encoding \"other\""),
        ("[\"bytes\"]", "[]", "none that makes bytes"),
        ("[\"bytes\"]", "[\"bytes\", \"bytes\"]", "follows one that makes bytes"),
        ("[\"bytes\"]", "[\"vlen-utf8\"]", "elements of any size"),
        ("[\"bytes\"]", "[\"bytes\", \"none_such\"]", "\"none_such\" is not known"),
        ("\"fill_value\": 0", "\"fill_value\": true", "\"fill_value\" is true"),
        (
            "\"fill_value\": 0",
            "\"fill_value\": 0, \"dimension_names\": [\"a\", \"b\"]",
            "\"dimension_names\"",
        ),
        ("\"fill_value\": 0", "\"fill_value\": 0, \"new\": {}", "the extension \"new\" must be understood"),
        (
            "\"fill_value\": 0",
            "\"fill_value\": 0, \"storage_transformers\": [{}]",
            "\"storage_transformers\"",
        ),
    ] {
        let error = error(Version::V3, V3, from, to);
        assert!(error.contains(wanted), "{to}: {error}");
    }
    let may_be_ignored = "\"fill_value\": 0, \"new\": {\"must_understand\": false}";
    assert_eq!(error(Version::V3, V3, "\"fill_value\": 0", may_be_ignored), "");
}

#[test]
fn shuffle_with_the_element_size_0_moves_no_bytes() {
    let document =
        V2.replace("\"filters\": null", "\"filters\": [{\"id\": \"shuffle\", \"elementsize\": 0}]");
    let metadata = ArrayMetadata::parse(Version::V2, &json(&document), &Codecs::default()).unwrap();
    assert_eq!(metadata.pipeline.unwrap().steps[0].params, [1]);
}
