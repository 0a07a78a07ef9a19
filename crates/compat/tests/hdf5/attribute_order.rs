//! Attributes of objects that keep no order of them: listed as the HDF5 library lists them, before and after we edit them.

use std::path::Path;

use ferrocdf::{File, FileMut};
use ferrocdf_compat::python::script;

fn python(what: &str, path: &Path) -> Vec<String> {
    let output = script("attribute_order.py").arg(what).arg(path).output().expect("a Python that starts");
    assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

fn ours(path: &Path) -> Vec<String> {
    let file = File::open(path).expect("a file");
    let model = file.model();
    let var = model.var_ids().next().expect("a variable");
    model.var(var).attrs.iter().map(|attr| attr.name.to_string()).collect()
}

#[test]
fn attributes_without_an_order_are_listed_as_by_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.h5");
    python("make", &path);
    let listed = python("list", &path);
    // The first five have a number, the others that of none; within both they come in the order of hashes.
    assert_eq!(listed.len(), 14);
    let old = |name: &String| ["a0", "a1", "a2", "a3", "a4"].contains(&name.as_str());
    assert!(listed[..5].iter().all(old) && !listed.is_sorted(), "{listed:?}");
    assert_eq!(ours(&path), listed);

    let file = FileMut::append(&path).expect("a file to edit");
    file.variable_mut("v").expect("the variable").put_attribute("new", "text").expect("an attribute");
    file.close().expect("an edited file");
    let edited = python("list", &path);
    assert_eq!(ours(&path), edited);
    let old: Vec<String> = edited.into_iter().filter(|name| name != "new").collect();
    assert_eq!(old, listed);
}
