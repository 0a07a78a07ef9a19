//! Copies between Zarr stores keep the types of fields, lists of strings and fill values; what stores say of fill values.

use ferrocdf::{File, GroupId, Owner, Values};

use crate::zarr_copies::{KINDS, attributes_of, copy, ncgen, text_of};

#[test]
fn copies_keep_the_types_of_fields_of_structures() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let dtype =
        r#"[["flag","|b1"],["half","<f2"],["when","<M8[ns]"],["code","|S2"],["name","<U2"],["n","<i4"]]"#;
    std::fs::create_dir_all(at("in.zarr/v")).unwrap();
    std::fs::write(at("in.zarr/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let array = format!(
        r#"{{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": {dtype}, "fill_value": null, "order": "C",
        "filters": null, "compressor": null}}"#
    );
    std::fs::write(at("in.zarr/v/.zarray"), array).unwrap();
    // True, 1.5, 7, "ab", "é" and -1.
    let element = b"\x01\x00\x3e\x07\0\0\0\0\0\0\0ab\xe9\0\0\0\0\0\0\0\xff\xff\xff\xff";
    std::fs::write(at("in.zarr/v/0"), element).unwrap();
    for first in KINDS {
        copy(first, &at("in.zarr"), &at("once.zarr"));
        for second in KINDS {
            copy(second, &at("once.zarr"), &at("twice.zarr"));
            for (kind, store) in [(first, at("once.zarr")), (second, at("twice.zarr"))] {
                let (is_v2, array) = (kind.ends_with('2'), attributes_of(&store));
                let array = if is_v2 { text_of(&store.join("v/.zarray")) } else { array };
                let types =
                    ["bool", "float16", "numpy.datetime64", "null_terminated_bytes", "fixed_length_utf32"];
                let is_kept = match is_v2 {
                    true => array.contains(dtype),
                    false => types.iter().all(|data_type| array.contains(data_type)),
                };
                assert!(is_kept, "{first} {second}: {array}");
                let chunk = store.join(if is_v2 { "v/0" } else { "v/c/0" });
                assert_eq!(std::fs::read(chunk).unwrap(), element, "{first} {second}");
            }
        }
    }
}

#[test]
fn lists_of_strings_are_attributes_of_strings() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("in.zarr")).unwrap();
    std::fs::write(at("in.zarr/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let lists = [r#""two": ["a","é"]"#, r#""one": ["a"]"#];
    std::fs::write(at("in.zarr/.zattrs"), format!("{{{}}}", lists.join(", "))).unwrap();
    let found = |store: &str, name: &str| {
        let file = File::open(at(store)).unwrap();
        file.model().find_attr(Owner::Group(GroupId::ROOT), name.as_bytes()).unwrap().value.clone()
    };
    let strings =
        |texts: &[&str]| Values::from(texts.iter().map(|text| text.to_string()).collect::<Vec<_>>());
    for kind in KINDS {
        copy(kind, &at("in.zarr"), &at("out.zarr"));
        copy("nc4", &at("out.zarr"), &at("back.nc"));
        for store in ["in.zarr", "out.zarr", "back.nc"] {
            assert_eq!(found(store, "two"), strings(&["a", "é"]), "{kind} {store}");
            assert_eq!(found(store, "one"), strings(&["a"]), "{kind} {store}");
        }
        let written = ["out.zarr/.zattrs", "out.zarr/zarr.json"].map(|name| text_of(&at(name))).concat();
        assert!(lists.iter().all(|list| written.contains(list)), "{written}");
    }
}

#[test]
fn copies_of_version_3_have_its_fill_values_and_miss_the_same_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("in.zarr/v/c")).unwrap();
    std::fs::write(at("in.zarr/zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 7,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "attributes": {"_FillValue": -1},
        "chunk_key_encoding": {"name": "default"}, "dimension_names": ["x"],
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}"#;
    for array in [array.to_string(), array.replace(r#"{"_FillValue": -1}"#, "{}")] {
        std::fs::write(at("in.zarr/v/zarr.json"), array).unwrap();
        std::fs::write(at("in.zarr/v/c/1"), b"\x01\0\0\0\x02\0\0\0").unwrap();
        let values = |store: &str| -> Vec<i32> {
            File::open(at(store)).unwrap().variable("v").unwrap().get_values(..).unwrap()
        };
        for kind in ["zarr3", "nczarr3"] {
            copy(kind, &at("in.zarr"), &at("out.zarr"));
            let found = attributes_of(&at("out.zarr"));
            assert!(found.contains(r#""fill_value": 7"#), "{found}");
            assert!(!at("out.zarr/v/c/0").exists() && at("out.zarr/v/c/1").is_file(), "{kind}");
            assert_eq!(values("out.zarr"), [7, 7, 1, 2]);
        }
        copy("zarr2", &at("in.zarr"), &at("out.zarr"));
        assert_eq!(values("out.zarr"), [7, 7, 1, 2]);
        // An array without missing chunks keeps it as well.
        std::fs::write(at("in.zarr/v/c/0"), b"\x03\0\0\0\x04\0\0\0").unwrap();
        copy("zarr3", &at("in.zarr"), &at("out.zarr"));
        assert!(attributes_of(&at("out.zarr")).contains(r#""fill_value": 7"#));
        std::fs::remove_file(at("in.zarr/v/c/0")).unwrap();
    }
}

#[test]
fn arrays_of_zarr_2_that_were_written_whole_have_no_fill_value() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("out.zarr");
    let text = "netcdf g { dimensions: x = 4 ; none = UNLIMITED ; variables: int whole(x) ; whole:_ChunkSizes = 2 ;
        int part(x) ; part:_ChunkSizes = 2 ; int never(x) ; int own(x) ; own:_FillValue = 9 ; int empty(none) ;
        string text(x) ; int scalar ; char letters(x) ;
        data: whole = 1, 2, _, _ ; part = 1 ; own = 1, 2, 9, 4 ; text = \"\", \"\", \"\", \"\" ; scalar = 5 ; letters = \"abcd\" ; }";
    assert_eq!(ncgen("zarr2", text, &store), (0, String::new()));
    let fill = |name: &str| {
        let array = text_of(&store.join(name).join(".zarray"));
        array.split(r#""fill_value": "#).nth(1).unwrap().split(", \"").next().unwrap().to_string()
    };
    for name in ["whole", "empty", "text", "scalar", "letters"] {
        assert_eq!(fill(name), "null", "{name}");
    }
    for (name, value) in [("never", "-2147483647"), ("own", "9")] {
        assert_eq!(fill(name), value, "{name}");
    }
    assert!(store.join("whole/1").is_file() && store.join("text/0").is_file());
    let values = |name: &str| -> Vec<i32> {
        File::open(&store).unwrap().variable(name).unwrap().get_values(..).unwrap()
    };
    assert_eq!(values("whole"), [1, 2, -2147483647, -2147483647]);
    assert_eq!(values("part"), [1, -2147483647, -2147483647, -2147483647]);
    // With netCDF's metadata the fill value is that of netCDF.
    assert_eq!(ncgen("nczarr2", text, &store), (0, String::new()));
    assert_eq!(fill("whole"), "-2147483647");
}

#[test]
fn fill_values_that_are_no_attributes_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("out.zarr");
    let text = "netcdf g { types: opaque(2) raw ; dimensions: x = 1 ; variables: string a(x) ; string a:_FillValue = \"none\" ;
        string b(x) ; string b:_FillValue = \"none\" ; raw r(x) ; raw r:_FillValue = 0X0102 ; }";
    for (kind, told) in [("zarr3", 1), ("zarr2", 1), ("nczarr2", 0), ("nczarr3", 0)] {
        let (code, said) = ncgen(kind, text, &store);
        assert_eq!(
            (code, said.matches("_FillValue is the fill value of the array").count()),
            (0, told),
            "{said}"
        );
        assert_eq!(said.contains("/a and 2 more: "), kind == "zarr3", "{said}");
    }
}
