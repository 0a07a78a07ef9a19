//! Zarr stores as netCDF sees them.

use std::path::Path;
use std::sync::Arc;

use ferrocdf::model::Class;
use ferrocdf::store::testing::Simulated;
use ferrocdf::store::{Cost, MemoryStore, Store};
use ferrocdf::{
    Atomic, Code, Container, CreateOptions, DataModel, Error, File, FileMut, Format, GroupId, Location,
    OpenOptions, Owner, Type, Value, Values, errno,
};

fn sample() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/sst.zarr").display().to_string()
}

/// Opens a store in memory.
fn open(objects: &[(&str, &str)]) -> Result<File, Error> {
    open_bytes(&objects.iter().map(|&(key, text)| (key, text.as_bytes())).collect::<Vec<_>>())
}

fn open_bytes(objects: &[(&str, &[u8])]) -> Result<File, Error> {
    let store = MemoryStore::default();
    for (key, bytes) in objects {
        store.put(&format!("d/s/{key}"), bytes).unwrap();
    }
    let location = Location::Object { store: Arc::new(store), key: "d/s".to_string() };
    File::open_location(&location, &OpenOptions::default())
}

fn array(shape: &str, dtype: &str, fill: &str) -> String {
    format!(
        r#"{{"zarr_format": 2, "shape": {shape}, "chunks": {shape}, "dtype": {dtype}, "order": "C", "fill_value": {fill},
        "compressor": null, "filters": null}}"#
    )
}

fn attribute(file: &File, owner: Owner, name: &str) -> Option<Values> {
    file.model().attrs(owner).find(name.as_bytes()).map(|attr| attr.value.clone())
}

fn text(text: &str) -> Option<Values> {
    Some(Values::Char(text.as_bytes().to_vec()))
}

#[test]
fn a_store_is_opened_by_its_path_and_by_urls() {
    for place in [sample(), format!("file://{}#mode=zarr,file", sample()), format!("file:{}#zarr", sample())]
    {
        let location = Location::parse(place.as_bytes()).unwrap();
        let file = File::open_location(&location, &OpenOptions::default()).unwrap();
        assert_eq!(file.format().container(), Container::ZarrV3);
        let sst = file.variable("sst").unwrap();
        assert_eq!(sst.shape(), [3, 4, 6]);
        let first: Vec<f32> = sst.get_values((0, 0, ..3)).unwrap();
        let netcdf = File::open(sample().replace(".zarr", ".nc")).unwrap();
        let wanted: Vec<f32> = netcdf.variable("sst").unwrap().get_values((0, 0, ..3)).unwrap();
        assert_eq!(first, wanted);
        assert_eq!(attribute(&file, Owner::Var(sst.id()), "_FillValue"), Some(Values::Short(vec![-999])));
        assert_eq!(attribute(&file, Owner::Group(GroupId::ROOT), "Conventions"), text("CF-1.8"));
    }
}

#[test]
fn shuffle_with_the_element_size_0_is_shuffle_where_netcdf_c_made_the_store() {
    // NetCDF-C shuffles by the size of the type, numcodecs not at all.
    let v = array("[3]", r#""<i2""#, "0")
        .replace(r#""filters": null"#, r#""filters": [{"id": "shuffle", "elementsize": 0}]"#);
    let properties = r#"{"_NCProperties": "version=2,netcdf=4.10.1,nczarr=2.0.0"}"#;
    let of_netcdf = r#"{"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}}"#;
    for (root, own, wanted) in [
        ("{}", "{}", [0x0201, 0x0403, 0x0605]),
        (properties, "{}", [0x0401, 0x0502, 0x0603]),
        ("{}", of_netcdf, [0x0401, 0x0502, 0x0603]),
    ] {
        let file = open_bytes(&[
            (".zgroup", br#"{"zarr_format": 2}"#),
            (".zattrs", root.as_bytes()),
            ("v/.zarray", v.as_bytes()),
            ("v/.zattrs", own.as_bytes()),
            ("v/0", &[1, 2, 3, 4, 5, 6]),
        ])
        .unwrap();
        let values: Vec<i16> = file.variable("v").unwrap().get_values(..).unwrap();
        assert_eq!(values, wanted, "{root} {own}");
    }
}

#[test]
fn sizes_are_those_of_the_objects() {
    let file = File::open(sample()).unwrap();
    let storage = file.variable("sst").unwrap().storage().unwrap();
    let folder = Path::new(&sample()).join("sst/c");
    let mut stored = 0;
    for chunk in ["0/0/0", "0/0/1", "0/1/0", "0/1/1", "1/0/0", "1/0/1", "1/1/0", "1/1/1"] {
        stored += std::fs::metadata(folder.join(chunk)).unwrap().len();
    }
    assert_eq!((storage.bytes, storage.stored_bytes), (3 * 4 * 6 * 2, stored));
    let chunks = storage.chunks.unwrap();
    assert_eq!((chunks.all, chunks.stored, chunks.decoded_bytes), (8, 8, 2 * 2 * 3 * 2));
}

#[test]
fn nothing_else_is_taken_for_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let error = File::open(folder.path()).err().unwrap();
    assert_eq!(error.code, Code::ENOTNC);
    assert!(error.to_string().contains("no metadata of Zarr"), "{error}");
    let error = open(&[("other", "")]).err().unwrap();
    assert_eq!(error.code, Code::ENOTNC);
    assert!(error.to_string().contains("no metadata of Zarr"), "{error}");
    // A path that does not exist is an error of the system, an object that does not exist one of the store.
    assert_eq!(File::open(folder.path().join("none")).err().unwrap().code, errno::NOENT);
    assert_eq!(open(&[]).err().unwrap().code, Code::ENOOBJECT);
    // No other folder is edited.
    assert_eq!(FileMut::append(folder.path()).err().unwrap().code, Code::ENOTNC);
}

#[test]
fn stores_of_netcdf_are_read_in_all_forms() {
    let ints = array("[2, 3]", "\"<i4\"", "-1");
    let dims = |list: &str| format!(r#""dimensions": {list}, "arrays": ["v"], "groups": []"#);
    let object = r#"{"y": 2, "x": {"size": 3, "unlimited": 1}}"#;
    let list = r#"[{"name": "y", "size": 2, "unlimited": 0}, {"name": "x", "size": 3, "unlimited": 1}]"#;
    let variable = r#""dimension_references": ["/y", "/x"], "storage": "chunked""#;
    let types = r#"{"types": {"u": ">S1", "s": "<i2"}}"#;
    let new = |list: &str| {
        vec![
            (".zgroup", r#"{"zarr_format": 2}"#.to_string()),
            (
                ".zattrs",
                format!(
                    r#"{{"_nczarr_superblock": {{"version": "2.0.0"}}, "_nczarr_group": {{{}}}}}"#,
                    dims(list)
                ),
            ),
            ("v/.zarray", ints.clone()),
            (
                "v/.zattrs",
                format!(r#"{{"u": "m", "s": 7, "_nczarr_array": {{{variable}}}, "_nczarr_attr": {types}}}"#),
            ),
        ]
    };
    // Keys within `.zgroup` and `.zarray`, in upper case, with shorter names; values that are strings.
    let old = vec![
        (
            ".zgroup",
            r#"{"zarr_format": 2, "_NCZARR_SUPERBLOCK": {"version": "2.0.0"},
            "_NCZARR_GROUP": {"dims": {"y": 2, "x": {"size": 3, "unlimited": 1}}, "vars": ["v"], "groups": []}}"#
                .to_string(),
        ),
        ("v/.zarray", ints.replace("\"order\"", r#""_NCZARR_ARRAY": {"dimrefs": ["/y", "/x"]}, "order""#)),
        ("v/.zattrs", format!(r#"{{"u": "m", "s": 7, "_NCZARR_ATTR": {types}}}"#)),
    ];
    let quoted = vec![
        (".zgroup", r#"{"zarr_format": 2}"#.to_string()),
        (
            ".zattrs",
            r#"{"_nczarr_superblock": "{}", "_nczarr_group": "{\"dimensions\": {\"y\": 2, \"x\": {\"size\": 3, \"unlimited\": 1}},
            \"arrays\": [\"v\"], \"groups\": []}"}"#.replace('\n', " "),
        ),
        ("v/.zarray", ints.clone()),
        ("v/.zattrs", format!(r#"{{"u": "m", "s": 7, "_nczarr_array": {{{variable}}}, "_nczarr_attr": {types}}}"#)),
    ];
    for objects in [new(object), new(list), old, quoted] {
        let objects: Vec<(&str, &str)> = objects.iter().map(|(key, text)| (*key, &**text)).collect();
        let file = open(&objects).unwrap();
        let model = file.model();
        let v = model.find_var(GroupId::ROOT, b"v").unwrap();
        let names: Vec<_> = model.var(v).dims.iter().map(|&dim| model.dim(dim)).collect();
        assert_eq!(
            names.iter().map(|dim| dim.name.to_str().into_owned()).collect::<Vec<_>>(),
            ["y", "x"],
            "{objects:?}"
        );
        assert_eq!(names.iter().map(|dim| dim.unlimited).collect::<Vec<_>>(), [false, true]);
        assert_eq!(attribute(&file, Owner::Var(v), "s"), Some(Values::Short(vec![7])));
        assert_eq!(attribute(&file, Owner::Var(v), "_FillValue"), Some(Values::Int(vec![-1])));
        assert_eq!(model.attrs(Owner::Var(v)).len(), 3, "{:?}", model.attrs(Owner::Var(v)));
        assert!(file.is_written_by_netcdf());
        assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [-1; 6]);
    }
}

#[test]
fn dimensions_follow_from_names_or_from_lengths() {
    let v = array("[2, 3]", "\"<i2\"", "0");
    let file = open(&[
        (".zgroup", r#"{"zarr_format": 2}"#),
        ("a/.zarray", &v),
        ("a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["y", "x"]}"#),
        // The same name for another length, and no names.
        ("b/.zarray", &array("[4]", "\"<i2\"", "0")),
        ("b/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"]}"#),
        ("c/.zarray", &v),
        ("g/.zgroup", r#"{"zarr_format": 2}"#),
        ("g/a/.zarray", &v),
        ("g/a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["y", "x"]}"#),
    ])
    .unwrap();
    let model = file.model();
    let paths: Vec<String> = model
        .var_ids()
        .map(|var| {
            let dims = model.var(var).dims.iter().map(|&dim| {
                let dim = model.dim(dim);
                format!(
                    "{}{}={}",
                    if dim.group == GroupId::ROOT { "/" } else { "/g/" },
                    dim.name.to_str(),
                    dim.len
                )
            });
            format!("{}: {}", model.var_path(var), dims.collect::<Vec<_>>().join(" "))
        })
        .collect();
    let wanted = [
        "/a: /y=2 /x=3",
        "/b: /_Anonymous_Dim_4=4",
        "/c: /_Anonymous_Dim_2=2 /_Anonymous_Dim_3=3",
        "/g/a: /g/y=2 /g/x=3",
    ];
    assert_eq!(paths, wanted);
}

#[test]
fn types_that_netcdf_does_not_have_are_user_defined() {
    let group = (".zgroup", br#"{"zarr_format": 2}"#.to_vec());
    let of = |name: &str, shape: &str, dtype: &str, bytes: &[u8]| {
        let rank = shape.matches(',').count();
        let key = if shape == "[]" { "0".to_string() } else { vec!["0"; rank + 1].join(".") };
        [
            (format!("{name}/.zarray"), array(shape, dtype, "null").into_bytes()),
            (format!("{name}/{key}"), bytes.to_vec()),
        ]
    };
    let complex = [1f32.to_le_bytes(), (-2f32).to_le_bytes()].concat();
    let record = [&7i16.to_be_bytes()[..], b"ab\0", &1.5f64.to_le_bytes()].concat();
    let parts = [
        of("bool", "[3]", "\"|b1\"", &[1, 0, 1]),
        of("complex", "[]", "\"<c8\"", &complex),
        of("half", "[2]", "\">f2\"", &[0x3c, 0, 0xc0, 0]),
        of("raw", "[2]", "\"|V3\"", b"abcdef"),
        of("record", "[1]", r#"[["n", ">i2"], ["t", "|S3"], ["x", "<f8"]]"#, &record),
        of("text", "[2]", "\"<U2\"", &[0xe9, 0, 0, 0, b'a', 0, 0, 0, b'b', 0, 0, 0, 0, 0, 0, 0]),
        of("time", "[1]", "\"<M8[s]\"", &60i64.to_le_bytes()),
        of("word", "[2]", "\"|S4\"", b"one\0four"),
    ];
    let objects: Vec<(String, Vec<u8>)> =
        [(group.0.to_string(), group.1)].into_iter().chain(parts.into_iter().flatten()).collect();
    let objects: Vec<(&str, &[u8])> = objects.iter().map(|(key, bytes)| (&**key, &**bytes)).collect();
    let file = open_bytes(&objects).unwrap();
    let model = file.model();
    let values = |name: &str| {
        let var = model.find_var(GroupId::ROOT, name.as_bytes()).unwrap();
        let shape = model.shape(var);
        file.read_values(var, &vec![0; shape.len()], &shape).unwrap()
    };
    let trees = |name: &str| match values(name) {
        Values::User(_, list) => list,
        other => panic!("{other:?}"),
    };
    let strings =
        |list: &[&str]| Values::String(list.iter().map(|text| Some(text.as_bytes().to_vec())).collect());
    assert_eq!(trees("bool"), [1, 0, 1].map(Value::Enum));
    let floats =
        |list: [f32; 2]| Value::Compound(list.map(|part| Value::Atomic(Values::Float(vec![part]))).to_vec());
    assert_eq!(trees("complex"), [floats([1.0, -2.0])]);
    assert_eq!(values("half"), Values::Float(vec![1.0, -2.0]));
    assert_eq!(trees("raw"), [Value::Opaque(b"abc".to_vec()), Value::Opaque(b"def".to_vec())]);
    let fields = vec![
        Value::Atomic(Values::Short(vec![7])),
        Value::Atomic(Values::Char(b"ab\0".to_vec())),
        Value::Atomic(Values::Double(vec![1.5])),
    ];
    assert_eq!(trees("record"), [Value::Compound(fields)]);
    assert_eq!(values("text"), strings(&["éa", "b"]));
    assert_eq!(values("word"), strings(&["one", "four"]));
    assert_eq!(values("time"), Values::Int64(vec![60]));
    let time = Owner::Var(model.find_var(GroupId::ROOT, b"time").unwrap());
    assert_eq!(attribute(&file, time, "units"), text("seconds since 1970-01-01"));
    let record = model.find_var(GroupId::ROOT, b"record").unwrap();
    let Type::User(ty) = model.var(record).ty else { panic!("a compound") };
    let Class::Compound { fields, size } = &model.user_type(ty).class else { panic!("a compound") };
    assert_eq!((fields.iter().map(|field| field.offset).collect::<Vec<_>>(), *size), (vec![0, 2, 8], 16));
}

#[test]
fn chars_scalars_and_strings_of_netcdf_in_version_3() {
    let array = |shape: &str, data_type: &str, fill: &str, own: &str| {
        format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "{data_type}", "fill_value": {fill},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {shape}}}}},
            "chunk_key_encoding": {{"name": "default"}}, "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}],
            "attributes": {{"k": 1, "_nczarr_array": {own}, "_nczarr_attrs":
            {{"attribute_types": [{{"name": "k", "configuration": {{"type": "int16"}}}}]}}}}}}"#
        )
    };
    let root = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"_nczarr_superblock": {"version": "3.0.0"},
        "_nczarr_group": {"dimensions": [{"name": "s", "size": 2, "unlimited": 0}], "arrays": ["c", "n", "w"], "subgroups": []}}}"#;
    let file = open_bytes(&[
        ("zarr.json", root.as_bytes()),
        (
            "c/zarr.json",
            array("[2]", "uint8", "0", r#"{"dimension_references": ["/s"], "type_alias": "char"}"#)
                .as_bytes(),
        ),
        ("c/c/0", b"hi"),
        ("n/zarr.json", array("[]", "int32", "0", r#"{"dimension_references": []}"#).as_bytes()),
        ("n/c", &5i32.to_le_bytes()),
        (
            "w/zarr.json",
            array(
                "[2]",
                "r32",
                "[0, 0, 0, 0]",
                r#"{"dimension_references": ["/s"], "type_alias": "string"}"#,
            )
            .as_bytes(),
        ),
        ("w/c/0", b"ab\0\0cdef"),
    ])
    .unwrap();
    let model = file.model();
    let all = |name: &str| {
        let var = model.find_var(GroupId::ROOT, name.as_bytes()).unwrap();
        assert_eq!(attribute(&file, Owner::Var(var), "k"), Some(Values::Short(vec![1])));
        let shape = model.shape(var);
        (model.var(var).ty, file.read_values(var, &vec![0; shape.len()], &shape).unwrap())
    };
    assert_eq!(all("c"), (Atomic::Char.into(), Values::Char(b"hi".to_vec())));
    assert_eq!(all("n"), (Atomic::Int.into(), Values::Int(vec![5])));
    let strings = Values::String(vec![Some(b"ab".to_vec()), Some(b"cdef".to_vec())]);
    assert_eq!(all("w"), (Atomic::String.into(), strings));
}

#[test]
fn what_cannot_be_read_is_told_and_hides_nothing() {
    let file = open(&[
        (".zgroup", r#"{"zarr_format": 2}"#),
        ("bad/.zarray", "["),
        (
            "codec/.zarray",
            &array("[2]", "\"<i2\"", "0").replace("\"compressor\": null", r#""compressor": {"id": "x"}"#),
        ),
        ("good/.zarray", &array("[2]", "\"<i2\"", "0")),
        ("type/.zarray", &array("[2]", "\"<x2\"", "0")),
    ])
    .unwrap();
    let model = file.model();
    let names: Vec<_> = model.vars().iter().map(|var| var.name.to_str().into_owned()).collect();
    assert_eq!(names, ["codec", "good"]);
    let skipped = file.skipped();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    assert!(skipped[0].contains("/bad") && skipped[0].contains("JSON"), "{skipped:?}");
    assert!(skipped[1].contains("/type") && skipped[1].contains("<x2"), "{skipped:?}");
    assert!(skipped[2].contains("codec") && skipped[2].contains("\"x\" is not known"), "{skipped:?}");
    assert!(file.lost().is_some());
    let error = file.variable("codec").unwrap().get_values::<i32, _>(..).unwrap_err();
    assert_eq!(error.code, Code::ENOFILTER);
    assert_eq!(file.variable("good").unwrap().get_values::<i32, _>(..).unwrap(), [0, 0]);
}

#[test]
fn a_slow_store_takes_few_requests() {
    let memory = MemoryStore::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/sst.zarr");
    memory.put("x.zarr/zarr.json", &std::fs::read(folder.join("zarr.json")).unwrap()).unwrap();
    for chunk in ["0/0/0", "0/0/1", "0/1/0", "0/1/1", "1/0/0", "1/0/1", "1/1/0", "1/1/1"] {
        let bytes = std::fs::read(folder.join("sst/c").join(chunk)).unwrap();
        memory.put(&format!("x.zarr/sst/c/{chunk}"), &bytes).unwrap();
    }
    let store = Arc::new(Simulated::new(memory, Cost::REMOTE, std::time::Duration::ZERO));
    let location = Location::Object { store: store.clone(), key: "x.zarr".to_string() };
    store.take_traffic();
    let file = File::open_location(&location, &OpenOptions::default()).unwrap();
    let traffic = store.take_traffic();
    assert_eq!((traffic.rounds, traffic.requests), (1, 1));
    let values: Vec<i16> = file.variable("sst").unwrap().get_values(..).unwrap();
    let traffic = store.take_traffic();
    assert_eq!((values.len(), traffic.rounds, traffic.requests), (72, 1, 8));
}

#[test]
fn an_array_behind_a_link_out_of_the_store_leaves_the_others_readable() {
    let folder = tempfile::tempdir().unwrap();
    let [store, outside] = ["a.zarr", "outside"].map(|name| folder.path().join(name));
    let options = CreateOptions::format(Format::new(Container::ZarrV3, DataModel::Netcdf4));
    let file = FileMut::create(&store, &options).unwrap();
    for name in ["v", "w"] {
        file.add_variable::<i32>(name, &[]).unwrap().put_value(7, ferrocdf::Extents::All).unwrap();
    }
    file.close().unwrap();
    std::fs::rename(store.join("w"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, store.join("w")).unwrap();
    // Consolidated metadata would tell of both.
    let root = store.join("zarr.json");
    let text = std::fs::read_to_string(&root).unwrap();
    let at = text.find("\"consolidated_metadata\"").unwrap();
    std::fs::write(&root, format!("{}\"was_{}", &text[..at], &text[at + 1..])).unwrap();
    let file = File::open(&store).unwrap();
    assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [7]);
    assert!(file.variable("w").is_err());
    assert!(file.lost().unwrap().to_string().contains("leads out of the store"), "{:?}", file.lost());
}
