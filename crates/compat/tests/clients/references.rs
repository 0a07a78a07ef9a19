//! References to chunks of files: kerchunk makes the same ones, zarr-python and xarray read the values of the file through them, and we
//! read what kerchunk makes.

use std::path::Path;
use std::process::Stdio;

use ferrocdf::references::{ReferenceOptions, References};
use ferrocdf::{File, Location, OpenOptions};
use ferrocdf_compat::python;
use ferrocdf_compat::servers::Nginx;

/// Runs a function of `py/references.py` and returns what it printed.
fn judge(args: &[&str]) -> String {
    let mut command = python::script("references.py");
    let done = command.args(args).stdin(Stdio::null()).output().expect("a Python that starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// Runs `ferrocdf refs`, which has to succeed.
fn refs(args: &[&str]) {
    let code = ferrocdf_tools::umbrella::main(["ferrocdf", "refs"].iter().chain(args).map(Into::into));
    assert_eq!(code, 0, "{args:?}");
}

/// Returns the values of each variable, by their paths.
fn values(location: &Location) -> Vec<String> {
    let file = File::open_location(location, &OpenOptions::default()).expect("a dataset");
    let model = file.model();
    let values = model.var_ids().map(|var| {
        let values = file.read_values(var, &vec![0; model.shape(var).len()], &model.shape(var));
        format!("{} {:?}", model.var_path(var), values.unwrap_or_else(|error| panic!("{error}")))
    });
    let mut all: Vec<String> = values.collect();
    all.sort();
    all
}

/// Variables that a Zarr store of version 2 has as another type: a text of characters is strings of one, an enumeration its numbers.
const OTHER_TYPES: [&str; 2] = ["/letters ", "/flag "];

/// Fails with the variables of a file of which a dataset has not the same values, apart from those with these names.
fn check_has(found: &Location, wanted: &Location, excused: &[&str]) {
    let found = values(found);
    let is_excused = |line: &&String| excused.iter().any(|name| line.starts_with(name));
    let missing = values(wanted).into_iter().filter(|line| !is_excused(&line) && !found.contains(line));
    let missing: Vec<String> =
        missing.filter_map(|line| line.split(' ').next().map(str::to_string)).collect();
    assert!(missing.is_empty(), "{wanted:?}: {missing:?}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

#[test]
fn references_are_those_of_kerchunk_and_give_the_values_of_the_file() {
    let place = tempfile::tempdir().unwrap();
    let names = judge(&["make", text(place.path())]);
    for name in names.lines() {
        let (file, json) = (place.path().join(name), place.path().join(format!("{name}.json")));
        let inlined = place.path().join(format!("{name}.inlined.json"));
        refs(&[text(&file), "-o", text(&json), "--inline", "0"]);
        refs(&[text(&file), "-o", text(&inlined)]);
        for made in [&json, &inlined] {
            check_has(&Location::Path(made.clone()), &Location::Path(file.clone()), &OTHER_TYPES);
        }
        let mut commands = vec!["values", text(&file), text(&json)];
        commands.extend(["then", "values", text(&file), text(&inlined)]);
        if name.starts_with("netcdf") {
            commands.extend(["then", "xarray", text(&file), text(&inlined)]);
        }
        if name.ends_with(".zarr") {
            judge(&commands);
            continue;
        }
        let theirs = place.path().join(format!("{name}.kerchunk.json"));
        commands.extend(["then", "kerchunk", text(&file), text(&theirs)]);
        commands.extend(["then", "ranges", text(&json), text(&theirs)]);
        let said = judge(&commands);
        let same: usize = said.trim().rsplit('\n').next().expect("a line").parse().expect("a number");
        assert!(same >= 5, "{name}: {same}");
        // Kerchunk knows no LZF and no checksums, and writes no array without elements.
        let unknown = ["/lzf ", "/summed ", "/empty ", "/texts ", "/letters ", "/flag "];
        check_has(&Location::Path(theirs), &Location::Path(file), &unknown);
    }
}

#[test]
fn references_on_a_server_are_read_with_few_requests_and_by_fsspec() {
    let place = tempfile::tempdir().unwrap();
    judge(&["make", text(place.path())]);
    let server = Nginx::serve(place.path());
    for name in ["filters.h5", "netcdf3_classic.nc", "store2.zarr"] {
        let url = format!("{}/{name}", server.url());
        let local = place.path().join(name);
        // A web server lists no objects, so the metadata of the store is read from its folder.
        let input = if name.ends_with(".zarr") { text(&local).to_string() } else { url.clone() };
        let json = place.path().join(format!("{name}.json"));
        refs(&[&input, "-o", text(&json), "--base", &server.url()]);
        let made = References::parse(&std::fs::read(&json).unwrap()).unwrap();
        assert!(made.iter().filter_map(|(_, reference)| reference.url()).all(|own| own.starts_with(&url)));
        judge(&["values", text(&local), text(&json)]);
        let local = Location::Path(local);
        check_has(&Location::Path(json.clone()), &local, &OTHER_TYPES);
        // The same text on the server, with relative paths.
        refs(&[&input, "-o", text(&json), "--base", ""]);
        let there = Location::parse(format!("{url}.json").as_bytes()).unwrap();
        check_has(&there, &local, &OTHER_TYPES);
    }
    let there = Location::parse(format!("{}/filters.h5", server.url()).as_bytes()).unwrap();
    let made = References::of(&there, &ReferenceOptions::default()).unwrap();
    assert!(made.skipped.is_empty(), "{:?}", made.skipped);
}

#[test]
fn references_in_parquet_are_read_by_fsspec_and_its_own_by_us() {
    let place = tempfile::tempdir().unwrap();
    judge(&["make", text(place.path())]);
    // Chunks of `part` in `filters.h5` are missing, and all of `never`; several tables of an array, or one of all its chunks.
    for name in ["filters.h5", "netcdf3_classic.nc", "netcdf4.nc", "store2.zarr", "store3.zarr"] {
        let path = |end: &str| place.path().join(format!("{name}{end}"));
        let file = path("");
        let location = Location::Path(file.clone());
        let mut commands = vec![];
        let mut folders = vec![];
        for (size, inline) in [("5", "0"), ("100000", "500")] {
            let ours = path(&format!(".{size}.parq"));
            refs(&[text(&file), "-o", text(&ours), "--record-size", size, "--inline", inline]);
            check_has(&Location::Path(ours.clone()), &location, &OTHER_TYPES);
            commands.extend(["values", text(&file), text(&ours), "then"].map(str::to_string));
            folders.push(ours);
        }
        if name.starts_with("netcdf") {
            commands.extend(["xarray", text(&file), text(&folders[1]), "then"].map(str::to_string));
        }
        let json = path(".json");
        refs(&[text(&file), "-o", text(&json), "--inline", "300"]);
        let mut theirs = vec![];
        for (size, engine) in
            [("7", "fastparquet"), ("5", "pyarrow"), ("1000", "fastparquet"), ("1000", "pyarrow")]
        {
            let folder = path(&format!(".{size}.{engine}"));
            commands
                .extend(["parquet", text(&json), text(&folder), size, engine, "then"].map(str::to_string));
            theirs.push(folder);
        }
        commands.pop();
        judge(&commands.iter().map(String::as_str).collect::<Vec<_>>());
        for folder in theirs {
            check_has(&Location::Path(folder), &location, &OTHER_TYPES);
        }
    }
}

#[test]
fn references_in_parquet_on_a_server_are_read_there() {
    let place = tempfile::tempdir().unwrap();
    judge(&["make", text(place.path())]);
    let server = Nginx::serve(place.path());
    for name in ["filters.h5", "store2.zarr"] {
        let local = place.path().join(name);
        let folder = place.path().join(format!("{name}.parq"));
        refs(&[text(&local), "-o", text(&folder), "--base", &server.url()]);
        check_has(&Location::Path(folder.clone()), &Location::Path(local.clone()), &OTHER_TYPES);
        refs(&[text(&local), "-o", text(&folder), "--base", "", "--format", "parquet"]);
        let there = Location::parse(format!("{}/{name}.parq", server.url()).as_bytes()).unwrap();
        check_has(&there, &Location::Path(local), &OTHER_TYPES);
    }
}
