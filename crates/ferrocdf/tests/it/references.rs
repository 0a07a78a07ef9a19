//! References to the chunks of files: what is made of them is read back, and what they must not do.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ferrocdf::references::{MadeReferences, Reference, ReferenceOptions, References};
use ferrocdf::store::{MemoryStore, Store};
use ferrocdf::{
    Atomic, Code, Container, CreateOptions, DataModel, File, FileMut, Format, Location, OpenOptions, Values,
};

/// Defines and writes variables of several types and layouts.
fn fill(file: &FileMut) {
    let has_strings = file.format().is_enhanced();
    file.put_attribute("title", "sea level").unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("y", 30).unwrap();
    file.add_dimension("x", 40).unwrap();
    file.add_dimension("letter", 4).unwrap();
    let time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "days since 2000-01-01").unwrap();
    let height = file.add_variable::<f32>("height", &["time", "y", "x"]).unwrap();
    let count = file.add_variable::<i16>("count", &["y", "x"]).unwrap();
    count.put_attribute("_FillValue", -1i16).unwrap();
    let name = file.add_variable::<u8>("station", &["letter"]);
    let level = file.add_variable::<i32>("level", &[]).unwrap();
    for step in 0..3 {
        let numbers: Vec<f32> = (0..1200).map(|at| (at * (step + 1)) as f32 / 8.0).collect();
        height.put_values(&numbers, (step, .., ..)).unwrap();
        time.put_value(step as f64 + 0.5, [step]).unwrap();
    }
    count.put_values(&(0..1200).map(|at| at as i16).collect::<Vec<_>>(), ..).unwrap();
    level.put_value(7, ()).unwrap();
    if let Ok(name) = name {
        name.put_values(&[1u8, 2, 3, 4], ..).unwrap();
    }
    if has_strings {
        let texts = file.add_variable_of(Atomic::String, "texts", &["letter"]).unwrap();
        texts.put_strings(&["a", "", "bé", "long"], ..).unwrap();
        let packed = file.build_variable("packed", Atomic::Int, &["time", "x"]);
        let packed = packed.chunks(&[2, 15]).shuffle().deflate(4).create().unwrap();
        // Of the second column of chunks none is written.
        packed.put_values(&(0..45).collect::<Vec<i32>>(), (0..3, 0..15)).unwrap();
    }
}

/// Returns every variable of a dataset with its attributes and values.
pub fn content(file: &File) -> Vec<String> {
    let variables = file.variables().map(|variable| {
        let values = variable.get_all(..).unwrap();
        let attributes = variable.attributes().unwrap();
        let attributes = attributes.into_iter().filter(|(name, _)| name != "_FillValue");
        format!("{} {:?} {:?} {values:?}", variable.name(), variable.shape(), attributes.collect::<Vec<_>>())
    });
    let mut all: Vec<String> = variables.collect();
    all.sort();
    all
}

pub fn made(location: &Location, options: &ReferenceOptions) -> References {
    let MadeReferences { references, skipped } = References::of(location, options).unwrap();
    assert!(skipped.is_empty(), "{skipped:?}");
    references
}

pub fn url(url: &str) -> ReferenceOptions {
    ReferenceOptions { url: Some(url.to_string()), ..ReferenceOptions::default() }
}

/// Makes a dataset of a format at a name in a folder.
pub fn dataset(folder: &Path, name: &str, format: Format) -> Location {
    let path = folder.join(name);
    let file = FileMut::create(&path, &CreateOptions::format(format)).unwrap();
    fill(&file);
    file.close().unwrap();
    Location::Path(path)
}

pub const FORMATS: [(Format, &str); 5] = [
    (Format::CLASSIC, "a.nc"),
    (Format::DATA64, "a.nc"),
    (Format::NETCDF4, "a.nc"),
    (Format::new(Container::ZarrV2, DataModel::Netcdf4), "a.zarr"),
    (Format::new(Container::ZarrV3, DataModel::Netcdf4), "a.zarr"),
];

#[test]
fn references_of_each_format_have_the_values_of_the_dataset() {
    for (format, name) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let location = dataset(folder.path(), name, format);
        let wanted = content(&File::open_location(&location, &OpenOptions::default()).unwrap());
        for inline in [0, 500, u64::MAX] {
            let references = made(&location, &ReferenceOptions { inline, ..url(name) });
            let has_ranges = references.iter().any(|(_, reference)| reference.url().is_some());
            assert_eq!(has_ranges, inline != u64::MAX, "{format:?}");
            let json = folder.path().join("refs.json");
            fs::write(&json, references.to_json()).unwrap();
            let found = content(&File::open(&json).unwrap());
            assert_eq!(found, wanted, "{format:?} {inline}");
        }
    }
}

#[test]
fn chunks_are_named_by_their_place_and_missing_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let location = dataset(folder.path(), "a.nc", Format::NETCDF4);
    let references = made(&location, &ReferenceOptions { inline: 0, ..ReferenceOptions::default() });
    let keys = |prefix: &str| -> Vec<&str> {
        let keys = references.iter().map(|(key, _)| key);
        keys.filter(|key| key.starts_with(prefix) && !key.contains("/.z")).collect()
    };
    assert_eq!(keys("packed/"), ["packed/0.0", "packed/1.0"]);
    let Some(Reference::Range { url, start, len }) = references.get("packed/0.0") else { panic!("a range") };
    assert_eq!(Path::new(&**url), folder.path().join("a.nc"));
    let bytes = &fs::read(folder.path().join("a.nc")).unwrap()[*start as usize..][..*len as usize];
    // A zlib stream.
    assert_eq!(bytes[0] & 0x0f, 8);
    assert_eq!((u16::from(bytes[0]) << 8 | u16::from(bytes[1])) % 31, 0);
    assert!(matches!(references.get("texts/0"), Some(Reference::Inline(_))));
}

#[test]
fn records_of_classic_files_are_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let location = dataset(folder.path(), "a.nc", Format::CLASSIC);
    let references = made(&location, &ReferenceOptions { inline: 0, ..url("a.nc") });
    let ranges: Vec<(u64, u64)> = (0..3)
        .map(|record| match references.get(&format!("height/{record}.0.0")) {
            Some(Reference::Range { start, len, .. }) => (*start, *len),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(ranges.iter().all(|(_, len)| *len == 4800), "{ranges:?}");
    assert_eq!(ranges[1].0 - ranges[0].0, 4808);
}

#[test]
fn data_that_no_reference_can_stand_for_is_skipped_with_the_reason_if_it_is_large() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.nc");
    let file = ferrocdf::create(&path).unwrap();
    file.add_dimension("small", 100).unwrap();
    file.add_dimension("large", 5_000_000).unwrap();
    for name in ["small", "large"] {
        // Numcodecs has no codec for n-bit.
        let variable = file.build_variable(name, Atomic::Int, &[name]).filter("5");
        variable.chunks(&[100]).create().unwrap().put_values(&[1; 100], 0..100).unwrap();
    }
    file.close().unwrap();
    let MadeReferences { references, skipped } =
        References::of(&Location::Path(path), &ReferenceOptions::default()).unwrap();
    assert!(matches!(references.get("small/0"), Some(Reference::Inline(_))));
    assert_eq!(references.get("large/.zarray"), None);
    let said = skipped.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(matches!(&said[..], [one] if one.contains("/large: ") && one.contains("nbit")), "{said:?}");
}

#[test]
fn variable_shorter_than_its_dimension_becomes_inline_or_is_skipped_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.nc");
    let file = ferrocdf::create(&path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("small", 4).unwrap();
    file.add_dimension("large", 3_000_000).unwrap();
    let time = file.add_variable::<i32>("time", &["time"]).unwrap();
    time.put_values(&[0, 1, 2], 0..3).unwrap();
    for (name, dimension) in [("few", "small"), ("many", "large")] {
        let variable = file.build_variable(name, Atomic::Int, &["time", dimension]);
        let variable = variable.chunks(&[1, 4]).create().unwrap();
        variable.put_values(&[5, 6, 7, 8], (0..1, 0..4)).unwrap();
    }
    file.close().unwrap();
    let made = References::of(&Location::Path(path), &ReferenceOptions::default()).unwrap();
    let said = made.skipped.iter().map(ToString::to_string).collect::<Vec<_>>();
    let [said] = &said[..] else { panic!("{said:?}") };
    assert!(said.starts_with("/many: ") && said.contains("it is shorter than its dimensions"), "{said}");
    let json = folder.path().join("refs.json");
    fs::write(&json, made.references.to_json()).unwrap();
    let values = File::open(&json).unwrap().variable("few").unwrap().get_values::<i32, _>(..).unwrap();
    assert_eq!(values, [&[5, 6, 7, 8][..], &[-2147483647; 8]].concat());
}

/// References of version 1 to one chunk of four bytes.
fn one_chunk(reference: &str) -> Vec<u8> {
    let array = r#"{\"zarr_format\":2,\"shape\":[4],\"chunks\":[4],\"dtype\":\"|u1\",\"fill_value\":9,\"order\":\"C\",\"filters\":null,\"compressor\":null}"#;
    let group = r#"".zgroup": "{\"zarr_format\":2}""#;
    format!("{{\"version\":1,\"refs\":{{{group},\"v/.zarray\":\"{array}\",\"v/0\":{reference}}}}}").into()
}

fn read(location: &Location) -> ferrocdf::Result<Values> {
    let file = File::open_location(location, &OpenOptions::default())?;
    let variable = file.variable("v")?;
    variable.get_all(..)
}

#[test]
fn references_in_a_store_lead_to_objects_of_it_and_never_to_files() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, b"secret data").unwrap();
    let store = Arc::new(MemoryStore::default());
    store.put("d/data", b"01234567").unwrap();
    store.put("other", b"abcdefgh").unwrap();
    // Of the last name of the absolute path.
    store.put("d/secret", b"ABCDEFGH").unwrap();
    let read = |target: &str, rest: &str| {
        store.put("d/refs.json", &one_chunk(&format!("[\"{target}\"{rest}]"))).unwrap();
        read(&Location::Object { store: store.clone(), key: "d/refs.json".to_string() })
    };
    assert_eq!(read("data", ", 2, 4").unwrap(), Values::Ubyte(b"2345".to_vec()));
    assert_eq!(read("../other", ", 0, 4").unwrap(), Values::Ubyte(b"abcd".to_vec()));
    let secret = secret.to_str().unwrap();
    for (target, code) in [
        (secret, Code::EPERM),
        (&format!("file://{secret}"), Code::EPERM),
        (&format!("file:{secret}"), Code::EPERM),
        ("../../other", Code::ENOOBJECT),
        ("missing", Code::ENOOBJECT),
        ("https://host/data#mode=s3", Code::EPERM),
        ("[aws.profile=p]https://host/data", Code::EPERM),
    ] {
        let error = read(target, ", 0, 4").unwrap_err();
        assert_eq!(error.code, code, "{target}: {error}");
        assert!(error.to_string().contains(target), "{error}");
    }
}

#[test]
fn targets_that_are_missing_or_too_short_are_errors_and_no_fill_values() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data"), b"01234567").unwrap();
    let refs = folder.path().join("refs.json");
    let read = |reference: &str| {
        fs::write(&refs, one_chunk(reference)).unwrap();
        read(&Location::Path(refs.clone()))
    };
    let path = folder.path().join("data");
    for target in ["data", "./data", path.to_str().unwrap(), &format!("file://{}", path.display())] {
        assert_eq!(
            read(&format!("[\"{target}\", 3, 4]")).unwrap(),
            Values::Ubyte(b"3456".to_vec()),
            "{target}"
        );
    }
    assert_eq!(read("\"base64:AQIDBA==\"").unwrap(), Values::Ubyte(vec![1, 2, 3, 4]));
    for (reference, code) in [
        ("[\"missing\", 0, 4]", Code::ENOOBJECT),
        ("[\"data\", 6, 4]", Code::ETRUNC),
        ("[\"data\", 9223372036854775807, 4]", Code::ETRUNC),
        ("[\"data\", 0, 9223372036854775807]", Code::ETRUNC),
        ("[\"data\", 0, 3]", Code::ETRUNC),
    ] {
        assert_eq!(read(reference).unwrap_err().code, code, "{reference}");
    }
    // No reference at all is a missing chunk.
    let text = String::from_utf8(one_chunk("\"\"")).unwrap().replace("v/0", "v/7");
    fs::write(&refs, text).unwrap();
    assert_eq!(super::references::read(&Location::Path(refs.clone())).unwrap(), Values::Ubyte(vec![9; 4]));
    for text in ["{}", "{\"a\": 1}", "{ not json"] {
        fs::write(&refs, text).unwrap();
        assert_eq!(File::open(&refs).unwrap_err().code, Code::ENOTNC, "{text}");
        assert!(FileMut::append(&refs).is_err());
    }
}

#[test]
fn hdf5_file_with_a_user_block_of_json_is_no_text_of_references() {
    let folder = tempfile::tempdir().unwrap();
    let Location::Path(path) = dataset(folder.path(), "a.nc", Format::NETCDF4) else { panic!("a path") };
    let wanted = content(&File::open(&path).unwrap());
    let mut bytes = b"{\"meta\":1}".to_vec();
    bytes.resize(512, 0);
    bytes.extend(fs::read(&path).unwrap());
    fs::write(&path, bytes).unwrap();
    let file = File::open(&path).unwrap();
    assert_eq!(file.format().container(), Container::Hdf5);
    assert_eq!(content(&file), wanted);
}

#[test]
fn missing_target_is_not_looked_for_in_other_folders() {
    let folder = tempfile::tempdir().unwrap();
    // `Cargo.toml` is in the current folder of a test, `data` beside the references.
    fs::write(folder.path().join("data"), b"01234567").unwrap();
    let refs = folder.path().join("refs.json");
    let missing = folder.path().join("elsewhere").join("data");
    for target in ["Cargo.toml", missing.to_str().unwrap(), &format!("file://{}", missing.display())] {
        fs::write(&refs, one_chunk(&format!("[\"{target}\", 0, 4]"))).unwrap();
        let error = read(&Location::Path(refs.clone())).unwrap_err();
        assert_eq!(error.code, Code::ENOOBJECT, "{target}: {error}");
        assert!(error.to_string().contains(target), "{error}");
    }
    // The same for references in memory whose location the options say.
    fs::write(&refs, one_chunk(&format!("[\"{}\", 0, 4]", missing.display()))).unwrap();
    let options = OpenOptions::default().beside(Location::Path(refs.clone()));
    let file = File::from_bytes_with(fs::read(&refs).unwrap(), &options).unwrap();
    let variable = file.variable("v").unwrap();
    assert_eq!(variable.get_all(..).unwrap_err().code, Code::ENOOBJECT);
}

#[test]
fn references_in_memory_have_the_base_that_is_told_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().to_path_buf();
    fs::write(here.join("data"), b"01234567").unwrap();
    let absolute = here.join("data").display().to_string();
    let store = Arc::new(MemoryStore::default());
    store.put("run/data", b"abcdefgh").unwrap();
    let in_store = Location::Object { store, key: "run".to_string() };
    let first = |target: &str, base: Option<&Location>| {
        let references = References::parse(&one_chunk(&format!("[\"{target}\", 0, 4]"))).unwrap();
        let file = references.open(base).unwrap();
        let values = file.variable("v").unwrap().get_all(..);
        values.map_err(|error| error.code)
    };
    let (digits, letters) = (Values::Ubyte(b"0123".to_vec()), Values::Ubyte(b"abcd".to_vec()));
    let (here, file_url) = (Location::Path(here), format!("file://{absolute}"));
    for (target, base, wanted) in [
        ("data", Some(&here), Ok(&digits)),
        (&*absolute, Some(&here), Ok(&digits)),
        (&absolute, None, Ok(&digits)),
        (&file_url, None, Ok(&digits)),
        ("data", Some(&in_store), Ok(&letters)),
        (&absolute, Some(&in_store), Err(Code::EPERM)),
        (&file_url, Some(&in_store), Err(Code::EPERM)),
        ("../data", Some(&in_store), Err(Code::ENOOBJECT)),
        // The current folder of a test has such a file.
        ("Cargo.toml", None, Err(Code::EINVAL)),
        ("Cargo.toml", Some(&here), Err(Code::ENOOBJECT)),
        ("Cargo.toml", Some(&in_store), Err(Code::ENOOBJECT)),
    ] {
        assert_eq!(first(target, base).as_ref(), wanted.as_ref().map(|values| *values), "{target} {base:?}");
    }
    // Nobody said that these bytes are references.
    for target in ["Cargo.toml", &absolute, &file_url] {
        let file = File::from_bytes(one_chunk(&format!("[\"{target}\", 0, 4]"))).unwrap();
        assert_eq!(file.variable("v").unwrap().get_all(..).unwrap_err().code, Code::EINVAL, "{target}");
    }
}

/// Makes a file of `steps` steps from step `from` on, changed by `change` before it is closed.
fn steps(path: &Path, from: u32, steps: u32, change: impl Fn(&FileMut)) -> (Location, ReferenceOptions) {
    let file = ferrocdf::create(path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 600).unwrap();
    let x = file.add_variable::<f64>("x", &["x"]).unwrap();
    let time = file.add_variable::<i32>("time", &["time"]).unwrap();
    time.put_attribute("units", "days since 2000-01-01").unwrap();
    let level = file.build_variable("level", Atomic::Short, &["time", "x"]);
    let level = level.chunks(&[2, 600]).deflate(3).attribute("scale_factor", 0.5).create().unwrap();
    change(&file);
    x.put_values(&(0..600).map(f64::from).collect::<Vec<_>>(), ..).unwrap();
    for step in 0..steps {
        time.put_value((from + step) as i32, [step as usize]).unwrap();
        let numbers: Vec<i32> = (0..600).map(|at| (at + (from + step) as i32) % 30000).collect();
        level.put_values(&numbers, (step as usize, ..)).unwrap();
    }
    file.close().unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    (Location::Path(path.to_path_buf()), url(name))
}

#[test]
fn files_are_joined_along_a_dimension() {
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str, from, count| steps(&folder.path().join(name), from, count, |_| {});
    // The third one begins within a chunk.
    let odd = [part("a.nc", 0, 4), part("b.nc", 4, 1), part("c.nc", 5, 3)];
    assert!(References::concat("time", &odd).is_ok(), "few values become inline");
    let parts = [part("a.nc", 0, 4), part("b.nc", 4, 2), part("c.nc", 6, 3)];
    let made = References::concat("time", &parts).unwrap();
    assert!(made.skipped.is_empty());
    let json = folder.path().join("all.json");
    fs::write(&json, made.references.to_json()).unwrap();
    let file = File::open(&json).unwrap();
    assert_eq!(file.variable("time").unwrap().get_values::<i32, _>(..).unwrap(), (0..9).collect::<Vec<_>>());
    let level = file.variable("level").unwrap();
    assert_eq!(level.shape(), [9, 600]);
    for step in 0..9 {
        let wanted: Vec<i32> = (0..600).map(|at| at + step).collect();
        assert_eq!(level.get_values::<i32, _>((step as usize, ..)).unwrap(), wanted);
    }
    assert_eq!(level.attribute::<f64>("scale_factor").unwrap(), 0.5);
    assert_eq!(file.variable("x").unwrap().shape(), [600]);
}

#[test]
fn files_that_differ_are_not_joined_and_the_message_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let first = steps(&folder.path().join("a.nc"), 0, 4, |_| {});
    let refused = |other: (Location, ReferenceOptions), words: &[&str]| {
        let error = References::concat("time", &[first.clone(), other]).map(drop).unwrap_err();
        assert_eq!(error.code, Code::EINVAL);
        let said = error.to_string();
        assert!(said.contains("b.nc") && words.iter().all(|word| said.contains(word)), "{said}");
    };
    let path = folder.path().join("b.nc");
    let attribute = |name: &'static str, value: Values, of: &'static str| {
        steps(&path, 4, 4, move |file| {
            file.variable_mut(of).unwrap().put_attribute(name, value.clone()).unwrap();
        })
    };
    let units = Values::Char(b"days since 2000-01-05".to_vec());
    refused(attribute("units", units, "time"), &["/time", "units", "2000-01-05"]);
    refused(
        attribute("scale_factor", Values::Double(vec![0.25]), "level"),
        &["/level", "scale_factor", "0.25"],
    );
    refused(attribute("_FillValue", Values::Short(vec![-1]), "level"), &["/level", "_FillValue"]);
    refused(attribute("valid_max", Values::Short(vec![99]), "level"), &["/level", "valid_max", "99"]);
    let name = Values::Char(b"time".to_vec());
    refused(attribute("standard_name", name, "time"), &["/time", "standard_name"]);
    refused(
        steps(&path, 4, 4, |file| {
            file.add_variable::<i32>("more", &["time"]).unwrap();
        }),
        &["/more"],
    );
    let changed = steps(&path, 4, 4, |_| {});
    let file = FileMut::append(&path).unwrap();
    file.variable_mut("x").unwrap().put_value(0.5, [0]).unwrap();
    file.close().unwrap();
    refused(changed, &["/x", "other values"]);
    // Strings lie in one chunk for each file.
    let texts = |path: &Path, from, count| {
        steps(path, from, count, |file| {
            file.add_variable_of(Atomic::String, "texts", &["time"]).unwrap();
        })
    };
    let odd = texts(&folder.path().join("odd.nc"), 4, 3);
    let error = References::concat("time", &[odd, texts(&path, 7, 2)]).map(drop).unwrap_err();
    assert!(error.to_string().contains("/texts: its chunks have the shape [2]"), "{error}");
    let error = References::concat("depth", std::slice::from_ref(&first)).map(drop).unwrap_err();
    assert!(error.to_string().contains("no variable has this dimension"), "{error}");
}

/// Makes a file with dimension `x` of a length, its coordinate, and a variable of a name.
fn with_variable(path: &Path, len: usize, name: &str) -> (Location, ReferenceOptions) {
    let file = ferrocdf::create(path).unwrap();
    file.put_attribute("title", name).unwrap();
    file.add_dimension("x", len as u64).unwrap();
    let x = file.add_variable::<f64>("x", &["x"]).unwrap();
    x.put_values(&(0..len).map(|at| at as f64).collect::<Vec<_>>(), ..).unwrap();
    let variable = file.add_variable::<i32>(name, &["x"]).unwrap();
    variable.put_values(&vec![name.len() as i32; len], ..).unwrap();
    file.close().unwrap();
    (Location::Path(path.to_path_buf()), url(path.file_name().unwrap().to_str().unwrap()))
}

#[test]
fn files_with_other_variables_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let part = |name: &str, variable| with_variable(&folder.path().join(name), 300, variable);
    let parts = [part("a.nc", "sst"), part("b.nc", "ice"), part("c.nc", "salinity")];
    let made = References::merge(&parts).unwrap();
    assert!(made.skipped.is_empty());
    let json = folder.path().join("all.json");
    fs::write(&json, made.references.to_json()).unwrap();
    let file = File::open(&json).unwrap();
    for (name, value) in [("sst", 3), ("ice", 3), ("salinity", 8)] {
        assert_eq!(file.variable(name).unwrap().get_values::<i32, _>(..).unwrap(), [value; 300]);
    }
    assert_eq!(file.variables().count(), 4);
    assert_eq!(file.attribute::<String>("title").unwrap(), "sst");
    assert!(References::merge(&[]).is_err());
}

#[test]
fn files_that_contradict_each_other_are_not_merged_and_the_message_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let first = with_variable(&folder.path().join("a.nc"), 300, "sst");
    let path = folder.path().join("b.nc");
    let refused = |other: (Location, ReferenceOptions), words: &[&str]| {
        let error = References::merge(&[first.clone(), other]).map(drop).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("b.nc") && words.iter().all(|word| said.contains(word)), "{said}");
        assert_eq!(error.code, Code::EINVAL);
    };
    let changed = |change: &dyn Fn(&FileMut)| {
        let other = with_variable(&path, 300, "ice");
        let file = FileMut::append(&path).unwrap();
        change(&file);
        file.close().unwrap();
        other
    };
    refused(with_variable(&path, 301, "ice"), &["/x", "dimension x has 301 elements, but 300"]);
    refused(
        changed(&|file| file.variable_mut("x").unwrap().put_value(0.5, [7]).unwrap()),
        &["/x", "other values"],
    );
    let add_units = |file: &FileMut| file.variable_mut("x").unwrap().put_attribute("units", "m").unwrap();
    refused(changed(&add_units), &["/x", "units"]);
    let add_group = |file: &FileMut| assert!(file.add_group("sst").is_ok());
    refused(changed(&add_group), &["/sst", "a group in one file"]);
}

#[test]
fn merged_groups_have_one_length_of_a_dimension_and_the_attributes_of_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let group = |name: &str, owner_is_root: bool, len: u64, variable: &str| {
        let path = folder.path().join(name);
        let file = ferrocdf::create(&path).unwrap();
        let group = file.add_group("g").unwrap();
        match owner_is_root {
            true => file.add_dimension("x", len).map(drop).unwrap(),
            false => group.add_dimension("x", len).map(drop).unwrap(),
        }
        group.add_variable::<i32>(variable, &["x"]).unwrap();
        file.close().unwrap();
        (Location::Path(path), url(name))
    };
    let first = group("a.nc", true, 300, "v");
    let error = References::merge(&[first.clone(), group("b.nc", false, 200, "w")]).map(drop).unwrap_err();
    assert!(error.to_string().contains("/g/w: its dimension x has 200 elements, but 300"), "{error}");
    let titled = with_variable(&folder.path().join("c.nc"), 30, "ice");
    let made = References::merge(&[first, titled]).unwrap();
    let json = folder.path().join("all.json");
    fs::write(&json, made.references.to_json()).unwrap();
    let file = File::open(&json).unwrap();
    assert!(file.attribute::<String>("title").is_err() && file.variable("g/v").is_ok());
}

#[test]
fn files_of_one_name_do_not_get_one_url() {
    let folder = tempfile::tempdir().unwrap();
    let parts = ["2024", "2025"].map(|year| {
        fs::create_dir(folder.path().join(year)).unwrap();
        with_variable(&folder.path().join(year).join("a.nc"), 30, "sst")
    });
    for made in [References::concat("x", &parts), References::merge(&parts)] {
        let said = made.map(drop).unwrap_err().to_string();
        assert!(
            ["2024/a.nc", "2025/a.nc", "both be found at a.nc"].iter().all(|word| said.contains(word)),
            "{said}"
        );
    }
}
