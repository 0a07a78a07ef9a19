//! Types without a name, in every HDF5 file of the corpus: their names, their order and the variables of them are those of
//! the newest reference, which the wheel of netCDF4 brings along. Debian's shows none of them.

use std::collections::HashSet;
use std::path::Path;

use ferrocdf::model::Class;
use ferrocdf::{File, Type};
use ferrocdf_compat::python;

use crate::files;

/// The file of the facade's tests.
const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ferrocdf/tests/data/unnamed.h5");

/// What our model says in the words of the script, with the number of fields or members last.
fn ours(file: &File) -> Vec<String> {
    let model = file.model();
    let path = |group| match &*model.group_path(group) {
        "/" => String::new(),
        path => path.to_string(),
    };
    let named = |ty: Type| match ty {
        Type::User(id) => {
            let ty = model.user_type(id);
            Some(format!("{}:{}", path(ty.group), ty.name))
        }
        Type::Atomic(_) => None,
    };
    let mut lines = vec![];
    for group in model.group_ids() {
        for &id in &model.group(group).types {
            let class = &model.user_type(id).class;
            let (kind, parts) = match class {
                Class::Vlen(_) => (13, 0),
                Class::Opaque(_) => (14, 0),
                Class::Enum { members, .. } => (15, members.len()),
                Class::Compound { fields, .. } => (16, fields.len()),
            };
            let name = named(Type::User(id)).expect("a type of users");
            lines.push(format!("type {name} {kind} {} {parts}", class.size()));
        }
        for &id in &model.group(group).vars {
            let var = model.var(id);
            if let Some(ty) = named(var.ty) {
                lines.push(format!("variable {}:{} {ty}", path(group), var.name));
            }
        }
    }
    lines
}

/// The name in a line on a type.
fn name(line: &str) -> Option<&str> {
    line.strip_prefix("type ")?.rsplitn(4, ' ').last()
}

#[test]
fn names_and_order_are_those_of_the_newest_reference() {
    let corpus = files(&["hdf5"]);
    let paths = corpus.iter().map(|entry| &*entry.path).chain([Path::new(OWN)]);
    let shown: Vec<(&Path, Vec<String>)> = paths
        .filter_map(|path| Some((path, ours(&File::open(path).ok()?))))
        .filter(|(_, lines)| lines.iter().any(|line| line.contains(":_Anonymous")))
        .collect();
    let paths: Vec<&Path> = shown.iter().map(|(path, _)| *path).collect();
    let told = python::texts(python::script("user_types.py"), &paths);
    let (mut compared, mut wrong) = (0, vec![]);
    for ((path, mine), theirs) in shown.iter().zip(&told) {
        let mut theirs: Vec<&str> = theirs.lines().collect();
        if theirs.pop() != Some("end") {
            continue;
        }
        compared += 1;
        // The reference also shows types that it could not take apart: without a class, or with the fields before the first
        // one that has an unnamed type or none; the variables but the first are of them. It is not asked about those.
        let known: HashSet<&str> = mine.iter().map(String::as_str).collect();
        let is_simple = |line: &str| line.contains(" 14 ") || line.contains(" 15 ");
        let is_whole = |line: &str| known.contains(line) || is_simple(line);
        let whole: HashSet<&str> =
            theirs.iter().filter(|line| is_whole(line)).filter_map(|line| name(line)).collect();
        theirs.retain(|line| match name(line) {
            Some(name) => whole.contains(name),
            None => line.rsplit_once(' ').is_some_and(|(_, ty)| whole.contains(ty)),
        });
        let said: HashSet<&str> = theirs.iter().copied().collect();
        let common: Vec<&str> = mine.iter().map(String::as_str).filter(|line| said.contains(line)).collect();
        if common != theirs {
            let differs = theirs.iter().find(|line| !common.contains(line));
            wrong.push(format!("{}: {differs:?}", path.display()));
        }
    }
    println!("{compared} files with types that have no name, of {}", shown.len());
    assert!(compared > 100, "only {compared} files were read by the reference");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
