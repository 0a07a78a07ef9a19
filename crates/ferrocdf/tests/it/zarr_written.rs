//! Zarr stores that are made and edited: definitions, data, faults, and what other programs wrote.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::store::testing::{Fault, Simulated};
use ferrocdf::store::{ByteRange, Cost, MemoryStore, Store};
use ferrocdf::{
    AppendOptions, Atomic, Code, Container, CreateOptions, DataModel, File, FileMut, Format, GroupId,
    Location, OpenOptions, Owner, Result, Type, Values, VarId, errno,
};

const KEY: &str = "d/s.zarr";

/// The four kinds of stores: with netCDF's metadata and without, of both versions.
fn kinds() -> impl Iterator<Item = CreateOptions> {
    let containers = [Container::ZarrV2, Container::ZarrV3];
    containers.into_iter().flat_map(|container| {
        [true, false].map(|nczarr| {
            let mut options = CreateOptions::format(Format::new(container, DataModel::Netcdf4));
            options.zarr.nczarr = nczarr;
            options
        })
    })
}

fn at(store: &Arc<impl Store + 'static>) -> Location {
    Location::Object { store: store.clone(), key: KEY.to_string() }
}

fn open(store: &Arc<impl Store + 'static>) -> Result<File> {
    File::open_location(&at(store), &OpenOptions::default())
}

fn append(store: &Arc<impl Store + 'static>) -> Result<FileMut> {
    FileMut::append_at(&at(store), &AppendOptions::default())
}

/// Returns all objects of a store.
fn objects(store: &MemoryStore) -> BTreeMap<String, Vec<u8>> {
    let (mut all, mut folders) = (BTreeMap::new(), vec![KEY.to_string()]);
    while let Some(folder) = folders.pop() {
        let listing = store.list(&folder).unwrap();
        for name in listing.objects {
            let key = format!("{folder}/{name}");
            let bytes = store.get(&key, ByteRange::All).unwrap().unwrap().bytes;
            all.insert(key, bytes);
        }
        folders.extend(listing.folders.iter().map(|name| format!("{folder}/{name}")));
    }
    all
}

/// Defines a dataset of a group, numbers, text and strings.
fn define(file: &FileMut) -> Result<()> {
    file.define(|model| {
        let time = model.def_dim(GroupId::ROOT, "time", None)?;
        let x = model.def_dim(GroupId::ROOT, "x", Some(5))?;
        let level = model.def_var(GroupId::ROOT, "level", Atomic::Float.into(), &[time, x])?;
        model.var_mut(level).storage.chunking = Some(Chunking::Chunked(vec![2, 3]));
        model.var_mut(level).storage.filters = vec![
            Filter { id: Filter::SHUFFLE, params: vec![] },
            Filter { id: Filter::DEFLATE, params: vec![3] },
        ];
        model.put_attr(Owner::Var(level), "_FillValue", Values::Float(vec![-1.0]))?;
        model.put_attr(Owner::Var(level), "units", Values::Char(b"K".to_vec()))?;
        model.put_attr(Owner::Group(GroupId::ROOT), "title", Values::Char(b"[1, 2]".to_vec()))?;
        let group = model.def_group(GroupId::ROOT, "g")?;
        let name = model.def_var(group, "name", Atomic::String.into(), &[x])?;
        model.put_attr(Owner::Var(name), "_FillValue", strings(&["none"]))?;
        model.def_var(group, "code", Atomic::Char.into(), &[x])?;
        model.def_var(group, "one", Atomic::Int64.into(), &[])?;
        Ok(())
    })
}

fn strings(list: &[&str]) -> Values {
    Values::String(list.iter().map(|text| Some(text.as_bytes().to_vec())).collect())
}

/// Writes `steps` steps and all of the group.
fn fill(file: &FileMut, steps: u64) -> Result<()> {
    for step in 0..steps {
        let row: Vec<f32> = (0..5).map(|x| (step * 10 + x) as f32).collect();
        let _exact = file.write_values(VarId(0), &[step, 0], &[1, 5], &Values::Float(row))?;
    }
    let long = "w".repeat(300);
    let _exact = file.write_values(VarId(1), &[0], &[3], &strings(&["a", "é", &long]))?;
    let _exact = file.write_values(VarId(2), &[0], &[5], &Values::Char(b"hello".to_vec()))?;
    let _exact = file.write_values(VarId(3), &[], &[], &Values::Int64(vec![i64::MIN]))?;
    Ok(())
}

fn check(file: &File, is_netcdf: bool, steps: u64) {
    let model = file.model();
    let level = model.find_var(GroupId::ROOT, b"level").unwrap();
    let rows = file.read_values(level, &[0, 0], &[steps, 5]).unwrap();
    let wanted = (0..steps).flat_map(|step| (0..5).map(move |x| (step * 10 + x) as f32)).collect();
    assert_eq!(rows, Values::Float(wanted));
    let group = model.find_group(GroupId::ROOT, b"g").unwrap();
    let name = model.find_var(group, b"name").unwrap();
    let long = "w".repeat(300);
    assert_eq!(file.read_values(name, &[0], &[5]).unwrap(), strings(&["a", "é", &long, "none", "none"]));
    let one = model.find_var(group, b"one").unwrap();
    assert_eq!(file.read_values(one, &[], &[]).unwrap(), Values::Int64(vec![i64::MIN]));
    if !is_netcdf {
        return;
    }
    let time = model.find_dim(GroupId::ROOT, b"time").unwrap();
    assert!(model.dim(time).unlimited && model.dim(time).len == steps);
    let code = model.find_var(group, b"code").unwrap();
    assert_eq!(model.var(code).ty, Type::Atomic(Atomic::Char));
    assert_eq!(file.read_values(code, &[0], &[5]).unwrap(), Values::Char(b"hello".to_vec()));
    let attr = |owner, name: &str| model.find_attr(owner, name.as_bytes()).map(|attr| attr.value.clone());
    assert_eq!(attr(Owner::Group(GroupId::ROOT), "title"), Some(Values::Char(b"[1, 2]".to_vec())));
    assert_eq!(attr(Owner::Var(level), "_FillValue"), Some(Values::Float(vec![-1.0])));
    assert_eq!(attr(Owner::Var(name), "_FillValue"), Some(strings(&["none"])));
    assert_eq!(model.var(level).storage.filter(Filter::DEFLATE), Some(&[3][..]));
    assert_eq!(model.var(level).storage.chunking, Some(Chunking::Chunked(vec![2, 3])));
}

#[test]
fn stores_of_all_kinds_are_made_edited_and_read() {
    for options in kinds() {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options).unwrap();
        define(&file).unwrap();
        fill(&file, 3).unwrap();
        check(&file, options.zarr.nczarr, 3);
        file.close().unwrap();
        check(&open(&store).unwrap(), options.zarr.nczarr, 3);
        if !options.zarr.nczarr {
            continue;
        }
        let before = objects(&store);
        append(&store).unwrap().close().unwrap();
        assert_eq!(objects(&store), before, "opening and closing changes nothing");
        let file = append(&store).unwrap();
        let _exact = file
            .write_values(VarId(0), &[3, 0], &[1, 5], &Values::Float((30..35).map(|x| x as f32).collect()))
            .unwrap();
        check(&file, true, 4);
        file.define(|model| {
            let x = model.find_dim(GroupId::ROOT, b"x").unwrap();
            model.def_var(GroupId::ROOT, "new", Atomic::Short.into(), &[x])?;
            model.put_attr(Owner::Var(VarId(0)), "units", Values::Char(b"degC".to_vec()))?;
            Ok(())
        })
        .unwrap();
        file.close().unwrap();
        let file = open(&store).unwrap();
        check(&file, true, 4);
        let new = file.variable("new").unwrap();
        assert_eq!(new.get_values::<i16, _>(..).unwrap(), [-32767; 5], "fill values");
        let units = file.model().find_attr(Owner::Var(VarId(0)), b"units").unwrap().value.clone();
        assert_eq!(units, Values::Char(b"degC".to_vec()));
    }
}

#[test]
fn every_dimension_of_a_store_can_be_made_longer() {
    for options in kinds() {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options).unwrap();
        define(&file).unwrap();
        fill(&file, 2).unwrap();
        file.close().unwrap();
        let file = append(&store).unwrap();
        file.root_mut().grow_dimension("x", 7).unwrap();
        file.root_mut().grow_dimension("x", 6).unwrap();
        let _exact = file.write_values(VarId(0), &[1, 5], &[1, 1], &Values::Float(vec![9.0])).unwrap();
        file.close().unwrap();
        let file = open(&store).unwrap();
        let level = file.variable("level").unwrap();
        let wanted = [10.0, 11.0, 12.0, 13.0, 14.0, 9.0, -1.0];
        assert_eq!(level.get_values::<f32, _>((1, ..)).unwrap(), wanted, "{options:?}");
        // Without netCDF's metadata each group has dimensions of its own.
        let len = if options.zarr.nczarr { 7 } else { 5 };
        assert_eq!(file.variable("/g/name").unwrap().shape(), [len]);
    }
}

#[test]
fn dimension_of_another_file_grows_if_it_is_unlimited() {
    for format in [Format::CLASSIC, Format::NETCDF4] {
        let file = FileMut::in_memory(&CreateOptions::format(format)).unwrap();
        file.define(|model| {
            let dims = [("time", None), ("x", Some(2))];
            let [time, x] = dims.map(|(name, len)| model.def_dim(GroupId::ROOT, name, len));
            model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[time?, x?])
        })
        .unwrap();
        file.root_mut().grow_dimension("time", 3).unwrap();
        assert_eq!(file.root_mut().grow_dimension("x", 3).unwrap_err().code, Code::EDIMSIZE);
        assert_eq!(file.root_mut().grow_dimension("y", 3).unwrap_err().code, Code::EBADDIM);
        assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [-2_147_483_647; 6]);
    }
}

#[test]
fn chunks_of_the_fill_value_are_left_out() {
    for (keeps, wanted) in [(false, 1), (true, 2)] {
        let store = Arc::new(MemoryStore::default());
        let mut options = kinds().nth(2).unwrap();
        options.zarr.keeps_empty_chunks = keeps;
        let file = FileMut::create_at(&at(&store), &options).unwrap();
        define(&file).unwrap();
        let write = |values: [f32; 3]| {
            let _exact = file
                .write_values(VarId(0), &[0, 0], &[2, 3], &Values::Float([values, values].concat()))
                .unwrap();
            file.sync().unwrap();
        };
        write([1.0, 2.0, 3.0]);
        write([-1.0, -1.0, -1.0]);
        let _exact = file.write_values(VarId(0), &[0, 3], &[1, 1], &Values::Float(vec![7.0])).unwrap();
        file.close().unwrap();
        let chunks = objects(&store).into_keys().filter(|key| key.contains("/level/c/")).count();
        assert_eq!(chunks, wanted);
        let file = open(&store).unwrap();
        let values: Vec<f32> = file.variable("level").unwrap().get_values((0, ..)).unwrap();
        assert_eq!(values, [-1.0, -1.0, -1.0, 7.0, -1.0]);
    }
}

#[test]
fn shards_are_written_whole_and_read_by_ranges() {
    let store = Arc::new(MemoryStore::default());
    let options = kinds().nth(2).unwrap();
    let file = FileMut::create_at(&at(&store), &options).unwrap();
    file.define(|model| {
        let dims = [("y", 10), ("x", 12)].map(|(name, len)| model.def_dim(GroupId::ROOT, name, Some(len)));
        let [y, x] = dims;
        let var = model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[y?, x?])?;
        let storage = &mut model.var_mut(var).storage;
        storage.chunking = Some(Chunking::Chunked(vec![2, 3]));
        storage.shards = Some(vec![4, 12]);
        storage.filters = vec![Filter { id: Filter::ZSTD, params: vec![3] }];
        Ok(())
    })
    .unwrap();
    let values: Vec<i32> = (0..120).collect();
    let _exact = file.write_values(VarId(0), &[0, 0], &[10, 12], &Values::Int(values.clone())).unwrap();
    file.close().unwrap();
    let keys: Vec<String> = objects(&store).into_keys().filter(|key| key.contains("/v/c/")).collect();
    assert_eq!(keys, ["d/s.zarr/v/c/0/0", "d/s.zarr/v/c/1/0", "d/s.zarr/v/c/2/0"]);
    let read = |file: &File| file.variable("v").unwrap().get_values::<i32, _>(..).unwrap();
    assert_eq!(read(&open(&store).unwrap()), values);
    // A part of a shard is changed by rewriting the shard.
    let file = append(&store).unwrap();
    let _exact = file.write_values(VarId(0), &[5, 5], &[1, 2], &Values::Int(vec![-1, -2])).unwrap();
    let mut changed = values;
    (changed[65], changed[66]) = (-1, -2);
    assert_eq!(read(&file), changed);
    file.close().unwrap();
    assert_eq!(read(&open(&store).unwrap()), changed);
    // Version 2 has no shards.
    let file = FileMut::create_at(&at(&Arc::new(MemoryStore::default())), &kinds().next().unwrap()).unwrap();
    file.define(|model| {
        let x = model.def_dim(GroupId::ROOT, "x", Some(4))?;
        let var = model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x])?;
        model.var_mut(var).storage.shards = Some(vec![4]);
        Ok(())
    })
    .unwrap();
    assert_eq!(file.commit().unwrap_err().code, Code::EZARRMETA);
    file.abort();
}

#[test]
fn what_this_library_does_not_know_stays() {
    let store = Arc::new(MemoryStore::default());
    let put = |key: &str, text: &str| store.put(&format!("{KEY}/{key}"), text.as_bytes()).unwrap();
    let array = |attributes: &str| {
        format!(
            r#"{{"shape": [4], "zarr_format": 3, "node_type": "array", "data_type": "float64", "my_extension": {{"must_understand": false, "a": 1.50}}, "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": "NaN", "codecs": [{{"name": "bytes", "configuration": {{"endian": "big"}}}}], "attributes": {attributes}}}"#
        )
    };
    put(
        "zarr.json",
        r#"{"zarr_format": 3, "node_type": "group", "attributes": {"scale": 2.50, "note": {"deep": [1e3]}}}"#,
    );
    put("v/zarr.json", &array(r#"{"offset": 1e2, "json": {"x": [1, 2]}}"#));
    put("odd/zarr.json", r#"{"zarr_format": 3, "node_type": "array", "data_type": "float8"}"#);
    let before = objects(&store);
    let file = append(&store).unwrap();
    let _exact = file.write_values(VarId(0), &[1], &[2], &Values::Double(vec![1.0, 2.0])).unwrap();
    file.define(|model| model.put_attr(Owner::Var(VarId(0)), "new", Values::Int(vec![7]))).unwrap();
    file.close().unwrap();
    let after = objects(&store);
    for key in ["zarr.json", "odd/zarr.json"] {
        let key = format!("{KEY}/{key}");
        assert_eq!(after[&key], before[&key], "{key}");
    }
    let text = String::from_utf8(after[&format!("{KEY}/v/zarr.json")].clone()).unwrap();
    assert_eq!(text, array(r#"{"offset": 1e2, "json": {"x": [1,2]}, "new": 7}"#));
    assert_eq!(after[&format!("{KEY}/v/c/0")][8..], 1f64.to_be_bytes(), "the byte order of the store");
}

#[test]
fn what_others_did_since_consolidated_metadata_was_written_stays() {
    let store = Arc::new(MemoryStore::default());
    let options = kinds().nth(2).unwrap();
    let file = FileMut::create_at(&at(&store), &options).unwrap();
    define(&file).unwrap();
    fill(&file, 2).unwrap();
    file.close().unwrap();
    // Another program makes the array longer, gives it an attribute, and adds an array that this library does not know.
    let key = format!("{KEY}/level/zarr.json");
    let text = String::from_utf8(store.get(&key, ByteRange::All).unwrap().unwrap().bytes).unwrap();
    let text = text.replace(r#""shape": [2,5]"#, r#""shape": [7,5]"#);
    let text = text.replace(r#""units": "K""#, r#""by": "others", "units": "K""#);
    store.put(&key, text.as_bytes()).unwrap();
    let odd = br#"{"zarr_format": 3, "node_type": "array", "data_type": "float8"}"#;
    store.put(&format!("{KEY}/odd/zarr.json"), odd).unwrap();
    let file = append(&store).unwrap();
    let define = |name: &str| {
        file.define(|model| {
            model.def_var(GroupId::ROOT, name, Atomic::Int.into(), &[])?;
            model.put_attr(Owner::Group(GroupId::ROOT), "edited", Values::Int(vec![1]))
        })
        .unwrap();
        file.commit()
    };
    assert_eq!(define("odd").unwrap_err().code, Code::ENAMEINUSE);
    file.abort();
    define("new").unwrap();
    file.close().unwrap();
    let after = objects(&store);
    assert_eq!(after[&format!("{KEY}/odd/zarr.json")], odd);
    for key in ["level/zarr.json", "zarr.json"] {
        let text = String::from_utf8(after[&format!("{KEY}/{key}")].clone()).unwrap();
        assert!(text.contains(r#""shape": [7,5]"#) && text.contains(r#""by": "others""#), "{text}");
    }
    assert!(open(&store).unwrap().variable("new").is_ok());
}

#[test]
fn text_of_4_bytes_a_character_is_edited_and_json_is_only_read() {
    let store = Arc::new(MemoryStore::default());
    let put = |key: &str, bytes: &[u8]| store.put(&format!("{KEY}/{key}"), bytes).unwrap();
    put(".zgroup", br#"{"zarr_format": 2}"#);
    let text = br#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<U2", "order": "C", "fill_value": "", "compressor": null, "filters": null}"#;
    put("u/.zarray", text);
    put("u/0", b"a\0\0\0b\0\0\0c\0\0\0\0\0\0\0");
    let json = br#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "order": "C", "fill_value": null, "compressor": null, "filters": [{"id": "json2"}]}"#;
    put("v/.zarray", json);
    put("v/0", br#"[1, {"a": 2}, "|O", [2]]"#);
    let file = append(&store).unwrap();
    let read =
        |file: &FileMut, name: &str| file.read_values(file.variable(name).unwrap().id(), &[0], &[2]).unwrap();
    assert_eq!(read(&file, "u"), strings(&["ab", "c"]));
    let values = read(&file, "v");
    let write = |name: &str, text: &str| {
        file.write_values(file.variable(name).unwrap().id(), &[0], &[1], &strings(&[text]))
    };
    assert_eq!(write("v", "3").unwrap_err().code, Code::EPERM);
    assert_eq!(write("u", "xyz").unwrap_err().code, Code::EVARSIZE);
    let _exact = write("u", "\u{e9}").unwrap();
    assert_eq!(read(&file, "u"), strings(&["\u{e9}", "c"]));
    file.close().unwrap();
    let object = &objects(&store)[&format!("{KEY}/u/0")];
    assert_eq!(object[..], *b"\xe9\0\0\0\0\0\0\0c\0\0\0\0\0\0\0");
    let file = append(&store).unwrap();
    assert_eq!((read(&file, "u"), read(&file, "v")), (strings(&["\u{e9}", "c"]), values));
}

#[test]
fn names_and_forms_that_cannot_be_are_refused() {
    for options in kinds() {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options).unwrap();
        let refused = |name: &str, code| {
            file.define(|model| model.def_var(GroupId::ROOT, name, Atomic::Int.into(), &[]).map(drop))
                .unwrap();
            assert_eq!(file.commit().unwrap_err().code, code, "{name}");
            file.abort();
        };
        refused("zarr.json", Code::EBADNAME);
        define(&file).unwrap();
        fill(&file, 1).unwrap();
        let name = ferrocdf::Name::new("other").unwrap();
        let renamed = file.define(|model| model.rename_var(VarId(0), name));
        assert_eq!(renamed.unwrap_err().code, Code::ENCZARR);
        file.commit().unwrap();
        file.close().unwrap();
        check(&open(&store).unwrap(), options.zarr.nczarr, 1);
    }
}

#[test]
fn only_stores_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.zarr");
    let options = kinds().last().unwrap();
    let create = |clobber: bool| {
        let mut options = options.clone();
        options.clobber = clobber;
        let file = FileMut::create(&path, &options)?;
        define(&file)?;
        file.close()
    };
    create(false).unwrap();
    assert_eq!(create(false).unwrap_err().code, Code::EEXIST);
    std::fs::create_dir_all(path.join("old/c")).unwrap();
    std::fs::write(path.join("old/c/0"), b"chunk").unwrap();
    create(true).unwrap();
    assert!(!path.join("old").exists() && path.join("zarr.json").exists());
    std::fs::remove_file(path.join("zarr.json")).unwrap();
    let no_store = create(true).unwrap_err();
    assert_eq!(no_store.code, errno::NOTEMPTY, "it is no store any more");
    assert!(no_store.to_string().ends_with("not replaced (Directory not empty)"), "{no_store}");
    assert_eq!(create(false).unwrap_err().code, Code::EEXIST);
    assert!(path.join("level/zarr.json").exists(), "and stays as it is");
}

#[test]
fn writers_of_different_chunks_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.zarr");
    let file = FileMut::create(&path, &kinds().nth(2).unwrap()).unwrap();
    file.define(|model| {
        let y = model.def_dim(GroupId::ROOT, "y", Some(64))?;
        let x = model.def_dim(GroupId::ROOT, "x", Some(30))?;
        let var = model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[y, x])?;
        model.var_mut(var).storage.chunking = Some(Chunking::Chunked(vec![2, 10]));
        Ok(())
    })
    .unwrap();
    file.close().unwrap();
    let metadata = std::fs::read(path.join("zarr.json")).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8u64 {
            let path = &path;
            scope.spawn(move || {
                for round in 0..20 {
                    let file = FileMut::append(path).unwrap();
                    let values = vec![(writer * 1000 + round) as i32; 8 * 30];
                    let rows = file.write_values(VarId(0), &[writer * 8, 0], &[8, 30], &Values::Int(values));
                    let _exact = rows.unwrap();
                    file.close().unwrap();
                }
            });
        }
    });
    assert_eq!(std::fs::read(path.join("zarr.json")).unwrap(), metadata, "nobody had to say anything");
    let file = File::open(&path).unwrap();
    let values: Vec<i32> = file.variable("v").unwrap().get_values(..).unwrap();
    let wanted = (0..64).flat_map(|row| vec![row / 8 * 1000 + 19; 30]);
    assert!(values.into_iter().eq(wanted));
}

/// One session that makes a store and edits it, each step of which is tried so often. When it syncs, a chunk is written in part.
fn session(store: &Arc<Simulated<MemoryStore>>, options: &CreateOptions, tries: u32) -> Result<()> {
    let again = |step: &dyn Fn() -> Result<()>| (1..tries).find_map(|_| step().ok()).map_or_else(step, Ok);
    let file = (1..tries).find_map(|_| FileMut::create_at(&at(store), options).ok());
    let file = file.map_or_else(|| FileMut::create_at(&at(store), options), Ok)?;
    define(&file)?;
    again(&|| file.commit())?;
    again(&|| fill(&file, 3))?;
    again(&|| file.sync())?;
    again(&|| fill(&file, 5))?;
    again(&|| file.sync())?;
    file.close()
}

/// Returns the objects that a writer left, in a store without faults.
fn left(store: &Simulated<MemoryStore>) -> Arc<MemoryStore> {
    let left = MemoryStore::default();
    for (key, bytes) in objects(store.inner()) {
        left.put(&key, &bytes).unwrap();
    }
    Arc::new(left)
}

/// What a reader finds in a store that a writer left: nothing, or a dataset in which all is there that its lengths tell of.
fn check_left(store: &Simulated<MemoryStore>, what: &str) {
    let file = match open(&left(store)) {
        Ok(file) => file,
        // Without its root it is no store yet.
        Err(error) if matches!(error.code, Code::ENOOBJECT | Code::ENOTNC) => return,
        Err(error) => panic!("{what}: {error}"),
    };
    assert_eq!(file.lost(), None, "{what}");
    let Ok(level) = file.variable("level") else { return };
    let shape = level.shape();
    assert!([0, 3, 5].contains(&shape[0]), "{what}: {shape:?}");
    let values: Vec<f32> = level.get_values(..).unwrap();
    for (at, value) in values.into_iter().enumerate() {
        let wanted = (at / 5 * 10 + at % 5) as f32;
        // The metadata has the longer dimension only once all its elements are stored.
        assert_eq!(value, wanted, "{what}: at {at}");
    }
    let model = file.model();
    let Some(group) = model.find_group(GroupId::ROOT, b"g") else { return };
    let Some(one) = model.find_var(group, b"one") else { return };
    let value = file.read_values(one, &[], &[]).unwrap();
    let fill = Values::default_fill(Atomic::Int64);
    assert!(value == Values::Int64(vec![i64::MIN]) || value == fill, "{what}: {value:?}");
}

#[test]
fn a_request_that_fails_once_costs_nothing() {
    for options in kinds() {
        let whole = Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO));
        session(&whole, &options, 1).unwrap();
        let requests = whole.traffic().requests;
        for number in 0..requests {
            for fault in [Fault::Refused, Fault::AnswerLost, Fault::BodyCut] {
                let what = format!("{:?}, request {number}, {fault:?}", options.format);
                let store = Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO));
                store.fail(number, fault);
                let done = session(&store, &options, 2);
                check_left(&store, &what);
                if done.is_ok() {
                    check(&open(&left(&store)).unwrap(), options.zarr.nczarr, 5);
                }
                // Only the close is not tried again.
                assert!(done.is_ok() || number + 4 >= requests, "{what}: {}", done.unwrap_err());
            }
        }
    }
}

#[test]
fn a_writer_that_ends_anywhere_leaves_a_store() {
    for options in kinds() {
        let whole = Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO));
        session(&whole, &options, 1).unwrap();
        let requests = whole.traffic().requests;
        for last in 0..requests {
            let store = Arc::new(Simulated::new(MemoryStore::default(), Cost::REMOTE, Duration::ZERO));
            (last..requests + 100).for_each(|number| store.fail(number, Fault::Refused));
            assert!(session(&store, &options, 1).is_err());
            check_left(&store, &format!("{:?}, ended before request {last}", options.format));
        }
    }
}

#[test]
fn the_codecs_of_a_variable_are_told_as_netcdf_c_tells_them() {
    for options in kinds() {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options).unwrap();
        define(&file).unwrap();
        let codecs = |file: &File, var: u32| -> Vec<String> {
            let attrs = file.hidden_attributes(Owner::Var(VarId(var))).into_iter();
            let text = |attr: ferrocdf::Attr| match attr.value {
                Values::Char(text) if attr.name == "_Codecs" => String::from_utf8(text).unwrap(),
                other => panic!("{other:?}"),
            };
            attrs.map(text).collect()
        };
        let wanted = match options.format.container() {
            Container::ZarrV2 => r#"[{"id": "shuffle","elementsize": 4},{"id": "zlib","level": 3}]"#,
            _ => {
                r#"[{"name": "numcodecs.shuffle","configuration": {"elementsize": 4}},{"name": "numcodecs.zlib","configuration": {"level": 3}}]"#
            }
        };
        assert!(codecs(&file, 0).is_empty(), "not made yet");
        file.sync().unwrap();
        assert_eq!(codecs(&file, 0), [wanted]);
        file.close().unwrap();
        let file = open(&store).unwrap();
        let model = file.model();
        let var = |group, name: &[u8]| model.find_var(group, name).unwrap().0;
        assert_eq!(codecs(&file, var(GroupId::ROOT, b"level")), [wanted]);
        let group = model.find_group(GroupId::ROOT, b"g").unwrap();
        assert!(codecs(&file, var(group, b"one")).is_empty());
    }
}

#[test]
fn blosc_keeps_the_block_size_of_a_user_and_shuffles_whole_elements() {
    let given = Filter { id: Filter::BLOSC, params: vec![0, 0, 0, 256, 5, 1, 1] };
    for options in kinds() {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options).unwrap();
        let var = file
            .define(|model| {
                let x = model.def_dim(GroupId::ROOT, "x", Some(1000))?;
                let var = model.def_var(GroupId::ROOT, "v", Type::Atomic(Atomic::Int), &[x])?;
                model.var_mut(var).storage.filters = vec![given.clone()];
                Ok(var)
            })
            .unwrap();
        let numbers: Vec<i32> = (0..1000).collect();
        let _exact = file.write_values(var, &[0], &[1000], &Values::Int(numbers)).unwrap();
        file.close().unwrap();
        let chunk =
            objects(&store).into_iter().find(|(key, _)| key.ends_with("v/0") || key.ends_with("v/c/0"));
        let (key, chunk) = chunk.expect("one chunk");
        // The element size in the header of Blosc.
        assert_eq!(chunk[3], 4, "{key}");
        assert!(chunk.len() < 2000, "{key}: {} bytes", chunk.len());
        let file = open(&store).unwrap();
        let var = file.model().find_var(GroupId::ROOT, b"v").unwrap();
        assert_eq!(file.model().var(var).storage.filters, std::slice::from_ref(&given), "{key}");
    }
}

/// A header of 1,000 variables, half of them in a group, comes in one request of version 3 and two of version 2; without consolidated
/// metadata in a round for each level of groups and one more, and a listing of each level where netCDF's metadata does not name what is in it.
#[test]
fn a_header_of_a_thousand_variables_takes_few_rounds() {
    for (mut options, is_consolidated) in
        kinds().flat_map(|options| [true, false].map(|is_consolidated| (options.clone(), is_consolidated)))
    {
        options.zarr.consolidated = is_consolidated;
        let memory = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&memory), &options).unwrap();
        let define = |model: &mut ferrocdf::Model| {
            let x = model.def_dim(GroupId::ROOT, "x", Some(5))?;
            let group = model.def_group(GroupId::ROOT, "g")?;
            for number in 0..1000 {
                let group = if number % 2 == 0 { GroupId::ROOT } else { group };
                let var = model.def_var(group, format!("v{number}"), Atomic::Float.into(), &[x])?;
                for attribute in 0..10 {
                    model.put_attr(Owner::Var(var), format!("a{attribute}"), Values::Int(vec![number]))?;
                }
            }
            Ok(())
        };
        file.define(define).unwrap();
        file.close().unwrap();
        let memory = Arc::into_inner(memory).expect("a closed file");
        let slow = Arc::new(Simulated::new(memory, Cost::REMOTE, Duration::ZERO));
        let file = open(&slow).unwrap();
        let model = file.model();
        assert_eq!(model.var_ids().count(), 1000);
        assert!(model.var_ids().all(|var| model.attrs(Owner::Var(var)).len() == 10));
        let traffic = slow.take_traffic();
        match (options.format.container(), is_consolidated) {
            (Container::ZarrV3, true) => assert_eq!((traffic.rounds, traffic.requests), (1, 1)),
            (_, true) => assert_eq!((traffic.rounds, traffic.requests), (2, 2)),
            // The root, what is in it, what is in its group. Where netCDF does not say what a group holds, it is listed first.
            _ => {
                let rounds = if options.zarr.nczarr { 3 } else { 5 };
                let in_flight = Cost::REMOTE.in_flight as u64;
                assert!(
                    traffic.rounds <= rounds + traffic.requests / in_flight,
                    "{traffic:?} {:?}",
                    options.zarr
                );
            }
        }
    }
}

#[test]
fn a_store_is_removed_whole_and_of_a_link_the_link_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("s.zarr"), folder.path().join("link.zarr"));
    let options = CreateOptions::format(Format::new(Container::ZarrV3, DataModel::Netcdf4));
    let file = FileMut::create_at(&Location::Path(path.clone()), &options).unwrap();
    define(&file).unwrap();
    fill(&file, 2).unwrap();
    file.close().unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let remove = |path: &std::path::Path| ferrocdf::remove_zarr_store(&Location::Path(path.to_path_buf()));
    let error = remove(&path.join("level")).unwrap_err();
    assert!(error.code == Code::EINVAL && error.what.contains("a part of the Zarr store"), "{error}");
    assert!(remove(&link).unwrap());
    assert!(!link.exists());
    check(&File::open(&path).unwrap(), true, 2);
    assert!(remove(&path).unwrap());
    assert!(!path.exists());
    assert!(!remove(&path).unwrap());
}
