//! `ferrocdf join`: what it makes, and what it leaves.

use std::fs;
use std::path::Path;
use std::process::Command;

use ferrocdf::{Atomic, CreateOptions, File, FileMut, Format};

/// Runs `ferrocdf join`, which may have so many files open.
fn join(folder: &Path, open_files: u32, args: &[&str]) -> (bool, String) {
    let args = [&["join"], args].concat();
    let (done, _, said) = run(env!("CARGO_BIN_EXE_ferrocdf"), folder, open_files, &args);
    (done, said)
}

/// Runs a program, which may have so many files open. Returns whether it succeeded, its output and its errors.
fn run(program: &str, folder: &Path, open_files: u32, args: &[&str]) -> (bool, String, String) {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {open_files}; exec \"$0\" \"$@\"")]);
    let run = command.arg(program).args(args).current_dir(folder).output().unwrap();
    let [out, said] = [run.stdout, run.stderr].map(|text| String::from_utf8(text).unwrap());
    (run.status.success(), out, said)
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

/// Adds a variable with the dimension, which is no coordinate.
fn add_heat(path: &Path, numbers: &[i32]) {
    let file = FileMut::append(path).unwrap();
    file.add_variable::<i32>("heat", &["time"]).unwrap().put_values(numbers, ..).unwrap();
    file.close().unwrap();
}

#[test]
fn virtual_file_of_more_files_than_may_be_open_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..200).map(|number| format!("{number:03}.nc")).collect();
    for (number, name) in (0..).zip(&names) {
        make(&folder.path().join(name), Format::NETCDF4, number * 3);
        add_heat(&folder.path().join(name), &[number, 0, 0]);
    }
    let mut args: Vec<&str> = names.iter().map(String::as_str).collect();
    args.extend(["--virtual", "-o", "all.nc"]);
    assert_eq!(join(folder.path(), 100, &args), (true, String::new()));
    let ferrocdf = env!("CARGO_BIN_EXE_ferrocdf");
    let copied = run(ferrocdf, folder.path(), 100, &["copy", "all.nc", "copy.nc"]);
    assert_eq!(copied, (true, String::new(), String::new()));
    let file = File::open(folder.path().join("copy.nc")).unwrap();
    let heat = file.variable("heat").unwrap().get_values::<i32, _>(..).unwrap();
    assert_eq!(heat, (0..200).flat_map(|number| [number, 0, 0]).collect::<Vec<_>>());
}

#[test]
fn missing_sources_are_told_by_all_commands_and_copied_on_request() {
    let folder = tempfile::tempdir().unwrap();
    for (name, first) in [("a.nc", 0), ("b.nc", 3)] {
        make(&folder.path().join(name), Format::NETCDF4, first);
        add_heat(&folder.path().join(name), &[first, 1, 2]);
    }
    let args = ["--virtual", "a.nc", "b.nc", "-o", "v.nc"];
    assert_eq!(join(folder.path(), 256, &args), (true, String::new()));
    let [ferrocdf, nccopy] = [env!("CARGO_BIN_EXE_ferrocdf"), env!("CARGO_BIN_EXE_nccopy")];
    let run = |program: &str, args: &[&str]| run(program, folder.path(), 256, args);
    let (_, layout, _) = run(ferrocdf, &["info", "--layout", "v.nc"]);
    let verdict = "verdict: the elements of /heat are in 2 other files beside this one";
    assert!(layout.contains(verdict) && layout.contains("repack --cloud v.nc OUT"), "{layout}");
    fs::remove_file(folder.path().join("b.nc")).unwrap();
    let missing = "/heat: it has elements in the file \"b.nc\", which is not there";
    for (args, program) in [
        (&["copy", "v.nc", "c.nc"][..], "ferrocdf copy"),
        (&["repack", "--cloud", "v.nc", "c.nc"], "ferrocdf repack"),
        (&["join", "--dimension", "time", "v.nc", "-o", "c.nc"], "ferrocdf join"),
    ] {
        let (done, _, said) = run(ferrocdf, args);
        assert!(!done && said.contains(missing) && said.starts_with(&format!("{program}: v.nc: ")), "{said}");
        assert!(said.contains("--fill-missing"), "{said}");
        assert!(!folder.path().join("c.nc").exists());
        assert_eq!(
            run(ferrocdf, &[args, &["--fill-missing"]].concat()),
            (true, String::new(), String::new())
        );
        let heat = File::open(folder.path().join("c.nc")).unwrap();
        let heat = heat.variable("heat").unwrap().get_values::<i32, _>(..).unwrap();
        assert_eq!(heat, [0, 1, 2, -2147483647, -2147483647, -2147483647]);
        fs::remove_file(folder.path().join("c.nc")).unwrap();
    }
    let (done, _, said) = run(ferrocdf, &["refs", "v.nc", "-o", "refs.json"]);
    assert!(!done && said.contains("skipped: /heat: it has elements in the file"), "{said}");
    let (done, _, said) = run(nccopy, &["v.nc", "c.nc"]);
    let wanted = format!("{nccopy}: warning: v.nc: {missing}; they are copied as fill values\n");
    assert_eq!((done, said), (true, wanted));
    let (_, out, _) = run(ferrocdf, &["info", "v.nc"]);
    assert!(out.contains("fill values in place of the file \"b.nc\", which is not there"), "{out}");
}

#[test]
fn messages_tell_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, format) in [("a.nc", Format::NETCDF4), ("b.nc", Format::NETCDF4), ("c.nc", Format::CLASSIC)] {
        make(&path(name), format, if name == "b.nc" { 3 } else { 0 });
    }
    let ferrocdf = env!("CARGO_BIN_EXE_ferrocdf");
    assert!(run(ferrocdf, folder.path(), 256, &["copy", "a.nc", "a.zarr"]).0);
    fs::create_dir(path("folder")).unwrap();
    for (args, wanted) in [
        (&["a.zarr", "a.zarr", "-o", "d.nc"][..], "a.zarr: a dataset of Zarr"),
        (&["a.nc", "b.nc", "-o", "d.zarr"], "d.zarr: its name asks for a Zarr store"),
        (&["a.nc", "b.nc", "-o", "folder"], "folder: it is a folder; name a file in it"),
        (
            &["a.nc", "b.nc", "-o", "none/d.nc"],
            "none/d.nc: the folder of the joined file is not there; make it first",
        ),
        (&["--virtual", "c.nc", "c.nc", "-o", "d.nc"], "c.nc: only netCDF-4 and other HDF5 files"),
        (&["--dimension", "/g/time", "a.nc", "b.nc", "-o", "d.nc"], "name the dimension \"time\" alone"),
    ] {
        let (done, said) = join(folder.path(), 256, args);
        let is_sentence = said.lines().count() == 1 && !said.contains("NetCDF:");
        assert!(
            !done && is_sentence && said.starts_with("ferrocdf join: ") && said.contains(wanted),
            "{said}"
        );
        assert!(!path("d.nc").exists() && !path("d.zarr").exists());
    }
    let url = format!("file://{}", path("d.nc").display());
    assert_eq!(join(folder.path(), 256, &["a.nc", "b.nc", "-o", &url]), (true, String::new()));
    assert!(path("d.nc").is_file());
}

#[test]
fn join_warns_of_order_converts_times_and_writes_history() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, first) in [("a.nc", 0), ("b.nc", 2)] {
        make(&path(name), Format::OFFSET64, first);
    }
    let (done, said) = join(folder.path(), 256, &["a.nc", "b.nc", "-o", "all.nc"]);
    assert!(
        done && said.starts_with("ferrocdf join: warning: b.nc: /time has 2 behind 2 of a.nc: "),
        "{said}"
    );
    let file = FileMut::append(path("b.nc")).unwrap();
    file.variable_mut("time").unwrap().put_attribute("units", "days since 2000-01-02 00:00:00").unwrap();
    file.close().unwrap();
    let args = ["--convert-times", "a.nc", "b.nc", "-o", "all.nc"];
    assert_eq!(join(folder.path(), 256, &args), (true, String::new()));
    let file = File::open(path("all.nc")).unwrap();
    assert_eq!(file.variable("time").unwrap().get_values::<i32, _>(..).unwrap(), [0, 1, 2, 3, 4, 5]);
    let history = file.attribute::<String>("history").unwrap();
    assert!(history.ends_with(": ferrocdf join --convert-times a.nc b.nc -o all.nc"), "{history}");
    let args = ["--convert-times", "--no-history", "a.nc", "b.nc", "-o", "bare.nc"];
    assert_eq!(join(folder.path(), 256, &args), (true, String::new()));
    assert!(File::open(path("bare.nc")).unwrap().find_attribute::<String>("history").unwrap().is_none());
}

/// Makes a file of steps of a variable that a filter rounds to one digit, from the least number of each chunk on.
fn make_rounded(path: &Path, numbers: &[f32]) {
    let file = ferrocdf::create(path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    let rounded = file.build_variable("rounded", Atomic::Float, &["time"]).chunks(&[4]);
    let rounded = rounded.filter("6,0,1").create().unwrap();
    rounded.put_values(numbers, ..).unwrap();
    file.close().unwrap();
}

#[test]
fn joined_file_that_differs_from_its_files_leaves_no_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, first) in [("a.nc", 0), ("b.nc", 3)] {
        make(&path(name), Format::NETCDF4, first);
        add_heat(&path(name), &[first, 1, 2]);
    }
    let done = (true, String::new());
    for option in [&[][..], &["--virtual"], &["--convert-times"]] {
        let args = [option, &["--verify", "a.nc", "b.nc", "-o", "all.nc"]].concat();
        assert_eq!(join(folder.path(), 256, &args), done, "{option:?}");
        fs::remove_file(path("all.nc")).unwrap();
    }
    // The second file begins within a chunk, which is encoded anew: from another least number on.
    make_rounded(&path("a.nc"), &[0.0, 1.0]);
    make_rounded(&path("b.nc"), &[0.25, 0.45]);
    assert_eq!(join(folder.path(), 256, &["a.nc", "b.nc", "-o", "all.nc"]), done);
    fs::remove_file(path("all.nc")).unwrap();
    let (went_well, said) = join(folder.path(), 256, &["--verify", "a.nc", "b.nc", "-o", "all.nc"]);
    let wanted = "ferrocdf join: the joined file differs from b.nc: element [0] of /rounded\n";
    assert_eq!((went_well, said.as_str()), (false, wanted));
    assert_eq!(names(folder.path()), ["a.nc", "b.nc"]);
}

#[test]
fn no_tool_overwrites_a_file_that_its_input_has_data_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["a.nc", "b.nc"] {
        let file = ferrocdf::create(path(name)).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_variable::<i32>("heat", &["time"]).unwrap().put_values(&[1, 2], ..).unwrap();
        file.close().unwrap();
    }
    let (done, said) = join(folder.path(), 256, &["--virtual", "a.nc", "b.nc", "-o", "all.nc"]);
    assert!(done, "{said}");
    let before = fs::read(path("b.nc")).unwrap();
    for args in [
        &["copy", "all.nc", "b.nc"][..],
        &["repack", "--cloud", "all.nc", "b.nc"],
        &["refs", "all.nc", "-o", "b.nc"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ferrocdf"));
        let ran = command.args(args).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success() && said.contains("all.nc has data in"), "{args:?}: {said}");
        assert_eq!(fs::read(path("b.nc")).unwrap(), before);
    }
}
