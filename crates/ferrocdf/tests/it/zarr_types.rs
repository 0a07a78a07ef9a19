//! Variables of user-defined types in Zarr stores that are made and edited.

use std::sync::Arc;

use ferrocdf::model::{Class, Field, Name, UserType, Value};
use ferrocdf::store::{ByteRange, MemoryStore, Store};
use ferrocdf::{
    AppendOptions, Atomic, Code, Container, CreateOptions, DataModel, File, FileMut, Format, GroupId,
    Location, OpenOptions, Owner, Result, Type, Values, VarId,
};

fn at(store: &Arc<MemoryStore>) -> Location {
    Location::Object { store: store.clone(), key: "s.zarr".to_string() }
}

fn options(container: Container, nczarr: bool) -> CreateOptions {
    let mut options = CreateOptions::format(Format::new(container, DataModel::Netcdf4));
    options.zarr.nczarr = nczarr;
    options
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// Defines an enumeration, a compound with an array of it, and a vlen of compounds, each with a variable along an unlimited dimension.
fn define(file: &FileMut) -> Result<()> {
    file.define(|model| {
        let group = GroupId::ROOT;
        let members = vec![(name("low"), -1), (name("high"), 300)];
        let class = Class::Enum { base: Atomic::Short, members };
        let level = Type::User(model.def_type(UserType { name: name("level_t"), group, class })?);
        let field = |of: &str, offset, ty, shape: &[usize]| Field {
            name: name(of),
            offset,
            ty,
            shape: shape.to_vec(),
            chars: 1,
        };
        let fields = vec![field("x", 0, Atomic::Double.into(), &[]), field("levels", 8, level, &[2])];
        let class = Class::Compound { size: 16, fields };
        let pair = Type::User(model.def_type(UserType { name: name("pair_t"), group, class })?);
        let pairs = UserType { name: name("pairs_t"), group, class: Class::Vlen(pair) };
        let pairs = Type::User(model.def_type(pairs)?);
        let time = model.def_dim(group, "time", None)?;
        for (called, ty) in [("level", level), ("pair", pair), ("pairs", pairs)] {
            model.def_var(group, called, ty, &[time])?;
        }
        let fill = user(level, vec![Value::Enum(300)]);
        model.put_attr(Owner::Var(VarId(0)), "_FillValue", fill)?;
        let fill = user(pair, vec![value(9.5)]);
        model.put_attr(Owner::Var(VarId(1)), "_FillValue", fill)?;
        let fill = user(pairs, vec![Value::Vlen(vec![value(7.0)])]);
        model.put_attr(Owner::Var(VarId(2)), "_FillValue", fill)
    })
}

fn user(ty: Type, values: Vec<Value>) -> Values {
    match ty {
        Type::User(id) => Values::User(id, values),
        Type::Atomic(_) => panic!("a user-defined type"),
    }
}

fn value(x: f64) -> Value {
    let levels = vec![Value::Enum(-1), Value::Enum(300)];
    Value::Compound(vec![Value::Atomic(Values::Double(vec![x])), Value::Array(levels)])
}

/// Writes one record of each variable.
fn write(file: &FileMut, record: u64) -> Result<()> {
    let types: Vec<Type> = file.model().vars().iter().map(|var| var.ty).collect();
    let list = (0..record).map(|x| value(x as f64)).collect();
    let values = [Value::Enum(-1), value(record as f64), Value::Vlen(list)];
    for ((var, ty), value) in (0..).zip(types).zip(values) {
        let _exact = file.write_values(VarId(var), &[record], &[1], &user(ty, vec![value]))?;
    }
    Ok(())
}

/// Checks a file of 6 records, of which the last one and the fourth were never written.
fn check(file: &File) {
    let model = file.model();
    let values = |var: u32| match file.read_values(VarId(var), &[0], &[6]).unwrap() {
        Values::User(_, values) => values,
        other => panic!("{other:?}"),
    };
    let is_missing = |record: usize| record == 3 || record == 5;
    let levels = (0..6).map(|record| Value::Enum(if is_missing(record) { 300 } else { -1 }));
    assert_eq!(values(0), levels.collect::<Vec<_>>());
    let pairs = (0..6).map(|record| value(if is_missing(record) { 9.5 } else { record as f64 }));
    assert_eq!(values(1), pairs.collect::<Vec<_>>());
    let lists = (0..6).map(|record| match is_missing(record) {
        true => Value::Vlen(vec![value(7.0)]),
        false => Value::Vlen((0..record).map(|x| value(x as f64)).collect()),
    });
    assert_eq!(values(2), lists.collect::<Vec<_>>());
    for var in 0..3 {
        assert_eq!(model.attrs(Owner::Var(VarId(var))).iter().count(), 1, "only _FillValue");
    }
    let types: Vec<String> = model.types().iter().map(|ty| ty.name.to_string()).collect();
    assert_eq!(types, ["level_t", "pair_t", "pairs_t"]);
}

#[test]
fn records_of_user_defined_types_are_added_to_a_store() {
    for container in [Container::ZarrV2, Container::ZarrV3] {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options(container, true)).unwrap();
        define(&file).unwrap();
        (0..3).for_each(|record| write(&file, record).unwrap());
        file.close().unwrap();
        let file = FileMut::append_at(&at(&store), &AppendOptions::default()).unwrap();
        write(&file, 4).unwrap();
        let label = Value::Enum(-1);
        file.define(|model| {
            let ty = model.vars()[0].ty;
            let time = model.find_dim(GroupId::ROOT, b"time").unwrap();
            let dims = [time];
            let more = model.def_var(GroupId::ROOT, "more", ty, &dims)?;
            model.put_attr(Owner::Var(more), "first", user(ty, vec![label]))
        })
        .unwrap();
        let more = file.model().vars()[3].ty;
        let _exact = file.write_values(VarId(3), &[5], &[1], &user(more, vec![Value::Enum(300)])).unwrap();
        check(&file);
        file.close().unwrap();
        let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
        check(&file);
        let first = file.model().find_attr(Owner::Var(VarId(3)), b"first").unwrap().value.clone();
        assert_eq!(first, user(more, vec![Value::Enum(-1)]));
        let read = file.read_values(VarId(3), &[5], &[1]).unwrap();
        assert_eq!(read, user(more, vec![Value::Enum(300)]));
    }
}

#[test]
fn numbers_out_of_range_and_vlens_of_text_are_refused() {
    for container in [Container::ZarrV2, Container::ZarrV3] {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options(container, true)).unwrap();
        define(&file).unwrap();
        let ty = file.model().vars()[0].ty;
        let wrong = user(ty, vec![Value::Enum(40_000)]);
        assert_eq!(file.write_values(VarId(0), &[0], &[1], &wrong).unwrap_err().code, Code::ERANGE);
        let wrong = user(ty, vec![value(1.0)]);
        assert_eq!(file.write_values(VarId(0), &[0], &[1], &wrong).unwrap_err().code, Code::EBADTYPE);
        // A vlen of text has no data type.
        let error = file
            .define(|model| {
                let class = Class::Vlen(Atomic::String.into());
                let ty = UserType { name: name("texts_t"), group: GroupId::ROOT, class };
                let ty = Type::User(model.def_type(ty)?);
                model.def_var(GroupId::ROOT, "texts", ty, &[]).map(drop)
            })
            .and_then(|()| file.sync())
            .unwrap_err();
        assert_eq!(error.code, Code::ENOTBUILT);
        assert!(!store.list("s.zarr").unwrap().folders.contains(&"texts".to_string()));
    }
}

#[test]
fn a_fill_value_that_is_deleted_is_gone() {
    for container in [Container::ZarrV2, Container::ZarrV3] {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options(container, true)).unwrap();
        define(&file).unwrap();
        file.close().unwrap();
        let file = FileMut::append_at(&at(&store), &AppendOptions::default()).unwrap();
        file.define(|model| {
            (0..3).try_for_each(|var| model.del_attr(Owner::Var(VarId(var)), "_FillValue").map(drop))
        })
        .unwrap();
        file.close().unwrap();
        let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
        for var in 0..3 {
            assert_eq!(file.model().attrs(Owner::Var(VarId(var))).iter().count(), 0, "{container:?} {var}");
        }
    }
}

#[test]
fn numbers_of_structures_have_the_byte_order_of_the_codec() {
    let store = Arc::new(MemoryStore::default());
    let file = FileMut::create_at(&at(&store), &options(Container::ZarrV3, true)).unwrap();
    define(&file).unwrap();
    write(&file, 0).unwrap();
    file.close().unwrap();
    let get = |key: &str| store.get(key, ByteRange::All).unwrap().unwrap().bytes;
    for key in ["s.zarr/pair/zarr.json", "s.zarr/zarr.json"] {
        let text = String::from_utf8(get(key)).unwrap().replace("little", "big");
        store.put(key, text.as_bytes()).unwrap();
    }
    let mut chunk = get("s.zarr/pair/c/0");
    for element in chunk.chunks_exact_mut(12) {
        element[..8].reverse();
        element[8..10].reverse();
        element[10..].reverse();
    }
    store.put("s.zarr/pair/c/0", &chunk).unwrap();
    let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
    let ty = file.model().vars()[1].ty;
    assert_eq!(file.read_values(VarId(1), &[0], &[1]).unwrap(), user(ty, vec![value(0.0)]));
    drop(file);
    let file = FileMut::append_at(&at(&store), &AppendOptions::default()).unwrap();
    let _exact = file.write_values(VarId(1), &[0], &[1], &user(ty, vec![value(1.5)])).unwrap();
    file.close().unwrap();
    assert_eq!(get("s.zarr/pair/c/0")[..8], 1.5f64.to_be_bytes());
}

#[test]
fn definitions_that_are_not_understood_stay_when_a_group_is_edited() {
    let store = Arc::new(MemoryStore::default());
    let file = FileMut::create_at(&at(&store), &options(Container::ZarrV3, true)).unwrap();
    define(&file).unwrap();
    file.define(|model| {
        let ty = model.vars()[1].ty;
        model.put_attr(Owner::Group(GroupId::ROOT), "sample", user(ty, vec![value(2.0)]))
    })
    .unwrap();
    file.close().unwrap();
    let get = |key: &str| String::from_utf8(store.get(key, ByteRange::All).unwrap().unwrap().bytes).unwrap();
    let replace = |from: &str, to: &str| {
        let text = get("s.zarr/zarr.json");
        assert!(text.contains(from));
        store.put("s.zarr/zarr.json", text.replace(from, to).as_bytes()).unwrap();
    };
    replace("compound", "of tomorrow");
    let file = FileMut::append_at(&at(&store), &AppendOptions::default()).unwrap();
    file.define(|model| {
        model.put_attr(Owner::Group(GroupId::ROOT), "more", Values::Int(vec![1]))?;
        model.def_dim(GroupId::ROOT, "y", Some(3)).map(drop)
    })
    .unwrap();
    file.close().unwrap();
    replace("of tomorrow", "compound");
    let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
    let model = file.model();
    let pair = model.vars()[1].ty;
    assert_eq!(model.type_name(pair), "pair_t");
    let sample = &model.find_attr(Owner::Group(GroupId::ROOT), b"sample").unwrap().value;
    assert_eq!(*sample, user(pair, vec![value(2.0)]));
}

#[test]
fn hostile_definitions_of_types_end_quickly() {
    // 100 compounds, each of four of the one before; and definitions that refer to each other.
    let mut types = vec![r#"{"name": "t0", "class": "opaque", "size": 1}"#.to_string()];
    for number in 1..100 {
        let (before, size) = (number - 1, 4usize.saturating_pow(number).min(1 << 26));
        types.push(format!(
            r#"{{"name": "t{number}", "class": "compound", "size": {size}, "fields": [{{"name": "f", "type": "/t{before}", "offset": 0, "shape": [4]}}]}}"#
        ));
    }
    for (name, other) in [("a", "b"), ("b", "a"), ("c", "c")] {
        types.push(format!(r#"{{"name": "{name}", "class": "vlen", "base": "/{other}"}}"#));
    }
    types.push(
        r#"{"name": "e", "class": "enum", "base": "int8", "members": [{"name": "x", "value": 1000}]}"#
            .to_string(),
    );
    types.push(r#"{"name": "z", "class": "opaque", "size": 0}"#.to_string());
    let group = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{"_nczarr_group": {{"dimensions": [], "arrays": ["v"], "subgroups": [], "types": [{}]}}}}}}"#,
        types.join(",")
    );
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [], "data_type": "uint8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}, "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [{"name": "bytes"}], "attributes": {"_nczarr_array": {"dimension_references": [], "type_reference": "/t13"}, "_nczarr_attr": {"type_references": {"a": "/t13"}}, "a": {"f": 1}}}"#;
    let store = Arc::new(MemoryStore::default());
    store.put("s.zarr/zarr.json", group.as_bytes()).unwrap();
    store.put("s.zarr/v/zarr.json", array.as_bytes()).unwrap();
    let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
    assert_eq!(file.model().vars()[0].ty, Atomic::Ubyte.into());
    let skipped = file.skipped().join("\n");
    // Each is named, up to twenty of them.
    assert!(skipped.contains("the type \"t14\""), "{skipped}");
    assert!(skipped.contains("71 definitions of types"), "{skipped}");
    for name in [&b"a"[..], b"c", b"e", b"z", b"t99"] {
        assert_eq!(file.model().type_in(GroupId::ROOT, name), None);
    }
}

#[test]
fn hostile_fields_of_text_are_counted() {
    // 2^26 texts of one byte, each of which would be a field.
    let chars = 1 << 26;
    let group = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "attributes": {{"_nczarr_group": {{"dimensions": [], "arrays": ["v"], "subgroups": [], "types": [{{"name": "t", "class": "compound", "size": {chars}, "fields": [{{"name": "f", "type": "char", "offset": 0, "chars": {chars}}}]}}]}}}}}}"#
    );
    let array = r#"{"zarr_format": 3, "node_type": "array", "shape": [], "data_type": {"name": "struct", "configuration": {"fields": [{"name": "f", "data_type": {"name": "null_terminated_bytes", "configuration": {"length_bytes": 1}}}]}}, "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": []}}, "chunk_key_encoding": {"name": "default"}, "fill_value": "AA==", "codecs": [{"name": "bytes"}], "attributes": {"_nczarr_array": {"dimension_references": [], "type_reference": "/t"}}}"#;
    let store = Arc::new(MemoryStore::default());
    store.put("s.zarr/zarr.json", group.as_bytes()).unwrap();
    store.put("s.zarr/v/zarr.json", array.as_bytes()).unwrap();
    let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
    let model = file.model();
    let defined = model.type_in(GroupId::ROOT, b"t").expect("the definition alone is small");
    assert_eq!(model.vars().len(), 1, "{:?}", file.skipped());
    assert_ne!(model.vars()[0].ty, Type::User(defined));
}

#[test]
fn enumerations_without_the_metadata_of_netcdf_have_the_attributes_of_cf() {
    for container in [Container::ZarrV2, Container::ZarrV3] {
        let store = Arc::new(MemoryStore::default());
        let file = FileMut::create_at(&at(&store), &options(container, false)).unwrap();
        file.define(|model| {
            let members = vec![(name("very low"), -1), (name("high"), 300)];
            let class = Class::Enum { base: Atomic::Short, members };
            let ty = model.def_type(UserType { name: name("level_t"), group: GroupId::ROOT, class })?;
            model.def_var(GroupId::ROOT, "level", Type::User(ty), &[]).map(drop)
        })
        .unwrap();
        file.close().unwrap();
        let file = File::open_location(&at(&store), &OpenOptions::default()).unwrap();
        let model = file.model();
        assert_eq!(model.vars()[0].ty, Atomic::Short.into());
        let attr = |of: &[u8]| model.find_attr(Owner::Var(VarId(0)), of).unwrap().value.clone();
        assert_eq!(attr(b"flag_values"), Values::Int(vec![-1, 300]));
        assert_eq!(attr(b"flag_meanings"), Values::Char(b"very_low high".to_vec()));
    }
}
