//! `circles`: files of a crate that import each other in a circle, so that none of them can be read first. A parent and its
//! children may.

mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::run::Outcome;
use crate::rust_files::{self, Module, path};
use modules::imports;

/// How many files of a crate are in circles yet. The task fails when there are more, and when there are fewer than this says.
const KNOWN: &[(&str, usize)] = &[
    ("bench", 4),
    ("cdl", 4),
    ("codec", 13),
    ("h5filters", 2),
    ("hdf4", 9),
    ("model", 5),
    ("store", 8),
    ("tools", 4),
    ("zarr", 4),
];

/// Finds the circles of all crates.
pub fn circles(_args: &[String]) -> Outcome {
    let mut found = BTreeMap::new();
    for name in rust_files::crates()? {
        let edges = imports(&Path::new("crates").join(&name))?;
        let circles = circles_of(&edges);
        for circle in &circles {
            println!("{name}: {} files in a circle", circle.len());
            for file in circle {
                let others = edges[file].intersection(circle).map(path).collect::<Vec<_>>();
                println!("    {} names {}", path(file), others.join(", "));
            }
        }
        found.insert(name, circles.iter().map(BTreeSet::len).sum());
    }
    rust_files::compare(&found, KNOWN, "files in circles")
}

/// The largest sets of files of which each names each other, perhaps through others of the set.
fn circles_of(edges: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<BTreeSet<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        edges.keys().map(|file| (file, reach(file, edges))).collect();
    let mut circles: Vec<BTreeSet<Module>> = Vec::new();
    for (&file, others) in &reached {
        if !others.contains(file) || circles.iter().any(|circle| circle.contains(file)) {
            continue;
        }
        circles.push(
            others
                .iter()
                .filter(|other| reached[**other].contains(file))
                .map(|&other| other.clone())
                .collect(),
        );
    }
    circles
}

/// All files that a file names, and those that they name.
fn reach<'a>(file: &'a Module, edges: &'a BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut open = vec![file];
    while let Some(file) = open.pop() {
        for other in edges.get(file).into_iter().flatten() {
            if reached.insert(other) {
                open.push(other);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The circles of a crate of these files.
    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let folder =
            std::env::temp_dir().join(format!("ferrocdf-circles-{}-{}", std::process::id(), files.len()));
        for (name, text) in files {
            let path = folder.join("src").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let edges = imports(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        circles_of(&edges).iter().map(|circle| circle.iter().map(path).collect()).collect()
    }

    #[test]
    fn a_circle_through_a_path_and_a_name_passed_on_is_found() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; mod d;"),
            ("a.rs", "use crate::b::{self, Deep as Other};"),
            ("b/mod.rs", "pub use inner::Deep; mod inner;"),
            ("b/inner.rs", "pub struct Deep; fn f() { crate::c::g() }"),
            ("c.rs", "use super::a::h as other; fn g() { other(); }"),
            ("d.rs", "use crate::a;"),
        ];
        assert_eq!(found(&files), [["a", "b/inner", "c"]]);
    }

    #[test]
    fn parents_and_children_and_tests_make_no_circle() {
        let files = [
            ("lib.rs", "mod a; use a::A; pub struct R; mod b;"),
            ("a/mod.rs", "use crate::R; pub struct A; mod inner; use inner::I;"),
            ("a/inner.rs", "use super::A; use crate::b; pub struct I;"),
            (
                "b.rs",
                "// crate::a::inner\n#[cfg(test)] mod tests { use crate::a::inner::I; } const S: &str = \"crate::a\";",
            ),
        ];
        assert_eq!(found(&files), Vec::<Vec<String>>::new());
    }
}
