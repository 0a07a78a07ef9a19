//! `nccopy` of files that are shorter than their header says: few missing bytes are zeros, as the reference has them;
//! many are an error, and nothing is made.

use std::path::Path;

use super::nccopy_options::Sample;
use super::nccopy_tool::{Run, ours, reference};
use super::ncdump_tool;

const RECORDS: &str = "netcdf c { dimensions: t = UNLIMITED; x = 4; \
    variables: int f(x); short r(t, x); int s(t); \
    data: f = 1, 2, 3, 4; r = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12; s = 1, 2, 3; }";

const FIXED: &str =
    "netcdf c { dimensions: x = 4; y = 5; variables: int a(x); int b(y); data: a = 1, 2, 3, 4; }";

/// Copies by ours and gives what it said and the copy, if there is one.
fn copied(source: &str, options: &[&str], target: &Path) -> (Run, Option<Vec<u8>>) {
    let run = ours(&[options, &[source, target.to_str().unwrap()]].concat());
    (run, std::fs::read(target).ok())
}

#[test]
fn few_missing_bytes_are_zeros() {
    let sample = Sample::new("nc3", RECORDS);
    let (source, folder) = (sample.source.to_str().unwrap(), sample.folder.path());
    let whole = std::fs::read(source).unwrap();
    for missing in [2, 10, 30] {
        std::fs::write(source, &whole[..whole.len() - missing]).unwrap();
        for options in
            [&["-3"][..], &["-6"], &["-k", "cdf5"], &["-u"], &["-r"], &["-w"], &["-V", "s"], &["-v", "f"]]
        {
            let [theirs, mine] = ["theirs.nc", "ours.nc"].map(|name| folder.join(name));
            let their = reference(&[options, &[source, theirs.to_str().unwrap()]].concat(), folder);
            let (our, bytes) = copied(source, options, &mine);
            assert_eq!((our.code, their.code), (Some(0), Some(0)), "{options:?}");
            let warning = format!("nccopy: warning: {source}: the file is cut off: its last {missing} bytes");
            assert!(our.said.starts_with(&warning), "{}", our.said);
            assert_eq!(bytes, std::fs::read(theirs).ok(), "{missing} {options:?}");
        }
        let args = ["-Xm", source];
        let (their, our) = (ncdump_tool::reference(&args), ncdump_tool::ours(&args));
        assert_eq!((our.code, our.out), (their.code, their.out));
    }
}

/// Asks for a copy that cannot be: it fails at once, and what is there stays.
fn refused(source: &str, options: &[&str], folder: &Path, named: &str) {
    let target = folder.join("copy.nc");
    let mut said = vec![];
    let args = [&["nccopy"], options, &[source, target.to_str().unwrap()]].concat();
    let args: Vec<_> = args.into_iter().map(std::ffi::OsString::from).collect();
    assert_eq!(ferrocdf_tools::nccopy::run(args.clone(), &mut said), 1, "{options:?}");
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("NetCDF: File likely truncated or possibly corrupted\n"), "{said}");
    assert!(said.contains(named), "{said}");
    assert!(!target.exists(), "{options:?}");
    std::fs::write(&target, "precious").unwrap();
    assert_eq!(ferrocdf_tools::nccopy::run(args, &mut vec![]), 1);
    assert_eq!(std::fs::read(&target).unwrap(), b"precious");
    std::fs::remove_file(target).unwrap();
}

#[test]
fn records_that_are_not_there() {
    let sample = Sample::new("nc3", RECORDS);
    let (source, folder) = (sample.source.to_str().unwrap(), sample.folder.path());
    let mut bytes = std::fs::read(source).unwrap();
    bytes[4..8].copy_from_slice(&(1u32 << 26).to_be_bytes());
    std::fs::write(source, bytes).unwrap();
    for options in [&["-3"][..], &["-6"], &["-5"], &["-u"], &["-r"], &["-w"], &["-V", "r,s"], &["-v", "f"]] {
        refused(source, options, folder, "for /r, /s (-V");
    }
    // What is there can be had.
    let [theirs, mine] = ["theirs.nc", "ours.nc"].map(|name| folder.join(name));
    reference(&["-V", "f", source, theirs.to_str().unwrap()], folder);
    let (our, copy) = copied(source, &["-V", "f"], &mine);
    assert_eq!((our, copy), (Run { code: Some(0), said: String::new() }, std::fs::read(theirs).ok()));
}

#[test]
fn a_huge_variable_that_is_not_there() {
    let sample = Sample::new("nc5", FIXED);
    let (source, folder) = (sample.source.to_str().unwrap(), sample.folder.path());
    let mut bytes = std::fs::read(source).unwrap();
    // The length of `y` stands behind its name.
    let at = bytes.windows(4).position(|four| four == b"y\0\0\0").unwrap() + 4;
    bytes[at..at + 8].copy_from_slice(&(1u64 << 40).to_be_bytes());
    std::fs::write(source, bytes).unwrap();
    for options in [&["-5"][..], &["-r"], &["-w"], &["-v", "a"]] {
        refused(source, options, folder, "for /b (-V");
    }
    assert_eq!(copied(source, &["-V", "a"], &folder.join("ours.nc")).0.code, Some(0));
}
