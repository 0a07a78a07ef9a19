//! Groups and arrays are found with few requests, and damage hides nothing else.

use std::time::Duration;

use ferrocdf_bytes::Code;
use ferrocdf_codec::Codecs;
use ferrocdf_store::testing::Simulated;
use ferrocdf_store::{Cost, MemoryStore, Store};
use ferrocdf_zarr::{Content, Hierarchy, Node, Version};

const ARRAY: &str = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i2", "order": "C", "fill_value": 0,
    "compressor": null, "filters": null}"#;
const GROUP: &str = r#"{"zarr_format": 2}"#;
const ARRAY_V3: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}"#;
const GROUP_V3: &str = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}"#;

/// Returns a line for each node.
fn lines(node: &Node, all: &mut Vec<String>) {
    let what = match &node.content {
        Content::Group(_) => "group".to_string(),
        Content::Array(array) => format!("array {:?}", array.shape),
        Content::Unreadable(error) => format!("unreadable: {error}"),
    };
    all.push(format!("/{} {what}, {} attributes", node.path, node.attributes.iter().count()));
    if let Content::Group(children) = &node.content {
        children.iter().for_each(|child| lines(child, all));
    }
}

/// Opens a slow store; returns its nodes, whether metadata was consolidated, and rounds and requests.
fn open(objects: &[(&str, &str)]) -> (Vec<String>, bool, (u64, u64)) {
    let memory = MemoryStore::default();
    for (key, text) in objects {
        memory.put(key, text.as_bytes()).unwrap();
    }
    let store = Simulated::new(memory, Cost::REMOTE, Duration::ZERO);
    let found = Hierarchy::open(&store, "", &|_| None, &Codecs::default()).unwrap().unwrap();
    let traffic = store.take_traffic();
    let mut all = vec![];
    lines(&found.root, &mut all);
    (all, found.is_consolidated, (traffic.rounds, traffic.requests))
}

#[test]
fn groups_of_a_level_are_listed_in_one_round() {
    for (root, group, array, first) in [("zarr.json", GROUP_V3, ARRAY_V3, 1), (".zgroup", GROUP, ARRAY, 3)] {
        let document = |text| {
            if first == 1 {
                "zarr.json"
            } else if text == group {
                ".zgroup"
            } else {
                ".zarray"
            }
        };
        let mut objects = vec![(root.to_string(), group)];
        for at in 0..20 {
            for (path, text) in [("", group), ("/g", group), ("/v", array), ("/g/v", array)] {
                objects.push((format!("{at}{path}/{}", document(text)), text));
            }
        }
        let objects: Vec<_> = objects.iter().map(|(key, text)| (&**key, *text)).collect();
        let (nodes, _, (rounds, _)) = open(&objects);
        assert_eq!(nodes.len(), 1 + 4 * 20);
        // The documents of the root; of each of the three levels below it the lists of names and the documents, 32 requests at once.
        let batches = |documents: u64| (documents * if first == 1 { 1 } else { 3 }).div_ceil(32);
        assert_eq!(rounds, first + 3 + batches(20) + batches(40) + batches(20));
    }
}

#[test]
fn nodes_are_found_level_by_level() {
    let (nodes, is_consolidated, _) = open(&[
        (".zgroup", GROUP),
        (".zattrs", r#"{"title": "t", "nan": NaN}"#),
        ("b/.zarray", ARRAY),
        ("b/.zattrs", r#"{"units": "m"}"#),
        ("b/0", "xxxx"),
        ("a/.zgroup", GROUP),
        ("a/deep/.zarray", ARRAY),
        ("no_node/file", ""),
    ]);
    assert!(!is_consolidated);
    let wanted = [
        "/ group, 2 attributes",
        "/a group, 0 attributes",
        "/a/deep array [4], 0 attributes",
        "/b array [4], 1 attributes",
    ];
    assert_eq!(nodes, wanted);
    let (nodes, _, _) = open(&[
        ("zarr.json", GROUP_V3),
        ("g/zarr.json", GROUP_V3),
        ("g/v/zarr.json", ARRAY_V3),
        ("g/v/c/0", ""),
    ]);
    assert_eq!(nodes, ["/ group, 1 attributes", "/g group, 1 attributes", "/g/v array [4], 0 attributes"]);
}

#[test]
fn consolidated_metadata_takes_one_request_of_version_3_and_two_of_version_2() {
    let inline = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{"kind": "inline", "must_understand": false,
        "metadata": {{"g/v": {ARRAY_V3}, "w": {ARRAY_V3}}}}}}}"#
    );
    let (nodes, is_consolidated, traffic) = open(&[("zarr.json", &inline)]);
    // A group without metadata of its own is a group.
    assert_eq!(
        nodes,
        [
            "/ group, 0 attributes",
            "/g group, 0 attributes",
            "/g/v array [4], 0 attributes",
            "/w array [4], 0 attributes"
        ]
    );
    assert!(is_consolidated);
    assert_eq!(traffic, (1, 1));
    let text = format!(
        r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {GROUP}, "v/.zarray": {ARRAY}, "v/.zattrs": {{"u": 1}},
        "../out/.zarray": {ARRAY}}}}}"#
    );
    let (nodes, is_consolidated, traffic) = open(&[(".zmetadata", &text)]);
    assert_eq!(nodes, ["/ group, 0 attributes", "/v array [4], 1 attributes"]);
    assert!(is_consolidated);
    assert_eq!(traffic, (2, 2));
}

#[test]
fn what_cannot_be_read_hides_nothing_else() {
    let (nodes, _, _) = open(&[
        (".zgroup", GROUP),
        ("a/.zarray", "{"),
        ("b/.zarray", r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<x9", "order": "C"}"#),
        ("c/.zarray", ARRAY),
    ]);
    assert_eq!(nodes.len(), 4);
    assert!(nodes[1].contains("unreadable") && nodes[1].contains("a/.zarray: JSON, line 1"), "{nodes:?}");
    assert!(nodes[2].contains(r#""dtype" is "<x9", not a known data type"#), "{nodes:?}");
    assert!(nodes[3].starts_with("/c array"), "{nodes:?}");
}

#[test]
fn a_store_without_metadata_is_none_and_a_damaged_root_an_error() {
    let store = crate::store(&[("a.txt", b"x")]);
    assert!(Hierarchy::open(&*store, "", &|_| None, &Codecs::default()).unwrap().is_none());
    for (key, text) in [
        ("zarr.json", "["),
        ("zarr.json", r#"{"zarr_format": 3}"#),
        (".zgroup", r#"{"zarr_format": 1}"#),
        (".zmetadata", "{}"),
    ] {
        let store = crate::store(&[(key, text.as_bytes())]);
        let error = Hierarchy::open(&*store, "", &|_| None, &Codecs::default()).unwrap_err();
        assert_eq!(error.code, Code::EZARRMETA, "{key} {text}");
    }
    // An array may be the root, in any folder.
    let store = crate::store(&[("x/y.zarr/zarr.json", ARRAY_V3.as_bytes())]);
    let found = Hierarchy::open(&*store, "x/y.zarr", &|_| None, &Codecs::default()).unwrap().unwrap();
    assert_eq!(found.version, Version::V3);
    assert!(matches!(found.root.content, Content::Array(_)));
}

#[test]
fn a_folder_of_arrays_without_metadata_is_a_group() {
    let store = crate::store(&[
        ("x/a/.zarray", ARRAY.as_bytes()),
        ("x/a/.zattrs", br#"{"units": "m"}"#),
        ("x/g/.zgroup", GROUP.as_bytes()),
        ("x/g/b/.zarray", ARRAY.as_bytes()),
        ("x/notes/readme", b"text"),
        ("y/g/.zgroup", GROUP.as_bytes()),
    ]);
    let found = Hierarchy::open(&*store, "x", &|_| None, &Codecs::default()).unwrap().unwrap();
    let Content::Group(nodes) = &found.root.content else { panic!("{found:?}") };
    let names: Vec<_> = nodes.iter().map(|node| &*node.name).collect();
    assert_eq!((names, nodes[0].attributes.get("units").is_some()), (vec!["a", "g"], true));
    assert!(matches!(&nodes[1].content, Content::Group(inner) if inner.len() == 1));
    // Without an array in it a folder is no store.
    for path in ["y", "z", "x/notes"] {
        assert!(Hierarchy::open(&*store, path, &|_| None, &Codecs::default()).unwrap().is_none(), "{path}");
    }
}
