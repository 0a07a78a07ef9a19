//! `nccopy`: what it says of a copy that is made.

use std::ffi::OsString;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use ferrocdf::model::{Chunking, Filter};
use ferrocdf::{Atomic, Container, CreateOptions, File, FileMut, Format, GroupId};
use ferrocdf_tools::nccopy::run;

/// Runs the tool; its exit code and what it said.
pub(crate) fn call(args: &[&str]) -> (u8, String) {
    let mut errors = vec![];
    let args = ["nccopy"].iter().chain(args).map(OsString::from);
    let code = run(args, &mut errors);
    (code, String::from_utf8(errors).unwrap())
}

fn values(path: &Path) -> Vec<f32> {
    File::open(path).unwrap().variable("v").unwrap().get_values(..).unwrap()
}

#[test]
fn values_that_lose_digits_again_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (source, copy) = (path("scaled.nc"), path("copy.nc"));
    let file = FileMut::create(&source, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 40_000).unwrap();
    let var = file.add_variable::<f32>("v", &["x"]).unwrap().id();
    let digits = |model: &mut ferrocdf::Model| {
        let storage = &mut model.var_mut(var).storage;
        storage.chunking = Some(Chunking::Chunked(vec![10_000]));
        storage.set_filter(Filter::SCALE_OFFSET, vec![0, 1]);
        Ok(())
    };
    file.define(digits).unwrap();
    let numbers: Vec<f32> = (0..40_000).map(|number| (number % 199 * number % 89) as f32 / 7.0).collect();
    file.variable_mut("v").unwrap().put_values(&numbers, ..).unwrap();
    file.close().unwrap();

    // Chunks that are moved, or packed otherwise, lose nothing.
    for args in [&[][..], &["-F", "v,none", "-c", "x/8000"], &["-d", "1", "-c", "x/8000"], &["-3"]] {
        assert_eq!(call(&[args, &[&source, &copy]].concat()), (0, String::new()), "{args:?}");
        assert!(values(Path::new(&copy)) == values(Path::new(&source)), "{args:?}");
    }
    let (code, said) = call(&["-c", "v:8000", &source, &copy]);
    assert!(code == 0 && said.contains("/v: its values are rounded again"), "{code} {said}");
    assert!(values(Path::new(&copy)) != values(Path::new(&source)));
}

#[test]
fn groups_that_are_asked_for_are_the_only_ones() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (source, copy) = (path("groups.nc"), path("copy.nc"));
    let cdl = "netcdf g { types: byte enum e_t {A = 1}; dimensions: y = 3; x = 2; variables: int a(x); data: a = 1, 2;
        group: one { variables: int b(x); data: b = 3, 4; group: inner { dimensions: z = 2; variables: e_t d(z); } }
        group: two { dimensions: w = 2; variables: int c(w); :at = \"q\"; data: c = 7, 8;
          group: inner { variables: int e(w, x); data: e = 9, 10, 11, 12; } } }";
    let args = ["ncgen", "-4", "-o", &source, "-"].map(OsString::from);
    let program = ferrocdf_tools::ncgen::Program::Ncgen;
    assert_eq!(ferrocdf_tools::ncgen::run(program, args, &mut cdl.as_bytes(), &mut vec![], &mut vec![]), 0);
    for (args, groups, vars) in [
        (["-G", "/"], &["/"][..], &["/a"][..]),
        (["-G", "one"], &["/", "/one"], &["/one/b"]),
        (["-G", "/two/inner"], &["/", "/two", "/two/inner"], &["/two/inner/e"]),
        (
            ["-G", "inner"],
            &["/", "/one", "/one/inner", "/two", "/two/inner"],
            &["/one/inner/d", "/two/inner/e"],
        ),
    ] {
        assert_eq!(call(&[&args[..], &[&source, &copy]].concat()), (0, String::new()), "{args:?}");
        let file = File::open(&copy).unwrap();
        let model = file.model();
        let found: Vec<String> = model.group_ids().map(|group| model.group_path(group)).collect();
        assert_eq!(found, groups, "{args:?}");
        let found: Vec<String> = model.var_ids().map(|var| model.var_path(var)).collect();
        assert_eq!(found, vars, "{args:?}");
    }
    let file = File::open(&copy).unwrap();
    assert_eq!(file.variable("/two/inner/e").unwrap().get_values::<i32, _>(..).unwrap(), [9, 10, 11, 12]);
    assert_eq!(call(&["-g", "/", &source, &copy]), (0, String::new()));
    assert_eq!(File::open(&copy).unwrap().model().group_ids().count(), 5);
}

#[test]
fn copies_of_sparse_files_are_sparse() {
    const LEN: u64 = 8 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (source, copy) = (path("sparse.nc"), path("copy.nc"));
    let space = |path: &str| std::fs::metadata(path).unwrap().blocks() * 512;
    // A variable of 32 MiB, and records of 16 MiB, with few values in them.
    let file = FileMut::create(&source, &CreateOptions::format(Format::CLASSIC)).unwrap();
    file.add_dimension("x", LEN).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_dimension("y", LEN / 2).unwrap();
    file.add_variable::<f32>("v", &["x"]).unwrap();
    file.add_variable::<f32>("w", &["t", "y"]).unwrap();
    file.set_no_fill(true).unwrap();
    file.variable_mut("v").unwrap().put_values(&[1.5f32, 2.5], LEN / 2..LEN / 2 + 2).unwrap();
    file.variable_mut("w").unwrap().put_values(&[3.5f32], (2, 5..6)).unwrap();
    file.close().unwrap();
    // Where the library wrote zeros, holes are made: what a copy of them has is to be seen.
    let bytes = std::fs::read(&source).unwrap();
    let holes = std::fs::File::create(&source).unwrap();
    holes.set_len(bytes.len() as u64).unwrap();
    for (number, block) in
        bytes.chunks(4096).enumerate().filter(|(_, block)| block.iter().any(|&byte| byte != 0))
    {
        holes.write_all_at(block, number as u64 * 4096).unwrap();
    }
    drop(holes);
    assert!(space(&source) < 1 << 20, "{}", space(&source));
    for kind in ["-3", "-6"] {
        assert_eq!(call(&[kind, &source, &copy]), (0, String::new()));
        assert!(space(&copy) < 2 << 20, "{kind}: {}", space(&copy));
        let (was, is) = (File::open(&source).unwrap(), File::open(&copy).unwrap());
        for name in ["v", "w"] {
            let [was, is] =
                [&was, &is].map(|file| file.variable(name).unwrap().get_values::<f32, _>(..).unwrap());
            assert!(was == is, "{kind} {name}");
        }
    }
    assert_eq!(call(&["-3", &source, &copy]), (0, String::new()));
    assert!(std::fs::read(&copy).unwrap() == bytes);
}

#[test]
fn codecs_without_an_hdf5_number_are_kept_or_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(at("s.zarr/v")).unwrap();
    std::fs::write(at("s.zarr/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let array = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "fill_value": 7, "order": "F",
        "filters": [{"id": "delta", "dtype": "<i4"}, {"id": "shuffle", "elementsize": 4}],
        "compressor": {"id": "gzip", "level": 3}}"#;
    std::fs::write(at("s.zarr/v/.zarray"), array).unwrap();
    let store = |name: &str, kind: &str| format!("file://{}#mode={kind}", at(name).display());
    let source = store("s.zarr", "zarr");

    let (code, said) = call(&[&source, &store("copy.zarr", "nczarr,file")]);
    assert_eq!((code, &*said), (0, "nccopy: /v: copied without the codecs delta\n"));
    let copied = std::fs::read_to_string(at("copy.zarr/v/.zarray")).unwrap();
    let copied: String = copied.split_whitespace().collect();
    assert!(copied.contains(r#""compressor":{"id":"gzip","level":3}"#), "{copied}");
    assert!(copied.contains(r#""filters":[{"id":"shuffle","elementsize":4}]"#), "{copied}");
    let v: Vec<i32> = File::open(at("copy.zarr")).unwrap().variable("v").unwrap().get_values(..).unwrap();
    assert_eq!(v, [7; 4]);

    let copy = at("copy.nc");
    let (code, said) = call(&[&source, copy.to_str().unwrap()]);
    assert_eq!((code, &*said), (0, "nccopy: /v: copied without the codecs delta\n"));
    // Options that say the filters, and files that have none, leave nothing to tell.
    for args in [&["-d", "1"][..], &["-F", "none"], &["-F", "v,307,9"], &["-3"]] {
        assert_eq!(
            call(&[args, &[&source, copy.to_str().unwrap()]].concat()),
            (0, String::new()),
            "{args:?}"
        );
    }
}

#[test]
fn words_of_the_output_count_with_a_kind_and_without() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = at("in.nc");
    let file = FileMut::create(&source, &CreateOptions::format(Format::DATA64)).unwrap();
    file.define(|model| {
        let x = model.def_dim(GroupId::ROOT, "x", Some(3))?;
        model.def_var(GroupId::ROOT, "v", Atomic::Int.into(), &[x])
    })
    .unwrap();
    file.close().unwrap();
    let source = source.to_str().unwrap();
    let url = |name: &str, words: &str| format!("file://{}#{words}", at(name).display());
    let has = |store: &str, object: &str| at(store).join(object).exists();
    let names_dims = |store: &str| {
        std::fs::read_to_string(at(store).join("v/.zattrs")).unwrap().contains("_ARRAY_DIMENSIONS")
    };

    let (words, kind) = ("mode=nczarr,noxarray,noconsolidated", ["-k", "nczarr2"]);
    for (store, args) in [("kind.zarr", &kind[..]), ("none.zarr", &[])] {
        assert_eq!(call(&[args, &[source, &url(store, words)]].concat()), (0, String::new()));
        assert!(has(store, ".zgroup") && !has(store, ".zmetadata") && !names_dims(store), "{store}");
    }
    assert_eq!(call(&[&kind[..], &[source, &url("plain.zarr", "mode=nczarr")]].concat()), (0, String::new()));
    assert!(has("plain.zarr", ".zmetadata") && names_dims("plain.zarr"));

    assert_eq!(call(&[source, &url("name.zarr", "noconsolidated")]), (0, String::new()));
    let root = std::fs::read_to_string(at("name.zarr/zarr.json")).unwrap();
    assert!(!root.contains("consolidated_metadata"), "{root}");

    // A word that tells only the version, or the zip file, asks for a store too, whatever the name is.
    for (store, words, object, is_netcdf) in [
        ("two.zarr", "mode=v2", "v/.zattrs", true),
        ("two", "v2", "v/.zattrs", true),
        ("pure.zarr", "mode=zarr,v2", "v/.zattrs", false),
        ("three", "mode=v3", "v/zarr.json", true),
        ("both.zarr", "mode=v3,zarr", "v/zarr.json", false),
    ] {
        assert_eq!(call(&[source, &url(store, words)]), (0, String::new()), "{words}");
        let document = std::fs::read_to_string(at(store).join(object)).unwrap();
        assert_eq!(document.contains("_nczarr_array"), is_netcdf, "{words}: {document}");
    }
    for (file, words, format) in [
        ("bare.zarr", "mode=zip", Container::ZarrV3),
        ("bare", "zip", Container::ZarrV3),
        ("two.zip", "mode=v2", Container::ZarrV2),
        ("zip2.zarr", "mode=zip,v2", Container::ZarrV2),
        ("of_netcdf_c.zarr", "mode=nczarr,zip", Container::ZarrV2),
    ] {
        assert_eq!(call(&[source, &url(file, words)]), (0, String::new()), "{words}");
        assert!(at(file).is_file(), "{file}#{words}");
        assert_eq!(ferrocdf::open(at(file)).unwrap().format().container(), format, "{file}#{words}");
    }

    for (kind, words, word) in [
        ("zarr3", "mode=nczarr", "nczarr"),
        ("nczarr3", "mode=zarr,file", "zarr"),
        ("nczarr2", "mode=xarray", "xarray"),
        ("nczarr2", "mode=nczarr,v3", "v3"),
        ("nczarr2", "v3", "v3"),
        ("zarr3", "mode=v2", "v2"),
        ("zarr3", "mode=zarr,v2", "v2"),
    ] {
        let (code, said) = call(&["-k", kind, source, &url("other.zarr", words)]);
        let why = format!("\"{word}\" asks for another Zarr store than -k does");
        assert!(code == 1 && said.contains(&why) && !at("other.zarr").exists(), "{kind} {words}: {said}");
    }
    for (kind, words) in [("zarr3", "mode=zarr"), ("nczarr3", "mode=nczarr,zarr"), ("zarr2", "mode=xarray")] {
        assert_eq!(
            call(&["-k", kind, source, &url("same.zarr", words)]),
            (0, String::new()),
            "{kind} {words}"
        );
    }
}
