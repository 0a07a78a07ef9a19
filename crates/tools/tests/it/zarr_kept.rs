//! Copies between Zarr stores: codecs without an HDF5 number, fill values that no attribute tells, and chunks that are missing.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ferrocdf::model::Filter;
use ferrocdf::{File, Values};
use ferrocdf_tools::ncgen::Program;

use crate::nccopy::call;

const KINDS: [&str; 4] = ["nczarr2", "nczarr3", "zarr2", "zarr3"];

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Copies with `nccopy`; its exit code and what it said.
    fn nccopy(&self, kind: &str, from: &str, to: &str) -> (u8, String) {
        call(&["-k", kind, self.path(from).to_str().unwrap(), self.path(to).to_str().unwrap()])
    }

    fn ncgen(&self, kind: &str, cdl: &str, to: &str) {
        let args = ["ncgen", "-k", kind, "-o", self.path(to).to_str().unwrap(), "-"].map(OsString::from);
        let mut errors = vec![];
        let code =
            ferrocdf_tools::ncgen::run(Program::Ncgen, args, &mut cdl.as_bytes(), &mut vec![], &mut errors);
        assert_eq!((code, String::from_utf8(errors).unwrap()), (0, String::new()));
    }

    /// Returns the metadata of an array with its attributes.
    fn array(&self, store: &str, var: &str) -> String {
        let objects = [".zarray", ".zattrs", "zarr.json"];
        objects
            .map(|object| fs::read_to_string(self.path(store).join(var).join(object)).unwrap_or_default())
            .concat()
    }
}

/// The codecs of version 2, and their parameter.
const CODECS: [(&str, &str); 4] =
    [("gzip", "\"level\": 3"), ("lzma", "\"preset\": 2"), ("crc32", ""), ("adler32", "")];

/// Returns CDL with a variable of each codec, named after it.
fn cdl() -> String {
    let var = |(codec, parameter): (&str, &str)| {
        let json = match parameter {
            "" => format!("[{{\"id\": \"{codec}\"}}]"),
            parameter => format!("[{{\"id\": \"{codec}\", {parameter}}}]"),
        };
        format!(
            "int {codec}(x); {codec}:_ChunkSizes = 4; {codec}:_Codecs = \"{}\";",
            json.replace('"', "\\\"")
        )
    };
    let values = |(codec, _)| format!("{codec} = 1, 2, 3, 4, 5, 6, 7, 8;");
    format!(
        "netcdf g {{ dimensions: x = 8; variables: {} data: {} }}",
        CODECS.map(var).concat(),
        CODECS.map(values).concat()
    )
}

#[test]
fn codecs_of_bytes_are_carried_from_version_to_version() {
    let place = Place::new();
    for kind in KINDS {
        place.ncgen(kind, &cdl(), "a.zarr");
        for other in KINDS {
            assert_eq!(place.nccopy(other, "a.zarr", "b.zarr"), (0, String::new()), "{kind} {other}");
            for (codec, parameter) in CODECS {
                let array = place.array("b.zarr", codec);
                let called = match (other.ends_with('2'), codec) {
                    (true, _) => format!("\"id\": \"{codec}\""),
                    (false, "gzip") => "\"name\": \"gzip\"".to_string(),
                    (false, _) => format!("\"name\": \"numcodecs.{codec}\""),
                };
                assert!(array.contains(&called) && array.contains(parameter), "{kind} {other}: {array}");
                let values: Vec<i32> = File::open(place.path("b.zarr"))
                    .unwrap()
                    .variable(codec)
                    .unwrap()
                    .get_values(..)
                    .unwrap();
                assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8]);
            }
        }
        let (code, said) = place.nccopy("nc4", "a.zarr", "b.nc");
        let told =
            ["lzma", "crc32", "adler32"].map(|codec| said.contains(&format!("without the codecs {codec}\n")));
        assert_eq!((code, said.lines().count(), told), (0, 3, [true; 3]), "{said}");
        // The same compression in another frame.
        let file = File::open(place.path("b.nc")).unwrap();
        let gzip = file.variable("gzip").unwrap();
        assert_eq!(
            file.model().var(gzip.id()).storage.filters,
            [Filter { id: Filter::DEFLATE, params: vec![3] }]
        );
        assert_eq!(gzip.get_values::<i32, _>(..).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn acceleration_of_lz4_is_kept_through_other_frames() {
    let place = Place::new();
    let cdl = r#"netcdf a { dimensions: x = 8; variables: int v(x); v:_ChunkSizes = 4;
        v:_Codecs = "[{\"id\": \"lz4\", \"acceleration\": 7}]"; data: v = 1, 2, 3, 4, 5, 6, 7, 8; }"#;
    place.ncgen("zarr2", cdl, "a.zarr");
    for (kind, from, to) in [
        ("zarr3", "a.zarr", "b.zarr"),
        ("nczarr2", "b.zarr", "c.zarr"),
        ("nc4", "c.zarr", "d.nc"),
        ("zarr3", "d.nc", "e.zarr"),
    ] {
        assert_eq!(place.nccopy(kind, from, to), (0, String::new()), "{kind}");
        if kind != "nc4" {
            let array = place.array(to, "v");
            assert!(array.contains(r#""acceleration": 7"#), "{to}: {array}");
        }
        let file = File::open(place.path(to)).unwrap();
        let v = file.variable("v").unwrap();
        assert_eq!(v.get_values::<i32, _>(..).unwrap(), [1, 2, 3, 4, 5, 6, 7, 8]);
        let filters = file.model().var(v.id()).storage.filters.clone();
        assert_eq!(filters, [Filter { id: Filter::LZ4, params: vec![0, 7] }], "{to}");
    }
}

/// Arrays without any chunk: name, data type and fill value of version 2, the fill value in version 3.
const ARRAYS: [(&str, &str, &str, &str); 6] = [
    ("yes", "|b1", "true", "true"),
    ("no", "|b1", "false", "false"),
    ("bytes", "|S3", "\"eHl6\"", "\"eHl6\""),
    ("text", ">U3", "\"xy\"", "\"xy\""),
    ("pairs", "<c16", "[1.0,2.0]", "[1.0,2.0]"),
    ("swapped", ">c8", "[1.0,2.0]", "[1.0,2.0]"),
];

/// Writes a store of version 2 that has the metadata of [`ARRAYS`] and no chunk.
fn write_sparse(store: &Path) {
    fs::create_dir_all(store).unwrap();
    fs::write(store.join(".zgroup"), "{\"zarr_format\": 2}").unwrap();
    for (name, dtype, fill, _) in ARRAYS {
        fs::create_dir(store.join(name)).unwrap();
        let array = format!(
            "{{\"zarr_format\": 2, \"shape\": [4], \"chunks\": [2], \"dtype\": \"{dtype}\", \"fill_value\": {fill}, \
             \"order\": \"C\", \"filters\": null, \"compressor\": null}}"
        );
        fs::write(store.join(name).join(".zarray"), array).unwrap();
    }
}

#[test]
fn fill_values_of_forms_are_kept_and_missing_chunks_stay_missing() {
    let place = Place::new();
    write_sparse(&place.path("a.zarr"));
    for (from, kind, to) in [
        ("a.zarr", "zarr2", "b.zarr"),
        ("a.zarr", "zarr3", "c.zarr"),
        ("a.zarr", "nczarr3", "d.zarr"),
        ("c.zarr", "zarr3", "e.zarr"),
        ("d.zarr", "zarr3", "f.zarr"),
    ] {
        assert_eq!(place.nccopy(kind, from, to), (0, String::new()), "{from} {kind}");
        for (name, _, v2, v3) in ARRAYS {
            let array = place.array(to, name);
            let fill = if kind == "zarr2" { v2 } else { v3 };
            assert!(array.contains(&format!("\"fill_value\": {fill},")), "{from} {kind}: {array}");
            for chunk in ["0", "1", "c"] {
                assert!(!place.path(to).join(name).join(chunk).exists(), "{from} {kind}: {name}/{chunk}");
            }
        }
    }
    let fills = |store: &str| -> Vec<Option<Values>> {
        let file = File::open(place.path(store)).unwrap();
        ARRAYS.map(|(name, ..)| file.fill_value(file.variable(name).unwrap().id()).unwrap()).to_vec()
    };
    assert_eq!(fills("a.zarr"), fills("f.zarr"));
    // Xarray would mask what was no missing value before, and netCDF-C knows none of the types.
    for (from, kind) in [("c.zarr", "zarr2"), ("a.zarr", "nczarr2")] {
        assert_eq!(place.nccopy(kind, from, "g.zarr"), (0, String::new()));
        for (name, ..) in ARRAYS {
            let array = place.array("g.zarr", name);
            assert!(array.contains("\"fill_value\": null,"), "{from} {kind}: {array}");
            assert!(place.path("g.zarr").join(name).join("0").is_file(), "{from} {kind}: {name}");
        }
    }
}

#[test]
fn booleans_need_no_attributes_that_name_their_numbers() {
    let place = Place::new();
    write_sparse(&place.path("a.zarr"));
    for kind in ["zarr2", "zarr3"] {
        assert_eq!(place.nccopy(kind, "a.zarr", "b.zarr"), (0, String::new()));
        let array = place.array("b.zarr", "yes");
        assert!(!array.contains("flag_"), "{array}");
        assert!(array.contains("|b1") || array.contains("\"bool\""), "{array}");
    }
    // As numbers they need them.
    assert_eq!(place.nccopy("nc4", "a.zarr", "b.nc"), (0, String::new()));
    assert_eq!(place.nccopy("zarr3", "b.nc", "b.zarr"), (0, String::new()));
    assert!(place.array("b.zarr", "yes").contains("\"flag_meanings\""));
}

#[test]
fn zstd_with_a_checksum_has_one_parameter_in_netcdf4() {
    let here = Place::new();
    here.ncgen(
        "zarr3",
        "netcdf a { dimensions: x = 4; variables: int v(x); data: v = 1, 2, 3, 4; }",
        "in.zarr",
    );
    let [from, to] = ["in.zarr", "sum.zarr"].map(|name| here.path(name));
    let args = ["-k", "zarr3", "-F", "*,zstd,3,1", from.to_str().unwrap(), to.to_str().unwrap()];
    assert_eq!(call(&args), (0, String::new()));
    assert!(here.array("sum.zarr", "v").contains("\"checksum\": true"), "{}", here.array("sum.zarr", "v"));
    assert_eq!(here.nccopy("nc4", "sum.zarr", "out.nc"), (0, String::new()));
    let file = File::open(here.path("out.nc")).unwrap();
    let id = file.variable("v").unwrap().id();
    assert_eq!(file.model().var(id).storage.filter(Filter::ZSTD), Some(&[3][..]));
    assert_eq!(here.nccopy("zarr3", "sum.zarr", "again.zarr"), (0, String::new()));
    assert_eq!(here.array("again.zarr", "v"), here.array("sum.zarr", "v"));
}
