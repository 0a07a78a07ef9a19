//! What Zarr stores keep that the netCDF model has no place for: the JSON of attributes, bytes of text, fill mode, codecs in CDL.

use std::ffi::OsString;
use std::path::Path;

use ferrocdf::model::Chunking;
use ferrocdf::{Atomic, CreateOptions, File, FileMut, Format, GroupId, Owner, Values, VarId};
use ferrocdf_tools::ncgen::{Program, run};

use crate::nccopy::call;

/// The kinds of stores.
pub const KINDS: [&str; 4] = ["nczarr2", "nczarr3", "zarr2", "zarr3"];

/// Returns the text of an object; empty if there is none.
pub fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Copies with `nccopy`, which has nothing to say.
pub fn copy(kind: &str, from: &Path, to: &Path) {
    assert_eq!(call(&["-k", kind, from.to_str().unwrap(), to.to_str().unwrap()]), (0, String::new()));
}

/// Returns the object with the attributes of the array `v`.
pub fn attributes_of(store: &Path) -> String {
    let v3 = text_of(&store.join("v/zarr.json"));
    if v3.is_empty() { text_of(&store.join("v/.zattrs")) } else { v3 }
}

/// The members of an object, each with its JSON as this library spaces it.
const ATTRIBUTES: [&str; 10] = [
    r#""object": {"a": [1.50,null,{"b": "NaN"}], "c": false}"#,
    r#""lists": [[1,2],[3]]"#,
    r#""truth": true"#,
    r#""truths": [true,false]"#,
    r#""nothing": null"#,
    r#""one": [5]"#,
    r#""float": 1.0"#,
    r#""digits": 1.500"#,
    r#""words": ["a","b"]"#,
    r#""text": "{\"a\": 1}""#,
];

#[test]
fn attributes_are_copied_as_their_json() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let attributes = format!("{{{}}}", ATTRIBUTES.join(", "));
    let (v2, v3) = (at("in2.zarr"), at("in3.zarr"));
    std::fs::create_dir_all(v2.join("v")).unwrap();
    std::fs::create_dir_all(v3.join("v")).unwrap();
    std::fs::write(v2.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    std::fs::write(v2.join("v/.zattrs"), &attributes).unwrap();
    let array = r#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "<i4", "fill_value": null, "order": "C",
        "filters": null, "compressor": null}"#;
    std::fs::write(v2.join("v/.zarray"), array).unwrap();
    std::fs::write(v3.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
        "chunk_key_encoding": {"name": "default"},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": "#;
    std::fs::write(v3.join("v/zarr.json"), format!("{array}{attributes}}}")).unwrap();
    for source in [&v2, &v3] {
        for first in KINDS {
            let (once, edited) = (at("once.zarr"), at("edited.zarr"));
            copy(first, source, &once);
            for second in KINDS {
                let twice = at("twice.zarr");
                copy(second, &once, &twice);
                for store in [&once, &twice] {
                    let found = attributes_of(store);
                    for attribute in ATTRIBUTES {
                        assert!(found.contains(attribute), "{first} {second}: {attribute} is not in {found}");
                    }
                }
            }
            copy(first, source, &edited);
            // A text of a user stays text, also one that is the same; other attributes keep their JSON.
            let file = FileMut::append(&edited).unwrap();
            file.define(|model| model.put_attr(Owner::Var(VarId(0)), "lists", Values::from("[[1,2],[3]]")))
                .unwrap();
            file.close().unwrap();
            copy(first, &edited, &once);
            let found = attributes_of(&once);
            assert!(found.contains(r#""lists": "[[1,2],[3]]""#), "{found}");
            assert!(
                ATTRIBUTES.iter().filter(|attribute| found.contains(**attribute)).count() == 9,
                "{found}"
            );
        }
    }
}

#[test]
fn netcdf_sees_json_as_text_and_says_in_nczarr_that_it_is_json() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("in.zarr")).unwrap();
    std::fs::write(at("in.zarr/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    std::fs::write(at("in.zarr/.zattrs"), r#"{"a": {"b": 1}, "c": true}"#).unwrap();
    copy("nczarr2", &at("in.zarr"), &at("out2.zarr"));
    copy("nczarr3", &at("in.zarr"), &at("out3.zarr"));
    for store in ["in.zarr", "out2.zarr", "out3.zarr"] {
        let file = File::open(at(store)).unwrap();
        let attr = |name: &str| {
            file.model().find_attr(Owner::Group(GroupId::ROOT), name.as_bytes()).unwrap().value.clone()
        };
        assert_eq!((attr("a"), attr("c")), (Values::from(r#"{"b": 1}"#), Values::from(1u8)));
    }
    let types = text_of(&at("out2.zarr/.zattrs"));
    // NetCDF-C refuses a store with the type "|J0".
    assert!(types.contains(r#""types": {"a": ">S1", "c": "<u1""#), "{types}");
    assert!(types.contains(r#""json_valued": ["a"]"#), "{types}");
    let types = text_of(&at("out3.zarr/zarr.json"));
    assert!(types.contains(r#"{"name": "a", "configuration": {"type": "json"}}"#), "{types}");
}

/// Makes a netCDF-4 file with one variable of an attribute.
fn make(path: &Path, define: impl FnOnce(&mut ferrocdf::Model) -> ferrocdf::Result<()>) {
    let file = FileMut::create(path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.define(define).unwrap();
    file.close().unwrap();
}

#[test]
fn text_of_attributes_keeps_all_its_bytes_in_nczarr() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let texts: [(&str, &[u8]); 5] = [
        ("zeros", b"abc\0\0"),
        ("zero", b"\0"),
        ("within", b"a\0b"),
        ("latin", b"25 \xb0C"),
        ("both", b"\xe9\0\0"),
    ];
    make(&at("in.nc"), |model| {
        let v = model.def_var(GroupId::ROOT, "v", Atomic::Char.into(), &[])?;
        model.put_attr(Owner::Var(v), "_FillValue", Values::Char(vec![0xff]))?;
        texts
            .iter()
            .try_for_each(|(name, text)| model.put_attr(Owner::Var(v), name, Values::Char(text.to_vec())))
    });
    for kind in ["nczarr2", "nczarr3"] {
        let store = at("out.zarr");
        copy(kind, &at("in.nc"), &store);
        let file = FileMut::append(&store).unwrap();
        // An edit of another attribute keeps them.
        file.define(|model| model.put_attr(Owner::Var(VarId(0)), "units", Values::from("1"))).unwrap();
        file.close().unwrap();
        let file = File::open(&store).unwrap();
        for (name, text) in texts.iter().chain(&[("_FillValue", &b"\xff"[..])]) {
            let found = file.model().find_attr(Owner::Var(VarId(0)), name.as_bytes()).unwrap().value.clone();
            assert_eq!(found, Values::Char(text.to_vec()), "{kind} {name}");
        }
        // Another program that changes the text is believed.
        for object in ["v/.zattrs", "v/zarr.json"].map(|object| store.join(object)) {
            if object.is_file() {
                std::fs::write(&object, text_of(&object).replace(r#""25 °C""#, r#""26 °C""#)).unwrap();
            }
        }
        for object in [".zmetadata", "zarr.json"].map(|object| store.join(object)) {
            if object.is_file() {
                std::fs::write(&object, text_of(&object).replace(r#""25 °C""#, r#""26 °C""#)).unwrap();
            }
        }
        let file = File::open(&store).unwrap();
        let found = file.model().find_attr(Owner::Var(VarId(0)), b"latin").unwrap().value.clone();
        assert_eq!(found, Values::from("26 °C"), "{kind}");
    }
}

#[test]
fn copies_have_the_fill_mode_of_their_source_and_no_fill_value_without_need() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    make(&at("in.nc"), |model| {
        let x = model.def_dim(GroupId::ROOT, "x", None)?;
        for name in ["filled", "undefined"] {
            model.def_var(GroupId::ROOT, name, Atomic::Int.into(), &[x])?;
        }
        // The last record of a copy is in a chunk that nobody writes.
        model.var_mut(VarId(0)).storage.chunking = Some(Chunking::Chunked(vec![1]));
        model.var_mut(VarId(1)).storage.no_fill = true;
        model.def_var(GroupId::ROOT, "text", Atomic::String.into(), &[x])?;
        model.def_var(GroupId::ROOT, "letters", Atomic::Char.into(), &[x])?;
        Ok(())
    });
    let file = FileMut::append(at("in.nc")).unwrap();
    for (var, value) in
        [Values::from(1), Values::from(2), Values::from(vec![String::new()]), Values::from("a")]
            .into_iter()
            .enumerate()
    {
        let _exact = file.write_values(VarId(var as u32), &[0], &[1], &value).unwrap();
    }
    file.close().unwrap();
    for kind in ["nczarr2", "nczarr3"] {
        let store = at("out.zarr");
        copy(kind, &at("in.nc"), &store);
        for name in ["filled", "undefined", "text", "letters"] {
            let file = File::open(&store).unwrap();
            let var = file.model().find_var(GroupId::ROOT, name.as_bytes()).unwrap();
            assert_eq!(file.model().var(var).storage.no_fill, name == "undefined", "{kind} {name}");
            if kind == "nczarr2" {
                let array = text_of(&store.join(name).join(".zarray"));
                assert!(array.contains(r#""fill_value": null"#), "{array}");
                // Other programs read anything where it is missing.
                assert!(store.join(name).join("0").is_file(), "{name}");
            }
        }
        // Records that nobody writes are as in a netCDF-4 file.
        let file = FileMut::append(&store).unwrap();
        let _exact = file.write_values(VarId(1), &[2], &[1], &Values::Int(vec![7])).unwrap();
        let _exact = file.write_values(VarId(0), &[1], &[1], &Values::Int(vec![7])).unwrap();
        file.close().unwrap();
        let filled: Vec<i32> =
            File::open(&store).unwrap().variable("filled").unwrap().get_values(..).unwrap();
        assert_eq!(filled, [1, 7, -2147483647], "{kind}");
    }
}

/// Makes a file of CDL. Returns the exit code and what was said.
pub fn ncgen(kind: &str, cdl: &str, path: &Path) -> (u8, String) {
    let mut errors = vec![];
    let args = ["ncgen", "-k", kind, "-o", path.to_str().unwrap(), "-"].map(OsString::from);
    let code = run(Program::Ncgen, args, &mut cdl.as_bytes(), &mut vec![], &mut errors);
    (code, String::from_utf8(errors).unwrap())
}

/// Returns CDL of a variable with special attributes.
fn cdl(said: &[&str]) -> String {
    let said: String = said.iter().map(|said| format!("v:{said} ; ")).collect();
    format!(
        "netcdf g {{ dimensions: x = 8 ; variables: int v(x) ; v:_ChunkSizes = 4 ; {said} data: v = 1, 2, 3, 4, 5, 6, 7, 8 ; }}"
    )
}

#[test]
fn codecs_in_cdl_are_the_filters_of_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("out.zarr");
    let v2 = r#"_Codecs = "[{\"id\": \"shuffle\",\"elementsize\": 4},{\"id\": \"zlib\",\"level\": 5}]""#;
    let v3 = r#"_Codecs = "[{\"name\": \"numcodecs.shuffle\",\"configuration\": {\"elementsize\": 4}},{\"name\": \"zstd\",\"configuration\": {\"level\": 3, \"checksum\": false}}]""#;
    let gzip = r#"_Codecs = "[{\"id\": \"gzip\",\"level\": 3}]""#;
    let delta = r#"_Codecs = "[{\"id\": \"delta\",\"dtype\": \"<i4\"},{\"id\": \"zlib\",\"level\": 1}]""#;
    let shards = r#"_Codecs = "[{\"name\": \"sharding_indexed\",\"configuration\": {\"chunk_shape\": [4], \"codecs\": [{\"name\": \"bytes\"},{\"name\": \"zstd\"}], \"index_codecs\": [{\"name\": \"bytes\"}]}}]""#;
    let zlib = r#"_Codecs = "[{\"id\": \"zlib\",\"level\": 5}]""#;
    for (said, told, codecs) in [
        (&[v2][..], "", ["shuffle", "zlib"]),
        (&[v2, "_Shuffle = \"true\"", "_DeflateLevel = 5"], "", ["shuffle", "zlib"]),
        (&[v3], "", ["shuffle", "zstd"]),
        (&["_Filter = \"32015,3\"", "_Shuffle = \"true\"", v3], "", ["shuffle", "zstd"]),
        (&[gzip], "", ["gzip", ""]),
        (&[delta], "ncgen: /v: made without the codecs delta\n", ["zlib", ""]),
        (&[shards], "", ["zstd", ""]),
    ] {
        for kind in KINDS {
            assert_eq!(ncgen(kind, &cdl(said), &store), (0, told.to_string()), "{kind} {said:?}");
            let array = ["v/.zarray", "v/zarr.json"].map(|object| text_of(&store.join(object))).concat();
            assert!(codecs.iter().all(|codec| array.contains(codec)), "{array}");
            let v: Vec<i32> = File::open(&store).unwrap().variable("v").unwrap().get_values(..).unwrap();
            assert_eq!(v, [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }
    for (said, told) in [
        (&[zlib, "_DeflateLevel = 4"][..], "it tells other filters than"),
        (&[zlib, "_Filter = \"32015,3\""], "it tells other filters than"),
        (&[r#"_Codecs = "[{\"id\": \"none-such\"}]""#], "none-such"),
        (&[r#"_Codecs = "[{\"level\": 1}]""#], "is no codec"),
        (&[r#"_Codecs = "{}""#], "it is no list of codecs"),
        (&[r#"_Codecs = "[""#], "_Codecs: "),
    ] {
        for kind in KINDS {
            let (code, errors) = ncgen(kind, &cdl(said), &store);
            assert!(code != 0 && errors.contains(told), "{kind} {said:?}: {code} {errors}");
        }
    }
}

#[test]
fn codecs_that_zarr_python_does_not_read_in_version_3_are_left_out_with_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let (source, store) = (folder.path().join("in.zarr"), folder.path().join("out.zarr"));
    for (codec, json) in
        [("base64", r#"{\"id\": \"base64\"}"#), ("crc32c", r#"{\"id\": \"crc32c\",\"location\": \"start\"}"#)]
    {
        let said = format!("_Codecs = \"[{json},{{\\\"id\\\": \\\"zlib\\\",\\\"level\\\": 5}}]\"");
        assert_eq!(ncgen("zarr2", &cdl(&[&said]), &source), (0, String::new()), "{said}");
        for kind in KINDS {
            let is_v3 = kind.ends_with('3');
            let (made, copied) = match is_v3 {
                true => (
                    format!("ncgen: /v: made without the codecs {codec}\n"),
                    format!("nccopy: /v: copied without the codecs {codec}\n"),
                ),
                false => (String::new(), String::new()),
            };
            assert_eq!(ncgen(kind, &cdl(&[&said]), &store), (0, made), "{kind}");
            let copy = ["-k", kind, source.to_str().unwrap(), store.to_str().unwrap()];
            assert_eq!(call(&copy), (0, copied), "{kind}");
            let array = ["v/.zarray", "v/zarr.json"].map(|object| text_of(&store.join(object))).concat();
            assert_eq!((array.contains(codec), array.contains("zlib")), (!is_v3, true), "{array}");
            let v: Vec<i32> = File::open(&store).unwrap().variable("v").unwrap().get_values(..).unwrap();
            assert_eq!(v, [1, 2, 3, 4, 5, 6, 7, 8]);
        }
    }
}

#[test]
fn codecs_in_cdl_of_other_files_are_passed_over_with_a_word_unless_filters_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    let zlib = r#"_Codecs = "[{\"id\": \"zlib\",\"level\": 5}]""#;
    let unknown = r#"_Codecs = "[{\"id\": \"none-such\"}]""#;
    let passed =
        "ncgen: /v: _Codecs is for Zarr stores and passed over: _Filter tells other files their filters\n";
    for (said, told) in
        [(&[zlib, "_DeflateLevel = 5"][..], ""), (&[zlib], passed), (&[unknown, "_DeflateLevel = 5"], passed)]
    {
        assert_eq!(ncgen("nc4", &cdl(said), &path), (0, told.to_string()), "{said:?}");
        let filters = File::open(&path).unwrap().model().var(VarId(0)).storage.filters.len();
        assert_eq!(filters, said.len() - 1);
    }
    let (code, errors) = ncgen("nc4", &cdl(&[zlib, "_DeflateLevel = 4"]), &path);
    assert!(code != 0 && errors.contains("it tells other filters than"), "{errors}");
}
