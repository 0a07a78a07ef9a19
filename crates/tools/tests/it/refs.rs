//! `ferrocdf refs`: what it writes, and what it does not overwrite.

use std::fs;
use std::path::Path;
use std::process::Command;

use ferrocdf::File;

fn refs(folder: &Path, args: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
    let run = command.arg("refs").args(args).current_dir(folder).output().unwrap();
    (run.status.success(), String::from_utf8(run.stderr).unwrap())
}

fn make(path: &Path) {
    let file = ferrocdf::create(path).unwrap();
    file.add_dimension("x", 1000).unwrap();
    file.add_variable::<f32>("v", &["x"]).unwrap().put_values(&[2.5_f32; 1000], ..).unwrap();
    file.close().unwrap();
}

#[test]
fn references_are_written_beside_and_never_over_their_sources() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("a.nc"));
    make(&path("b.nc"));
    assert_eq!(refs(folder.path(), &["a.nc", "-o", "a.json"]), (true, String::new()));
    let file = File::open(path("a.json")).unwrap();
    assert_eq!(file.variable("v").unwrap().get_values::<f32, _>(..).unwrap(), [2.5; 1000]);
    let before = ["a.nc", "b.nc"].map(|name| fs::read(path(name)).unwrap());
    std::os::unix::fs::symlink("a.nc", path("link.nc")).unwrap();
    for args in [
        &["a.nc", "-o", "a.nc"][..],
        &["a.nc", "-o", "link.nc"],
        &["--concat", "x", "a.nc", "b.nc", "-o", "./b.nc"],
    ] {
        let (done, said) = refs(folder.path(), args);
        assert!(!done && said.contains("the output would overwrite"), "{args:?}: {said}");
    }
    assert_eq!(["a.nc", "b.nc"].map(|name| fs::read(path(name)).unwrap()), before);
}

#[test]
fn references_in_parquet_are_a_folder_that_replaces_its_own_kind_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("a.nc"));
    for args in
        [&["-o", "a.parq", "--record-size", "1"][..], &["-o", "a.parq"], &["-o", "b", "--format", "parquet"]]
    {
        let (done, said) = refs(folder.path(), &[&["a.nc"], args].concat());
        assert!(done && said.is_empty(), "{said}");
        let file = File::open(path(args[1])).unwrap();
        assert_eq!(file.variable("v").unwrap().get_values::<f32, _>(..).unwrap(), [2.5; 1000]);
    }
    fs::create_dir(path("c.parq")).unwrap();
    fs::write(path("c.parq/kept"), b"").unwrap();
    for (args, word) in [
        (&["-o", "c.parq"][..], "not replaced"),
        (&["-o", "d.parq", "--record-size", "0"], "a record size of 0"),
        (&["--format", "parquet"], "option `output`"),
    ] {
        let (done, said) = refs(folder.path(), &[&["a.nc"], args].concat());
        assert!(!done && said.contains(word), "{args:?}: {said}");
    }
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["a.nc", "a.parq", "b", "c.parq"]);
    assert!(path("c.parq/kept").exists());
}
