//! The HDF5 files of the corpus with one attribute more: everything else must be as it was, object by object as h5py sees it.

use std::path::{Path, PathBuf};

use ferrocdf_compat::python::{script, texts};

use crate::{each, files, sampled};

/// The attribute that is added.
const NAME: &str = "added_by_ferrocdf";

/// Files whose length depends on files beside them, where copies are not.
const FROM_OTHERS: &[&str] =
    &["vds/1_vds.h5", "vds/3_1_vds.h5", "vds/4_vds.h5", "vds/vds-percival-unlim-maxmin.h5"];

/// Files of more bytes are not copied.
const MOST: u64 = 64 << 20;

/// Adds the attribute to a copy of a file.
fn edited(path: &Path, to: &Path) -> ferrocdf::Result<()> {
    std::fs::copy(path, to).expect("a folder that can be written to");
    let file = ferrocdf::append(to)?;
    file.put_attribute(NAME, 7i32)?;
    file.close()
}

#[test]
fn an_attribute_more_changes_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let excused = |path: &Path| FROM_OTHERS.iter().any(|name| path.ends_with(name));
    let small = |path: &Path| std::fs::metadata(path).is_ok_and(|meta| meta.len() <= MOST);
    let mut files = files(&["hdf5"]);
    files.retain(|entry| small(&entry.path) && !excused(&entry.path) && ferrocdf::open(&entry.path).is_ok());
    assert!(files.len() > 900, "only {} files can be read", files.len());
    // Of all files, h5py reads more than 800 before and after.
    let files = sampled(files, 3);
    let name = |path: &Path| folder.path().join(path.to_string_lossy().replace('/', "_"));
    let mut differences = each(&files, |entry| match edited(&entry.path, &name(&entry.path)) {
        Ok(()) => vec![],
        Err(error) if entry.normal => vec![format!("{}: {error}", entry.path.display())],
        Err(_) => {
            // Whatever is wrong with it, it is left as it was.
            let same = std::fs::read(&entry.path).ok() == std::fs::read(name(&entry.path)).ok();
            let changed = format!("{}: refused, but changed", entry.path.display());
            if same { vec![] } else { vec![changed] }
        }
    });
    let (old, new): (Vec<_>, Vec<_>) =
        files.iter().map(|entry| (entry.path.clone(), name(&entry.path))).unzip();
    let [before, after] = std::thread::scope(|scope| {
        let jobs = [&old, &new].map(|paths: &Vec<PathBuf>| {
            let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            scope.spawn(move || texts(script("structure.py"), &paths))
        });
        jobs.map(|job| job.join().expect("a listing"))
    });
    let mut compared = 0;
    for ((path, before), after) in old.iter().zip(before).zip(after) {
        if !before.ends_with("\nend\n") {
            continue;
        }
        compared += 1;
        let rest: Vec<&str> = after.lines().filter(|line| !line.contains(NAME)).collect();
        let differs = before.lines().zip(&rest).find(|(a, b)| a != *b);
        if differs.is_some() || rest.len() != before.lines().count() {
            differences.push(format!(
                "{}: {} and {} lines, {differs:?}",
                path.display(),
                before.lines().count(),
                rest.len()
            ));
        }
    }
    println!("{compared} files compared of {}", files.len());
    assert!(compared > files.len() * 8 / 10, "h5py reads only {compared} files");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}
