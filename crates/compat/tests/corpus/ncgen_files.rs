//! The text of every classic file of the corpus, as the reference prints it, made into a file of each classic kind by
//! both `ncgen`: the files must be equal to the last byte, or the refusals the same.
//!
//! Where the reference is wrong, the file and the kinds are listed here with the reason; what ours writes there must
//! be printed by the reference as the text it was made from. In all of these cases, version 4.10.1 does what 4.9.0 does.

use std::path::Path;
use std::process::Command;

use crate::ncdump_tool::reference;
use crate::ncgen_tool::without_negative_zeros;
use crate::{Entry, classic, each};

const KINDS: [&str; 3] = ["nc3", "nc6", "nc5"];

const CRASH: &str = "the reference crashes on text that it printed itself";
const WIDE: &str =
    "the reference takes no integer beyond 32 bits for a floating-point variable, which it prints so";
const CUT: &str = "the reference cuts int64 to int in CDF-5, and refuses u, LL and ULL in the other two";
const WORD: &str = "the reference cannot read its own text where a dimension is called char";
const LEFT: &str = "behind the data the reference writes what its buffer held, ours writes zeros";

/// Ends of paths, the kinds concerned, and why the reference is not followed.
const EXCEPTIONS: [(&str, &[&str], &str); 10] = [
    ("nctest/ref_nctest_64bit_offset.nc", &KINDS, CRASH),
    ("testdata2/ref_nctest_classic.nc", &KINDS, CRASH),
    ("Data/coarseGrid.e", &KINDS, CRASH),
    ("netcdf/cf_geog_with_srs.nc", &["nc3", "nc6"], WIDE),
    ("netcdf/test_ogr_nc3.nc", &["nc3", "nc6"], WIDE),
    ("mfhdf/test/test1.nc", &["nc3", "nc6"], WIDE),
    ("netcdf/netcdf_fixes.nc", &KINDS, LEFT),
    ("netcdf-sg/cf1.8_states.nc", &KINDS, WORD),
    ("testdata/nc_test_cdf5.nc", &KINDS, CUT),
    ("pnetcdf/pnetcdf_cdf5_unsigned_int64.nc", &["nc5"], CUT),
];

/// What an `ncgen` left: its exit code, the first line it said, and the file.
#[derive(PartialEq)]
struct Made {
    code: Option<i32>,
    said: String,
    file: Option<Vec<u8>>,
}

/// Runs the reference.
fn theirs(kind: &str, cdl: &Path, file: &Path) -> Made {
    let run = Command::new("ncgen").args(["-k", kind, "-o"]).arg(file).arg(cdl).output();
    let run = run.expect("the reference's ncgen must be installed");
    // What is left of a file that was refused is nothing to compare.
    let file = run.status.success().then(|| std::fs::read(file).unwrap());
    Made { code: run.status.code(), said: first_line(&run.stderr), file }
}

fn ours(kind: &str, cdl: &Path, file: &Path) -> Made {
    let args = ["ncgen", "-k", kind, "-o"].map(std::ffi::OsString::from);
    let args = args.into_iter().chain([file.into(), cdl.into()]);
    let mut said = vec![];
    let program = ferrocdf_tools::ncgen::Program::Ncgen;
    let code = ferrocdf_tools::ncgen::run(program, args, &mut &b""[..], &mut std::io::sink(), &mut said);
    let file = (code == 0).then(|| std::fs::read(file).unwrap());
    Made { code: Some(i32::from(code)), said: first_line(&said), file }
}

fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_string()
}

/// What is wrong with a file, in each kind.
fn compare(entry: &Entry) -> Vec<String> {
    let path = entry.path.to_str().expect("names in the corpus are UTF-8");
    let folder = tempfile::tempdir().unwrap();
    let [cdl, their_file, our_file] =
        ["text.cdl", "theirs.nc", "ours.nc"].map(|name| folder.path().join(name));
    let printed = reference(&["-n", "text", path]);
    assert_eq!(printed.code, Some(0), "the reference prints {path}");
    std::fs::write(&cdl, without_negative_zeros(&printed.out)).unwrap();
    let mut wrong = vec![];
    for kind in KINDS {
        let (their, our) = (theirs(kind, &cdl, &their_file), ours(kind, &cdl, &our_file));
        let listed = EXCEPTIONS.iter().any(|(end, kinds, _)| path.ends_with(end) && kinds.contains(&kind));
        if (their == our) == listed {
            let sizes = [&their, &our].map(|made| made.file.as_ref().map(Vec::len));
            let [their_code, our_code] = [their.code, our.code];
            let said = [their.said, our.said].join("\" and \"");
            wrong.push(format!("{path} {kind}: {their_code:?} {our_code:?}, bytes {sizes:?}, \"{said}\""));
        }
        if listed && our.file.is_some() && !holds_all(path, kind, folder.path()) {
            wrong.push(format!("{path} {kind}: the file does not hold what the text says"));
        }
    }
    wrong
}

/// Whether ours, from a text with all digits, makes a file that the reference prints as that text.
fn holds_all(path: &str, kind: &str, folder: &Path) -> bool {
    let digits = ["-n", "text", "-p", "9,17"];
    let [cdl, file] = ["digits.cdl", "digits.nc"].map(|name| folder.join(name));
    let printed = reference(&[&digits[..], &[path]].concat()).out;
    std::fs::write(&cdl, &printed).unwrap();
    ours(kind, &cdl, &file).file.is_some()
        && reference(&[&digits[..], &[file.to_str().unwrap()]].concat()).out == printed
}

#[test]
fn every_text_makes_the_same_files() {
    let files: Vec<Entry> = classic().into_iter().filter(|entry| entry.normal).collect();
    let wrong = each(&files, compare);
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    let exceptions: usize = EXCEPTIONS.iter().map(|(_, kinds, _)| kinds.len()).sum();
    println!("{} texts made into {} files; {exceptions} exceptions", files.len(), files.len() * KINDS.len());
}
