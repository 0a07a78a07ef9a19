//! Where the bytes of HDF5 files lie, as `ferrocdf info --layout` tells and `ferrocdf repack` arranges it, before the judgement of h5py, pyfive,
//! h5stat and `check_cmip7_packing`.
//!
//! One file in `FERROCDF_EVERY` is looked at, by default 12.

use std::path::{Path, PathBuf};

use ferrocdf::File;
use ferrocdf::store::ranges::total;
use ferrocdf_compat::python::{script, texts};

use crate::{Entry, files, sampled};

fn chosen() -> Vec<Entry> {
    let mut files = files(&["hdf5"]);
    files.retain(|entry| entry.normal);
    sampled(files, 12)
}

/// Files whose chunks are numbered in another order than the format says: half of them lie outside of the dataset, where HDF5 reads fill
/// values, and its list of chunks has them all the same.
const MISNUMBERED: &str = "h5fc_ext";

/// Bytes of the largest files that are repacked, unless all are.
const MOST: u64 = 30_000_000;

#[test]
fn chunks_and_indexes_are_where_h5py_and_pyfive_find_them() {
    let files = chosen();
    let paths: Vec<&Path> = files.iter().map(|entry| &*entry.path).collect();
    let (mut wrong, mut compared, mut indexes, mut metadata, mut same) = (vec![], 0, 0, 0, 0);
    for (path, said) in paths.iter().zip(texts(script("layout.py"), &paths)) {
        let Ok(file) = File::open(path) else { continue };
        let layout = file.layout().unwrap_or_else(|error| panic!("{error}"));
        let model = file.model();
        for line in said.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["metadata", bytes] = words[..] {
                metadata += 1;
                same += u64::from(
                    layout.metadata.as_deref().map(total).map(|bytes| bytes.to_string()).as_deref()
                        == Some(bytes),
                );
            }
            let ["dataset", count, first, told @ ..] = &words[..] else { continue };
            let name = told.iter().find(|word| word.starts_with('/')).expect("a path behind the numbers");
            let var = layout.variables.iter().find(|var| model.var_path(var.var) == **name);
            let Some(var) = var.filter(|var| var.first.is_some()) else { continue };
            compared += 1;
            if path.to_string_lossy().contains(MISNUMBERED) {
                continue;
            }
            let ours = (var.chunks.map(|count| count.to_string()), var.first.map(|first| first.to_string()));
            if ours != (Some(count.to_string()), Some(first.to_string())) {
                wrong.push(format!("{} {name}: {ours:?}, h5py says {count} and {first}", path.display()));
            }
            if let [_, _, index, _] = told {
                indexes += 1;
                let ours = var.index.first().map(|run| run.start.to_string());
                if ours.as_deref() != Some(index) {
                    wrong.push(format!("{} {name}: index at {ours:?}, pyfive says {index}", path.display()));
                }
            }
        }
    }
    println!(
        "{compared} datasets by h5py, {indexes} indexes by pyfive, {same} of {metadata} files by h5stat"
    );
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        compared > 30 && indexes > 20 && same > metadata / 2,
        "{compared} {indexes} {same} of {metadata}"
    );
}

#[test]
fn repacked_files_follow_the_rules_of_cmip7_and_hold_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let copies = |entry: &Entry| {
        let size = std::fs::metadata(&entry.path).ok()?.len();
        (size <= MOST).then_some(())?;
        // Links lead to other files, and what is no variable is not copied.
        let file = File::open(&entry.path).ok()?;
        (file.skipped().is_empty() && file.is_written_by_netcdf()).then(|| entry.path.clone())
    };
    let sources: Vec<PathBuf> = chosen().iter().filter_map(copies).collect();
    let mut made: Vec<(&Path, PathBuf)> = vec![];
    for (number, source) in sources.iter().enumerate() {
        let copy = folder.path().join(format!("{number}.nc"));
        let args = ["ferrocdf", "repack", "--cloud=cmip7", "--verify"].map(std::ffi::OsString::from);
        let code = ferrocdf_tools::umbrella::main(args.into_iter().chain([source.into(), (&copy).into()]));
        assert_eq!(code, 0, "{}", source.display());
        made.push((source, copy));
    }
    let [sources, copies]: [Vec<&Path>; 2] =
        [made.iter().map(|made| made.0).collect(), made.iter().map(|made| &*made.1).collect()];
    let mut wrong = vec![];
    let mut passed = 0;
    for (source, said) in sources.iter().zip(texts(script("layout.py"), &copies)) {
        let line = |name: &str| {
            said.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().to_string()
        };
        match (&*line("consolidated "), &*line("cmip7 ")) {
            ("True", check) if check.starts_with("0 ") => passed += 1,
            // pyfive reads no such file, or no dataset without chunks.
            ("True" | "False", check) => wrong.push(format!("{}: {check}", source.display())),
            _ => {}
        }
    }
    let values = |paths: &[&Path]| texts(script("netcdf4_values.py"), paths);
    for ((source, was), is) in sources.iter().zip(values(&sources)).zip(values(&copies)) {
        let lines = |said: &str| -> Vec<String> {
            said.lines().skip(1).filter(|line| !line.starts_with(" storage ")).map(str::to_string).collect()
        };
        let (was, is) = (lines(&was), lines(&is));
        if was.iter().any(|line| line.contains("cannot be read")) {
            continue;
        }
        if was != is {
            let line = was.iter().zip(&is).find(|(a, b)| a != b);
            wrong.push(format!("{}: {line:?}", source.display()));
        }
    }
    println!("{} files, {passed} of them passed by check_cmip7_packing", made.len());
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed > 0);
}
