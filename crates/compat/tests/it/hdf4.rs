//! HDF4 files that libhdf4 writes: every storage, every number type, names and attributes of all forms, and the older interfaces.
//!
//! `FERROCDF_SEED` chooses the files; with `FERROCDF_EVERY` there are those of 20 seeds.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ferrocdf_compat::hdf4::{Hdf4Comparison, Libhdf4, compare, compare_others};
use ferrocdf_compat::python::seed;

/// The programs, compiled once.
pub fn libhdf4() -> &'static Libhdf4 {
    static PROGRAMS: OnceLock<Libhdf4> = OnceLock::new();
    PROGRAMS.get_or_init(|| Libhdf4::new(Path::new(env!("CARGO_TARGET_TMPDIR"))))
}

/// Seeds of the files of a run.
fn seeds() -> std::ops::Range<u64> {
    let first = seed() % 1_000_000;
    first..first + if std::env::var_os("FERROCDF_EVERY").is_some() { 20 } else { 1 }
}

/// The kind of a file, by its name.
fn kind(path: &Path) -> String {
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    name.split('_').next().unwrap_or_default().to_string()
}

#[test]
fn generated_files_are_what_libhdf4_reads() {
    let mut all = Hdf4Comparison::default();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut files = 0;
    for seed in seeds() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths: Vec<PathBuf> = libhdf4().write(folder.path(), seed);
        assert!(paths.len() > 500, "only {} files", paths.len());
        for (path, told) in paths.iter().zip(libhdf4().tell(&paths)) {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            let found = catch_unwind(AssertUnwindSafe(|| compare(path, &told)));
            let mut found = found.unwrap_or_else(|_| Hdf4Comparison {
                differences: vec!["it panicked".to_string()],
                ..Hdf4Comparison::default()
            });
            found.differences.iter_mut().for_each(|what| *what = format!("seed {seed}, {name}: {what}"));
            files += 1;
            *kinds.entry(kind(path)).or_default() += 1;
            all.add(found);
        }
    }
    println!(
        "{files} files {kinds:?}: {} facts are the same, {} bytes of elements among them; {} only we can tell",
        all.same, all.bytes, all.only_ours
    );
    let shown = all.differences.iter().take(2000).cloned().collect::<Vec<_>>().join("\n");
    assert!(all.differences.is_empty(), "{} differences:\n{shown}", all.differences.len());
    assert!(all.same > 20_000, "only {} facts were compared", all.same);
}

/// The bytes of a number of a type in the name of a file.
fn bytes_of(name: &str) -> usize {
    match name {
        _ if name.contains("64") => 8,
        _ if name.contains("32") => 4,
        _ if name.contains("16") => 2,
        _ => 1,
    }
}

#[test]
fn szip_holds_the_elements_that_deflate_held() {
    let mut all = Hdf4Comparison::default();
    let mut files = 0;
    for seed in seeds() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut paths = libhdf4().write(folder.path(), seed);
        paths.retain(|path| path.to_string_lossy().contains("deflate"));
        for (path, told) in paths.iter().zip(libhdf4().tell(&paths)) {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            let with_szip = folder.path().join(format!("szip_{name}"));
            if !libhdf4().szip(path, &with_szip, bytes_of(&name)) {
                continue;
            }
            files += 1;
            let mut found = compare(&with_szip, &told);
            found.differences.iter_mut().for_each(|what| *what = format!("seed {seed}, {name}: {what}"));
            all.add(found);
        }
    }
    println!("{files} files: {} facts are the same, {} bytes of elements among them", all.same, all.bytes);
    assert!(
        all.differences.is_empty(),
        "{} differences:\n{}",
        all.differences.len(),
        all.differences.join("\n")
    );
    assert!(all.same > 1000, "only {} facts were compared", all.same);
}

#[test]
fn rasters_and_attributes_of_tables_are_what_libhdf4_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut all = Hdf4Comparison::default();
    for path in libhdf4().write_others(folder.path()) {
        let told = libhdf4().tell_others(&path).expect("files that libhdf4 just wrote");
        let mut found = compare_others(&path, &told);
        found.differences.iter_mut().for_each(|what| *what = format!("{}: {what}", kind(&path)));
        all.add(found);
    }
    println!("{} facts are the same, {} bytes of pixels among them", all.same, all.bytes);
    assert!(
        all.differences.is_empty(),
        "{} differences:\n{}",
        all.differences.len(),
        all.differences.join("\n")
    );
    assert!(all.same > 5000, "only {} facts were compared", all.same);
}
