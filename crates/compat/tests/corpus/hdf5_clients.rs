//! The HDF5 files of the corpus through programs of the field, on the reference's library and on ours.
//!
//! The module netCDF4, Debian's and that of the wheel, says all it finds in a file; NCO, CDO and GDAL print it. Where the
//! reference reads a file to its end, ours must say the same; where it cannot read some data, ours may. A program takes
//! its time to start, so that each but Debian's module runs on a part of the files: one in `FERROCDF_EVERY`, by default 6.

use std::path::{Path, PathBuf};
use std::process::Command;

use ferrocdf::GroupId;
use ferrocdf_compat::python;

use crate::excused::{Excused, FIXED_TEXT, is_excused};
use crate::{Entry, each, files, newest, sampled, within_seconds};

/// Files where the two differ besides those excused everywhere.
const EXCEPTIONS: &[Excused] = &[
    ("issue255_example.hdf5", FIXED_TEXT),
    ("jsfive/test/test.h5", FIXED_TEXT),
    ("dmrpp/chunked_string_array.h5", FIXED_TEXT),
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
const NEWEST: &[Excused] = &[(
    "dummy_HDFEOS_IIRS_Grid_IMG_2D_issue_1294.h5",
    "the newest version takes the names of dimensions from the metadata of HDF-EOS",
)];

const NO_SPACE: &str =
    "datasets without a dataspace: the reference shows scalars that cannot be read, here they are left out";

/// The folder of our library.
fn lib() -> PathBuf {
    let prefix = std::env::var_os("FERROCDF_PREFIX");
    PathBuf::from(prefix.expect("FERROCDF_PREFIX names an installed ferrocdf: run `cargo xtask corpus`"))
        .join("lib")
}

/// The files that are compared.
fn chosen() -> Vec<Entry> {
    let mut files = files(&["hdf5"]);
    files.retain(|entry| !is_excused(&entry.path, EXCEPTIONS));
    files
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

/// The types without a name that are told.
fn unnamed<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().filter(|line| line.starts_with("type '_Anonymous")).copied().collect()
}

/// Compares what a module netCDF4 says on both libraries, but where `is_other` knows a reason for what they say.
fn compare_modules(
    of: impl Fn(bool) -> Command + Sync,
    files: &[Entry],
    least: usize,
    is_other: impl Fn(&[&str], &[&str]) -> bool,
) {
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
        // A reference that stopped judges nothing.
        if theirs.last().is_none_or(|last| *last != "end") || is_other(&theirs, &ours) {
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
    // Debian's version leaves out what is of types without a name.
    let mut files = chosen();
    files.retain(|entry| !newest::has_unnamed_types(&entry.path));
    compare_modules(python, &files, 700, |_, _| false);
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
    let mut files = sampled(chosen(), 6);
    files.retain(|entry| !is_excused(&entry.path, NEWEST));
    // Members and attributes of unnamed types are shown here alone; `unnamed_types` compares what both show.
    let shows_more = |theirs: &[&str], ours: &[&str]| unnamed(theirs) != unnamed(ours);
    compare_modules(python, &files, files.len() / 2, shows_more);
}

/// Compares what a program prints of the files, but for some that are excused with a reason. Where a file has types without
/// a name, the program runs on the newest reference.
fn compare_program(words: &[&str], is_excused: impl Fn(&Path) -> bool + Sync) {
    let files = sampled(chosen(), 6);
    let compared = std::sync::atomic::AtomicUsize::new(0);
    let differences = each(&files, |entry| {
        let is_for_newest = newest::has_unnamed_types(&entry.path);
        let run = |mine: bool| {
            let mut command = within_seconds(10);
            if is_for_newest && !mine {
                command.env("LD_PRELOAD", newest::library());
            }
            let output = on(&mut command, mine).args(words).arg(&entry.path).output();
            output.expect("there is timeout")
        };
        let theirs = run(false);
        if !theirs.status.success() || is_excused(&entry.path) {
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
    compare_program(&["ncks", "-h", "--cdl"], |path| is_excused(path, &newest::LEFT_OUT));
}

/// Whether the numbers of the dimensions in the root group have gaps, or do not begin at 0.
fn has_gaps(path: &Path) -> bool {
    let Ok(file) = ferrocdf::File::open(path) else { return false };
    let model = file.model();
    let in_root = model.dims().iter().map(|dim| dim.group == GroupId::ROOT);
    in_root.skip_while(|&in_root| in_root).any(|in_root| in_root)
}

#[test]
fn cdo() {
    let excused = [
        ("tmisc38a.h5", "a damaged block, which newer versions of the HDF5 library refuse too"),
        ("tfloatsattrs.h5", "the reference takes floats of 16 bytes for pointers to text"),
    ];
    // It writes past its memory where the numbers of dimensions have gaps.
    compare_program(&["cdo", "-s", "infon"], |path| is_excused(path, &excused) || has_gaps(path));
}

#[test]
fn gdal() {
    let excused = [("test_attribute_latest.hdf5", "it prints an attribute of no values")];
    compare_program(&["gdalmdiminfo", "-if", "netCDF"], |path| is_excused(path, &excused));
}
