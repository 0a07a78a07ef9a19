//! `nccopy`: copies of sparse files.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ferrocdf::model::Chunking;
use ferrocdf::{CreateOptions, File, FileMut, Format};

use crate::nccopy::call;

/// The blocks that a file takes, in bytes.
fn space(path: &str) -> u64 {
    std::fs::metadata(path).unwrap().blocks() * 512
}

/// Asserts that all variables of two files have the same values.
fn assert_same_values(was: &str, is: &str, said: &[&str]) {
    let (was, is) = (File::open(was).unwrap(), File::open(is).unwrap());
    for var in was.model().var_ids() {
        let name = was.model().var(var).name.to_string();
        let [was, is] =
            [&was, &is].map(|file| file.variable(&name).unwrap().get_values::<f64, _>(..).unwrap());
        assert!(was == is, "{name} {said:?}");
    }
}

#[test]
fn copies_of_datasets_with_missing_data_are_sparse() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.nc").to_str().unwrap().to_string();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ferrocdf/tests/data/sparse.h5");
    let source = source.to_str().unwrap().to_string();
    let stored =
        |name: &str| File::open(&copy).unwrap().variable(name).unwrap().storage().unwrap().stored_bytes;
    for args in [&[][..], &["-d", "1"], &["-F", "*,none"], &["-4"]] {
        assert_eq!(call(&[args, &[&source, &copy]].concat()), (0, String::new()), "{args:?}");
        assert!(space(&copy) < 1 << 20, "{args:?}: {}", space(&copy));
        assert_same_values(&source, &copy, args);
        // One chunk each.
        for name in ["few", "filled", "packed"] {
            assert!((1..=8192).contains(&stored(name)), "{args:?} {name} {}", stored(name));
        }
    }
    // What reads as a fill value other than zero is written, 16 MiB of it.
    for args in [&["-5"][..], &["-c", "few:", "-c", "filled:", "-F", "*,none"]] {
        assert_eq!(call(&[args, &[&source, &copy]].concat()), (0, String::new()), "{args:?}");
        assert!(space(&copy) < 18 << 20, "{args:?}: {}", space(&copy));
        assert_same_values(&source, &copy, args);
    }
    for name in ["never", "few", "packed"] {
        for args in [
            &["-5", "-V", name][..],
            &["-6", "-V", name],
            &["-V", name, "-c", &format!("{name}:"), "-F", "*,none"],
        ] {
            assert_eq!(call(&[args, &[&source, &copy]].concat()), (0, String::new()), "{args:?}");
            assert!(space(&copy) < 1 << 20, "{args:?}: {}", space(&copy));
            assert_same_values(&copy, &source, args);
        }
    }
}

#[test]
fn chunks_that_netcdf_never_wrote_are_missing_in_copies() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (source, copy) = (path("source.nc"), path("copy.nc"));
    let file = FileMut::create(&source, &CreateOptions::format(Format::NETCDF4)).unwrap();
    file.add_dimension("x", 1 << 20).unwrap();
    for (name, fill) in [("default", None), ("nan", Some(f32::NAN)), ("none", None)] {
        let var = file.add_variable::<f32>(name, &["x"]).unwrap().id();
        let define = |model: &mut ferrocdf::Model| {
            let storage = &mut model.var_mut(var).storage;
            storage.chunking = Some(Chunking::Chunked(vec![1024]));
            storage.no_fill = name == "none";
            if let Some(fill) = fill {
                model.put_attr(
                    ferrocdf::Owner::Var(var),
                    b"_FillValue",
                    ferrocdf::Values::Float(vec![fill]),
                )?;
            }
            Ok(())
        };
        file.define(define).unwrap();
        file.variable_mut(name).unwrap().put_values(&[1.5f32], 3000..3001).unwrap();
    }
    file.close().unwrap();
    for (args, most) in [
        (&[][..], 4096),
        (&["-d", "1"], 4096),
        (&["-k", "nc7"], 4096),
        // The chunk of the source lies in two of the copy.
        (&["-M", "1", "-c", "x/3000"], 2 * 12_000),
    ] {
        assert_eq!(call(&[args, &[&source, &copy]].concat()), (0, String::new()), "{args:?}");
        let (was, is) = (File::open(&source).unwrap(), File::open(&copy).unwrap());
        for name in ["default", "nan", "none"] {
            let stored = is.variable(name).unwrap().storage().unwrap().stored_bytes;
            assert!((1..=most).contains(&stored), "{args:?} {name} {stored}");
            let bits = |file: &File| -> Vec<u32> {
                let values: Vec<f32> = file.variable(name).unwrap().get_values(..).unwrap();
                values.into_iter().map(f32::to_bits).collect()
            };
            assert!(bits(&was) == bits(&is), "{args:?} {name}");
        }
    }
}

#[test]
fn copies_of_sparse_files_to_other_formats_are_sparse() {
    const LEN: u64 = 4 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (source, copy) = (path("sparse.nc"), path("copy.nc"));
    for format in [Format::CLASSIC, Format::DATA64, Format::NETCDF4] {
        let file = FileMut::create(&source, &CreateOptions::format(format)).unwrap();
        file.add_dimension("x", LEN).unwrap();
        file.set_no_fill(true).unwrap();
        for name in ["v", "w"] {
            file.add_variable::<f32>(name, &["x"]).unwrap();
            file.variable_mut(name).unwrap().put_values(&[1.5f32, 2.5], LEN / 2..LEN / 2 + 2).unwrap();
        }
        file.close().unwrap();
        assert!(space(&source) < 1 << 20, "{format:?}: {}", space(&source));
        for kind in ["nc3", "nc6", "cdf5", "nc4", "nc7"] {
            for args in [&["-k", kind, &source, &copy][..], &["-w", "-k", kind, &source, &copy]] {
                assert_eq!(call(args), (0, String::new()));
                assert!(space(&copy) < 1 << 20, "{format:?} {args:?}: {}", space(&copy));
                assert_same_values(&source, &copy, args);
            }
        }
    }
}
