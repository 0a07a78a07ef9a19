//! Dimensions that are made up for files of h5py: after an edit h5py finds all datasets attached to their scales, and the
//! reference's `ncdump` prints what ours prints.

use std::path::Path;

use ferrocdf::{File, FileMut, GroupId, Name};
use ferrocdf_compat::python::script;

use crate::ncdump_tool::{assert_same, ours, reference};

fn python(what: &str, path: &Path) -> String {
    let output = script("made_up_dims.py").arg(what).arg(path).output().expect("a Python that starts");
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("names of ASCII")
}

/// What h5py says of a dataset: its path, the scales of each dimension, its values.
fn listed(path: &Path) -> Vec<[String; 3]> {
    let fields = |line: &str| line.split('\t').map(str::to_string).collect::<Vec<_>>();
    python("list", path).lines().map(|line| fields(line).try_into().expect("three fields")).collect()
}

fn dims_of(file: &File, path: &str) -> Vec<String> {
    let model = file.model();
    let var = model.find_var_at(path.as_bytes()).unwrap_or_else(|| panic!("no {path}"));
    let path_of = |dim: &ferrocdf::DimId| {
        let dim = model.dim(*dim);
        format!("{}/{}", model.group_path(dim.group).trim_end_matches('/'), dim.name)
    };
    model.var(var).dims.iter().map(path_of).collect()
}

/// Gives a dimension of a variable another name.
fn rename(file: &FileMut, path: &str, place: usize, name: &str) {
    let dim = {
        let model = file.model();
        model.var(model.find_var_at(path.as_bytes()).expect("a variable")).dims[place]
    };
    file.define(|model| model.rename_dim(dim, Name::new(name)?)).expect("a new name");
}

type Edit = (&'static str, fn(&mut FileMut));

const EDITS: [Edit; 9] = [
    ("a rename", |file| rename(file, "square", 1, "column")),
    ("a rename of a record dimension", |file| rename(file, "grows", 0, "record")),
    ("a rename in a group", |file| rename(file, "group/inner/deep", 2, "a_depth")),
    ("a rename to the name of a variable", |file| rename(file, "line", 0, "line")),
    ("a rename of a dimension that has a part of a list", |file| rename(file, "in_part", 1, "part")),
    ("a rename of a dimension of a dataset in another file", |file| rename(file, "out", 0, "far_off")),
    ("dimensions of the same lengths", |file| {
        for (name, len) in [("a3", 3), ("a4", 4), ("b4", 4), ("a6", 6)] {
            file.add_dimension(name, len).expect("a new dimension");
        }
        file.add_unlimited_dimension("records").expect("a new dimension");
        let group = file.model().find_group(GroupId::ROOT, b"group").expect("the group");
        file.define(|model| model.def_dim(group, "a5", Some(5)).map(drop)).expect("a new dimension");
    }),
    ("a variable with the name of a dimension", |file| {
        let name = dims_of(file, "line")[0].trim_start_matches('/').to_string();
        file.variable_mut("line").expect("the variable").rename(&name).expect("a new name");
    }),
    ("a removal", |file| {
        file.remove_variable("square").expect("a removal");
        file.remove_variable("group/flat").expect("a removal");
    }),
];

/// Makes an edit of a copy, and compares with what h5py said of the file before.
fn judge(path: &Path, what: &str, edit: fn(&mut FileMut), before: &[[String; 3]]) {
    let copy = path.with_file_name("copy.h5");
    std::fs::copy(path, &copy).expect("a copy");
    let mut file = FileMut::append(&copy).expect("a file to edit");
    edit(&mut file);
    let after: Vec<_> = before.iter().map(|[path, ..]| path).collect();
    let shown = |file: &File, path: &str| {
        file.model().find_var_at(path.as_bytes()).is_some().then(|| dims_of(file, path))
    };
    let meant: Vec<_> = after.iter().map(|path| shown(&file, path)).collect();
    let far = dims_of(&file, "out");
    file.close().expect("an edited file");
    let file = File::open(&copy).expect("a file to read");
    let found: Vec<_> = after.iter().map(|path| shown(&file, path)).collect();
    assert_eq!((found, dims_of(&file, "out")), (meant, far), "{what}");
    let mut attached = 0;
    for [path, scales, values] in listed(&copy) {
        let scales: Vec<&str> = scales.split(' ').collect();
        assert_eq!(scales, dims_of(&file, &path), "{path} after {what}");
        let old = before.iter().find(|[old, ..]| *old == path).unwrap_or_else(|| panic!("{path} is new"));
        assert_eq!(old[2], values, "{path} after {what}");
        attached += 1;
    }
    assert!(attached >= before.len() - 2, "{attached} datasets after {what}");
    let args = ["-h", copy.to_str().expect("a path of UTF-8")];
    let theirs = reference(&args);
    assert_eq!(theirs.code, Some(0), "{what}: {}", String::from_utf8_lossy(&theirs.err));
    assert_same(&args, &theirs, &ours(&args));
}

#[test]
fn datasets_of_h5py_are_attached_to_the_dimensions_that_an_edit_saw() {
    let folder = tempfile::tempdir().expect("a folder");
    python("make", folder.path());
    for name in ["ordered.h5", "unordered.h5"] {
        let path = folder.path().join(name);
        let before = listed(&path);
        assert_eq!(before.len(), 8);
        EDITS.iter().for_each(|(what, edit)| judge(&path, what, *edit, &before));
    }
}
