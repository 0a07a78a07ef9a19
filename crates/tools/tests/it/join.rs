//! `ferrocdf join`: what it makes, and what it leaves.

use std::fs;
use std::path::Path;
use std::process::Command;

use ferrocdf::{CreateOptions, File, FileMut, Format};

/// Runs the command, which may have so many files open.
fn join(folder: &Path, open_files: u32, args: &[&str]) -> (bool, String) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {open_files}; exec \"$0\" join \"$@\"")]);
    let run = command.arg(env!("CARGO_BIN_EXE_ferrocdf")).args(args).current_dir(folder).output().unwrap();
    (run.status.success(), String::from_utf8(run.stderr).unwrap())
}

fn make(path: &Path, format: Format, first: i32) {
    let file = FileMut::create(path, &CreateOptions::format(format)).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    let time = file.add_variable::<i32>("time", &["time"]).unwrap();
    time.put_attribute("units", "days since 2000-01-01").unwrap();
    time.put_values(&[first, first + 1, first + 2], ..).unwrap();
    file.close().unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn more_files_are_joined_than_may_be_open() {
    for format in [Format::NETCDF4, Format::OFFSET64] {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..60).map(|number| format!("{number:02}.nc")).collect();
        for (number, name) in (0..).zip(&names) {
            make(&folder.path().join(name), format, number * 3);
        }
        let mut args: Vec<&str> = names.iter().map(String::as_str).collect();
        args.extend(["-o", "all.nc"]);
        assert_eq!(join(folder.path(), 24, &args), (true, String::new()));
        let file = File::open(folder.path().join("all.nc")).unwrap();
        assert_eq!(file.format(), format);
        let time = file.variable("time").unwrap().get_values::<i32, _>(..).unwrap();
        assert_eq!(time, (0..180).collect::<Vec<_>>());
    }
}

#[test]
fn output_that_an_input_has_data_in_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("a%.nc"), Format::NETCDF4, 0);
    make(&path("b.nc"), Format::NETCDF4, 3);
    for name in ["a%.nc", "b.nc"] {
        let file = FileMut::append(path(name)).unwrap();
        file.add_variable::<i32>("v", &["time"]).unwrap().put_values(&[1, 2, 3], ..).unwrap();
        file.close().unwrap();
    }
    let done = (true, String::new());
    for (input, output) in [("a%.nc", "one.nc"), ("one.nc", "two.nc")] {
        let args = ["--virtual", input, "--dimension", "time", "-o", output];
        assert_eq!(join(folder.path(), 256, &args), done);
    }
    let before = fs::read(path("a%.nc")).unwrap();
    for inputs in [["one.nc", "b.nc"], ["b.nc", "two.nc"]] {
        let mut args = inputs.to_vec();
        args.extend(["--dimension", "time", "-o", "./a%.nc"]);
        let (done, said) = join(folder.path(), 256, &args);
        assert!(!done && said.contains("would overwrite") && said.contains("one.nc has data in"), "{said}");
    }
    assert_eq!(fs::read(path("a%.nc")).unwrap(), before);
    fs::remove_file(path("a%.nc")).unwrap();
    let args = ["--virtual", "one.nc", "--dimension", "time", "-o", "a%.nc"];
    let (done, said) = join(folder.path(), 256, &args);
    assert!(!done && said.contains("one.nc has data in"), "{said}");
}

#[test]
fn refused_files_leave_the_output_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    make(&path("a.nc"), Format::NETCDF4, 0);
    make(&path("b.nc"), Format::NETCDF4, 3);
    let file = FileMut::append(path("b.nc")).unwrap();
    file.variable_mut("time").unwrap().put_attribute("units", "days since 2000-01-04").unwrap();
    file.close().unwrap();
    for is_there in [false, true] {
        if is_there {
            fs::write(path("all.nc"), "before").unwrap();
        }
        let (done, said) = join(folder.path(), 256, &["a.nc", "b.nc", "-o", "all.nc"]);
        assert!(
            !done && said.starts_with("ferrocdf join: ") && said.contains("b.nc: /time: units is"),
            "{said}"
        );
        let wanted: &[&str] = if is_there { &["a.nc", "all.nc", "b.nc"] } else { &["a.nc", "b.nc"] };
        assert_eq!(names(folder.path()), wanted);
    }
    assert_eq!(fs::read(path("all.nc")).unwrap(), b"before");
    let (done, said) = join(folder.path(), 256, &["a.nc", "b.nc", "-o", "./b.nc"]);
    assert!(!done && said.contains("the output would overwrite b.nc"), "{said}");
}
