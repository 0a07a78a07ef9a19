//! netCDF-4 files that are made, closed, opened again and edited.

use ferrocdf::array::{In, Out};
use ferrocdf::model::{Chunking, Class, Field, Filter, UserType, Value};
use ferrocdf::{
    Atomic, Code, CreateOptions, File, FileMut, Format, GroupId, Location, Name, OpenOptions, Owner,
    Selection, Type, Values, VarId,
};

const ROOT: GroupId = GroupId::ROOT;

fn create(format: Format) -> FileMut {
    FileMut::in_memory(&CreateOptions::format(format)).unwrap()
}

fn bytes(file: FileMut) -> Vec<u8> {
    file.into_bytes().unwrap().unwrap()
}

fn texts(list: &[&str]) -> Values {
    Values::from(list)
}

/// Writes values that fit.
fn put(file: &FileMut, var: VarId, start: &[u64], count: &[u64], values: &Values) {
    let fit = file.write_values(var, start, count, values).unwrap();
    assert_eq!(fit, ferrocdf::RangeCheck::InRange);
}

/// The values of a variable as numbers.
fn numbers(file: &File, name: &str) -> Vec<f64> {
    file.variable(name).unwrap().get_values::<f64, _>(..).unwrap()
}

#[test]
fn both_formats_hold_what_the_classic_model_has() {
    for format in [Format::NETCDF4, Format::NETCDF4_CLASSIC] {
        let file = create(format);
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 3).unwrap();
        file.put_attribute("title", "none").unwrap();
        file.put_attribute("empty", "").unwrap();
        let v = file.add_variable::<f32>("v", &["time", "x"]).unwrap();
        v.put_attribute("range", [1i16, 2]).unwrap();
        v.set_fill_value(-1f32).unwrap();
        file.add_variable::<i32>("x", &["x"]).unwrap().put_values(&[1, 2, 3], ..).unwrap();
        let v = file.variable_mut("v").unwrap();
        v.put_values(&[1f32, 2., 3.], (1, ..)).unwrap();
        assert_eq!(numbers(&file, "v"), [-1., -1., -1., 1., 2., 3.]);
        let text = file.add_text_variable("c", &["x"]).unwrap();
        text.put_text("ab", ..).unwrap();
        let file = File::from_bytes(bytes(file)).unwrap();
        assert_eq!(file.format(), format);
        assert_eq!(numbers(&file, "v"), [-1., -1., -1., 1., 2., 3.]);
        assert_eq!(numbers(&file, "x"), [1., 2., 3.]);
        assert_eq!(file.variable("c").unwrap().get_text(..).unwrap(), "ab");
        let model = file.model();
        let names: Vec<String> = model.vars().iter().map(|var| var.name.to_string()).collect();
        assert_eq!(names, ["v", "x", "c"]);
        let attrs: Vec<_> = file.attributes().unwrap();
        assert_eq!(attrs, [("title".into(), "none".into()), ("empty".into(), "".into())]);
        let of_v = file.variable("v").unwrap().attributes().unwrap();
        assert_eq!(of_v, [("range".into(), vec![1i16, 2].into()), ("_FillValue".into(), vec![-1f32].into())]);
    }
}

#[test]
fn dimensions_of_any_place_grow() {
    let file = create(Format::NETCDF4);
    let (u, a, b) = file
        .define(|model| {
            let u = model.def_dim(ROOT, "u", None)?;
            let v = model.def_dim(ROOT, "v", None)?;
            let a = model.def_var(ROOT, "a", Atomic::Short.into(), &[u, v])?;
            Ok((v, a, model.def_var(ROOT, "b", Atomic::Short.into(), &[v])?))
        })
        .unwrap();
    put(&file, a, &[0, 0], &[2, 2], &vec![1i16, 2, 3, 4].into());
    put(&file, b, &[2], &[1], &vec![7i16].into());
    let fill = -32767i16;
    let all = |file: &File, var: VarId| {
        let shape = file.model().shape(var);
        file.read_selected(var, &Selection::all(&shape)).unwrap()
    };
    let wide = Values::Short(vec![1, 2, fill, 3, 4, fill]);
    assert_eq!((all(&file, a), file.model().dim(u).len), (wide.clone(), 3));
    let file = File::from_bytes(bytes(file)).unwrap();
    assert_eq!((all(&file, a), all(&file, b)), (wide, Values::Short(vec![fill, fill, 7])));
}

/// A file with a type of each class, a variable of each, and strings.
fn with_types(file: &FileMut) -> Vec<VarId> {
    file.define(|model| {
        let name = |name: &str| Name::new(name).unwrap();
        let field = |text: &str, offset, ty: Type, shape: &[usize]| Field {
            name: name(text),
            offset,
            ty,
            shape: shape.to_vec(),
            chars: 1,
        };
        let mut add = |text: &str, class| model.def_type(UserType { name: name(text), group: ROOT, class });
        let base = Atomic::Byte;
        let colour =
            add("colour", Class::Enum { base, members: vec![(name("red"), 1), (name("blue"), -2)] })?;
        let blob = add("blob", Class::Opaque(3))?;
        let row = add("row", Class::Vlen(Atomic::Short.into()))?;
        let fields = vec![
            field("number", 0, Atomic::Int.into(), &[]),
            field("name", 8, Atomic::String.into(), &[]),
            field("rows", 16, Type::User(row), &[2]),
            field("xyz", 48, Atomic::Double.into(), &[3]),
        ];
        let mix = add("mix", Class::Compound { size: 72, fields })?;
        let x = model.def_dim(ROOT, "x", Some(2))?;
        let t = model.def_dim(ROOT, "t", None)?;
        let mut vars = vec![];
        for (name, ty) in [("colours", colour), ("blobs", blob), ("rows", row), ("mixed", mix)] {
            vars.push(model.def_var(ROOT, name, Type::User(ty), &[x])?);
        }
        vars.push(model.def_var(ROOT, "texts", Atomic::String.into(), &[t, x])?);
        Ok(vars)
    })
    .unwrap()
}

#[test]
fn trees_come_back() {
    let file = create(Format::NETCDF4);
    let vars = with_types(&file);
    let ty = |var: VarId| match file.model().var(var).ty {
        Type::User(id) => id,
        Type::Atomic(_) => unreachable!("a type of the file"),
    };
    let row = |list: &[i16]| Value::Vlen(vec![Value::Atomic(list.to_vec().into())]);
    let mix = |number: i32, text: &str| {
        let rows = Value::Array(vec![row(&[1, 2]), row(&[3])]);
        let xyz = Value::Atomic(vec![0.5, 1.5, number.into()].into());
        Value::Compound(vec![Value::Atomic(number.into()), Value::Atomic(texts(&[text])), rows, xyz])
    };
    let given = [
        Values::User(ty(vars[0]), vec![Value::Enum(1), Value::Enum(-2)]),
        Values::User(ty(vars[1]), vec![Value::Opaque(vec![1, 2, 3]), Value::Opaque(vec![4, 5, 6])]),
        Values::User(ty(vars[2]), vec![row(&[1, 2, 3]), row(&[9])]),
        Values::User(ty(vars[3]), vec![mix(1, "one"), mix(2, "")]),
    ];
    for (&var, values) in vars.iter().zip(&given) {
        put(&file, var, &[0], &[2], values);
        file.define(|model| model.put_attr(Owner::Var(var), "same", values.clone())).unwrap();
    }
    put(&file, vars[4], &[1, 0], &[1, 2], &texts(&["a", "longer"]));
    put(&file, vars[4], &[1, 1], &[1, 1], &texts(&["other"]));
    let wrong = file.write_values(vars[4], &[0, 0], &[1, 1], &given[0]).unwrap_err();
    assert_eq!(wrong.code, Code::EBADTYPE);
    let check = |file: &File| {
        for (&var, values) in vars.iter().zip(&given) {
            assert_eq!(file.read_values(var, &[0], &[2]).as_ref(), Ok(values));
            assert_eq!(&file.model().find_attr(Owner::Var(var), b"same").unwrap().value, values);
        }
        let read = file.read_values(vars[4], &[1, 0], &[1, 2]);
        assert_eq!(read, Ok(texts(&["a", "other"])));
    };
    check(&file);
    check(&File::from_bytes(bytes(file)).unwrap());
}

/// Whatever gets another name keeps its values, also when two swap theirs.
#[test]
fn renaming_loses_nothing() {
    let model = |renames: &[(&str, &str, bool)]| {
        let file = create(Format::NETCDF4);
        file.add_dimension("x", 2).unwrap();
        file.add_dimension("y", 3).unwrap();
        for (name, dims, values) in [
            ("x", vec!["x"], vec![1, 2]),
            ("v", vec!["x", "y"], (10..16).collect()),
            ("w", vec!["y"], vec![7, 8, 9]),
        ] {
            file.add_variable::<i32>(name, &dims).unwrap().put_values(&values, ..).unwrap();
        }
        let file = FileMut::append_bytes(bytes(file)).unwrap();
        for &(old, new, dim) in renames {
            match dim {
                true => file.rename_dimension(old, new).unwrap(),
                false => file.variable_mut(old).unwrap().rename(new).unwrap(),
            }
        }
        File::from_bytes(bytes(file)).unwrap()
    };
    type Case<'a> = (&'a [(&'a str, &'a str, bool)], [&'a str; 2], [&'a str; 3]);
    let cases: [Case<'_>; 7] = [
        (&[("x", "lon", true)], ["lon", "y"], ["x", "v", "w"]),
        (&[("x", "lon", false)], ["x", "y"], ["lon", "v", "w"]),
        (&[("x", "lon", true), ("x", "lon", false)], ["lon", "y"], ["lon", "v", "w"]),
        (&[("w", "y", false)], ["x", "y"], ["x", "v", "y"]),
        (&[("y", "w", true)], ["x", "w"], ["x", "v", "w"]),
        (&[("v", "y", false)], ["x", "y"], ["x", "y", "w"]),
        (
            &[("x", "t", true), ("y", "x", true), ("t", "y", true), ("x", "t", false), ("w", "x", false)],
            ["y", "x"],
            ["t", "v", "x"],
        ),
    ];
    for (renames, dims, vars) in cases {
        let file = model(renames);
        let model = file.model();
        let found: Vec<String> = model.dims().iter().map(|dim| dim.name.to_string()).collect();
        assert_eq!(found, dims, "{renames:?}");
        let mut found: Vec<String> = model.vars().iter().map(|var| var.name.to_string()).collect();
        let mut wanted = vars.to_vec();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{renames:?}");
        let values = [vec![1., 2.], (10..16).map(f64::from).collect(), vec![7., 8., 9.]];
        let shapes = [vec![0], vec![0, 1], vec![1]];
        for ((name, values), shape) in vars.iter().zip(values).zip(shapes) {
            assert_eq!(numbers(&file, name), values, "{renames:?} {name}");
            let var = file.variable(name).unwrap();
            let dims: Vec<usize> = var.dimensions().iter().map(|dim| dim.id.index()).collect();
            assert_eq!(dims, shape, "{renames:?} {name}");
        }
    }
}

/// A dimension may leave a name to the variable that had to get out of its way.
#[test]
fn names_that_are_given_up_are_free() {
    let file = create(Format::NETCDF4);
    file.add_dimension("x", 2).unwrap();
    file.add_variable::<i32>("a", &[]).unwrap().put_values(&[7], ..).unwrap();
    file.add_variable::<i32>("b", &[]).unwrap().put_values(&[8], ..).unwrap();
    let mut now = bytes(file);
    for (old, new) in [("x", "b"), ("b", "a"), ("a", "y")] {
        let file = FileMut::append_bytes(now).unwrap();
        file.rename_dimension(old, new).unwrap();
        now = bytes(file);
        let file = File::from_bytes(now.clone()).unwrap();
        assert_eq!(file.dimension(new).unwrap().len(), 2);
        assert_eq!((numbers(&file, "a"), numbers(&file, "b")), (vec![7.], vec![8.]));
    }
}

/// The object of a path in the file below.
fn object(file: &[u8], path: &[u8]) -> ferrocdf_hdf5::Object {
    let blob = std::sync::Arc::new(ferrocdf::store::MemoryBlob::new(file.to_vec()));
    let file = ferrocdf_hdf5::File::open(blob).unwrap();
    file.open_path(file.superblock().root, path).unwrap().unwrap()
}

/// A variable that is attached anew for one of its dimensions is in the lists of the others once.
#[test]
fn scales_name_their_users_once() {
    let file = create(Format::NETCDF4);
    file.add_dimension("x", 2).unwrap();
    file.add_dimension("y", 3).unwrap();
    file.add_variable::<i32>("v", &["x", "y"]).unwrap();
    let file = FileMut::append_bytes(bytes(file)).unwrap();
    file.add_variable::<i32>("y", &["y"]).unwrap();
    let file = bytes(file);
    for scale in [&b"x"[..], b"y"] {
        let list = object(&file, scale).attribute(b"REFERENCE_LIST").unwrap().unwrap();
        assert_eq!(list.data.len() as u32, list.datatype.size, "{}", String::from_utf8_lossy(scale));
    }
}

/// Strings that were never written each have a place of their own in the file, those beyond the borders of a variable
/// included: whoever overwrites one gives its place up.
#[test]
fn strings_share_no_place() {
    for chunking in [Chunking::Chunked(vec![8]), Chunking::Compact, Chunking::Contiguous] {
        let grows = matches!(chunking, Chunking::Chunked(_));
        let file = create(Format::NETCDF4);
        let x = file.define(|model| model.def_dim(ROOT, "x", (!grows).then_some(8))).unwrap();
        let s = file.define(|model| model.def_var(ROOT, "s", Atomic::String.into(), &[x])).unwrap();
        file.define(|model| {
            model.var_mut(s).storage.chunking = Some(chunking.clone());
            Ok(())
        })
        .unwrap();
        put(&file, s, &[1], &[1], &texts(&["written"]));
        let file = bytes(file);
        let dataset = ferrocdf_hdf5::Dataset::open(&object(&file, b"s")).unwrap();
        let mut placed = dataset.raw().unwrap();
        // The whole of the chunk.
        placed.array.shape[0] = 8;
        let mut raw = vec![0u8; 8 * 16];
        let _exact = ferrocdf::array::read(
            &*placed.blob,
            &placed.array,
            &Selection::all(&placed.array.shape),
            Out::new(&mut raw),
        )
        .unwrap();
        let mut places: Vec<&[u8]> = raw.chunks_exact(16).map(|element| &element[4..]).collect();
        places.push(&dataset.fill().value.bytes()[4..]);
        places.sort();
        places.dedup();
        assert_eq!(places.len(), 9, "{chunking:?}");
    }
}

/// What a source says of elements that nobody wrote is written to a target that has no fill values.
#[test]
fn copies_without_fill_values_are_whole() {
    let make = |no_fill| {
        let file = create(Format::NETCDF4);
        let x = file.define(|model| model.def_dim(ROOT, "x", Some(6))).unwrap();
        let v = file.define(|model| model.def_var(ROOT, "v", Atomic::Int.into(), &[x])).unwrap();
        file.define(|model| {
            let storage = &mut model.var_mut(v).storage;
            (storage.chunking, storage.no_fill) = (Some(Chunking::Chunked(vec![2])), no_fill);
            if no_fill { Ok(()) } else { model.put_attr(Owner::Var(v), "_FillValue", 0.into()) }
        })
        .unwrap();
        (file, v)
    };
    let (source, v) = make(false);
    put(&source, v, &[2], &[1], &Values::Int(vec![5]));
    let source = File::from_bytes(bytes(source)).unwrap();
    let (target, to) = make(true);
    ferrocdf::copy_data(&source, &target, &[(v, to)], 1 << 20, &mut |_| ()).unwrap();
    let file = bytes(target);
    assert_eq!(numbers(&File::from_bytes(file.clone()).unwrap(), "v"), [0., 0., 5., 0., 0., 0.]);
    let placed = ferrocdf_hdf5::Dataset::open(&object(&file, b"v")).unwrap().array().unwrap();
    let ferrocdf::array::Layout::Chunked(blocks) = &placed.array.layout else { panic!("no chunks") };
    let places = blocks.index.locate(&[0], &[3]).unwrap();
    assert!(!places.contains(&ferrocdf::array::ChunkLocation::Missing), "{places:?}");
}

#[test]
fn attributes_keep_their_order() {
    let file = create(Format::NETCDF4);
    for name in ["a", "b", "c", "d"] {
        file.put_attribute(name, 1).unwrap();
    }
    file.put_attribute("s", texts(&["x", "yz"])).unwrap();
    let file = FileMut::append_bytes(bytes(file)).unwrap();
    file.put_attribute("b", texts(&["longer than before"])).unwrap();
    file.remove_attribute("a").unwrap();
    file.rename_attribute("c", "e").unwrap();
    file.put_attribute("a", "again").unwrap();
    let wanted = [
        ("b".into(), texts(&["longer than before"])),
        ("e".into(), 1.into()),
        ("d".into(), 1.into()),
        ("s".into(), texts(&["x", "yz"])),
        ("a".into(), "again".into()),
    ];
    assert_eq!(file.attributes().unwrap(), wanted);
    assert_eq!(File::from_bytes(bytes(file)).unwrap().attributes().unwrap(), wanted);
}

/// Attributes that are set again and again, over many sessions, take no more room.
#[test]
fn attributes_do_not_pile_up() {
    let file = create(Format::NETCDF4);
    let mut now = bytes(file);
    let mut sizes = vec![];
    for round in 0..30 {
        let file = FileMut::append_bytes(now).unwrap();
        for step in 0..20 {
            file.put_attribute("history", texts(&[&"x".repeat(500 + step), &round.to_string()])).unwrap();
            file.commit().unwrap();
        }
        now = bytes(file);
        sizes.push(now.len());
    }
    assert!(sizes[29] <= sizes[4] + 8192, "{sizes:?}");
}

#[test]
fn one_writer_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.nc");
    let options = CreateOptions::format(Format::NETCDF4);
    let first = FileMut::create(&path, &options).unwrap();
    first.put_attribute("a", 1).unwrap();
    first.commit().unwrap();
    assert!(FileMut::append(&path).is_err());
    assert!(FileMut::create(&path, &options).is_err());
    assert!(FileMut::create(&path, &CreateOptions::format(Format::CLASSIC)).is_err());
    assert_eq!(File::open(&path).unwrap().attributes().unwrap().len(), 1);
    first.close().unwrap();
    FileMut::append(&path).unwrap().close().unwrap();
}

/// Readers see what was committed, and nothing else.
#[test]
fn what_is_committed_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seen.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_variable::<i32>("v", &["t"]).unwrap();
    file.commit().unwrap();
    let v = file.variable_mut("v").unwrap();
    for round in 0..3 {
        v.put_value(round, [u64::try_from(round).unwrap()]).unwrap();
        let before = File::open(&path).unwrap();
        assert_eq!(before.variable("v").unwrap().len(), u64::try_from(round).unwrap());
        file.sync().unwrap();
        let after = File::open(&path).unwrap();
        assert_eq!(numbers(&after, "v").len(), usize::try_from(round).unwrap() + 1);
    }
}

#[test]
fn filters_and_layouts_are_kept() {
    let file = create(Format::NETCDF4);
    let filters = [
        vec![(3, vec![]), (2, vec![]), (1, vec![4])],
        vec![(32015, vec![3])],
        vec![(307, vec![9])],
        vec![(32001, vec![0, 0, 0, 0, 5, 1, 1])],
        vec![(4, vec![32, 16])],
        vec![],
    ];
    let list = |filters: &[(u32, Vec<u32>)]| -> Vec<Filter> {
        filters.iter().map(|(id, params)| Filter { id: *id, params: params.clone() }).collect()
    };
    let values: Vec<f32> = (0..2000).map(|n| (n / 7) as f32).collect();
    file.define(|model| {
        let dims = [model.def_dim(ROOT, "y", Some(40))?, model.def_dim(ROOT, "x", Some(50))?];
        for (number, filters) in filters.iter().enumerate() {
            let var = model.def_var(ROOT, format!("v{number}"), Atomic::Float.into(), &dims)?;
            let storage = &mut model.var_mut(var).storage;
            storage.filters = list(filters);
            storage.chunking = Some(Chunking::Chunked(vec![16, 20]));
        }
        let var = model.def_var(ROOT, "compact", Atomic::Float.into(), &dims)?;
        model.var_mut(var).storage.chunking = Some(Chunking::Compact);
        Ok(())
    })
    .unwrap();
    for var in file.model().var_ids() {
        put(&file, var, &[0, 0], &[40, 50], &values.clone().into());
        put(&file, var, &[1, 2], &[1, 1], &vec![-5f32].into());
    }
    let file = File::from_bytes(bytes(file)).unwrap();
    let mut wanted = values;
    wanted[52] = -5.;
    for (var, filters) in file.model().var_ids().zip(&filters) {
        assert_eq!(file.read_values(var, &[0, 0], &[40, 50]), Ok(wanted.clone().into()), "{filters:?}");
        let found = file.model().var(var).storage.clone();
        assert_eq!(found.chunking, Some(Chunking::Chunked(vec![16, 20])));
        let ids: Vec<u32> = found.filters.iter().map(|filter| filter.id).collect();
        assert_eq!(ids, filters.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    }
    let compact = file.model().find_var(ROOT, b"compact").unwrap();
    assert_eq!(file.read_values(compact, &[0, 0], &[40, 50]), Ok(wanted.into()));
    assert_eq!(file.model().var(compact).storage.chunking, Some(Chunking::Compact));
}

#[test]
fn numbers_are_rounded_where_that_is_asked_for() {
    use ferrocdf::model::{Quantization, Quantize};
    let file = create(Format::NETCDF4);
    let var = file
        .define(|model| {
            let x = model.def_dim(ROOT, "x", Some(3))?;
            let var = model.def_var(ROOT, "v", Atomic::Float.into(), &[x])?;
            model.var_mut(var).storage.quantize = Some(Quantize { way: Quantization::BitRound, digits: 3 });
            Ok(var)
        })
        .unwrap();
    let rounded = |first: f32| Values::Float(vec![first, f32::INFINITY, 0.]);
    put(&file, var, &[0], &[3], &rounded(1.111_111));
    assert_eq!(file.read_values(var, &[0], &[3]), Ok(rounded(1.125)));
    // The file says so to who opens it next.
    let file = FileMut::append_bytes(bytes(file)).unwrap();
    let name = b"_QuantizeBitRoundNumberOfSignificantBits";
    assert_eq!(file.model().find_attr(Owner::Var(var), name).unwrap().value, 3.into());
    put(&file, var, &[0], &[1], &vec![2.111_111f32].into());
    assert_eq!(file.read_values(var, &[0], &[3]), Ok(rounded(2.)));
}

/// Attributes of many variables, which all threads read ahead of whoever looks at one variable after the other: everybody
/// sees those of each, and which could not be read.
#[test]
fn attributes_of_many_variables() {
    const VARS: usize = 400;
    const DAMAGED: usize = 203;
    let expected = |at: usize| -> Vec<(String, Values)> {
        let texts =
            (0..at % 12).map(|extra| (format!("a{extra}"), format!("{at} and {extra}").as_str().into()));
        std::iter::once(("number".to_string(), (at as i32).into())).chain(texts).collect()
    };
    let file = create(Format::NETCDF4);
    for at in 0..VARS {
        let var = file.add_variable::<i32>(&format!("v{at}"), &[]).unwrap();
        for (name, value) in expected(at) {
            var.put_attribute(&name, value).unwrap();
        }
    }
    let mut bytes = bytes(file);
    let text = format!("{DAMAGED} and 9");
    let at = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    bytes[at] ^= 1;
    for threads in [1, 2, 7] {
        let file = File::from_bytes(bytes.clone()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let file = &file;
                scope.spawn(move || {
                    for step in 0..VARS {
                        let at = (step + thread * 31) % VARS;
                        let var = file.variable(&format!("v{at}")).unwrap();
                        let failure = file.model().attrs(Owner::Var(var.id())).failure().is_some();
                        assert_eq!(failure, at == DAMAGED, "{at}");
                        if at != DAMAGED {
                            let attributes = var.attributes().unwrap();
                            assert_eq!(attributes, expected(at), "{threads} threads, variable {at}");
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn elements_that_are_written_in_order_are_not_filled_before() {
    const ROW: u64 = 1 << 18;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in_order.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("row", 40).unwrap();
    file.add_dimension("column", ROW).unwrap();
    let var = file.add_variable::<i32>("v", &["row", "column"]).unwrap().id();
    let row = |number: u64| Selection::slab(&[number, 0], &[1, ROW]);
    for number in 0..3 {
        let values = vec![number as i32; ROW as usize];
        let _exact = file.write(var, &row(number), In::new(&values)).unwrap();
    }
    let len = std::fs::metadata(&path).unwrap().len();
    assert!((2 << 20..5 << 20).contains(&len), "{len} bytes for three rows of forty");
    file.close().unwrap();
    let file = ferrocdf::open(&path).unwrap();
    for (number, value) in [(0, 0), (2, 2), (3, -2_147_483_647), (39, -2_147_483_647)] {
        let mut values = vec![1i32; ROW as usize];
        let _exact = file.read(var, &row(number), Out::new(&mut values)).unwrap();
        assert!(values.iter().all(|&found| found == value), "row {number}");
    }
}

#[test]
fn files_that_are_edited_again_and_again_do_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.nc");
    let file = FileMut::create(&path, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<i32>("v", &["x"]).unwrap();
    file.close().unwrap();
    // Attributes of the file as a whole, as many and as long as they lie in heaps, and a variable's in its header.
    for (of_file, count, len) in [(true, 10, 20_000), (true, 30, 100), (false, 3, 3000)] {
        let mut sizes = vec![];
        for round in 0..60 {
            let file = FileMut::append(&path).unwrap();
            for number in 0..count {
                let (name, text) = (format!("a{number}"), "word ".repeat((len + round % 7 * 40) / 5));
                match of_file {
                    true => file.put_attribute(&name, text.as_str()).unwrap(),
                    false => file.variable_mut("v").unwrap().put_attribute(&name, text.as_str()).unwrap(),
                };
            }
            file.close().unwrap();
            sizes.push(std::fs::metadata(&path).unwrap().len());
        }
        let [early, late] = [&sizes[10..20], &sizes[50..]].map(|some| *some.iter().max().unwrap());
        // Pieces of other lengths are left over now and then; without a note of them each round would leave a whole list.
        assert!(late <= early + early / 4, "{count} attributes of {len} bytes: {sizes:?}");
    }
    let file = File::open(&path).unwrap();
    assert_eq!(file.model().attrs(Owner::Group(ROOT)).iter().count(), 30);
}

#[test]
fn variables_of_groups_are_written_by_their_path() {
    let file = create(Format::NETCDF4);
    let group = |model: &mut ferrocdf::Model| {
        let group = model.def_group(ROOT, b"deep sea")?;
        let x = model.def_dim(group, b"x", Some(2))?;
        model.def_var(group, b"v", Atomic::Int.into(), &[x]).map(drop)
    };
    file.define(group).unwrap();
    assert!(file.variable_mut("v").is_err());
    file.variable_mut("/deep sea/v").unwrap().put_values(&[7, 8], ..).unwrap();
    assert_eq!(file.variable("deep sea/v").unwrap().get_values::<i32, _>(..).unwrap(), [7, 8]);
}

#[test]
fn texts_of_a_renamed_attribute_survive_another_of_its_old_name() {
    let of_root = Owner::Group(ROOT);
    let file = create(Format::NETCDF4);
    file.add_dimension("x", 3).unwrap();
    for number in 0..20 {
        file.add_variable::<i32>(&format!("v{number}"), &["x"]).unwrap();
    }
    file.put_attribute("old", texts(&["first", "second"])).unwrap();
    let file = FileMut::append_bytes(bytes(file)).unwrap();
    file.define(|model| model.rename_attr(of_root, b"old", Name::new("new")?)).unwrap();
    // The definition is pending here.
    file.variable_mut("v3").unwrap().put_values(&[1, 2, 3], ..).unwrap();
    file.put_attribute("old", texts(&["third"])).unwrap();
    let file = File::from_bytes(bytes(file)).unwrap();
    assert_eq!(file.attribute::<Values>("new").unwrap(), texts(&["first", "second"]));
    assert_eq!(file.attribute::<Values>("old").unwrap(), texts(&["third"]));
}

#[test]
fn a_file_whose_root_is_no_group_is_not_an_empty_one() {
    let file = create(Format::NETCDF4);
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<i32>("v", &["x"]).unwrap();
    let mut bytes = bytes(file);
    let (root, superblock) =
        (object(&bytes, b"v").address(), object(&bytes, b"v").file().superblock().clone());
    let changed = ferrocdf_hdf5::Superblock { root, ..superblock }.encode().unwrap();
    bytes[..changed.len()].copy_from_slice(&changed);
    let error = File::from_bytes(bytes.clone()).map(drop).unwrap_err();
    assert_eq!(error.code, Code::EHDFERR);
    assert!(error.to_string().contains("root group"), "{error}");
    assert!(FileMut::append_bytes(bytes).is_err());
}

#[test]
fn files_that_bytes_in_memory_name_are_found_beside_where_they_come_from() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link_out.h5");
    let linked = std::fs::read(data.join("link_out.h5")).unwrap();
    std::fs::copy(data.join("everything.nc"), folder.path().join("nothing.h5")).unwrap();
    let options = OpenOptions::default();
    let alone = File::from_bytes_with(linked.clone(), &options).unwrap();
    assert_eq!(alone.skipped(), ["/out: the link leads nowhere"]);
    let file = File::from_bytes_with(linked.clone(), &options.beside(Location::Path(path.clone()))).unwrap();
    assert_eq!(numbers(&file, "/out/x"), [0.5, 1.5, 2.5, 3.5]);
    let file = FileMut::append_bytes_within(linked, u64::MAX, Some(Location::Path(path.clone()))).unwrap();
    assert!(file.variable("/out/x").is_ok());
}

#[test]
fn the_same_calls_make_the_same_bytes() {
    let made = || {
        let file = create(Format::NETCDF4);
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 300).unwrap();
        for name in ["a", "b", "c", "d", "e"] {
            file.add_variable::<i32>(name, &["time", "x"]).unwrap();
        }
        for name in ["e", "b", "a", "d", "c"] {
            // A part of a chunk, which stays pending.
            file.variable_mut(name).unwrap().put_values(&[7; 20], (..2, ..10)).unwrap();
        }
        bytes(file)
    };
    let first = made();
    assert!((0..10).all(|_| made() == first));
}

#[test]
fn variable_is_longer_after_another_one_grew_their_dimension() {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 2).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_variable::<i32>("by_x", &["x", "t"]).unwrap().put_values(&[1, 2], (.., ..1)).unwrap();
    assert_eq!(file.variable("by_x").unwrap().get_values::<i32, _>(..).unwrap(), [1, 2]);
    file.add_variable::<i32>("other", &["t"]).unwrap();
    assert_eq!(file.variable("by_x").unwrap().get_values::<i32, _>(..).unwrap(), [1, 2]);
    file.variable_mut("other").unwrap().put_values(&[7, 8, 9], ..3).unwrap();
    let fill = i32::MIN + 1;
    let values = file.variable("by_x").unwrap().get_values::<i32, _>((.., ..)).unwrap();
    assert_eq!(values, [1, fill, fill, 2, fill, fill]);
}
