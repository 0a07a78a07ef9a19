//! Joined files: netCDF-C, HDF5 and xarray read the values of the files one behind the other, and NCO joins them to the same.

use std::path::Path;
use std::process::Stdio;

use ferrocdf::Container;
use ferrocdf_compat::python;

/// Runs commands of `py/joins.py`.
fn judge(commands: &[Vec<String>]) {
    let mut command = python::script("joins.py");
    let done = command.args(commands.join(&"then".to_string())).stdin(Stdio::null()).output();
    let done = done.expect("a Python that starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Joins files, which has to succeed.
fn join(args: &[String]) {
    let words = ["ferrocdf", "join"].into_iter().map(String::from).chain(args.iter().cloned());
    assert_eq!(ferrocdf_tools::umbrella::main(words.map(Into::into)), 0, "{args:?}");
}

/// Returns the path to a file in a folder.
fn path_in(folder: &Path, words: &[&str]) -> String {
    let path = words.iter().fold(folder.to_path_buf(), |path, word| path.join(word));
    path.to_str().expect("UTF-8").to_string()
}

#[test]
fn joined_files_are_read_by_others_as_those_that_they_were_made_of() {
    let place = tempfile::tempdir().unwrap();
    let path = |words: &[&str]| path_in(place.path(), words);
    let (mut made, mut checks) = (vec![], vec![]);
    let numbers: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    for number in &numbers {
        std::fs::create_dir(path(&[number])).unwrap();
        made.push(vec!["make".to_string(), path(&[number]), number.clone()]);
    }
    judge(&made);
    for number in &numbers {
        let files: Vec<String> = (0..4).map(|part| path(&[number, &format!("{part}.nc")])).collect();
        let is_hdf5 = ferrocdf::open(&files[0]).unwrap().format().container() == Container::Hdf5;
        let kinds = if is_hdf5 { &["joined", "virtual"][..] } else { &["joined"] };
        for &kind in kinds {
            let joined = path(&[number, &format!("{kind}.nc")]);
            let option = (kind == "virtual").then(|| "--virtual".to_string());
            join(&[&files[..], option.as_slice(), &["-o".to_string(), joined.clone()]].concat());
            checks.push([&["check".to_string(), kind.to_string(), joined], &files[..]].concat());
        }
    }
    // Kind 0 is netCDF-4, and so is kind 3.
    for number in ["0", "3"] {
        let files: Vec<String> = (0..4).map(|part| path(&[number, &format!("{part}.nc")])).collect();
        checks.push([&["grow".to_string(), path(&[number, "virtual.nc"])], &files[..]].concat());
    }
    judge(&checks);
    for number in ["0", "3"] {
        // The first file is longer than the virtual datasets show, which show all of it.
        let packed = |name: &str, len: usize| {
            let file = ferrocdf::open(path(&[number, name])).unwrap();
            file.variable("packed").unwrap().get_values::<i16, _>((..len, ..)).unwrap()
        };
        let all = ferrocdf::open(path(&[number, "virtual.nc.all.nc"])).unwrap();
        let len = all.variable("packed").unwrap().shape()[0] as usize;
        let wanted = packed("0.nc", len);
        assert_eq!(all.variable("packed").unwrap().get_values::<i16, _>(..).unwrap(), wanted);
        assert_eq!(packed("virtual.nc", len), wanted);
    }
}

#[test]
fn times_of_files_of_xarray_are_converted_to_those_of_the_first_file() {
    let place = tempfile::tempdir().unwrap();
    let path = |words: &[&str]| path_in(place.path(), words);
    let calendars = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"];
    let mut made = vec![];
    for calendar in calendars {
        std::fs::create_dir(path(&[calendar])).unwrap();
        made.push(vec!["days".to_string(), path(&[calendar]), calendar.to_string()]);
    }
    judge(&made);
    let mut checks = vec![];
    for calendar in calendars {
        let files: Vec<String> = (0..3).map(|part| path(&[calendar, &format!("{part}.nc")])).collect();
        for kind in ["", "--virtual"] {
            let joined = path(&[calendar, &format!("joined{kind}.nc")]);
            let options = ["--convert-times", "--dimension", "time", "-o", &joined, kind];
            let options: Vec<String> =
                options.into_iter().filter(|word| !word.is_empty()).map(str::to_string).collect();
            join(&[&files[..], &options].concat());
            checks.push([&["dates".to_string(), joined], &files[..]].concat());
        }
    }
    judge(&checks);
}
