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
