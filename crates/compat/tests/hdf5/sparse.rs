//! Copies of datasets with chunks that were never written, by h5py and by the reference's `ncdump`.

use std::path::Path;

use ferrocdf_compat::python::script;

use crate::{nccopy_tool, ncdump_tool};

fn python(args: &[&str]) -> Result<(), String> {
    let output = script("sparse.py").args(args).output().expect("a Python that starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(()) } else { Err(said) }
}

fn data(path: &str) -> Vec<u8> {
    let run = ncdump_tool::reference(&["-n", "same", "-p", "9,17", path]);
    assert_eq!(run.code, Some(0), "{path}: {}", String::from_utf8_lossy(&run.err));
    run.out
}

#[test]
fn chunks_that_were_never_written_are_missing_in_copies() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path of UTF-8").to_string();
    let (source, copy) = (path("source.h5"), path("copy.nc"));
    python(&["make", &source]).expect("a source");
    let values = data(&source);
    for options in [
        &[][..],
        &["-d", "1"],
        &["-d", "1", "-s"],
        &["-F", "*,none"],
        &["-u"],
        &["-k", "nc7"],
        &["-M", "1"],
        &["-m", "1000"],
        &["-w"],
        // Chunks that contain chunks of the source, divide them, and cut them.
        &["-M", "1", "-c", "phony_dim_0/40,phony_dim_1/60"],
        &["-M", "1", "-c", "phony_dim_0/5,phony_dim_1/10"],
        &["-M", "1", "-c", "phony_dim_0/11,phony_dim_1/77"],
        &["-c", "zero_never:50,60", "-c", "seven_never:50,60", "-c", "nan_never_chunked:"],
    ] {
        let run = nccopy_tool::ours(&[options, &[&source, &copy]].concat());
        assert_eq!((run.code, &*run.said), (Some(0), ""), "{options:?}");
        assert_eq!(python(&["judge", &source, &copy]), Ok(()), "{options:?}");
        if options != ["-u"] && data(&copy) != values {
            ncdump_tool::assert_same(
                options,
                &ncdump_tool::reference(&["-n", "same", "-p", "9,17", &source]),
                &ncdump_tool::reference(&["-n", "same", "-p", "9,17", &copy]),
            );
        }
        std::fs::remove_file(Path::new(&copy)).expect("a copy");
    }
}

#[test]
fn copies_of_huge_datasets_of_two_chunks_look_at_no_other() {
    // Billions of chunks, in extensible arrays and in a paged fixed array.
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path of UTF-8").to_string();
    let (source, copy) = (path("source.h5"), path("copy.nc"));
    python(&["make_huge", &source]).expect("a source");
    for options in [&[][..], &["-d", "1"]] {
        let run = nccopy_tool::ours(&[options, &[&source, &copy]].concat());
        assert_eq!((run.code, &*run.said), (Some(0), ""), "{options:?}");
        assert_eq!(python(&["judge_huge", &source, &copy]), Ok(()), "{options:?}");
        std::fs::remove_file(Path::new(&copy)).expect("a copy");
    }
}
