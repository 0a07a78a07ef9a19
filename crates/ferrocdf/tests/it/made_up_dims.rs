//! Dimensions that are made up for datasets without scales, in HDF5 files of other programs: an edit that changes dimensions
//! writes them down as scales, so that the file opens with the dimensions that the program saw.

use std::collections::BTreeSet;
use std::sync::Arc;

use ferrocdf::store::MemoryBlob;
use ferrocdf::{Atomic, Code, FileMut, Format, GroupId, Name, Type};
use ferrocdf_hdf5::edit::{
    AllocTime, CreateOptions, DatasetSpec, Editor, FillTime, GroupOptions, NewLayout, Node, TypeRef,
};
use ferrocdf_hdf5::messages::datatype::{ByteOrder, Class, Datatype, Integer, Pads};
use ferrocdf_hdf5::messages::{Dataspace, SpaceKind};
use ferrocdf_hdf5::{LinkTarget, Object, Value};

const ROOT: GroupId = GroupId::ROOT;

/// The datatype of 32-bit integers.
fn integer() -> Datatype {
    let pads = Pads { low: false, high: false, internal: false };
    let integer = Integer { order: ByteOrder::Little, pads, signed: true, offset: 0, precision: 32 };
    Datatype { version: 1, size: 4, class: Class::Integer(integer) }
}

/// An HDF5 dataset of 32-bit integers without scales; a length of 0 may grow.
fn dataset(editor: &mut Editor, group: Node, name: &str, dims: &[u64]) -> Node {
    let grows = dims.contains(&0);
    let max = dims.iter().map(|&len| (len > 0).then_some(len)).collect();
    let space = Dataspace { kind: SpaceKind::Simple, dims: dims.to_vec(), max: Some(max) };
    let layout = if grows { NewLayout::Chunked(vec![2; dims.len()]) } else { NewLayout::Contiguous };
    create(editor, group, name, space, layout)
}

fn create(editor: &mut Editor, group: Node, name: &str, space: Dataspace, layout: NewLayout) -> Node {
    let spec = DatasetSpec {
        datatype: TypeRef::Inline(integer()),
        space,
        layout,
        filters: vec![],
        fill: None,
        fill_time: FillTime::default(),
        alloc_time: AllocTime::default(),
        attribute_order: false,
    };
    editor.create_dataset(group, name, spec).unwrap()
}

/// An HDF5 file whose groups keep the order of their links or not.
fn hdf5(link_order: bool, make: impl FnOnce(&mut Editor, Node)) -> FileMut {
    let blob = Arc::new(MemoryBlob::default());
    let root = GroupOptions { link_order, attribute_order: false };
    let mut editor =
        Editor::create(blob.clone(), &CreateOptions { root, ..CreateOptions::default() }).unwrap();
    let at = editor.root();
    make(&mut editor, at);
    editor.close(0).unwrap();
    FileMut::append_bytes(blob.to_bytes()).unwrap()
}

/// Datasets of several lengths, some equal, in the root group and in a group.
fn sample(link_order: bool) -> FileMut {
    hdf5(link_order, |editor, root| {
        dataset(editor, root, "q", &[3]);
        dataset(editor, root, "a", &[3, 4]);
        dataset(editor, root, "square", &[4, 4]);
        dataset(editor, root, "grows", &[0, 4]);
        let options = GroupOptions { link_order, attribute_order: false };
        let group = editor.create_group(root, "g", options).unwrap();
        dataset(editor, group, "deep", &[4, 5, 4]);
        dataset(editor, group, "flat", &[5]);
    })
}

/// The file after an edit by another program.
fn edited(file: FileMut, edit: impl FnOnce(&mut Editor, Node)) -> FileMut {
    let bytes = Arc::new(MemoryBlob::new(file.into_bytes().unwrap().unwrap()));
    let barrier = ferrocdf_hdf5::edit::Barrier::Order;
    let mut editor = Editor::open(bytes.clone(), ferrocdf_hdf5::OpenOptions::default(), barrier).unwrap();
    let root = editor.root();
    edit(&mut editor, root);
    editor.close(0).unwrap();
    FileMut::append_bytes(bytes.to_bytes()).unwrap()
}

/// The file with one more dataset without scales, `late`, of four elements.
fn with_late(file: FileMut) -> FileMut {
    edited(file, |editor, root| {
        dataset(editor, root, "late", &[4]);
    })
}

/// All dimensions in the order of their ids, and all variables, in the order of their paths, with their dimensions.
fn shown(file: &FileMut) -> (Vec<String>, Vec<String>) {
    let model = file.model();
    let dims = model.dims().iter();
    let dims = dims
        .map(|dim| format!("{}:{} = {} {}", model.group_path(dim.group), dim.name, dim.len, dim.unlimited))
        .collect();
    let on = |var| {
        let dims = model.var(var).dims.iter().map(|&dim| format!("{}/{}", dim.0, model.dim(dim).name));
        format!("{}({})", model.var_path(var), dims.collect::<Vec<_>>().join(", "))
    };
    let mut vars: Vec<String> = model.var_ids().map(on).collect();
    vars.sort();
    (dims, vars)
}

/// The same file, opened anew. It must show what it showed before.
fn again(file: FileMut, what: &str) -> FileMut {
    let before = shown(&file);
    let file = FileMut::append_bytes(file.into_bytes().unwrap().unwrap()).unwrap();
    assert_eq!(shown(&file), before, "{what}");
    file
}

/// The names of the dimensions of a variable.
fn dims_of(file: &FileMut, path: &str) -> Vec<String> {
    let model = file.model();
    let var = model.find_var_at(path.as_bytes()).expect(path);
    model.var(var).dims.iter().map(|&dim| model.dim(dim).name.to_string()).collect()
}

#[test]
fn a_renamed_made_up_dimension_keeps_its_name_and_its_variables() {
    for link_order in [true, false] {
        let file = sample(link_order);
        let [old, _] = &dims_of(&file, "a")[..] else { panic!() };
        file.rename_dimension(old, "rows").unwrap();
        let file = again(file, "a renamed dimension");
        assert_eq!(dims_of(&file, "q"), ["rows"]);
        assert_eq!(dims_of(&file, "a")[0], "rows");
    }
}

#[test]
fn a_made_up_dimension_of_a_group_is_renamed() {
    let file = sample(true);
    let dim = {
        let model = file.model();
        model.var(model.find_var_at(b"g/flat").unwrap()).dims[0]
    };
    file.define(|model| model.rename_dim(dim, Name::new("five")?)).unwrap();
    let file = again(file, "a renamed dimension of a group");
    assert_eq!(dims_of(&file, "g/deep")[1], "five");
}

#[test]
fn a_new_dimension_takes_no_variable_from_made_up_ones() {
    for link_order in [true, false] {
        let mut file = sample(link_order);
        let before = shown(&file).1;
        file.add_dimension("new", 4).unwrap();
        file = again(file, "a new dimension");
        assert_eq!(shown(&file).1, before);
        // From now on all datasets say what they lie on.
        file.add_dimension("also", 3).unwrap();
        file.rename_dimension("new", "a_first").unwrap();
        file.add_unlimited_dimension("record").unwrap();
        file = again(file, "more dimensions");

        assert_eq!(shown(&file).1, before);
    }
}

#[test]
fn a_new_dimension_takes_no_variable_from_scales_of_its_length() {
    let file = hdf5(false, |editor, root| {
        dataset(editor, root, "v", &[4]);
        dataset(editor, root, "w", &[4, 4]);
    });
    file.add_dimension("zz", 4).unwrap();
    let file = again(file, "a scale is made");
    let file = with_late(file);
    let before = dims_of(&file, "late");
    file.add_dimension("aa", 4).unwrap();
    let file = again(file, "a scale before the others");
    assert_eq!(dims_of(&file, "late"), before);
}

#[test]
fn a_variable_on_a_made_up_dimension_leaves_the_others_where_they_are() {
    for link_order in [true, false] {
        let file = sample(link_order);
        let before = shown(&file).1;
        let on = dims_of(&file, "square")[1].clone();
        file.add_variable::<i32>("new", &[&on]).unwrap();
        let mut after = shown(&again(file, "a new variable")).1;
        after.retain(|var| !var.starts_with("/new"));
        assert_eq!(after, before);
    }
}

#[test]
fn a_variable_that_gets_the_name_of_a_made_up_dimension_is_its_scale() {
    for (path, len) in [("q", 1), ("a", 2)] {
        let file = sample(false);
        let dims = dims_of(&file, path);
        assert_eq!(dims.len(), len);
        file.variable_mut(path).unwrap().rename(&dims[0]).unwrap();
        let file = again(file, path);
        assert_eq!(dims_of(&file, &dims[0]), dims);
    }
}

#[test]
fn a_dataset_with_the_name_of_a_made_up_dimension_stays_a_variable() {
    let file = hdf5(true, |editor, root| {
        dataset(editor, root, "v", &[4]);
        dataset(editor, root, "phony_dim_0", &[3, 4]);
    });
    file.add_dimension("new", 4).unwrap();
    let file = again(file, "a name that a dataset has");
    assert_eq!(dims_of(&file, "phony_dim_0"), ["phony_dim_1", "phony_dim_0"]);
}

/// A file whose dimension has the name of the made-up one of `b`.
fn with_dimension_of_the_name() -> FileMut {
    let file = FileMut::in_memory(&ferrocdf::CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("phony_dim_1", 4).unwrap();
    file.add_variable::<f32>("a", &["phony_dim_1"]).unwrap();
    edited(file, |editor, root| {
        dataset(editor, root, "b", &[6]);
        dataset(editor, root, "c", &[7]);
    })
}

/// Files in which a link has the name of the made-up dimension of `a`.
fn with_links_of_the_name() -> Vec<FileMut> {
    let make: [fn(&mut Editor, Node); 3] = [
        |editor, root| {
            editor.create_group(root, "phony_dim_0", GroupOptions::default()).unwrap();
        },
        |editor, root| {
            editor.commit_datatype(root, "phony_dim_0", &integer()).unwrap();
        },
        |editor, root| {
            let space = Dataspace { kind: SpaceKind::Null, dims: vec![], max: None };
            create(editor, root, "phony_dim_0", space, NewLayout::Contiguous);
        },
    ];
    let file = |make: fn(&mut Editor, Node)| {
        hdf5(true, |editor, root| {
            make(editor, root);
            dataset(editor, root, "a", &[4]);
            dataset(editor, root, "b", &[6]);
        })
    };
    make.into_iter().map(file).collect()
}

type Edit = (&'static str, fn(&mut FileMut));

const EDITS: [Edit; 8] = [
    ("a new dimension", |file| drop(file.add_dimension("new", 4).unwrap())),
    ("a renamed variable", |file| file.variable_mut("a").unwrap().rename("z").unwrap()),
    ("a renamed dimension", |file| {
        let dim = dims_of(file, "b")[0].clone();
        file.rename_dimension(&dim, "six").unwrap();
    }),
    ("a removed variable", |file| file.remove_variable("a").unwrap()),
    ("another removed variable", |file| file.remove_variable("b").unwrap()),
    ("a variable on a made-up dimension", |file| {
        let dim = dims_of(file, "b")[0].clone();
        file.add_variable::<f32>("new", &[&dim]).unwrap();
    }),
    ("a coordinate variable", |file| {
        let dim = dims_of(file, "b")[0].clone();
        file.variable_mut("b").unwrap().rename(&dim).unwrap();
    }),
    ("a new group", |file| file.define(|model| model.def_group(ROOT, "new").map(drop)).unwrap()),
];

#[test]
fn a_made_up_dimension_does_not_get_the_name_of_another_dimension() {
    for (what, edit) in EDITS {
        let mut file = with_dimension_of_the_name();
        // The reference calls the one of c by its id, too.
        let names: Vec<_> = ["a", "b", "c"].map(|var| dims_of(&file, var)).concat();
        assert_eq!(names, ["phony_dim_1", "phony_dim_3", "phony_dim_2"]);
        edit(&mut file);
        let file = again(file, what);
        assert_eq!(dims_of(&file, "c"), ["phony_dim_2"], "{what}");
    }
}

#[test]
fn a_made_up_dimension_does_not_get_the_name_of_another_object() {
    for (what, edit) in EDITS {
        for mut file in with_links_of_the_name() {
            let names: Vec<_> = ["a", "b"].map(|var| dims_of(&file, var)).concat();
            assert_eq!(names, ["phony_dim_2", "phony_dim_1"]);
            edit(&mut file);
            again(file, what);
        }
    }
}

#[test]
fn other_renames_keep_made_up_dimensions() {
    let file = sample(false);
    file.variable_mut("a").unwrap().rename("z").unwrap();
    again(file, "a renamed variable");
    let file = hdf5(false, |editor, root| {
        for (name, len) in [("g", 3), ("h", 4)] {
            let group = editor.create_group(root, name, GroupOptions::default()).unwrap();
            dataset(editor, group, "v", &[len]);
        }
    });
    let group = file.model().find_group(ROOT, b"g").unwrap();
    file.define(|model| model.rename_group(group, "z")).unwrap();
    again(file, "a renamed group");
}

#[test]
fn removals_keep_made_up_dimensions() {
    let mut file = sample(true);
    let before = shown(&file).1;
    file.remove_variable("a").unwrap();
    file = again(file, "a removed variable");
    let left: Vec<_> = before.into_iter().filter(|var| !var.starts_with("/a(")).collect();
    assert_eq!(shown(&file).1, left);
    let mut file = sample(true);
    let before = dims_of(&file, "grows");
    file.remove_group("g").unwrap();
    let mut file = again(file, "a removed group");
    assert_eq!(dims_of(&file, "grows"), before);
    file.remove_variable("grows").unwrap();
    let mut file = again(file, "a removed variable");
    // Nothing lies on its record dimension now.
    file.remove_dimension(&before[0]).unwrap();
    again(file, "a removed dimension");
    let mut file = sample(true);
    let error = file.remove_dimension(&dims_of(&file, "q")[0]).unwrap_err();
    assert_eq!(error.code, Code::EINVAL);
}

#[test]
fn attributes_and_values_make_no_scales() {
    let file = sample(true);
    file.put_attribute("note", "more").unwrap();
    file.variable_mut("q").unwrap().put_values(&[1, 2, 3], ..).unwrap();
    file.define(|model| model.def_group(ROOT, "new").map(drop)).unwrap();
    let bytes = file.into_bytes().unwrap().unwrap();
    let file = ferrocdf_hdf5::File::open(Arc::new(MemoryBlob::new(bytes))).unwrap();
    let links = file.root().unwrap().links().unwrap().list;
    let names: Vec<_> = links.iter().map(|link| String::from_utf8_lossy(&link.name).into_owned()).collect();
    assert_eq!(names, ["q", "a", "square", "grows", "g", "new"]);
}

/// An HDF5 file of h5py: datasets that name some or none of their scales, and objects with several links.
fn unscaled() -> FileMut {
    FileMut::append_bytes(include_bytes!("../data/unscaled.h5").to_vec()).unwrap()
}

/// The elements of an attribute.
fn elements(object: &Object, name: &str) -> Vec<Value> {
    let Some(found) = object.attribute(name.as_bytes()).unwrap() else { return vec![] };
    ferrocdf_hdf5::Values::new(object.file(), 1 << 20).list(&found.datatype, &found.data).unwrap()
}

/// For each dimension of each dataset the paths of its scales. The scales must name the same users.
fn lists(file: FileMut) -> Vec<(String, Vec<Vec<String>>)> {
    let blob = Arc::new(MemoryBlob::new(file.into_bytes().unwrap().unwrap()));
    let file = ferrocdf_hdf5::File::open(blob).unwrap();
    let (mut objects, mut at) = (vec![(String::new(), file.root().unwrap())], vec![]);
    while let Some((path, object)) = objects.pop() {
        if at.iter().any(|(address, _)| *address == object.address()) {
            continue;
        }
        at.push((object.address(), path.clone()));
        if object.kind() != ferrocdf_hdf5::ObjectKind::Group {
            continue;
        }
        for link in object.links().unwrap().list.into_iter().rev() {
            let LinkTarget::Hard(to) = link.target else { panic!("{:?}", link.target) };
            let name = String::from_utf8(link.name).unwrap();
            objects.push((format!("{path}/{name}"), file.object(to).unwrap()));
        }
    }
    let path = |value: &Value| {
        let Value::Reference(Some(to)) = value else { panic!("{value:?}") };
        at.iter().find(|(address, _)| *address == to.object).unwrap().1.clone()
    };
    let (mut all, mut uses, mut users) = (vec![], BTreeSet::new(), BTreeSet::new());
    for (address, dataset) in &at {
        let object = file.object(*address).unwrap();
        let mut dims = vec![];
        for (place, scales) in (0i128..).zip(elements(&object, "DIMENSION_LIST")) {
            let Value::Sequence(scales) = scales else { panic!("{scales:?}") };
            let scales: Vec<String> = scales.iter().map(path).collect();
            uses.extend(scales.iter().map(|scale| (scale.clone(), dataset.clone(), place)));
            dims.push(scales);
        }
        if !dims.is_empty() {
            all.push((dataset.clone(), dims));
        }
        for user in elements(&object, "REFERENCE_LIST") {
            let Value::Compound(pair) = user else { panic!("{user:?}") };
            let place = match pair[1] {
                Value::Int(place) => i128::from(place),
                Value::Uint(place) => i128::from(place),
                _ => panic!("{pair:?}"),
            };
            assert!(users.insert((dataset.clone(), path(&pair[0]), place)), "{dataset} {pair:?}");
        }
    }
    assert_eq!(users, uses);
    all
}

/// The ids that a dataset of the root group tells of its dimensions, or of the one whose scale it is.
fn ids(file: &FileMut, name: &str) -> Vec<String> {
    let blob = Arc::new(MemoryBlob::new(file.bytes().unwrap()));
    let file = ferrocdf_hdf5::File::open(blob).unwrap();
    let links = file.root().unwrap().links().unwrap().list;
    let link = links.into_iter().find(|link| link.name == name.as_bytes()).unwrap();
    let LinkTarget::Hard(at) = link.target else { panic!("{:?}", link.target) };
    let object = file.object(at).unwrap();
    let lists = ["_Netcdf4Coordinates", "_Netcdf4Dimid"].map(|name| elements(&object, name));
    lists.concat().iter().map(|id| format!("{id:?}")).collect()
}

#[test]
fn scales_and_datasets_refer_to_each_other() {
    let old = |list: &[&str]| list.iter().map(|path| format!("/{path}")).collect::<Vec<_>>();
    let file = unscaled();
    let phony = [dims_of(&file, "b/on_x"), dims_of(&file, "k/line")].concat();
    file.add_dimension("aa", 3).unwrap();
    let file = again_but_aliases(file);
    assert_eq!(dims_of(&file, "k2/line"), dims_of(&file, "k/line"));
    let found = lists(file);
    let wanted = [
        ("/b/on_x", vec![old(&["a/x", &format!("b/{}", phony[0])]), old(&[&format!("b/{}", phony[1])])]),
        ("/first", vec![old(&["s", "t"]), old(&["s"])]),
        ("/k/line", vec![old(&[&format!("k/{}", phony[2])])]),
        ("/none", vec![old(&["s"]), old(&["t"])]),
        ("/second", vec![old(&["s"]), old(&["s", "t"])]),
    ];
    assert_eq!(found, wanted.map(|(path, lists)| (path.to_string(), lists)));
    let file = unscaled();
    file.rename_dimension("s", "lines").unwrap();
    file.rename_dimension("t", "rows").unwrap();
    let file = again_but_aliases(file);
    assert_eq!(dims_of(&file, "first"), ["rows", "lines"]);
    lists(file);
}

/// Makes a variable that is the scale of the first dimension of `b/on_x`.
fn add_coordinate(file: &mut FileMut) {
    let dim = {
        let model = file.model();
        model.var(model.find_var_at(b"b/on_x").unwrap()).dims[0]
    };
    file.define(|model| {
        let (group, name) = (model.dim(dim).group, model.dim(dim).name.clone());
        model.def_var(group, name.as_bytes(), Type::Atomic(Atomic::Int), &[dim]).map(drop)
    })
    .unwrap();
}

#[test]
fn a_later_edit_keeps_the_other_scales_of_a_dataset() {
    // The scales of the dimensions of `first` and of the first one of `b/on_x`.
    let edits: [(Edit, [&str; 3]); 6] = [
        (
            ("a rename", |file| file.variable_mut("t").unwrap().rename("tt").unwrap()),
            ["/s /t", "/s", "/a/x /b/phony_dim_4"],
        ),
        (
            ("a rename of another scale", |file| file.variable_mut("s").unwrap().rename("ss").unwrap()),
            ["/t", "/s", "/a/x /b/phony_dim_4"],
        ),
        (("a removal", |file| file.remove_variable("t").unwrap()), ["/s /t", "/s", "/a/x /b/phony_dim_4"]),
        (("a new coordinate", add_coordinate), ["/s /t", "/s", "/a/x /b/phony_dim_4"]),
        (
            ("a rename in another group", |file| file.variable_mut("a/x").unwrap().rename("xx").unwrap()),
            ["/s /t", "/s", "/b/phony_dim_4"],
        ),
        (
            ("a new scale", |file| {
                file.variable_mut("t").unwrap().rename("tt").unwrap();
                file.variable_mut("first").unwrap().rename("t").unwrap();
            }),
            ["", "", "/a/x /b/phony_dim_4"],
        ),
    ];
    for ((what, edit), wanted) in edits {
        // In the file as it is opened, right behind another edit, and in the file with all dimensions.
        for first in [0, 1, 2] {
            let mut file = unscaled();
            if first > 0 {
                file.add_dimension("zz", 3).unwrap();
            }
            if first == 2 {
                file = again_but_aliases(file);
            }
            edit(&mut file);
            let lists = lists(again_but_aliases(file));
            let of = |path: &str, dim: usize| {
                let list = lists.iter().find(|(found, _)| found == path);
                list.map_or(String::new(), |(_, lists)| lists[dim].join(" "))
            };
            let found = [of("/first", 0), of("/first", 1), of("/b/on_x", 0)];
            assert_eq!(found, wanted, "{what}, {first}");
        }
    }
}

/// The same file, opened anew. Paths through the second link of a group name the dimensions of the first one.
fn again_but_aliases(file: FileMut) -> FileMut {
    let vars = |file: &FileMut| {
        let mut vars = shown(file).1;
        vars.retain(|var| !var.starts_with("/k2"));
        vars
    };
    let before = vars(&file);
    let file = FileMut::append_bytes(file.into_bytes().unwrap().unwrap()).unwrap();
    assert_eq!(vars(&file), before);
    file
}

#[test]
fn a_rename_under_the_second_path_of_a_group_is_refused() {
    let file = unscaled();
    let dim = file.model().find_var_at(b"k2/line").map(|var| file.model().var(var).dims[0]).unwrap();
    file.define(|model| model.rename_dim(dim, Name::new("cells")?)).unwrap();
    let error = file.sync().unwrap_err();
    assert_eq!(error.code, Code::EPERM);
    assert!(error.what.contains("first path of its group only"), "{error}");
    file.abort();
    let dim = file.model().find_var_at(b"k/line").map(|var| file.model().var(var).dims[0]).unwrap();
    file.define(|model| model.rename_dim(dim, Name::new("cells")?)).unwrap();
    let file = again_but_aliases(file);
    assert_eq!(dims_of(&file, "k2/line"), ["cells"]);
}

#[test]
fn a_scale_that_a_new_variable_takes_over_moves_no_dataset() {
    let file = unscaled();
    assert_eq!(dims_of(&file, "none"), ["s", "t"]);
    file.add_variable::<f32>("fresh", &["s"]).unwrap();
    let file = again_but_aliases(file);
    assert_eq!(lists(file).iter().filter(|(path, _)| path == "/none").count(), 0);
    // A dimension without variable is the last one of its group once it has one.
    let file = hdf5(true, |editor, root| {
        dataset(editor, root, "q", &[5]);
    });
    file.add_dimension("x", 4).unwrap();
    file.add_dimension("y", 4).unwrap();
    let file = with_late(file);
    assert_eq!(dims_of(&file, "late"), ["x"]);
    file.add_variable::<f32>("x", &["x"]).unwrap();
    let file = again(file, "a new coordinate");
    assert_eq!(dims_of(&file, "late"), ["x"]);
}

#[test]
fn a_dataset_whose_scales_are_gone_gets_others() {
    let file = FileMut::in_memory(&ferrocdf::CreateOptions::format(Format::NETCDF4)).unwrap();
    for (name, len) in [("x", 4), ("z", 5), ("y", 6)] {
        file.add_dimension(name, len).unwrap();
    }
    file.add_variable::<f32>("v", &["y", "z", "x"]).unwrap();
    let file =
        edited(file, |editor, root| ["x", "z"].iter().for_each(|name| editor.unlink(root, name).unwrap()));
    // Datasets take the space of the old scales.
    let file = edited(file, |editor, root| {
        for number in 0..8 {
            dataset(editor, root, &format!("other_{number}"), &[9]);
        }
    });
    assert_eq!(dims_of(&file, "v"), ["y", "phony_dim_3", "phony_dim_4"]);
    file.add_dimension("a", 4).unwrap();
    let file = again(file, "scales for those that are gone");
    file.rename_dimension("phony_dim_3", "z").unwrap();
    file.rename_dimension("phony_dim_4", "x").unwrap();
    let file = again(file, "a rename of the new scales");
    assert_eq!(dims_of(&file, "v"), ["y", "z", "x"]);
    assert_eq!(ids(&file, "v"), ["y", "z", "x"].map(|name| ids(&file, name)).concat());
    let lists = lists(file);
    let of_v = lists.iter().find(|(path, _)| path == "/v").map(|(_, lists)| lists);
    assert_eq!(of_v, Some(&["y", "z", "x"].map(|name| vec![format!("/{name}")]).to_vec()));
}

#[test]
fn a_dataset_that_becomes_a_scale_keeps_its_other_dimensions() {
    let file = sample(false);
    // By its length it would be found first.
    file.add_dimension("A0", 4).unwrap();
    let file = again(file, "a new dimension");
    let dims = dims_of(&file, "a");
    file.variable_mut("a").unwrap().rename(&dims[0]).unwrap();
    let file = again(file, "a new coordinate of two dimensions");
    assert_eq!(dims_of(&file, &dims[0]), dims);
}
