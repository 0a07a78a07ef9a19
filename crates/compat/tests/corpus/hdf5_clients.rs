//! The HDF5 files of the corpus through programs of the field, on the reference's library and on ours.
//!
//! The module netCDF4, Debian's and that of the wheel, says all it finds in a file; NCO, CDO and GDAL print it. Where the
//! reference reads a file to its end, ours must say the same; where it cannot read some data, ours may. A program takes
//! its time to start, so that each but Debian's module runs on a part of the files: one in `FERROCDF_EVERY`, by default 6.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf_compat::python;

use crate::excused::{Excused, FIXED_TEXT, is_excused};
use crate::{Entry, each, files, patiently};

/// Files where the two differ besides those excused everywhere.
const EXCEPTIONS: &[Excused] = &[
    ("issue255_example.hdf5", FIXED_TEXT),
    ("jsfive/test/test.h5", FIXED_TEXT),
    ("h5wasm/test/empty.h5", NO_SPACE),
    ("hdf5/array_attr.h5", NO_SPACE),
    ("hdf5/compound_array_attr.h5", NO_SPACE),
    ("hdf5/enum_attr.h5", NO_SPACE),
    ("hdf5/fixed_string_attr.h5", NO_SPACE),
    ("hdf5/null_space_dset.h5", NO_SPACE),
    ("hdf5/objref_attr.h5", NO_SPACE),
    ("hdf5/objref_dset.h5", NO_SPACE),
    ("hdf5/opaque_attr.h5", NO_SPACE),
    ("hdf5/regionref_attr.h5", NO_SPACE),
    ("hdf5/vlen_string_attr.h5", NO_SPACE),
    ("hdf5/vlen_string_nullterm_attr.h5", NO_SPACE),
    ("hdf5/vlen_unicode_attr.h5", NO_SPACE),
    ("tnullspace.h5", NO_SPACE),
    ("h5copytst.h5", NO_SPACE),
    ("h5copytst_new.h5", NO_SPACE),
    ("tgrpnullspace.h5", NO_SPACE),
    ("test_odd_datasets_latest.hdf5", NO_SPACE),
    ("test_scalar_empty_datasets_earliest.hdf5", NO_SPACE),
    ("test_scalar_empty_datasets_latest.hdf5", NO_SPACE),
    ("t_space_null.h5", NO_SPACE),
];

/// Files where only the newest version differs, which the wheel brings along.
const NEWEST: &[Excused] = &[
    (
        "dummy_HDFEOS_IIRS_Grid_IMG_2D_issue_1294.h5",
        "the newest version takes the names of dimensions from the metadata of HDF-EOS",
    ),
    ("anndata/tests/data/archives/v0.7.0/adata.h5ad", UNNAMED),
    ("hdf5-2021/tools/testfiles/topaque.h5", UNNAMED),
    ("hdf5-json/data/hdf5/compound_array_vlen_string.h5", UNNAMED),
    ("hdf5-json/data/hdf5/opaque_dset.h5", UNNAMED),
    ("h5diff_comp_vl_strs.h5", UNNAMED),
    ("charsets.h5", UNNAMED),
    ("tcompound_complex.h5", UNNAMED),
    ("tvlenstr_array.h5", UNNAMED),
    ("xml/topaque.h5", UNNAMED),
    ("bitfield_datasets.hdf5", UNNAMED),
    ("opaque_datasets_earliest.hdf5", UNNAMED),
    ("opaque_datasets_latest.hdf5", UNNAMED),
    ("compound_array_fix_vlen_str.h5", UNNAMED),
    ("opendap-hdf5_handler/data/d_compound.h5", UNNAMED),
    ("smpl_unsupptype.h5", UNNAMED),
    ("scigolib_hdf5/testdata/vlen_strings.h5", UNNAMED),
];

const UNNAMED: &str =
    "the newest version makes dimensions for variables of types without names, which the module leaves out";

const NO_SPACE: &str =
    "datasets without a dataspace: the reference shows scalars that cannot be read, here they are left out";

/// The folder of our library.
fn lib() -> PathBuf {
    let prefix = std::env::var_os("FERROCDF_PREFIX");
    PathBuf::from(prefix.expect("FERROCDF_PREFIX names an installed ferrocdf: run `cargo xtask corpus`"))
        .join("lib")
}

/// The files that are compared, one in so many.
fn chosen(every: usize) -> Vec<Entry> {
    let files = files(&["hdf5"]).into_iter().step_by(every);
    files.filter(|entry| !is_excused(&entry.path, EXCEPTIONS)).collect()
}

fn every() -> usize {
    let wished = std::env::var("FERROCDF_EVERY").ok();
    wished.map_or(6, |every| every.parse().expect("FERROCDF_EVERY is a number above 0"))
}

/// Makes a program find our library, or leaves it the reference's.
fn on(command: &mut Command, ours: bool) -> &mut Command {
    if ours {
        command.env("LD_LIBRARY_PATH", lib());
    }
    command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC")
}

/// Whether a line tells a filter that Debian's library is built without, and therefore keeps quiet about.
fn has_more_filters(line: &str) -> bool {
    let filters = ["'zstd': True", "'bzip2': True", "'blosc': {"];
    line.starts_with(" storage ") && filters.iter().any(|filter| line.contains(filter))
}

/// Compares what a module netCDF4 says on both libraries.
fn compare_modules(of: impl Fn(bool) -> Command + Sync, files: &[Entry], least: usize) {
    let [theirs, ours] = std::thread::scope(|scope| {
        let listings = [false, true].map(|mine| {
            let of = &of;
            let paths: Vec<&Path> = files.iter().map(|entry| &*entry.path).collect();
            scope.spawn(move || python::texts(of(mine), &paths))
        });
        listings.map(|listing| listing.join().expect("a listing"))
    });
    let (mut compared, mut differences) = (0, vec![]);
    for ((entry, theirs), ours) in files.iter().zip(&theirs).zip(&ours) {
        let [theirs, ours] = [theirs, ours].map(|text| text.lines().collect::<Vec<_>>());
        // A reference that stopped judges nothing. Types without names are shown by its newest version alone; Debian's
        // leaves their variables out, and so do we.
        let newest = |line: &&str| line.contains("'_Anonymous");
        if theirs.last().is_none_or(|last| *last != "end") || theirs.iter().any(newest) {
            continue;
        }
        compared += 1;
        let excused = |a: &str, b: &str| a.contains(" cannot be read:") || has_more_filters(b);
        let differs = theirs.iter().zip(&ours).find(|(a, b)| a != b && !excused(a, b));
        if theirs.len() != ours.len() || differs.is_some() {
            differences.push(format!(
                "{}: {} and {} lines, {differs:?}",
                entry.path.display(),
                theirs.len(),
                ours.len()
            ));
        }
    }
    println!("{compared} files compared of {}", files.len());
    assert!(compared >= least, "only {compared} files were read by the reference");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn debians_python_module() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("py/netcdf4_values.py");
    let python = |mine| {
        let mut command = Command::new("/usr/bin/python3");
        on(&mut command, mine).arg(&script);
        command
    };
    compare_modules(python, &chosen(1), 800);
}

#[test]
fn the_wheel() {
    let python = |mine| {
        let mut command = python::script("netcdf4_values.py");
        if mine {
            // The wheel brings the reference along under a name of its own, so that ours has to come before it.
            command.env("LD_PRELOAD", lib().join("libnetcdf.so.22"));
        }
        on(&mut command, mine);
        command
    };
    let mut files = chosen(every());
    files.retain(|entry| !is_excused(&entry.path, NEWEST));
    compare_modules(python, &files, files.len() / 2);
}

/// Compares what a program prints of the files, but for some that are excused with a reason.
fn compare_program(words: &[&str], excused: &[Excused]) {
    let files = chosen(every());
    let compared = std::sync::atomic::AtomicUsize::new(0);
    let differences = each(&files, |entry| {
        let run = |mine| {
            let mut command = patiently(10);
            let output = on(&mut command, mine).args(words).arg(&entry.path).output();
            output.expect("there is timeout")
        };
        let theirs = run(false);
        if !theirs.status.success() || is_excused(&entry.path, excused) {
            return vec![];
        }
        compared.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mine = run(true);
        if theirs.stdout == mine.stdout && mine.status.success() {
            return vec![];
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (a, b) = (text(&theirs.stdout), text(&mine.stdout));
        let line = a.lines().zip(b.lines()).find(|(a, b)| a != b);
        vec![format!("{}: {:?}, {line:?}, {}", entry.path.display(), mine.status, text(&mine.stderr))]
    });
    let compared = compared.into_inner();
    println!("{words:?}: {compared} files compared of {}", files.len());
    assert!(compared * 10 > files.len(), "only {compared} files were read by the reference");
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

#[test]
fn nco() {
    compare_program(&["ncks", "-h", "--cdl"], &[]);
}

#[test]
fn cdo() {
    let gaps = "it writes past its memory where the numbers of dimensions have gaps";
    let excused = [
        ("c_1_8/v2_superblock.h5", gaps),
        ("dim_scale_name_clash.h5", gaps),
        ("dim_scale_dim_name_clash.h5", gaps),
        ("dim_scale_smix.h5", gaps),
        ("old_h5fc_ext2_if.h5", gaps),
        ("old_h5fc_ext2_is.h5", gaps),
        ("old_h5fc_ext2_sf.h5", gaps),
        ("tmisc38a.h5", "a damaged block, which newer versions of the HDF5 library refuse too"),
        ("tfloatsattrs.h5", "the reference takes floats of 16 bytes for pointers to text"),
    ];
    compare_program(&["cdo", "-s", "infon"], &excused);
}

#[test]
fn gdal() {
    compare_program(
        &["gdalmdiminfo", "-if", "netCDF"],
        &[("test_attribute_latest.hdf5", "it prints an attribute of no values")],
    );
}
