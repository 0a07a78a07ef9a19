//! The plugins of Debian's packages, which are linked to its HDF5 library: through us and through the reference.
//! Its plugin for LZF is left out: it lacks functions that it calls, and no program can use it.

use std::path::Path;
use std::process::Command;

use ferrocdf::plugins::{self, path};

use crate::files::{filter, ours, printed, read, stored, write, write_through};
use crate::folders;

/// Filters of the packages, with parameters that a user gives.
const FILTERS: [(u32, &[u32]); 6] = [
    (307, &[5]),
    (32001, &[0, 0, 0, 0, 7, 1, 0]),
    (32001, &[0, 0, 0, 0, 3, 2, 5]),
    (32004, &[2048]),
    (32013, &[5, 0, 0, 0, 0, 0]),
    (32013, &[1, 0, 0, 1076363264, 0, 0]),
];

/// Where the packages put them.
fn folder() -> String {
    format!("/usr/lib/{}-linux-gnu/hdf5/serial/plugins", std::env::consts::ARCH)
}

#[test]
fn plugins_linked_to_the_hdf5_library_go_both_ways() {
    let place = folder();
    let place = Path::new(&place);
    let _turn = folders::only(place);
    plugins::prefer(true);
    let folder = tempfile::tempdir().expect("a folder");
    let [plain, mine, theirs] = ["plain.nc", "mine.nc", "theirs.nc"].map(|name| folder.path().join(name));
    // Chunks of 4,000 bytes, which the reference makes one of when it copies them: so the shape is that of the whole.
    let values: Vec<f32> = (0..400 * 25).map(|number| (number as f32 / 300.).sin() * 40. + 300.).collect();
    write_through(&plain, &[], None, &values).expect("a file");
    for (id, params) in FILTERS {
        write(&mine, filter(id, params), None, &values).unwrap_or_else(|error| panic!("{id}: {error}"));
        let [filter] = &stored(&mine)[..] else { panic!("{id}: one filter") };
        assert_eq!(filter.id, id);
        // Both read what we wrote alike, in all digits that are printed.
        assert_eq!(ours(&mine), printed(&mine, place), "{id} {params:?}");
        let read_back: Vec<f32> = read(&mine).unwrap_or_else(|error| panic!("{id}: {error}"));
        let lossless = (id, params.first()) != (32013, Some(&1));
        assert_eq!(lossless, read_back == values, "{id} {params:?}");

        // Both read what the reference wrote alike.
        let spec: Vec<String> = params.iter().map(u32::to_string).collect();
        let spec = [&["v".to_string(), id.to_string()][..], &spec].concat().join(",");
        let mut nccopy = Command::new("nccopy");
        nccopy.args(["-F", &spec]).args([&plain, &theirs]).env("HDF5_PLUGIN_PATH", place);
        assert!(nccopy.status().expect("the reference's nccopy must be installed").success(), "{spec}");
        assert_eq!(ours(&theirs), printed(&theirs, place), "{spec}");
    }
}

/// Lists of folders in `HDF5_PLUGIN_PATH`, `@` for the folder of the packages, and whether the plugin is found.
const LISTS: [(&str, bool); 13] = [
    ("@", true),
    ("@/", true),
    ("@:/nowhere", true),
    ("/tmp:@", true),
    (":@", true),
    ("@:", true),
    ("::@::/tmp", true),
    ("::", false),
    (":", false),
    ("", false),
    ("@;/tmp", false),
    (" @", false),
    ("/nowhere:", false),
];

#[test]
fn lists_of_folders_are_read_as_the_hdf5_library_reads_them() {
    let place = folder();
    let _turn = folders::only(Path::new(&place));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("packed.nc");
    let values: Vec<f32> = (0..400 * 25).map(|number| number as f32 / 7.0).collect();
    write(&file, filter(32013, &[5, 0, 0, 0, 0, 0]), None, &values).expect("a file");
    for (list, is_found) in LISTS {
        let list = list.replace('@', &place);
        let theirs =
            Command::new("h5dump").args(["-d", "/v"]).arg(&file).env("HDF5_PLUGIN_PATH", &list).output();
        let theirs = theirs.expect("h5dump must be installed").status.success();
        path::set(path::parse(list.as_ref()));
        let ours = read::<f32>(&file).is_ok();
        assert_eq!((theirs, ours), (is_found, is_found), "{list:?}");
    }
}
