//! Types that have no name in the file: booleans, complex numbers and tables of h5py.

use ferrocdf::model::Class;
use ferrocdf::{
    Code, CreateOptions, File, FileMut, Format, GroupId, Model, Owner, Selection, Type, Value, Values,
};

const ROOT: GroupId = GroupId::ROOT;
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/unnamed.h5");

fn edited() -> FileMut {
    FileMut::append_bytes(std::fs::read(FILE).unwrap()).unwrap()
}

fn again(file: FileMut) -> FileMut {
    FileMut::append_bytes(file.into_bytes().unwrap().unwrap()).unwrap()
}

fn type_names(model: &Model) -> Vec<String> {
    model.types().iter().map(|ty| format!("{}{}", model.group_path(ty.group), ty.name)).collect()
}

/// The type of a variable, by name.
fn type_of(model: &Model, path: &str) -> String {
    let var = model.var_ids().find(|&var| model.var_path(var) == path);
    model.type_name(model.var(var.expect(path)).ty).to_string()
}

/// The names that netCDF-C 4.10.1 gives are kept; it has no types 6 (with a part), 8, 10 (attributes), and 9 is a compound
/// with a reference, for which there is no type here.
#[test]
fn datasets_are_numbered_as_in_the_reference_and_the_rest_behind_them() {
    let file = File::open(FILE).unwrap();
    let model = file.model();
    assert_eq!(
        type_names(&model),
        [
            "/_AnonymousEnum2",
            "/_AnonymousVlen3",
            "/_AnonymousOpaque4",
            "/_AnonymousCompound5",
            "/_AnonymousCompound8",
            "/_AnonymousCompound6",
            "/_AnonymousCompound7",
            "/g_AnonymousEnum10",
            "/_AnonymousEnum11",
            "/g_AnonymousCompound12",
        ]
    );
    for (var, ty) in [
        ("/flag", "_AnonymousEnum2"),
        ("/lists", "_AnonymousVlen3"),
        ("/raw", "_AnonymousOpaque4"),
        ("/rows", "_AnonymousCompound5"),
        ("/table", "_AnonymousCompound6"),
        ("/x", "double"),
        ("/z", "_AnonymousCompound7"),
        ("/g/flag", "_AnonymousEnum2"),
        ("/g/inner", "_AnonymousCompound8"),
        ("/g/size", "_AnonymousEnum10"),
    ] {
        assert_eq!(type_of(&model, var), ty, "{var}");
    }
    let skipped = file.skipped();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
}

#[test]
fn attributes_of_unnamed_types_are_shown() {
    let file = File::open(FILE).unwrap();
    let model = file.model();
    let group = model.find_group(ROOT, b"g").unwrap();
    let x = model.find_var(ROOT, b"x").unwrap();
    let value = |owner: Owner, name: &str| {
        let found = model.find_attr(owner, name.as_bytes()).expect(name);
        match &found.value {
            Values::User(id, list) => (model.user_type(*id).name.to_string(), list.clone()),
            other => panic!("{name}: {other:?}"),
        }
    };
    let enumeration = |name: &str, number| (name.to_string(), vec![Value::Enum(number)]);
    assert_eq!(value(Owner::Var(x), "checked"), enumeration("_AnonymousEnum2", 1));
    assert_eq!(value(Owner::Group(ROOT), "colour"), enumeration("_AnonymousEnum11", 2));
    assert_eq!(value(Owner::Group(ROOT), "size"), enumeration("_AnonymousEnum10", 1));
    assert_eq!(value(Owner::Group(ROOT), "phase").0, "_AnonymousCompound7");
    let (ty, weight) = value(Owner::Group(group), "weight");
    assert_eq!(ty, "_AnonymousCompound12");
    let kilograms = Value::Atomic(Values::Float(vec![1.0]));
    assert_eq!(weight, [Value::Compound(vec![kilograms, Value::Enum(1)])]);
}

#[test]
fn edits_leave_unnamed_types_as_they_are_and_use_them() {
    let mut file = edited();
    let before = type_names(&file.model());
    let flag = file.variable("flag").unwrap().id();
    let Type::User(boolean) = file.model().var(flag).ty else { panic!("an enumeration") };
    let truth = |number| Values::User(boolean, vec![Value::Enum(number)]);
    assert!(file.write_trees(flag, &Selection::slab(&[1], &[1]), &truth(1)).is_ok());
    file.define(|model| {
        let x = model.find_var(ROOT, b"x").unwrap();
        model.put_attr(Owner::Var(x), "sure", truth(0))?;
        let dim = model.var(flag).dims[0];
        model.def_var(ROOT, "zz_flag", Type::User(boolean), &[dim]).map(drop)
    })
    .unwrap();
    let new = file.variable("zz_flag").unwrap().id();
    assert!(file.write_trees(new, &Selection::slab(&[0], &[1]), &truth(1)).is_ok());
    file = again(file);
    assert_eq!(type_names(&file.model()), before);
    assert_eq!(type_of(&file.model(), "/zz_flag"), "_AnonymousEnum2");
    let model = file.model();
    let x = model.find_var(ROOT, b"x").unwrap();
    assert_eq!(model.find_attr(Owner::Var(x), b"sure").unwrap().value, truth(0));
    let flags =
        file.read_selected(file.variable("flag").unwrap().id(), &Selection::slab(&[0], &[2])).unwrap();
    assert_eq!(flags, Values::User(boolean, vec![Value::Enum(1), Value::Enum(1)]));
}

#[test]
fn an_unnamed_type_goes_with_what_is_of_it_and_not_alone() {
    let mut file = edited();
    let error = file.remove_type("/g/_AnonymousEnum10").unwrap_err();
    assert_eq!(error.code, Code::EINVAL);
    assert!(error.to_string().contains("has no name in the file"), "{error}");
    // An attribute of the root group is of it, too, and keeps it.
    file.remove_group("/g").unwrap();
    let file = again(file);
    let model = file.model();
    let size = &model.find_attr(Owner::Group(ROOT), b"size").unwrap().value;
    assert!(matches!(size, Values::User(_, list) if list[..] == [Value::Enum(1)]), "{size:?}");
}

/// A name that a committed type has is not given twice.
#[test]
fn a_name_that_is_taken_is_passed_over() {
    let mut file = edited();
    file.define(|model| {
        let class = Class::Opaque(3);
        let name = ferrocdf::Name::new("_AnonymousEnum2")?;
        let twice = ferrocdf::model::UserType { name, group: ROOT, class: class.clone() };
        assert_eq!(model.def_type(twice).unwrap_err().code, Code::ENAMEINUSE);
        let name = ferrocdf::Name::new("_AnonymousEnum11")?;
        let group = model.find_group(ROOT, b"g").unwrap();
        model.def_type(ferrocdf::model::UserType { name, group, class }).map(drop)
    })
    .unwrap();
    file = again(file);
    let mut names = type_names(&file.model());
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Text of a fixed length within a compound, which netCDF shows as one `char`, is copied whole.
#[test]
fn text_within_a_compound_is_read_and_written_whole() {
    let file = File::open(FILE).unwrap();
    let rows = file.variable("rows").unwrap().id();
    let read = |file: &File, var| file.read_selected(var, &Selection::slab(&[0], &[1])).unwrap();
    let values = read(&file, rows);
    let copy = FileMut::in_memory(&CreateOptions::format(Format::NETCDF4)).unwrap();
    copy.define(|model| {
        let source = file.model();
        for ty in source.types().iter().filter(|ty| ty.group == ROOT) {
            model.def_type(ty.clone())?;
        }
        let dim = model.def_dim(ROOT, "n", Some(1))?;
        model.def_var(ROOT, "rows", source.var(rows).ty, &[dim]).map(drop)
    })
    .unwrap();
    let var = copy.variable("rows").unwrap().id();
    assert!(copy.write_trees(var, &Selection::slab(&[0], &[1]), &values).is_ok());
    let copy = again(copy);
    let Values::User(_, list) = read(&copy, var) else { panic!("compounds") };
    let Value::Compound(fields) = &list[0] else { panic!("a compound") };
    assert_eq!(fields[2], Value::Atomic(Values::Char(b"abc".to_vec())));
}
