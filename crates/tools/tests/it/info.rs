//! `ferrocdf info` of netCDF-4 and other HDF5 files, as text and as JSON, beside what it should say in `tests/golden`.

use std::path::Path;
use std::process::Command;

/// What `ferrocdf info` says of a file of test data.
fn said(args: &[&str]) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ferrocdf/tests/data");
    let run = Command::new(env!("CARGO_BIN_EXE_ferrocdf"))
        .arg("info")
        .args(args)
        .current_dir(files)
        .output()
        .unwrap();
    assert_eq!((run.status.code(), &*run.stderr), (Some(0), &b""[..]), "{args:?}");
    String::from_utf8(run.stdout).unwrap()
}

fn says(name: &str, golden: &str, args: &[&str]) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(golden);
    let wanted = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(said(&[args, &[name]].concat()), wanted, "{}", golden.display());
}

#[test]
fn groups_types_chunks_and_filters() {
    says("everything.nc", "everything.txt", &[]);
    says("everything.nc", "everything.json", &["--json"]);
}

#[test]
fn layouts_are_told_for_people_and_for_programs() {
    says("everything.nc", "layout.txt", &["--layout"]);
    let json: serde_json::Value =
        serde_json::from_str(&said(&["--layout", "--json", "everything.nc"])).unwrap();
    let (layout, temp) = (&json["layout"], &json["layout"]["variables"][1]);
    assert_eq!((&layout["metadata_first"], &layout["unused_bytes"]), (&false.into(), &2173.into()));
    assert_eq!(
        (&temp["path"], &temp["chunks"], &temp["index"]["begin"]),
        (&"/temp".into(), &3.into(), &9431.into())
    );
    assert_eq!(json["variables"][1]["name"], "temp");
}

#[test]
fn what_was_left_out() {
    says("skipped.h5", "skipped.txt", &[]);
    says("skipped.h5", "skipped.json", &["--json"]);
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
fn dimension_scales_of_other_programs_are_no_sign_of_netcdf() {
    assert!(said(&["unordered.h5"]).starts_with("unordered.h5: HDF5, not written by netCDF, "));
    assert!(said(&["--json", "unordered.h5"]).contains("\"written_by_netcdf\": false"));
}

#[test]
fn chunks_that_were_never_written_are_counted_and_are_no_compression() {
    let text = said(&["sparse.h5"]);
    let of = |name: &str| {
        text.split(&format!(" {name}: ")).nth(1).unwrap().lines().skip(1).take(3).collect::<Vec<_>>()
    };
    let unwritten = "      4095 of 4096 chunks were never written";
    assert_eq!(of("few")[..2], ["      33.6 MB, 8.2 kB stored, chunks of 1024", unwritten]);
    assert_eq!(
        of("packed"),
        ["      16.8 MB, 34 bytes stored, 120.47:1, chunks of 1024", unwritten, "      deflate (1) with 4"]
    );
    assert_eq!(of("never")[0], "      33.6 MB, nothing stored, contiguous");
    let json: serde_json::Value = serde_json::from_str(&said(&["--json", "sparse.h5"])).unwrap();
    let facts = |name: &str, key: &str| {
        let vars = json["variables"].as_array().unwrap();
        vars.iter().find(|var| var["name"] == name).unwrap()[key].clone()
    };
    assert_eq!(
        (facts("packed", "ratio"), facts("packed", "stored_bytes")),
        (120.470_588_235_294_12.into(), 34.into())
    );
    assert_eq!((facts("few", "ratio"), facts("never", "ratio")), (1.0.into(), serde_json::Value::Null));
    assert_eq!(
        (facts("packed", "chunk_count"), facts("packed", "unwritten_chunks")),
        (4096.into(), 4095.into())
    );
    assert_eq!(facts("packed", "written_bytes"), 4096);
    assert_eq!(facts("never", "unwritten_chunks"), serde_json::Value::Null);
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
    let made = ferrocdf::FileMut::create(&file, &ferrocdf::CreateOptions::format(ferrocdf::Format::NETCDF4))
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

/// Codecs of Zarr that have no number of HDF5 are shown as well.
#[test]
fn codecs_of_zarr_stores_are_told_by_name() {
    let store = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = store.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".zgroup", r#"{"zarr_format": 2}"#);
    write(
        "a/.zarray",
        r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": 0, "order": "C",
        "filters": [{"id": "delta", "dtype": "<i4"}], "compressor": {"id": "none_such", "level": 3}}"#,
    );
    write("a/0", "12345678");
    let text = said(&[store.path().to_str().unwrap()]);
    assert!(text.contains("delta with dtype <i4, then none_such with level 3"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&said(&["--json", store.path().to_str().unwrap()])).unwrap();
    assert_eq!(json["variables"][0]["codecs"][1]["id"], "none_such");
    assert!(text.contains("Zarr 2, metadata not consolidated"), "{text}");
    assert_eq!(json["consolidated"], false);
    let of_scalar = r#"{"zarr_format": 2, "shape": [], "chunks": [], "dtype": "<i4", "fill_value": 0, "order": "C",
        "filters": null, "compressor": null}"#;
    write(
        ".zmetadata",
        &format!(
            r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {{"zarr_format": 2}}, "s/.zarray": {of_scalar}}}}}"#
        ),
    );
    write("s/0", "1234");
    let text = said(&[store.path().to_str().unwrap()]);
    assert!(text.contains("Zarr 2, metadata consolidated") && text.contains("one chunk\n"), "{text}");
}

#[test]
fn codecs_of_hdf4_have_their_names_and_one_piece_is_no_chunk() {
    let of = |name: &str| said(&[&format!("../../../hdf4/tests/data/{name}.hdf")]);
    for (name, codec) in
        [("rle", "hdf4_rle"), ("nbit", "hdf4_nbit"), ("skphuff", "hdf4_skphuff"), ("deflate", "deflate (1)")]
    {
        let [whole, chunked] = [of(name), of(&format!("chunked_{name}"))];
        assert!(whole.contains("one compressed piece") && !whole.contains("chunks of"), "{whole}");
        assert!(chunked.contains("chunks of 2 x 4") && !chunked.contains("piece"), "{chunked}");
        assert!(whole.contains(codec) && chunked.contains(codec), "{whole}{chunked}");
    }
}
