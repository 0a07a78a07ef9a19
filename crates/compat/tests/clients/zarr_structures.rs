//! Structures in Zarr stores keep the types of their fields in copies: zarr-python and h5py judge.

use std::process::Stdio;

use ferrocdf::{FileMut, Selection};
use ferrocdf_compat::python;

fn nccopy(args: &[&str]) {
    let mut said = vec![];
    let code = ferrocdf_tools::nccopy::run(["nccopy"].iter().chain(args).map(Into::into), &mut said);
    assert_eq!((code, String::from_utf8_lossy(&said).as_ref()), (0, ""), "{args:?}");
}

/// Runs a function of `py/zarr_structures.py`.
fn judge(args: &[&str]) {
    let mut command = python::newest_zarr("zarr_structures.py");
    python::finish(command.args(args).stderr(Stdio::piped()).spawn().expect("a Python that starts"));
}

/// Returns some words and others behind them.
fn strs<'w>(first: &[&'w str], more: &'w [String]) -> Vec<&'w str> {
    first.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

const KINDS: [(&str, &str); 4] = [("zarr2", "2"), ("zarr3", "3"), ("nczarr2", "2"), ("nczarr3", "3")];

#[test]
fn copies_keep_the_types_of_fields() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    for from in ["2", "3"] {
        let (source, file) = (path(&format!("{from}.zarr")), path("copy.nc"));
        judge(&["make", &source, from]);
        for (kind, to) in KINDS {
            let copy = path(&format!("{from}-{kind}.zarr"));
            nccopy(&["-k", kind, &source, &copy]);
            let once = [copy.clone(), format!("{from}{to}")];
            let mut again = vec![];
            for (second, last) in KINDS {
                let twice = path(&format!("{from}-{kind}-{second}.zarr"));
                nccopy(&["-k", second, &copy, &twice]);
                again.extend([twice, format!("{to}{last}")]);
            }
            judge(&strs(&["same", &source], &once));
            judge(&strs(&["same", &copy], &again));
        }
        nccopy(&["-k", "nc4", &source, &file]);
        judge(&["file", &source, &file]);
    }
}

#[test]
fn structures_are_edited() {
    let folder = tempfile::tempdir().unwrap();
    for version in ["2", "3"] {
        let store = folder.path().join(version);
        judge(&["make", store.to_str().unwrap(), version]);
        let file = FileMut::append(&store).unwrap();
        let var = file.variable("all").unwrap().id();
        let values = file.read_values(var, &[3], &[1]).unwrap();
        let _exact = file.write_trees(var, &Selection::slab(&[1], &[1]), &values).unwrap();
        file.close().unwrap();
        judge(&["edited", store.to_str().unwrap()]);
    }
}
