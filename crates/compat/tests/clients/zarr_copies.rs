//! Copies between Zarr stores, and between these and netCDF-4: zarr-python, xarray and h5py judge.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use ferrocdf::{FileMut, Selection, Values};
use ferrocdf_compat::python;

/// Runs `nccopy`, which has to succeed.
fn nccopy(args: &[&str]) {
    let mut said = vec![];
    let code = ferrocdf_tools::nccopy::run(["nccopy"].iter().chain(args).map(Into::into), &mut said);
    assert_eq!(code, 0, "{args:?}: {}", String::from_utf8_lossy(&said));
}

/// Runs a function of `py/zarr_copies.py` and returns what it printed.
fn judge(args: &[&str]) -> String {
    said(python::newest_zarr("zarr_copies.py").args(args))
}

/// Runs a function of `py/hdf5_filters.py` and returns what it printed.
fn h5py(args: &[&str]) -> String {
    said(python::script("hdf5_filters.py").args(args))
}

fn said(command: &mut Command) -> String {
    let done = command.stdin(Stdio::null()).output().expect("a Python that starts");
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("UTF-8")
}

/// Runs a function of `py/zarr_codecs.py` and returns what it printed.
fn codecs(mut python: Command, args: &[&str]) -> String {
    said(python.args(args))
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().expect("a folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("UTF-8").to_string()
    }
}

#[test]
fn copies_keep_types_shards_and_orders() {
    let place = Place::new();
    for from in ["2", "3"] {
        let source = place.path(&format!("{from}.zarr"));
        judge(&["make", &source, from]);
        for (kind, to) in [("zarr2", "2"), ("zarr3", "3"), ("nczarr3", "3")] {
            let (copy, again) = (place.path(&format!("{from}-{kind}.zarr")), place.path("again.zarr"));
            nccopy(&["-k", kind, &source, &copy]);
            judge(&["same", &source, &copy, &format!("{from}{to}")]);
            judge(&["xarray", &source, &copy]);
            // A copy of the copy: netCDF's metadata hides nothing.
            nccopy(&["-k", kind, &copy, &again]);
            judge(&["same", &copy, &again, &format!("{to}{to}")]);
        }
    }
}

#[test]
fn stores_of_16_bit_floats_and_text_of_a_fixed_length_are_edited() {
    let place = Place::new();
    for version in ["2", "3"] {
        let store = place.path(&format!("{version}.zarr"));
        judge(&["make", &store, version]);
        let file = FileMut::append(&store).unwrap();
        for name in ["half", "half_turned", "half_shards", "half_big"] {
            if let Ok(half) = file.variable_mut(name) {
                half.put_values(&[1.5f32, -2.0, 65504.0], (1, 0..3)).unwrap();
                assert_eq!(half.get_values::<f32, _>((1, 1..4)).unwrap(), [-2.0, 65504.0, 1.375]);
            }
        }
        for (name, texts) in [("text4", ["aé", "", "wxyz"]), ("bytes5", ["ab", "", "vwxyz"])] {
            let var = file.variable(name).unwrap().id();
            let texts = Values::String(texts.map(|text| Some(text.as_bytes().to_vec())).to_vec());
            let _exact = file.write_trees(var, &Selection::slab(&[1, 0], &[1, 3]), &texts).unwrap();
            assert_eq!(file.read_values(var, &[1, 0], &[1, 3]).unwrap(), texts);
            let long = Values::String(vec![Some(b"too long".to_vec())]);
            assert!(file.write_trees(var, &Selection::slab(&[0, 0], &[1, 1]), &long).is_err());
        }
        file.close().unwrap();
        judge(&["edited", &store]);
    }
}

#[test]
fn filters_of_hdf5_are_read_by_numcodecs_and_come_back() {
    let place = Place::new();
    let (source, store, back) = (place.path("a.h5"), place.path("a.zarr"), place.path("b.nc"));
    h5py(&["make", &source]);
    let sums = |text: &str| -> Vec<(String, String)> {
        let words = text.lines().map(|line| (line.split(' ').next(), line.split(' ').next_back()));
        words.map(|(name, sum)| (name.unwrap_or("").into(), sum.unwrap_or("").into())).collect()
    };
    for (kind, lz4) in [("zarr2", "lz4"), ("nczarr3", "numcodecs.lz4"), ("zarr3", "numcodecs.lz4")] {
        nccopy(&["-k", kind, &source, &store]);
        let read = judge(&["values", &store]);
        let codecs = read.lines().filter_map(|line| line.split(' ').nth(1)?.split(',').next_back());
        assert_eq!(codecs.filter(|codec| *codec == lz4).count(), 6, "{read}");
        assert_eq!(sums(&read), sums(&h5py(&["values", &source])), "{kind}");
        nccopy(&["-k", "nc4", &store, &back]);
        h5py(&["same", &source, &back]);
    }
    // A chunk of one block is the same block in the other frame, and comes back as it was.
    let chunk = h5py(&["chunk", &source, "smooth_lz4"]);
    let object = std::fs::read(Path::new(&store).join("smooth_lz4/c/0/0")).unwrap();
    let block: String = object[4..].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(chunk.trim()[32..], block);
    assert_eq!(h5py(&["chunk", &back, "smooth_lz4"])[32..], chunk[32..]);
}

/// Returns the codecs of each array, without those that `nccopy` says it did not copy.
fn without_told(printed: &str, told: &str) -> String {
    let line = |line: &str| {
        let (name, list) = line.split_once(' ').expect("a name and codecs");
        let marker = format!("/{name}: copied without the codecs ");
        let dropped = told.lines().find_map(|line| line.split_once(&marker)).map_or("", |(_, list)| list);
        let is_kept = |codec: &&str| !dropped.split(", ").any(|dropped| dropped == *codec);
        format!("{name} {}", list.split(',').filter(is_kept).collect::<Vec<_>>().join(","))
    };
    printed.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn copies_are_read_whatever_codecs_their_source_has() {
    let place = Place::new();
    for from in ["2", "3"] {
        let source = place.path(&format!("{from}.zarr"));
        codecs(python::newest_zarr("zarr_codecs.py"), &["make", &source, from]);
        let wanted = codecs(python::newest_zarr("zarr_codecs.py"), &["read", &source]);
        for kind in ["zarr2", "nczarr2", "zarr3", "nczarr3"] {
            let copy = place.path(&format!("{from}-{kind}.zarr"));
            let mut told = vec![];
            let args = ["nccopy", "-k", kind, &source, &copy].map(Into::into);
            let code = ferrocdf_tools::nccopy::run(args, &mut told);
            let told = String::from_utf8(told).expect("UTF-8");
            assert_eq!(code, 0, "{kind}: {told}");
            // Each codec is copied, or `nccopy` tells that it is not.
            let found = codecs(python::newest_zarr("zarr_codecs.py"), &["read", &copy]);
            assert_eq!(found.trim_end(), without_told(&wanted, &told), "{from} {kind}: {told}");
            let lists = told.lines().filter_map(|line| Some(line.split_once("without the codecs ")?.1));
            let dropped: BTreeSet<&str> = lists.flat_map(|list| list.split(", ")).collect();
            let mut computing =
                BTreeSet::from(["astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize"]);
            if kind.ends_with('3') {
                // Before its data.
                computing.insert("crc32c");
                computing.extend((from == "2").then_some("base64"));
            }
            assert_eq!(dropped, computing, "{from} {kind}");
            if kind.ends_with('2') {
                let lines = codecs(python::zarr2("zarr_codecs.py"), &["read", &copy]).lines().count();
                assert!(lines + 4 >= found.lines().count(), "{kind}: {lines}");
            }
        }
    }
}
