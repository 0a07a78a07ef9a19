//! The comparison with the reference implementation.

mod capi_attributes;
mod capi_aux;
mod capi_copy_var;
mod capi_data;
mod capi_dimensions;
mod capi_filters;
mod capi_instances;
mod capi_netcdf4;
mod capi_random;
mod capi_storage;
mod capi_stubs;
mod capi_types;
mod capi_v2;
mod capi_variables;
mod compare;
mod conversion;
mod crossing;
mod errors;
mod file_urls;
#[allow(dead_code, reason = "another test binary uses the rest")]
mod filter_stories;
mod filter_tools;
mod generate;
mod growth;
mod hdf4;
mod hdf4_hostile;
mod hdf4_large;
mod hostile;
mod nccopy_cut_off;
mod nccopy_options;
mod nccopy_refusals;
mod nccopy_tool;
mod ncdump_command;
mod ncdump_numbers;
mod ncdump_random;
mod ncdump_tool;
mod ncgen3_source;
mod ncgen3_tool;
mod ncgen_files;
mod ncgen_messages;
mod ncgen_source;
mod ncgen_source4;
mod ncgen_tool;
mod netcdf4_reading;
mod sequences;
mod sizes;
mod slow_sources;
mod unnamed_types;
mod zarr_hostile;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ferrocdf::Format;
use ferrocdf_compat::Reference;
use ferrocdf_compat::script::{Op, run};
use tempfile::TempDir;

/// The classic formats.
const FORMATS: [Format; 3] = [Format::CLASSIC, Format::OFFSET64, Format::DATA64];

/// The reference, compiled once.
fn reference() -> &'static Reference {
    static REFERENCE: OnceLock<Reference> = OnceLock::new();
    REFERENCE.get_or_init(|| Reference::new(Path::new(env!("CARGO_TARGET_TMPDIR"))))
}

/// One script run by both, in a folder of its own.
struct Pair {
    folder: TempDir,
    /// The transcript, which is the same for both.
    lines: Vec<String>,
}

impl Pair {
    fn theirs(&self) -> PathBuf {
        self.folder.path().join("theirs.nc")
    }

    fn ours(&self) -> PathBuf {
        self.folder.path().join("ours.nc")
    }

    /// Checks that the two files are equal to the last byte.
    fn assert_identical(&self) {
        let [theirs, ours] = [self.theirs(), self.ours()].map(|path| std::fs::read(path).unwrap());
        let differs = theirs.iter().zip(&ours).position(|(their, our)| their != our);
        assert_eq!((differs, theirs.len()), (None, ours.len()), "first difference; sizes");
    }

    /// Runs a script on each of the two files by each of the two, and checks that all four see the same.
    fn read(&self, ops: &[Op]) -> Vec<String> {
        let lines = run(&self.ours(), ops);
        assert_same(ops, &reference().run(&self.theirs(), ops), &lines);
        assert_same(ops, &reference().run(&self.ours(), ops), &lines);
        assert_same(ops, &run(&self.theirs(), ops), &lines);
        lines
    }
}

/// Runs a script by both and checks that each call gives the same.
fn both(ops: &[Op]) -> Pair {
    let folder = tempfile::tempdir().unwrap();
    let theirs = reference().run(&folder.path().join("theirs.nc"), ops);
    let lines = run(&folder.path().join("ours.nc"), ops);
    assert_same(ops, &theirs, &lines);
    Pair { folder, lines }
}

fn assert_same(ops: &[Op], theirs: &[String], ours: &[String]) {
    for (at, op) in ops.iter().enumerate() {
        let [their, our] = [theirs, ours].map(|lines| lines.get(at).map_or("nothing", String::as_str));
        let op = op.to_string();
        let op = &op[..op.len().min(200)];
        assert_eq!(their, our, "call {at}, {op}: the reference gives the left, ferrocdf the right");
    }
}

/// A dimension to be defined.
fn dim(name: &str, len: u64) -> Op {
    Op::Dim(name.to_string(), (len > 0).then_some(len))
}

/// A variable to be defined.
fn var(name: &str, ty: ferrocdf::Atomic, dims: &[u32]) -> Op {
    Op::Var(name.to_string(), ty, dims.to_vec())
}

/// A global attribute of one integer.
fn att(name: &str, value: i32) -> Op {
    Op::Att(None, name.to_string(), value.into())
}
