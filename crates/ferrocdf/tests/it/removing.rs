//! Taking variables, dimensions, types and groups out of netCDF-4 files.

use ferrocdf::model::{Class, Field, TypeId, UserType};
use ferrocdf::{
    Atomic, Code, CreateOptions, FileMut, Format, GroupId, Name, Owner, Selection, Type, Value, Values,
};

const ROOT: GroupId = GroupId::ROOT;

/// Variables `v` and `w` on `x` and `t`, of which `t` has a coordinate; a type that `words` has; a group with the like.
fn sample() -> FileMut {
    let file = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    file.define(|model| {
        let (unused, x) = (model.def_dim(ROOT, "unused", Some(7))?, model.def_dim(ROOT, "x", Some(3))?);
        let t = model.def_dim(ROOT, "t", None)?;
        model.def_var(ROOT, "t", Atomic::Double.into(), &[t])?;
        model.def_var(ROOT, "v", Atomic::Int.into(), &[t, x])?;
        model.def_var(ROOT, "w", Atomic::Short.into(), &[x])?;
        assert_eq!(unused.0, 0);
        let group = model.def_group(ROOT, "g")?;
        for (name, group) in [("words", ROOT), ("inner", group)] {
            let class = Class::Vlen(Atomic::Ubyte.into());
            let ty = model.def_type(UserType { name: Name::new(format!("{name}_t"))?, group, class })?;
            model.def_var(group, name, Type::User(ty), &[x])?;
        }
        let deep = model.def_group(group, "deep")?;
        let y = model.def_dim(group, "y", Some(2))?;
        model.def_var(deep, "z", Atomic::String.into(), &[y, x])?;
        model.put_attr(Owner::Group(deep), "told", "of the deep".into())
    })
    .unwrap();
    file.variable_mut("t").unwrap().put_values(&[10.0, 20.0], ..).unwrap();
    file.variable_mut("v").unwrap().put_values(&[1, 2, 3, 4, 5, 6], (0..2, ..)).unwrap();
    file.variable_mut("w").unwrap().put_values(&[7i16, 8, 9], ..).unwrap();
    let words = |ty| Values::User(TypeId(ty), (0..3u8).map(|n| Value::Vlen(vec![bytes(n)])).collect());
    for (path, ty) in [("words", 0), ("/g/inner", 1)] {
        let var = file.variable(path).unwrap().id();
        assert!(file.write_trees(var, &Selection::slab(&[0], &[3]), &words(ty)).is_ok());
    }
    file
}

fn bytes(count: u8) -> Value {
    Value::Atomic(Values::Ubyte(vec![count; count.into()]))
}

/// The paths of all variables, and the names of all dimensions, in the order of their ids.
fn names(file: &ferrocdf::File) -> (Vec<String>, Vec<String>) {
    let model = file.model();
    let vars = model.var_ids().map(|var| model.var_path(var)).collect();
    (vars, model.dims().iter().map(|dim| dim.name.to_string()).collect())
}

/// The same file, opened anew.
fn again(file: FileMut) -> FileMut {
    FileMut::append_bytes(file.into_bytes().unwrap().unwrap()).unwrap()
}

#[test]
fn a_variable_goes_and_its_dimension_stays() {
    let mut file = sample();
    file.remove_variable("t").unwrap();
    for _ in 0..2 {
        let (vars, dims) = names(&file);
        assert_eq!(vars, ["/v", "/w", "/words", "/g/inner", "/g/deep/z"]);
        assert_eq!(dims, ["unused", "x", "t", "y"]);
        let v = file.variable("v").unwrap();
        assert_eq!(v.shape(), [2, 3]);
        assert_eq!(v.get_values::<i32, _>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
        file = again(file);
    }
    // The dimension can have a coordinate again, and other variables can be written as before.
    file.add_variable::<f32>("t", &["t"]).unwrap().put_values(&[1.0f32, 2.0, 3.0], ..).unwrap();
    file.variable_mut("v").unwrap().put_values(&[7, 8, 9], (2, ..)).unwrap();
    file.remove_variable("/v").unwrap();
    let file = again(file);
    assert_eq!(file.variable("t").unwrap().get_values::<f32, _>(..).unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(file.variable("w").unwrap().get_values::<i16, _>(..).unwrap(), [7, 8, 9]);
    assert!(file.variable("v").is_err());
}

#[test]
fn a_dimension_goes_once_nothing_lies_on_it() {
    let mut file = sample();
    assert_eq!(file.remove_dimension("x").unwrap_err().code, Code::EINVAL);
    assert_eq!(file.remove_dimension("t").unwrap_err().code, Code::EINVAL);
    file.remove_dimension("unused").unwrap();
    for _ in 0..2 {
        assert_eq!(names(&file).1, ["x", "t", "y"]);
        assert_eq!(file.variable("v").unwrap().get_values::<i32, _>(..).unwrap(), [1, 2, 3, 4, 5, 6]);
        file = again(file);
    }
    // A new one gets an id of its own.
    file.add_dimension("last", 5).unwrap();
    file.add_variable::<i8>("on_last", &["last"]).unwrap();
    let file = again(file);
    assert_eq!(names(&file).1, ["x", "t", "y", "last"]);
    assert_eq!(file.variable("on_last").unwrap().shape(), [5]);
}

#[test]
fn a_type_goes_once_nothing_is_of_it() {
    let mut file = sample();
    assert_eq!(file.remove_type("words_t").unwrap_err().code, Code::EINVAL);
    file.remove_variable("words").unwrap();
    file.remove_variable("/g/inner").unwrap();
    let value = Values::User(TypeId(0), vec![Value::Vlen(vec![bytes(4)])]);
    file.define(|model| model.put_attr(Owner::Group(ROOT), "of_words", value)).unwrap();
    assert_eq!(file.remove_type("words_t").unwrap_err().code, Code::EINVAL);
    file.remove_attribute("of_words").unwrap();
    let fields = vec![Field {
        name: Name::new("of").unwrap(),
        offset: 0,
        ty: Type::User(TypeId(0)),
        shape: vec![],
        chars: 1,
    }];
    let pair = UserType {
        name: Name::new("pair").unwrap(),
        group: ROOT,
        class: Class::Compound { size: 16, fields },
    };
    file.define(|model| model.def_type(pair)).unwrap();
    let error = file.remove_type("words_t").unwrap_err();
    assert!(error.to_string().contains("is used by type \"pair\""), "{error}");
    ["pair", "words_t", "/g/inner_t"].iter().for_each(|name| file.remove_type(name).unwrap());
    assert!(file.model().types().is_empty());
    assert!(again(file).model().types().is_empty());
}

#[test]
fn a_group_goes_with_all_that_is_in_it() {
    let mut file = sample();
    file.remove_group("/g").unwrap();
    for _ in 0..2 {
        assert_eq!(names(&file).0, ["/t", "/v", "/w", "/words"]);
        assert_eq!(names(&file).1, ["unused", "x", "t"]);
        assert_eq!(file.model().groups().len(), 1);
        file = again(file);
    }
    assert_eq!(file.remove_group("/").unwrap_err().code, Code::EBADGRPID);
}

#[test]
fn what_is_not_there_and_what_cannot_go_is_told() {
    let mut file = sample();
    assert_eq!(file.remove_variable("none").unwrap_err().code, Code::ENOTVAR);
    assert_eq!(file.remove_dimension("/g/x").unwrap_err().code, Code::EBADDIM);
    assert_eq!(file.remove_type("/h/t").unwrap_err().code, Code::EBADTYPE);
    assert_eq!(file.remove_group("/g/none").unwrap_err().code, Code::ENOGRP);
    let error = file.remove_dimension("x").unwrap_err();
    assert!(error.to_string().contains("dimension \"x\" is used by /v"), "{error}");
    let mut classic = FileMut::in_memory(&CreateOptions::format(Format::CLASSIC)).unwrap();
    classic.add_dimension("x", 3).unwrap();
    assert_eq!(classic.remove_dimension("x").unwrap_err().code, Code::ENOTNC4);
}

#[test]
fn what_is_made_and_removed_again_and_again_leaves_nothing() {
    let mut file = sample();
    let mut sizes = vec![];
    for _ in 0..30 {
        file.define(|model| {
            let x = model.find_dim(ROOT, b"x").unwrap();
            model.def_var(ROOT, "texts", Atomic::String.into(), &[x])?;
            let group = model.def_group(ROOT, "more")?;
            let y = model.def_dim(group, "y", Some(100))?;
            let var = model.def_var(group, "y", Atomic::String.into(), &[y])?;
            let text = vec![Some(b"an attribute of some length".to_vec()); 20];
            model.put_attr(Owner::Var(var), "texts", Values::String(text))
        })
        .unwrap();
        let text = |len| Values::String(vec![Some(vec![b'x'; len]); 3]);
        let var = file.variable("texts").unwrap().id();
        assert!(file.write_values(var, &[0], &[3], &text(300)).is_ok());
        file.sync().unwrap();
        file.remove_variable("texts").unwrap();
        file.remove_group("more").unwrap();
        file = again(file);
        sizes.push(file.size().unwrap());
    }
    assert!(sizes[29] <= sizes[4], "{sizes:?}");
}

/// A file of h5py's, with all that a removal must be careful with.
fn careful() -> FileMut {
    FileMut::append_bytes(include_bytes!("../data/removing.h5").to_vec()).unwrap()
}

/// The texts of a variable.
fn texts(file: &ferrocdf::File, path: &str) -> Vec<String> {
    let var = file.variable(path).unwrap();
    let count = var.shape();
    let Values::String(list) = file.read_values(var.id(), &vec![0; count.len()], &count).unwrap() else {
        panic!("{path} has no texts")
    };
    list.into_iter().map(|text| String::from_utf8(text.unwrap()).unwrap()).collect()
}

const WORDS: [&str; 3] = ["one", "two", "three"];

#[test]
fn what_has_other_names_stays_with_them() {
    // One of several hard links; a soft link; a dataset that shows the strings of another one.
    for (gone, left) in [("v", "/g/w"), ("/g/w", "v"), ("alias", "v"), ("view", "v")] {
        let mut file = careful();
        if gone == "v" {
            let error = file.remove_variable("v").unwrap_err();
            assert!(error.to_string().contains("soft link \"alias\" in /"), "{error}");
            file.remove_variable("alias").unwrap();
        }
        file.remove_variable(gone).unwrap();
        for _ in 0..2 {
            assert!(file.variable(gone).is_err());
            assert_eq!(texts(&file, left), WORDS, "without {gone}");
            let units = file.variable(left).unwrap().attribute::<Values>("units");
            assert_eq!(units.unwrap().len(), 2, "without {gone}");
            file = again(file);
        }
    }
    for gone in ["h", "h2", "galias"] {
        let left = if gone == "h" { "/h2" } else { "/h" };
        let mut file = careful();
        if gone == "h" {
            let error = file.remove_group("h").unwrap_err();
            assert!(error.to_string().contains("soft link \"galias\" in /"), "{error}");
            file.remove_group("galias").unwrap();
        }
        file.remove_group(gone).unwrap();
        for _ in 0..2 {
            assert_eq!(texts(&file, &format!("{left}/s")), ["x1", "y2"], "without {gone}");
            let z = file.variable(&format!("{left}/z")).unwrap();
            assert_eq!(z.get_values::<i64, _>(..).unwrap(), [0, 1, 2, 3]);
            assert!(z.attribute::<Values>("note").is_ok(), "without {gone}");
            file = again(file);
        }
    }
    // And then the last one.
    let mut file = careful();
    ["galias", "h", "h2"].iter().for_each(|name| file.remove_group(name).unwrap());
    assert!(again(file).variable("/h2/z").is_err());
}

#[test]
fn what_cannot_be_read_can_be_removed() {
    let mut file = careful();
    file.remove_variable("t").unwrap();
    for _ in 0..2 {
        assert!(file.variable("t").is_err());
        assert!(file.dimension("t").is_ok());
        assert_eq!(file.variable("on_t").unwrap().get_values::<i64, _>(..).unwrap(), [0, 1, 2]);
        assert!(names(&file).0.iter().all(|name| !name.contains("removed")), "{:?}", names(&file).0);
        file = again(file);
    }
}

#[test]
fn what_is_not_stored_takes_no_time() {
    let begin = std::time::Instant::now();
    let mut file = careful();
    file.remove_variable("huge").unwrap();
    assert!(begin.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn what_netcdf_does_not_know_is_left_alone() {
    let mut file = careful();
    let before = file.bytes().unwrap();
    for (path, by) in [("unknown", "its scale"), ("t", "/on_t"), ("y", "/y")] {
        let error = file.remove_dimension(path).unwrap_err();
        assert_eq!(error.code, Code::EINVAL);
        assert!(error.to_string().contains(by) || error.to_string().contains("used by /"), "{error}");
    }
    // `on_y` would lie on nothing, and so would `/b/v`.
    for done in [file.remove_variable("y"), file.remove_group("a")] {
        let error = done.unwrap_err();
        assert_eq!(error.code, Code::EINVAL);
        assert!(error.to_string().contains("which netCDF does not know"), "{error}");
    }
    assert!(file.bytes().unwrap() == before);
    file.remove_group("b").unwrap();
    file.remove_group("/a/").unwrap();
}

#[test]
fn nothing_is_removed_under_the_hands_of_others() {
    let mut file = sample();
    let other: ferrocdf::File = (*file).clone();
    assert_eq!(file.remove_variable("v").unwrap_err().code, Code::EPERM);
    assert_eq!(other.variable("v").unwrap().shape(), [2, 3]);
    drop(other);
    file.remove_variable("v").unwrap();
}

#[test]
fn texts_that_are_written_in_part_leave_nothing() {
    let mut file = sample();
    let mut sizes = vec![];
    for _ in 0..12 {
        file.define(|model| {
            let x = model.find_dim(ROOT, b"x").unwrap();
            model.def_var(ROOT, "some", Atomic::String.into(), &[x])?;
            let t = model.find_dim(ROOT, b"t").unwrap();
            let var = model.def_var(ROOT, "texts", Atomic::String.into(), &[t])?;
            let fill = Values::String(vec![Some(vec![b'f'; 3000])]);
            model.put_attr(Owner::Var(var), "_FillValue", fill)?;
            model.def_var(ROOT, "none", Atomic::String.into(), &[t]).map(drop)
        })
        .unwrap();
        for name in ["texts", "some"] {
            let var = file.variable(name).unwrap().id();
            let one = Values::String(vec![Some(vec![b'x'; 300])]);
            assert!(file.write_values(var, &[0], &[1], &one).is_ok());
        }
        file = again(file);
        ["texts", "some"].iter().for_each(|name| file.remove_variable(name).unwrap());
        file.remove_variable("none").unwrap();
        file = again(file);
        sizes.push(file.size().unwrap());
    }
    assert!(sizes[11] <= sizes[2] + 64, "{sizes:?}");
}

#[test]
fn a_removal_that_fails_changes_nothing() {
    // Room for nothing more: the commit fails.
    let bytes = sample().into_bytes().unwrap().unwrap();
    let mut failed = 0;
    for more in (0..4096).step_by(64) {
        let limit = bytes.len() as u64 + more;
        let Ok(mut file) = FileMut::append_bytes_within(bytes.clone(), limit, None) else { continue };
        let before = names(&file);
        let done = file.remove_variable("t");
        if done.is_ok() {
            break;
        }
        failed += 1;
        assert_eq!(names(&file), before);
        let left = file.bytes().unwrap();
        let left = ferrocdf::File::from_bytes(left).unwrap();
        assert_eq!(names(&left), before);
        assert_eq!(left.variable("t").unwrap().get_values::<f64, _>(..).unwrap(), [10.0, 20.0]);
        // Nothing of it is left to be committed.
        let left = ferrocdf::File::from_bytes(file.into_bytes().unwrap().unwrap()).unwrap();
        assert_eq!(names(&left), before);
    }
    assert!(failed > 0);
}
