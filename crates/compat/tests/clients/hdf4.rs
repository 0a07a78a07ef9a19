//! Programs of others that read HDF4 files through our C library: NCO, GDAL's driver for netCDF, and netCDF4 for Python. Debian's netCDF
//! library has no HDF4, so each is compared with what it says of a netCDF-4 copy on that library, or with GDAL's own driver for HDF4.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ferrocdf::references::{Reference, References};
use ferrocdf_compat::hdf4::Libhdf4;
use ferrocdf_compat::python;

use crate::folder;

/// Returns what a command prints on our library, or on the machine's.
fn say(command: &[&str], on_ours: bool) -> String {
    let mut run = Command::new(command[0]);
    run.args(&command[1..]);
    if on_ours {
        run.env("LD_LIBRARY_PATH", folder("FERROCDF_PREFIX").join("lib"));
    }
    let done = run.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of UTF-8")
}

/// The programs, compiled once.
fn libhdf4() -> &'static Libhdf4 {
    static PROGRAMS: OnceLock<Libhdf4> = OnceLock::new();
    PROGRAMS.get_or_init(|| Libhdf4::new(Path::new(env!("CARGO_TARGET_TMPDIR"))))
}

/// A file with 40 data sets in chunks, and small ones in every storage.
fn files(folder_of_files: &Path) -> Vec<PathBuf> {
    let granule = folder_of_files.join("granule.hdf");
    libhdf4().granule(&granule);
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hdf4/tests/data");
    let small = std::fs::read_dir(small).expect("a folder of the repository");
    let mut files: Vec<PathBuf> = small.map(|entry| entry.expect("it can be listed").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "hdf"));
    files.sort();
    files.push(granule);
    files
}

#[test]
fn nco_prints_of_hdf4_what_it_prints_of_a_copy() {
    let scratch = tempfile::tempdir().expect("a folder");
    let nccopy = folder("FERROCDF_PREFIX").join("bin/nccopy");
    for file in files(scratch.path()) {
        // NCO prints the name of the file.
        let copy = scratch.path().join("copy").join(file.file_name().expect("a file"));
        std::fs::create_dir_all(copy.parent().expect("it has one")).expect("a folder");
        say(&[text(&nccopy), "-k", "nc4", text(&file), text(&copy)], false);
        let [ours, theirs] = [(&file, true), (&copy, false)]
            .map(|(path, on_ours)| say(&["ncks", "-h", "--cdl", text(path)], on_ours));
        assert!(ours.contains("dimensions:") || file.ends_with("others.hdf"), "{}", file.display());
        assert_eq!(ours, theirs, "{}", file.display());
    }
}

#[test]
fn gdal_reads_through_netcdf_what_its_own_driver_reads() {
    let scratch = tempfile::tempdir().expect("a folder");
    let granule = files(scratch.path()).pop().expect("the granule");
    for set in [0, 7, 39] {
        let checksums = |name: String, on_ours: bool| -> Vec<String> {
            // The driver for netCDF turns images upside down otherwise.
            let turned = ["--config", "GDAL_NETCDF_BOTTOMUP", "NO"];
            let said = say(&[&["gdalinfo"], &turned[..], &["-checksum", &name]].concat(), on_ours);
            let kept = ["Size is", "Checksum="];
            let lines = said.lines().map(str::trim);
            lines.filter(|line| kept.iter().any(|word| line.contains(word))).map(str::to_string).collect()
        };
        let ours = checksums(format!("NETCDF:{}:data_set_{set}", granule.display()), true);
        let theirs = checksums(format!("HDF4_SDS:UNKNOWN:{}:{set}", granule.display()), false);
        assert_eq!(ours.len(), 2, "{ours:?}");
        assert_eq!(ours, theirs, "data set {set}");
    }
}

#[test]
fn netcdf4_for_python_reads_hdf4() {
    let scratch = tempfile::tempdir().expect("a folder");
    let granule = files(scratch.path()).pop().expect("the granule");
    let program = "import sys, netCDF4, zlib; d = netCDF4.Dataset(sys.argv[1]); d.set_auto_maskandscale(False); d.sync(); d._enddef(); \
                   print(d.disk_format); [print(v.name, v.shape, zlib.crc32(v[:].tobytes())) for v in d.variables.values()]";
    let said = say(&["/usr/bin/python3", "-c", program, text(&granule)], true);
    let file = ferrocdf::File::open(&granule).expect("a sound file");
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("HDF4"));
    assert_eq!(lines.count(), file.model().vars().len());
}

/// Files whose data sets lie in ranges that references name: chunks, a deflated run of bytes, plain numbers, and the older interface. Compressed chunks
/// become inline.
const IN_RANGES: [&str; 4] = ["chunked", "deflate", "dfsd", "plain"];

#[test]
fn references_give_zarr_and_xarray_the_values_that_pyhdf_reads() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (mut pairs, mut in_ranges) = (vec![], vec![]);
    for file in files(scratch.path()) {
        let stem = file.file_stem().and_then(|stem| stem.to_str()).expect("UTF-8");
        // Pyhdf reads no numbers of this byte order.
        if stem == "little" {
            continue;
        }
        let json = scratch.path().join(format!("{stem}.json"));
        let args = ["ferrocdf", "refs", text(&file), "--inline", "0", "-o", text(&json)];
        assert_eq!(ferrocdf_tools::umbrella::main(args.map(Into::into)), 0, "{}", file.display());
        let made = References::parse(&std::fs::read(&json).expect("it was made")).expect("references");
        if IN_RANGES.contains(&stem) && made.iter().any(|(_, made)| matches!(made, Reference::Range { .. })) {
            in_ranges.push(stem.to_string());
        }
        pairs.extend([file, json]);
    }
    assert_eq!(in_ranges, IN_RANGES);
    let done = python::script("hdf4_references.py").args(&pairs).output().expect("a Python that starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    // 40 data sets of the granule, and those of the small files.
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "56");
}
