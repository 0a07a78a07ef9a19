//! Elements without a fixed size.

use ferrocdf_array::Selection;
use ferrocdf_bytes::Code;
use ferrocdf_codec::Codecs;

use crate::array;

/// Encodes texts as `vlen-utf8` does.
fn encoded(texts: &[&str]) -> Vec<u8> {
    let mut bytes = (texts.len() as u32).to_le_bytes().to_vec();
    for text in texts {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes
}

#[test]
fn texts_of_chunks_are_read_in_the_order_of_the_selection() {
    let metadata = array("[3, 3]", "[2, 2]", "\"string\"", "\"fill\"", r#"["vlen-utf8"]"#);
    let store = crate::store(&[
        ("a/c/0/0", &encoded(&["a", "bc", "", "é"])),
        ("a/c/0/1", &encoded(&["c", "-", "f", "-"])),
        ("a/c/1/0", &encoded(&["g", "h", "-", "-"])),
    ]);
    let elements = metadata.elements(store, "a", &Codecs::default()).unwrap();
    let read = |sel: &Selection| -> Vec<Option<String>> {
        let text = |element: Option<Box<[u8]>>| element.map(|bytes| String::from_utf8(bytes.into()).unwrap());
        elements.read(sel).unwrap().into_iter().map(text).collect()
    };
    let some = |text: &str| Some(text.to_string());
    let wanted =
        [some("a"), some("bc"), some("c"), some(""), some("é"), some("f"), some("g"), some("h"), None];
    assert_eq!(read(&Selection::all(&[3, 3])), wanted);
    assert_eq!(read(&Selection::slab(&[0, 0], &[3, 0])), []);
    assert_eq!(read(&Selection::strided(&[0, 1], &[2, 1], &[2, 1])), [some("bc"), some("h")]);
}

#[test]
fn texts_in_another_order_of_dimensions() {
    let codecs = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, "vlen-utf8"]"#;
    let metadata = array("[2, 3]", "[2, 3]", "\"string\"", "\"\"", codecs);
    let store = crate::store(&[("a/c/0/0", &encoded(&["00", "10", "01", "11", "02", "12"]))]);
    let elements = metadata.elements(store, "a", &Codecs::default()).unwrap();
    let read = elements.read(&Selection::all(&[2, 3])).unwrap();
    let texts: Vec<_> =
        read.into_iter().map(|text| String::from_utf8(text.unwrap().into()).unwrap()).collect();
    assert_eq!(texts, ["00", "01", "02", "10", "11", "12"]);
}

#[test]
fn damaged_chunks_are_errors() {
    let metadata = array("[2]", "[2]", "\"string\"", "\"\"", r#"["vlen-utf8"]"#);
    let good = encoded(&["ab", "c"]);
    let with_size = |size: u32| [&good[..4], &size.to_le_bytes(), &good[8..]].concat();
    for bytes in [
        vec![],
        good[..good.len() - 1].to_vec(),
        [&good[..], b"x"].concat(),
        with_size(u32::MAX),
        encoded(&["one"]),
        encoded(&["a", "b", "c"]),
        [&u32::MAX.to_le_bytes()[..], &good[4..]].concat(),
    ] {
        let store = crate::store(&[("a/c/0", &bytes)]);
        let elements = metadata.elements(store, "a", &Codecs::default()).unwrap();
        let error = elements.read(&Selection::all(&[2])).unwrap_err();
        assert_eq!(error.code, Code::EHDFERR, "{error}");
        assert!(error.to_string().contains("a/c/0"), "{error}");
    }
}

#[test]
fn json_of_chunks_with_several_dimensions_is_in_lists_within_lists() {
    let metadata = ferrocdf_zarr::ArrayMetadata::parse(
        ferrocdf_zarr::Version::V2,
        &ferrocdf_zarr::Json::parse(
            br#"{"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "|O", "fill_value": null, "order": "C",
                 "compressor": null, "filters": [{"id": "json2"}]}"#,
        )
        .unwrap(),
        &Codecs::default(),
    )
    .unwrap();
    let read = |chunk: &str| {
        let store = crate::store(&[("a/0.0", chunk.as_bytes())]);
        metadata.elements(store, "a", &Codecs::default()).unwrap().read(&Selection::all(&[2, 2]))
    };
    let elements = read(r#"[["a", [1]], [null, {"b": 2}], "|O", [2, 2]]"#).unwrap();
    let texts: Vec<_> =
        elements.into_iter().map(|text| String::from_utf8(text.unwrap().into()).unwrap()).collect();
    assert_eq!(texts, ["a", "[1]", "null", r#"{"b": 2}"#]);
    for damaged in
        [r#"[["a", "b"], "c", "|O", [2, 2]]"#, r#"["a", "b", "c", "d", "|O", [2, 2]]"#, "[]", r#"["|O", []]"#]
    {
        assert_eq!(read(damaged).unwrap_err().code, Code::EHDFERR, "{damaged}");
    }
}
