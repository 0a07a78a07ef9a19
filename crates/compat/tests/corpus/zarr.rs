//! Zarr data of other implementations: stores of the corpus and of the folder `zarr-data` beside it, array by array against zarr-python,
//! and the encoded blocks of numcodecs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use ferrocdf::{File, Value, Values};
use ferrocdf_codec::{Chain, ChunkInfo, Codecs, NumberKind, NumberType, Step, from_numcodecs};
use ferrocdf_compat::python;
use ferrocdf_store::MemoryStore;
use ferrocdf_zarr::{ArrayMetadata, Json, Version, WriteOptions, with_member};

/// The folder of the corpus, and that of the Zarr data beside it.
fn folders() -> [PathBuf; 2] {
    let corpus = std::env::var_os("FERROCDF_CORPUS").expect("`cargo xtask corpus` sets FERROCDF_CORPUS");
    let corpus = PathBuf::from(corpus);
    let data = corpus.parent().expect("the corpus has a folder around it").join("zarr-data");
    [corpus, data]
}

/// Finds the folders of arrays.
fn arrays(folder: &Path, found: &mut Vec<PathBuf>) {
    let is_array = || {
        let text = fs::read(folder.join("zarr.json")).unwrap_or_default();
        let json = Json::parse(&text).ok();
        json.is_some_and(|json| json.get("node_type").and_then(|json| json.as_str()) == Some("array"))
    };
    if folder.join(".zarray").is_file() || is_array() {
        found.push(folder.to_path_buf());
        return;
    }
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_dir() {
            arrays(&entry.path(), found);
        }
    }
}

/// Finds the files of a name.
fn files_named(name: &str, folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_named(name, &path, found);
        } else if path.file_name().is_some_and(|own| own == name) {
            found.push(path);
        }
    }
}

/// What is not equal, by a part of the path, and why.
const EXCUSED: &[(&str, &str, &str)] = &[
    ("imagecodecs_tiff", "neither", "a codec of images"),
    ("zfpy", "ours alone", "the Python of the tests has no zfpy"),
    ("pcodec", "ours alone", "the Python of the tests has no pcodec"),
    ("lzma_with_filters", "ours alone (ValueError)", "numcodecs passes filters to a decoder that takes none"),
    ("optional", "neither", "a type that is not registered"),
    ("n5_default", "neither", "a codec of N5"),
    ("storage_transformer", "neither", "a storage transformer"),
    ("byte_cf1.zr3", "neither", "a draft of version 3"),
    ("json2", "ours alone (ValueError)", "zarr-python 3 has no such objects"),
    ("bitround", "ours alone", "zarr-python has no such codec"),
    ("v3/fixed_length_utf32", "ours alone (ValueError)", "zarr-python wants \"endian\", which is left out"),
    ("sharing_too_small_data_file", "neither", "a shard that ends too early"),
    ("transposed_sharding", "ours alone", "zarr-python wants the shape of chunks in the order of the array"),
];

/// Returns what a script of the tests says of a list.
fn judge(script: &str, folder: &Path, list: &str) -> String {
    let (input, output) = (folder.join("list"), folder.join("said"));
    fs::write(&input, list).unwrap();
    let mut judge = python::newest_zarr(script);
    judge.stdin(fs::File::open(&input).unwrap()).stdout(fs::File::create(&output).unwrap());
    python::finish(judge.stderr(Stdio::piped()).spawn().expect("a Python that starts"));
    fs::read_to_string(&output).unwrap()
}

/// Reads arrays with ours and with zarr-python. Returns a line for each: the verdict, a tab, and the folder.
fn compare(arrays: &[PathBuf]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut list = String::new();
    for (number, array) in arrays.iter().enumerate() {
        let printed = folder.path().join(number.to_string());
        let mut elements = vec![];
        if ferrocdf_tools::zarr_conformance::run(array, &mut elements).is_ok() {
            fs::write(&printed, elements).unwrap();
        }
        list.push_str(&format!("{}\t{}\n", array.display(), printed.display()));
    }
    let said = judge("zarr_arrays.py", folder.path(), &list);
    assert_eq!(said.lines().count(), arrays.len());
    said
}

#[test]
fn arrays_of_other_programs_are_those_of_zarr_python() {
    let mut all = vec![];
    folders().iter().for_each(|folder| arrays(folder, &mut all));
    all.sort();
    let said = compare(&all);
    let (mut counts, mut wrong) = (BTreeMap::<&str, usize>::new(), vec![]);
    for line in said.lines() {
        let (verdict, array) = line.split_once('\t').expect("a verdict and a folder");
        *counts.entry(verdict).or_default() += 1;
        let excused =
            |(part, kind, _): &&(&str, &str, &str)| array.contains(part) && verdict.starts_with(kind);
        if verdict != "equal" && !EXCUSED.iter().any(|excuse| excused(&excuse)) {
            wrong.push(line);
        }
    }
    for (part, kind, _) in EXCUSED {
        let excused = |line: &str| {
            line.split_once('\t')
                .is_some_and(|(verdict, array)| array.contains(part) && verdict.starts_with(kind))
        };
        if !said.lines().any(excused) {
            wrong.push(part);
        }
    }
    println!("{} arrays: {counts:?}", all.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(counts["equal"] > 300, "{counts:?}");
}

/// Random arrays in each run, and their number when `FERROCDF_EVERY` is set.
const RANDOM: [usize; 2] = [200, 3000];

/// Of 3,300 arrays of zarr-python 3.4.2 all were equal.
#[test]
fn random_arrays_of_zarr_python_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let count = RANDOM[usize::from(std::env::var_os("FERROCDF_EVERY").is_some())];
    let seed = python::seed();
    let mut make = python::newest_zarr("zarr_random.py");
    make.arg(folder.path()).args([count.to_string(), seed.to_string()]).stderr(Stdio::piped());
    python::finish(make.spawn().expect("a Python that starts"));
    let mut all = vec![];
    arrays(folder.path(), &mut all);
    assert_eq!(all.len(), count);
    let said = compare(&all);
    let wrong: Vec<&str> = said.lines().filter(|line| !line.starts_with("equal\t")).collect();
    assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}");
}

/// Codecs of numcodecs that make bytes of objects, which the Zarr crate does.
const NOT_OF_BYTES: &[&str] = &["vlen-utf8", "vlen-bytes", "vlen-array", "json2"];

/// Returns the data of an `.npy` file, in the order of its memory.
fn npy(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..6], b"\x93NUMPY", "{}", path.display());
    let (at, len) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        _ => (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize),
    };
    bytes[at + len..].to_vec()
}

/// The Python of the tests has no zfpy, but what it encodes does not depend on the version.
#[test]
fn blocks_of_zfpy_are_encoded_as_numcodecs_does() {
    let [_, data] = folders();
    let mut configurations = vec![];
    files_named("config.json", &data.join("numcodecs/fixture/zfpy"), &mut configurations);
    let mut blocks = 0;
    for path in configurations {
        let (id, params) = from_numcodecs(&fs::read_to_string(&path).unwrap()).unwrap().unwrap();
        for number in 0..8 {
            let (encoded, array) = (format!("encoded.{number:02}.dat"), format!("../array.{number:02}.npy"));
            let Ok(wanted) = fs::read(path.with_file_name(encoded)) else { continue };
            let array = path.parent().expect("a folder").join(array);
            let text = fs::read(&array).unwrap();
            let text = String::from_utf8_lossy(&text[..128]);
            let between = |from: &str, to: char| text.split_once(from).unwrap().1.split_once(to).unwrap().0;
            let dtype = between("'descr': '", '\'');
            let size: usize = dtype[2..].parse().unwrap();
            let kind = if dtype.contains('f') { NumberKind::Float } else { NumberKind::Signed };
            let number = Some(NumberType { kind, size, is_big: false });
            // The release of numcodecs that made the blocks took each array as a list.
            let decoded = npy(&array);
            let chunk = ChunkInfo { element_size: size, number, shape: vec![decoded.len() / size] };
            let step = Step { id: id.clone(), name: String::new(), optional: false, params: params.clone() };
            let mut own = vec![];
            Chain::for_chunks(vec![step], chunk, &Codecs::default()).encode(&decoded, &mut own).unwrap();
            assert!(own == wanted, "{}: {}", path.display(), array.display());
            blocks += 1;
        }
    }
    assert_eq!(blocks, 32);
}

#[test]
fn blocks_of_numcodecs_are_decoded_exactly() {
    let [_, data] = folders();
    let folder = tempfile::tempdir().unwrap();
    let (mut blocks, mut rounded, mut ours, mut objects) = (0, String::new(), String::new(), vec![]);
    let mut configurations = vec![];
    files_named("config.json", &data.join("numcodecs/fixture"), &mut configurations);
    for path in configurations {
        if NOT_OF_BYTES.iter().any(|name| path.display().to_string().contains(&format!("/{name}/"))) {
            continue;
        }
        let (json, folder_of_codec) = (fs::read_to_string(&path).unwrap(), path.parent().expect("a folder"));
        // With no element size numcodecs shuffles nothing. In stores this is how netCDF-C writes the size of the data type.
        let shuffles_nothing = json.contains("\"elementsize\": 0");
        let (id, params) = from_numcodecs(&json).unwrap_or_else(|| panic!("{json} is not known")).unwrap();
        let name = id.to_string();
        let step = Step { id, name: String::new(), optional: false, params };
        let chain = Chain::new(vec![step], &Codecs::default());
        for encoded in fs::read_dir(folder_of_codec).unwrap().map(|entry| entry.unwrap().path()) {
            let Some(number) = encoded.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("encoded."))
            else {
                continue;
            };
            let wanted = npy(&folder_of_codec.with_file_name(format!("array.{number}.npy")));
            let mask = if shuffles_nothing { 1 } else { 0 };
            let decoded = chain.decode_of_any_size(mask, &fs::read(&encoded).unwrap(), 1 << 30);
            let decoded = decoded.unwrap_or_else(|error| panic!("{}: {error}", encoded.display()));
            // What is encoded here is decoded by numcodecs, to what is decoded here. Its wheels are without snappy.
            if !["categorize", "pcodec", "zfpy"].contains(&&*name)
                && !shuffles_nothing
                && !json.contains("\"snappy\"")
            {
                let mut own = vec![];
                chain.encode(&wanted, &mut own).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let again = chain.decode_of_any_size(0, &own, 1 << 30).unwrap();
                let files = ["encoded", "decoded"].map(|what| folder.path().join(format!("{blocks}.{what}")));
                fs::write(&files[0], own).unwrap();
                fs::write(&files[1], again).unwrap();
                let [own, again] = &files;
                ours.push_str(&format!("{}\t{}\t{}\n", path.display(), own.display(), again.display()));
            }
            // Objects are pickled in the array; numcodecs compares them.
            if name == "categorize" && path.display().to_string().contains("/O/") {
                objects.push((path.clone(), encoded, decoded));
                blocks += 1;
                continue;
            }
            // What codecs that lose digits decode is not the array, but the same in numcodecs.
            if decoded != wanted {
                let loses = ["quantize", "fixedscaleoffset", "astype", "delta"].contains(&&*name);
                assert!(loses, "{}", encoded.display());
                let own = folder.path().join(blocks.to_string());
                fs::write(&own, decoded).unwrap();
                rounded.push_str(&format!("{}\t{}\t{}\n", path.display(), encoded.display(), own.display()));
            }
            blocks += 1;
        }
    }
    assert!(!rounded.is_empty());
    assert_eq!(judge("numcodecs_blocks.py", folder.path(), &rounded), "");
    assert!(ours.lines().count() > 700);
    assert_eq!(judge("numcodecs_blocks.py", folder.path(), &ours), "");
    // The texts, one behind the other with their sizes, as numcodecs has them in another codec.
    let mut texts = String::new();
    for (number, (path, encoded, decoded)) in objects.iter().enumerate() {
        let own = folder.path().join(format!("{number}.texts"));
        fs::write(&own, decoded).unwrap();
        texts.push_str(&format!("{}\t{}\t{}\n", path.display(), encoded.display(), own.display()));
    }
    assert!(!texts.is_empty());
    assert_eq!(judge("numcodecs_blocks.py", folder.path(), &texts), "");
    println!("{blocks} blocks, {} of them not equal to the array", rounded.lines().count());
    assert!(blocks > 900, "{blocks}");
}

/// Returns a value as `numcodecs_objects.py` writes it.
fn as_json(values: &Values) -> Vec<serde_json::Value> {
    match values {
        Values::String(list) => {
            let text = |text: &Option<Vec<u8>>| String::from_utf8(text.clone().unwrap()).unwrap().into();
            list.iter().map(text).collect()
        }
        Values::User(_, list) => {
            let element = |value: &Value| match value {
                Value::Vlen(parts) => parts.iter().flat_map(numbers).collect::<Vec<_>>().into(),
                other => panic!("{other:?}"),
            };
            list.iter().map(element).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// Returns the numbers of the elements of a list.
fn numbers(value: &Value) -> Vec<serde_json::Value> {
    match value {
        Value::Atomic(Values::Byte(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Ubyte(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Short(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Ushort(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Int(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Uint(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Int64(list)) => list.iter().map(|&number| number.into()).collect(),
        Value::Atomic(Values::Uint64(list)) => list.iter().map(|&number| number.into()).collect(),
        other => panic!("{other:?}"),
    }
}

/// All 58 blocks of text, bytes, lists and JSON, each as the chunk of a store.
#[test]
fn blocks_of_objects_are_decoded_exactly() {
    let [_, data] = folders();
    let folder = tempfile::tempdir().unwrap();
    let (mut list, mut stores, mut configurations) = (String::new(), vec![], vec![]);
    NOT_OF_BYTES.iter().for_each(|name| {
        files_named("config.json", &data.join("numcodecs/fixture").join(name), &mut configurations);
    });
    for path in configurations {
        let of_codec = path.parent().expect("a folder");
        for encoded in fs::read_dir(of_codec).unwrap().map(|entry| entry.unwrap().path()) {
            let number = encoded.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("encoded."));
            let Some(number) = number else { continue };
            let array = of_codec.with_file_name(format!("array.{number}.npy"));
            let store = folder.path().join(format!("{}.zarr", stores.len()));
            let columns = [&path, &encoded, &array, &store].map(|path| path.display().to_string());
            list.push_str(&format!("{}\n", columns.join("\t")));
            stores.push((store, encoded));
        }
    }
    assert_eq!(judge("numcodecs_objects.py", folder.path(), &list), "");
    for (store, encoded) in &stores {
        let wanted = fs::read(store.with_extension("json")).unwrap();
        let wanted: Vec<serde_json::Value> = serde_json::from_slice(&wanted).unwrap();
        let file = File::open(store).unwrap_or_else(|error| panic!("{}: {error}", encoded.display()));
        let var = file
            .model()
            .var_ids()
            .next()
            .unwrap_or_else(|| panic!("{}: {:?}", encoded.display(), file.skipped()));
        let shape = file.variable_of(var).shape();
        let found = file.read_values(var, &vec![0; shape.len()], &shape);
        let found = found.unwrap_or_else(|error| panic!("{}: {error}", encoded.display()));
        // Two texts of one JSON value are equal.
        let parsed = |value: serde_json::Value| match value.as_str().map(serde_json::from_str) {
            Some(Ok(parsed)) => parsed,
            _ => value,
        };
        let [found, wanted] =
            [as_json(&found), wanted].map(|list| list.into_iter().map(parsed).collect::<Vec<_>>());
        assert_eq!(found, wanted, "{}", encoded.display());
    }
    assert_eq!(stores.len(), 58);
}

/// Documents of the metadata cases that are not read, and why.
const NOT_READ: &[(&str, &str)] = &[(
    "cast_value/named_config_dtype",
    "times are not numbers that others can be cast to, in zarr-python neither",
)];

/// Returns the document of an array of floats in which an extension point is `document`.
fn array_with(point: &str, name: &str, document: &Json) -> Json {
    let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
    let configuration = document.get("configuration");
    let shape = match (name, configuration.and_then(|json| json.get("chunk_shape"))) {
        (_, Some(shape)) => shape.clone(),
        ("transpose", None) => json("[2, 3, 4]"),
        ("rectilinear", None) if document.to_string().contains("[[10,5],5,5]") => json("[60, 30]"),
        ("rectilinear", None) => json("[100, 50]"),
        _ => json("[60, 50]"),
    };
    let grid = json(r#"{"name": "regular", "configuration": {}}"#);
    let grid = with_member(&grid, "configuration", Json::object(vec![("chunk_shape", shape.clone())]));
    let bytes = json(r#"{"name": "bytes", "configuration": {"endian": "little"}}"#);
    let codecs = match name {
        _ if point != "codec" => vec![bytes],
        "bytes" | "sharding_indexed" => vec![document.clone()],
        "transpose" | "cast_value" | "scale_offset" => vec![document.clone(), bytes],
        _ => vec![bytes, document.clone()],
    };
    let own = |of: &str, usual: Json| if point == of { document.clone() } else { usual };
    Json::object(vec![
        ("zarr_format", Json::integer(3)),
        ("node_type", Json::text("array")),
        ("shape", shape),
        ("data_type", Json::text("float32")),
        ("chunk_grid", own("chunk_grid", grid)),
        ("chunk_key_encoding", own("chunk_key_encoding", Json::text("default"))),
        ("fill_value", Json::integer(0)),
        ("codecs", Json::Array(codecs)),
    ])
}

#[test]
fn metadata_cases_of_zarr_python_are_read() {
    let [_, data] = folders();
    let mut files = vec![];
    files_named("cases.json", &data.join("zarr-python/packages/zarr-metadata/tests/v3"), &mut files);
    let (mut read, mut wrong, mut not_read) = (0, vec![], 0);
    for path in files {
        let part = |up: usize| path.ancestors().nth(up).unwrap().file_name().unwrap().to_str().unwrap();
        let (name, point) = (part(1), part(2));
        let cases = Json::parse(&fs::read(&path).unwrap()).unwrap();
        for (case, document) in cases.as_object().unwrap().iter() {
            let array =
                ArrayMetadata::parse(Version::V3, &array_with(point, name, document), &Codecs::default());
            let store = Arc::new(MemoryStore::default());
            let array = array.and_then(|metadata| {
                metadata.array_to_write(store, "a", &Codecs::default(), WriteOptions::default())
            });
            let label = format!("{name}/{case}");
            match (array, NOT_READ.iter().any(|(other, _)| *other == label)) {
                (Ok(_), false) => read += 1,
                (Err(_), true) => not_read += 1,
                (Ok(_), true) => wrong.push(format!("{label}: it is read now")),
                (Err(error), false) => wrong.push(format!("{label}: {error}")),
            }
        }
    }
    // Whole documents of arrays.
    for version in [Version::V2, Version::V3] {
        let part = if version == Version::V2 { "v2/array" } else { "v3/array" };
        let folder = data.join("zarr-python/packages/zarr-metadata/tests").join(part);
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let document = Json::parse(&fs::read(&path).unwrap()).unwrap();
            let array = ArrayMetadata::parse(version, &document, &Codecs::default())
                .and_then(|metadata| metadata.pipeline);
            let label = format!("{part}/{stem}");
            match (array, NOT_READ.iter().any(|(other, _)| *other == label)) {
                (Ok(_), false) => read += 1,
                (Err(_), true) => not_read += 1,
                (Ok(_), true) => wrong.push(format!("{label}: it is read now")),
                (Err(error), false) => wrong.push(format!("{label}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{read} documents read, {not_read} not");
    assert_eq!(not_read, NOT_READ.len());
    assert!(read > 30, "{read}");
}
