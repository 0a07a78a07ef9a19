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

#[test]
fn sources_in_other_files_and_datasets_without_a_shape() {
    says("sources.h5", "sources.txt", &[]);
    says("sources.h5", "sources.json", &["--json"]);
}

#[test]
fn rows_that_were_never_written_and_dimensions_of_other_groups_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let text = "netcdf a { types: opaque(2) o_t ; dimensions: t = UNLIMITED ; x = 2 ; variables: int long(t) ; int short(t) ;
        int none(t) ; o_t :one = 0X0102 ; o_t :two = 0X0102, 0X0304 ; data: long = 1, 2, 3, 4 ; short = 1, 2, 3 ;
        group: g { dimensions: x = 5 ; variables: int v(x, /x) ; } }";
    let file = folder.path().join("a.nc");
    std::fs::write(folder.path().join("a.cdl"), text).unwrap();
    let run = |args: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_ferrocdf"))
            .args(args)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    run(&["gen", "-4", "-o", "whole.nc", "a.cdl"]);
    // Records that ncgen fills up are written.
    let mut made =
        ferrocdf::FileMut::create(&file, &ferrocdf::CreateOptions::format(ferrocdf::Format::Netcdf4))
            .unwrap();
    made.add_unlimited_dimension("t").unwrap();
    for (name, len) in [("long", 4), ("short", 3), ("none", 0)] {
        made.add_variable::<i32>(name, &["t"]).unwrap();
        made.variable_mut(name).unwrap().put_values(&vec![1; len], 0..len as u64).unwrap();
    }
    made.close().unwrap();
    let said = run(&["info", "a.nc"]);
    let after =
        |name: &str| said.split(&format!("  int {name}: ")).nth(1).unwrap().split("  int ").next().unwrap();
    assert!(!after("long").contains("never written"), "{said}");
    assert!(after("short").contains("      never written: t 3\n"), "{said}");
    assert!(after("none").contains("      never written: t 0 to 3\n"), "{said}");
    let said = run(&["info", "whole.nc"]);
    assert!(said.starts_with("whole.nc: netCDF-4, "), "{said}");
    assert!(said.contains("  int /g/v: x 5 x /x 2\n"), "{said}");
    assert!(said.contains("one: 1 value of a user-defined type\n  two: 2 values of"), "{said}");
}
