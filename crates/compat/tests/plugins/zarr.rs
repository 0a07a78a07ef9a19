//! Filters of plugins in Zarr stores: their codecs make JSON of parameters, for us and for netCDF-C.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use ferrocdf::{Code, File};
use ferrocdf_compat::python;

use crate::compiled::compile;
use crate::files::{bytes, filter, read, stored, write_through};
use crate::{folders, nccopy_tool};

/// The filter of `turn.c`.
const TURN: u32 = 40100;
const SPEC: &str = "v,40100,9";

/// The numbers of the variable.
fn values() -> Vec<i32> {
    bytes(400 * 50)
}

fn ours(args: &[&str], from: &Path, to: &Path) {
    let text = |path: &Path| path.to_str().expect("UTF-8").to_string();
    let run = nccopy_tool::ours(&[args, &[&*text(from), &text(to)]].concat());
    assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
}

/// Lets netCDF-C read or write a store, with the plugins of a folder.
fn theirs(action: &str, store: &Path, plugins: &Path) {
    let mut script = python::script("codec_plugin.py");
    script.arg(action).arg(store).env("HDF5_PLUGIN_PATH", plugins).stderr(Stdio::piped());
    python::finish(script.spawn().expect("a Python that starts"));
}

#[test]
fn a_filter_with_a_codec_works_in_stores_for_us_and_for_netcdf_c() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("plugins");
    fs::create_dir(&place).expect("a new folder");
    compile("turn.c", &[], &place.join("libturn.so"));
    let _turn = folders::only(&place);
    let path = |name: &str| folder.path().join(name);
    let plain = path("plain.nc");
    write_through(&plain, &[], None, &values()).expect("a file");

    for (kind, name, metadata, codec) in [
        ("nczarr2", "v2", "v/.zarray", r#""compressor": {"id": "turn", "key": 9}"#),
        ("nczarr3", "v3", "v/zarr.json", r#"{"name": "numcodecs.turn", "configuration": {"key": 9}}"#),
    ] {
        let store = path(name);
        ours(&["-k", kind, "-F", SPEC], &plain, &store);
        let text = fs::read_to_string(store.join(metadata)).expect("metadata");
        assert!(text.contains(codec), "{text}");
        // The parameters are those that a user gives; chunks are made with those that the codec derives.
        assert_eq!(stored(&store), [filter(TURN, &[9])]);
        assert_eq!(read::<i32>(&store).expect("values"), values());
        let chunk =
            fs::read(store.join(if kind == "nczarr2" { "v/0.0" } else { "v/c/0/0" })).expect("a chunk");
        let turned: Vec<u8> =
            values()[0].to_le_bytes().iter().zip(9..).map(|(byte, add)| byte + add).collect();
        assert_eq!(chunk[..4], turned);
        // From the store to HDF5, where the filter derives its own parameters, and back.
        let (file, again) = (path(&format!("{name}.nc")), path(&format!("{name}_again")));
        ours(&["-k", "nc4"], &store, &file);
        assert_eq!(
            (stored(&file), read::<i32>(&file).expect("values")),
            (vec![filter(TURN, &[9, 4])], values())
        );
        ours(&["-k", kind], &file, &again);
        assert_eq!(read::<i32>(&again).expect("values"), values());
    }

    // netCDF-C reads what we wrote, and we read what it wrote.
    theirs("read", &path("v2"), &place);
    let store = path("theirs");
    theirs("write", &store, &place);
    assert_eq!(stored(&store), [filter(TURN, &[9])]);
    assert_eq!(read::<i32>(&store).expect("values"), values());
}

#[test]
fn without_a_plugin_metadata_is_read_and_the_error_tells_the_codec_and_where_it_was_looked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("plugins");
    fs::create_dir(&place).expect("a new folder");
    let library = place.join("libturn.so");
    compile("turn.c", &[], &library);
    let _turn = folders::only(&place);
    let (plain, store) = (folder.path().join("plain.nc"), folder.path().join("store"));
    write_through(&plain, &[], None, &values()).expect("a file");
    ours(&["-k", "nczarr2", "-F", SPEC], &plain, &store);

    let none = folder.path().join("none");
    fs::create_dir(&none).expect("a new folder");
    drop(_turn);
    let _turn = folders::only(&none);
    let file = File::open(&store).expect("the metadata can be read");
    assert_eq!(file.model().shape(file.variable("v").expect("it is there").id()), [400, 50]);
    let error = read::<i32>(&store).expect_err("there is no codec");
    assert_eq!(error.code, Code::ENOFILTER);
    let text = error.to_string();
    assert!(text.contains("/v") || text.contains("v:"), "{text}");
    assert!(text.contains("\"turn\"") && text.contains(none.to_str().expect("UTF-8")), "{text}");
}

#[test]
fn a_filter_without_a_codec_is_refused_before_a_store_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("plugins");
    fs::create_dir(&place).expect("a new folder");
    compile("scramble.c", &[], &place.join("libscramble.so"));
    let _turn = folders::only(&place);
    let (plain, store) = (folder.path().join("plain.nc"), folder.path().join("store"));
    write_through(&plain, &[], None, &values()).expect("a file");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_string();
    let args = ["nccopy", "-k", "nczarr2", "-F", "v,40001,1,2,3", &text(&plain), &text(&store)];
    let mut said = vec![];
    assert_eq!(ferrocdf_tools::nccopy::run(args.map(OsString::from), &mut said), 1);
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("filter 40001 has no codec") && said.contains("codec plugin"), "{said}");
    assert!(!store.exists(), "nothing was written");
}
