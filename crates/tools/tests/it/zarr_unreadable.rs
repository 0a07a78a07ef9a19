//! Copies of Zarr stores with arrays whose data cannot be read, or that have no elements.

use std::path::Path;

use ferrocdf::model::{Container, DataModel};
use ferrocdf::{CreateOptions, File, FileMut, Format, Location, Values, errno};

use crate::nccopy::call;

/// The document of a Zarr 3 array.
fn array(shape: &str, fill: &str, codec: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "int32", "fill_value": {fill},
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
        "chunk_key_encoding": {{"name": "default"}},
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}{codec}], "attributes": {{}}}}"#
    )
}

/// Makes a store of arrays in a folder, which have these names and documents.
fn store(path: &Path, arrays: &[(&str, String)]) {
    for (name, document) in arrays {
        std::fs::create_dir_all(path.join(name)).unwrap();
        std::fs::write(path.join(name).join("zarr.json"), document).unwrap();
    }
    std::fs::write(path.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
}

/// Makes a store with the arrays `good` and `zgood`, and `bad` in an unknown codec.
pub(crate) fn store_with_an_unknown_codec(path: &Path) {
    let good = || array("[4]", "7", "");
    let bad = array("[4]", "7", r#", {"name": "no.such"}"#);
    store(path, &[("bad", bad), ("good", good()), ("zgood", good())]);
}

#[test]
fn array_with_an_unknown_codec_is_left_out_of_the_copy() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let source = at("in.zarr");
    store_with_an_unknown_codec(Path::new(&source));
    for (kind, out) in [("zarr3", at("out3.zarr")), ("zarr2", at("out2.zarr")), ("nc4", at("out.nc"))] {
        for args in [&[][..], &["-g", "/"]] {
            let (code, said) = call(&[args, &["-k", kind, &source, &out]].concat());
            assert_eq!(code, 1, "{said}");
            assert!(said.contains("skipped: /bad: ") && said.contains("no.such"), "{said}");
            assert!(said.contains("the copy is there, and lacks what cannot be read"), "{said}");
            let copy = File::open(&out).unwrap();
            let names: Vec<_> =
                copy.model().vars().iter().map(|var| var.name.to_str().into_owned()).collect();
            assert_eq!(names, ["good", "zgood"]);
            let zgood = copy.variable("zgood").unwrap();
            assert_eq!(zgood.get_values::<i32, _>(..).unwrap(), [7; 4]);
        }
        // Whoever asks for other variables gets all.
        let (code, said) = call(&["-V", "good", "-k", kind, &source, &out]);
        assert!(code == 0 && !said.contains("lacks"), "{said}");
        // One that is asked for by its name is missed.
        let missing = at("missing");
        let (code, said) = call(&["-V", "good,bad", "-k", kind, &source, &missing]);
        assert!(code == 1 && said.contains("undefined filter") && said.contains("/bad: "), "{said}");
        assert!(!Path::new(&missing).exists());
    }
}

#[test]
fn empty_arrays_keep_their_fill_values() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    store(&at("in.zarr"), &[("empty", array("[0]", "5", ""))]);
    for kind in ["zarr3", "nczarr3", "nc4"] {
        let (source, out) = (at("in.zarr"), at(&format!("{kind}.zarr")));
        let done = call(&["-k", kind, source.to_str().unwrap(), out.to_str().unwrap()]);
        assert_eq!(done, (0, String::new()));
        let copy = File::open(&out).unwrap();
        let empty = copy.variable("empty").unwrap().id();
        assert_eq!(copy.fill_value(empty).unwrap(), Some(Values::Int(vec![5])), "{kind}");
    }
}

#[test]
fn folders_around_a_new_store_are_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    store(&at("in.zarr"), &[("v", array("[4]", "5", ""))]);
    let (code, said) = call(&[at("in.zarr").to_str().unwrap(), at("a/b/out.zarr").to_str().unwrap()]);
    assert!(code == 1 && said.contains("No such file or directory"), "{said}");
    assert!(!at("a").exists());
    let options = CreateOptions::format(Format::new(Container::ZarrV3, DataModel::Netcdf4));
    let made = FileMut::create_at(&Location::Path(at("a/b/x.zarr")), &options);
    assert_eq!(made.err().map(|error| error.code), Some(errno::NOENT));
    assert!(!at("a").exists());
}
