//! Our filters in other programs: what `ferrocdf plugins install` lays down lets h5dump, netCDF-C's ncdump, h5py and
//! NCZarr read and write what HDF5 cannot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ferrocdf_compat::python;
use tempfile::TempDir;

use crate::folder;

/// A folder of files, with the plugins in `ferrocdf-plugins`.
struct Place {
    folder: TempDir,
}

/// Filters as `nccopy -F` takes them, and the names of their copies.
const SPECS: &[(&str, &str)] = &[
    ("zstd", "32015,5"),
    ("zstd_fast", "32015,4294967289"),
    ("blosc", "32001,0,0,0,0,7,2,5"),
    ("blosc_lz4", "32001,0,0,0,0,5,1,1"),
    ("bzip2", "307,9"),
    ("lz4", "32004,1024"),
    ("bitshuffle", "32008,0,2"),
    ("bitshuffle_zstd", "32008,0,3,5"),
    ("lzf", "32000"),
];

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a folder") };
        let mut install = Command::new(folder("FERROCDF_PREFIX").join("bin/ferrocdf"));
        said(install.args(["plugins", "install"]).arg(place.plugins()));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn plugins(&self) -> PathBuf {
        self.path("ferrocdf-plugins")
    }

    /// A tool of ours, in the folder, with no plugins.
    fn ours(&self, tool: &str) -> Command {
        let mut command = Command::new(folder("FERROCDF_PREFIX").join("bin").join(tool));
        command.env("HDF5_PLUGIN_PATH", self.path("none"));
        command.current_dir(self.folder.path());
        command
    }

    /// A program of others, in the folder, with our plugins alone.
    fn theirs(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("HDF5_PLUGIN_PATH", self.plugins()).current_dir(self.folder.path());
        command
    }

    fn python(&self, action: &str) -> Command {
        let mut command = python::script("our_filters.py");
        command.args([action]).arg(self.folder.path()).env("HDF5_PLUGIN_PATH", self.plugins());
        command
    }

    /// A netCDF-4 file of several types, in chunks, and a packed copy for each filter.
    fn copies(&self) {
        let values = |from: i64, step: i64| {
            let values: Vec<String> = (0..3000).map(|at| (from + at / 7 * step).to_string()).collect();
            values.join(", ")
        };
        let cdl = format!(
            "netcdf plain {{ dimensions: y = 50; x = 60;
             variables: short s(y, x); float f(y, x); double d(y, x); byte b(y, x); int64 l(y, x);
             s:_ChunkSizes = 16, 25; f:_ChunkSizes = 50, 60; d:_ChunkSizes = 7, 60; b:_ChunkSizes = 20, 20;
             l:_ChunkSizes = 1, 60;
             data: s = {}; f = {}; d = {}; b = {}; l = {}; }}",
            values(-200, 3),
            values(0, 1),
            values(-9_000_000, 12_345),
            (0..3000).map(|at| (at % 100).to_string()).collect::<Vec<_>>().join(", "),
            values(1 << 40, 7),
        );
        fs::write(self.path("plain.cdl"), cdl).expect("a folder that can be written to");
        said(self.ours("ncgen").args(["-4", "-o", "plain.nc", "plain.cdl"]));
        for (name, spec) in SPECS {
            let spec = format!("*,{spec}");
            said(self.ours("nccopy").args(["-F", &spec, "plain.nc", &format!("{name}.nc")]));
        }
    }
}

/// What a program prints.
fn said(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {errors}");
    String::from_utf8(stdout).expect("text")
}

/// What h5dump prints of the values of all variables.
fn dumped(place: &Place, file: &str) -> Command {
    let mut command = place.theirs("h5dump");
    for variable in ["s", "f", "d", "b", "l"] {
        command.args(["-d", variable]);
    }
    command.args(["-m", "%.9g", "-A", "0", file]);
    command
}

/// All but the line that names the file.
fn without_name(text: &str) -> &str {
    text.split_once('\n').expect("more than a line").1
}

#[test]
fn h5dump_and_ncdump_read_what_we_pack() {
    let place = Place::new();
    place.copies();
    let plain = said(&mut dumped(&place, "plain.nc"));
    let plain_cdl = said(place.theirs("ncdump").args(["-n", "same", "-p", "9,17", "plain.nc"]));
    for (name, _) in SPECS {
        let file = format!("{name}.nc");
        assert!(without_name(&said(&mut dumped(&place, &file))) == without_name(&plain), "h5dump {name}");
        let mut ncdump = place.theirs("ncdump");
        ncdump.args(["-n", "same", "-p", "9,17", &file]);
        assert_eq!(said(&mut ncdump), plain_cdl, "{name}");
        // It is our filter that does it.
        for mut without in [dumped(&place, &file), ncdump] {
            let run = without.env("HDF5_PLUGIN_PATH", place.path("none")).output().expect("it is there");
            assert!(!run.status.success(), "{without:?} without our plugin");
        }
    }
}

#[test]
fn h5py_reads_what_we_pack() {
    let place = Place::new();
    place.copies();
    let mut read = place.python("read");
    python::finish(read.args(SPECS.iter().map(|(name, _)| format!("{name}.nc"))).piped());
}

#[test]
fn we_read_what_h5py_packs_with_our_filters() {
    let place = Place::new();
    python::finish(place.python("write").piped());
    let plain = said(place.ours("ncdump").args(["-n", "same", "plain.h5"]));
    assert!(plain.contains(" 2785, 2785, 2785"), "{plain}");
    let mut files: Vec<String> = vec![];
    for entry in fs::read_dir(place.folder.path()).expect("a folder").flatten() {
        let name = entry.file_name().into_string().expect("a name of ours");
        if name.ends_with(".h5") && name != "wrong.h5" {
            assert_eq!(said(place.ours("ncdump").args(["-n", "same", &name])), plain, "{name}");
            files.push(name);
        }
    }
    assert_eq!(files.len(), 10, "{files:?}");
}

/// Of text and lists a chunk holds where their values are; filters learn the size of that.
#[test]
fn text_and_lists_under_our_filters_are_read_by_all() {
    let place = Place::new();
    python::finish(place.python("write-varying").piped());
    let ours = |file: &str| said(place.ours("ncdump").args(["-n", "same", file]));
    let theirs = |file: &str| said(place.theirs("h5dump").args(["-d", "text", "-d", "lists", file]));
    for (plain, packed) in [
        ("varying", &["varying_blosc", "varying_blosc_as_it_is"][..]),
        ("varying_of_netcdf", &["varying_of_netcdf_blosc"]),
    ] {
        let plain = format!("{plain}.h5");
        let (printed, dumped) = (ours(&plain), theirs(&plain));
        assert!(printed.contains("299 of them, 299 of them, "), "{printed}");
        for name in packed {
            let file = format!("{name}.h5");
            assert_eq!(ours(&file), printed, "{name}");
            assert_eq!(without_name(&theirs(&file)), without_name(&dumped), "{name}");
        }
    }
}

#[test]
fn damaged_chunks_end_in_errors() {
    let place = Place::new();
    python::finish(place.python("broken").piped());
    let dumped = place.theirs("h5dump").args(["--enable-error-stack", "-d", "zstd", "broken.h5"]).output();
    let said = String::from_utf8(dumped.expect("h5dump is there").stderr).expect("text");
    assert!(said.contains("encoded bytes are not zstd"), "HDF5 is told why: {said}");
}

/// With our codecs, and with those of the wheel, both ways.
#[test]
fn nczarr_has_our_codecs() {
    let place = Place::new();
    python::finish(place.python("zarr-write").piped());
    for (variable, codec) in [
        ("zstd", r#""compressor": {"id": "zstd", "level": 5}"#),
        (
            "blosc",
            r#""compressor": {"id": "blosc", "clevel": 5, "blocksize": 0, "cname": "lz4", "shuffle": 1}"#,
        ),
        ("bzip2", r#""compressor": {"id": "bz2", "level": 7}"#),
    ] {
        let array =
            fs::read_to_string(place.path(&format!("zarr/{variable}/.zarray"))).expect("it was written");
        assert!(array.contains(codec), "{array}");
    }
    python::finish(place.python("zarr-read").piped());
    python::finish(place.python("zarr-read").env_remove("HDF5_PLUGIN_PATH").piped());
    fs::remove_dir_all(place.path("zarr")).expect("it is ours");
    python::finish(place.python("zarr-write").env_remove("HDF5_PLUGIN_PATH").piped());
    python::finish(place.python("zarr-read").piped());
}

/// A process may have two libraries of HDF5, whose handles mean different things.
#[test]
fn two_libraries_are_kept_apart() {
    python::finish(Place::new().python("two").piped());
}

/// Starts a script, so that what it complains of can be read.
trait Piped {
    fn piped(&mut self) -> std::process::Child;
}

impl Piped for Command {
    fn piped(&mut self) -> std::process::Child {
        self.stderr(Stdio::piped()).spawn().expect("a Python that starts")
    }
}

/// The plugin exports what its hosts ask for, and nothing that could stand in for something of theirs.
#[test]
fn nothing_else_is_exported() {
    let object: &Path = &folder("FERROCDF_PREFIX").join("lib/ferrocdf/libferrocdf_h5filters.so");
    let listed = said(Command::new("nm").args(["-D", "--defined-only"]).arg(object));
    let mut names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    names.sort_unstable();
    assert_eq!(names, ["H5PLget_plugin_info", "H5PLget_plugin_type", "NCZ_get_codec_info"]);
}
