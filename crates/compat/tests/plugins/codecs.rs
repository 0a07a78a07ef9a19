//! The codec plugins in the wheel of netCDF4: parameters become JSON and JSON parameters, as our own codecs have them.

use std::path::Path;

use ferrocdf::plugins::{self, CodecVariable, from_numcodecs, to_numcodecs};

use crate::files::{filter, read, stored, write};
use crate::folders;
use crate::hdf5plugin::said;

/// Filters with the parameters that a user gives, and the JSON of each in the words of numcodecs.
const CODECS: [(u32, &[u32], &str); 7] = [
    (1, &[4], r#"{"id": "zlib", "level": "4"}"#),
    (2, &[4], r#"{"id": "shuffle", "elementsize": "4"}"#),
    (3, &[], r#"{"id": "fletcher32"}"#),
    (4, &[4, 16], r#"{"id": "szip", "mask": 4, "pixels-per-block": 16}"#),
    (307, &[9], r#"{"id": "bz2", "level": "9"}"#),
    (
        32001,
        &[0, 0, 0, 0, 5, 1, 1],
        r#"{"id": "blosc", "clevel": 5, "blocksize": 0, "cname": "lz4", "shuffle": 1}"#,
    ),
    (32015, &[3], r#"{"id": "zstd", "level": "3"}"#),
];

/// JSON without regard to spaces, the order of keys, and whether numbers are in quotes.
fn parts(json: &str) -> Vec<String> {
    let inside = json.trim().trim_start_matches('{').trim_end_matches('}');
    let mut parts: Vec<String> = inside.split(',').map(|part| part.replace(['"', ' '], "")).collect();
    parts.sort();
    parts
}

#[test]
fn codecs_of_the_wheel_say_what_ours_say() {
    let [place] = &said(&["netcdf"])[..] else { panic!("one line") };
    let _turn = folders::only(Path::new(place));
    let found = plugins::catalog();
    assert!(found.iter().all(|found| found.rejected.is_none()), "{found:?}");
    for (id, params, json) in CODECS {
        let codec = plugins::codec(id).unwrap_or_else(|| panic!("no codec for {id}"));
        assert_eq!(plugins::codec_named(codec.name()).map(|codec| codec.id()), Some(id));
        let theirs = codec.to_json(params).unwrap_or_else(|error| panic!("{id}: {error}"));
        let ours = to_numcodecs(&id.into(), params)
            .expect("a codec")
            .unwrap_or_else(|error| panic!("{id}: {error}"));
        assert_eq!((parts(&theirs), parts(&ours)), (parts(json), parts(json)), "{id}");
        for json in [&theirs, &ours] {
            let again = codec.to_hdf5(json).unwrap_or_else(|error| panic!("{json}: {error}"));
            // The plugin's shuffle learns the size of elements from the variable.
            let wanted = if id == 2 { &[][..] } else { params };
            assert_eq!(again, wanted, "{json}");
            let (same, again) =
                from_numcodecs(json).expect("a filter").unwrap_or_else(|error| panic!("{json}: {error}"));
            assert_eq!((same, &again[..]), (id.into(), params), "{json}");
        }
    }
    // Working parameters are what the filter of HDF5 stores.
    let variable = CodecVariable {
        name: "v".to_string(),
        kind: 5,
        size: 4,
        big_endian: false,
        shape: vec![400, 50],
        chunk: vec![40, 25],
    };
    let mut visible = vec![0, 0, 0, 0, 5, 1, 1];
    let blosc = plugins::codec(32001).expect("found above");
    let working = blosc.working(&variable, &mut visible).expect("parameters");
    assert_eq!(working[2..], [4, 4000, 5, 1, 1]);
    for wrong in ["", "{", "[1]", r#"{"id": "zlib"#, r#"{"id": 3}"#] {
        assert!(plugins::codec(1).expect("found above").to_hdf5(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn filters_of_the_wheel_go_both_ways() {
    let [place] = &said(&["netcdf"])[..] else { panic!("one line") };
    let _turn = folders::only(Path::new(place));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.nc");
    let values: Vec<f32> = (0..400 * 50).map(|number| (number as f32 / 300.).sin() * 40. + 300.).collect();
    for (id, params, _) in CODECS {
        let mut kept = vec![];
        for prefer in [false, true] {
            plugins::prefer(prefer);
            write(&path, filter(id, params), None, &values).unwrap_or_else(|error| panic!("{id}: {error}"));
            for prefer in [false, true] {
                plugins::prefer(prefer);
                assert_eq!(
                    read::<f32>(&path).unwrap_or_else(|error| panic!("{id}: {error}")),
                    values,
                    "{id}"
                );
            }
            kept.push(stored(&path));
        }
        assert_eq!(kept[0], kept[1], "{id}");
    }
}
