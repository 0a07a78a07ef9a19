//! `ferrocdf info` of netCDF-4 and other HDF5 files, as text and as JSON, beside what it should say in `tests/golden`.

use std::path::Path;
use std::process::Command;

fn says(name: &str, golden: &str, args: &[&str]) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = here.join("../ferrocdf/tests/data");
    let run = Command::new(env!("CARGO_BIN_EXE_ferrocdf"))
        .arg("info")
        .args(args)
        .arg(name)
        .current_dir(files)
        .output()
        .unwrap();
    assert_eq!((run.status.code(), &*run.stderr), (Some(0), &b""[..]), "{name}");
    let wanted = std::fs::read_to_string(here.join("tests/golden").join(golden)).unwrap();
    assert_eq!(String::from_utf8(run.stdout).unwrap(), wanted, "{golden}");
}

#[test]
fn groups_types_chunks_and_filters() {
    says("everything.nc", "everything.txt", &[]);
    says("everything.nc", "everything.json", &["--json"]);
}

#[test]
fn what_was_left_out() {
    says("left_out.h5", "left_out.txt", &[]);
    says("left_out.h5", "left_out.json", &["--json"]);
}

#[test]
fn what_cannot_be_read_or_only_in_part() {
    says("in_part.h5", "in_part.txt", &[]);
}
