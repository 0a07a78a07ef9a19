//! The `netcdf` crate of others, linked to our library: its own tests.
//!
//! Its newest release is published without its integration tests, and its unit tests open no file: it runs a test of ours,
//! `rust/files.rs`. Release 0.4.1 is the last with integration tests, and these read and write files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::suite::Excuse;
use crate::{folder, loads_only};

/// Release 0.4.1: its unit test, and its integration tests.
const TESTS: &[&str] =
    &["--features", "memory", "--lib", "--test", "attributes", "--test", "group", "--test", "lib"];
/// Number of tests in it.
const COUNT: usize = 55;
/// Number of tests in the files with other lines.
const CHANGED: usize = 48;

/// The tests that fail, each in a file of integration tests. With other lines, all tests of these files pass.
const EXCUSED: &[(&str, Excuse)] = &[
    (
        "group",
        Excuse {
            program: "find_variable",
            changes: &[
                ("        var.compression(3).unwrap();\n", ""),
                (
                    "            var.chunking(&[1]).unwrap();\n",
                    "            var.compression(3).unwrap();\n            var.chunking(&[1]).unwrap();\n",
                ),
                (
                    "            var.chunking(&[]).unwrap();\n",
                    "            var.compression(3).unwrap_err();\n            var.chunking(&[]).unwrap();\n",
                ),
            ],
            why: "wants to compress scalar variables, which netCDF-C does not do any more",
        },
    ),
    (
        "lib",
        Excuse {
            program: "set_compression_all_variables_in_a_group",
            changes: &[(
                "var.compression(netcdf_sys::NC_MAX_DEFLATE_LEVEL + 1)",
                "file.add_variable::<u8>(\"var4\", &[\"x\"])
        .unwrap()
        .compression(netcdf_sys::NC_MAX_DEFLATE_LEVEL + 1)",
            )],
            why: "wants a second deflate level to be checked like the first one; netCDF-C 4.9.0 does not check it either",
        },
    ),
];

/// What cargo says of a test run.
struct Results {
    passed: usize,
    failed: BTreeSet<String>,
    output: String,
}

/// Runs tests of a crate on our library. `FILES` names a folder that they may write to.
fn test(source: &Path, targets: &[&str], files: &Path) -> Results {
    let prefix = folder("FERROCDF_PREFIX");
    let lib = prefix.join("lib");
    let done = ferrocdf_compat::cargo()
        .args(["test", "--locked", "--no-fail-fast", "--manifest-path"])
        .arg(source.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(target(source))
        .args(targets)
        .env("RUSTFLAGS", "--cap-lints allow")
        // The newest release asks the `nc-config` of this folder; the older one knows no more than the library's name.
        .env("NETCDF_DIR", &prefix)
        .env("LIBRARY_PATH", &lib)
        .env("LD_LIBRARY_PATH", &lib)
        .env("FILES", files)
        .output()
        .expect("cargo runs");
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    // Cargo names each program that it runs: `Running unittests src/lib.rs (PATH)`.
    let programs = err.lines().filter_map(|line| line.trim().strip_prefix("Running ")?.split_once('('));
    let programs = programs.map(|(_, program)| Path::new(program.trim_end_matches(')')));
    let loads = programs.filter(|program| loads_only(program, lib.as_os_str(), &[&lib])).count();
    assert!(loads > 0, "no test program loads our library: {out}{err}");
    let ends = |with: &str| -> Vec<String> {
        let lines = out.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(with));
        lines.map(str::to_string).collect()
    };
    Results {
        passed: ends(" ... ok").len(),
        failed: ends(" ... FAILED").into_iter().collect(),
        output: format!("{out}{err}"),
    }
}

/// Gives a crate one more file of integration tests.
fn add_test(source: &Path, name: &str, text: &[u8]) {
    let folder = source.join("tests");
    fs::create_dir_all(&folder).expect("a folder for tests");
    let place = folder.join(name).with_extension("rs");
    // Cargo compiles again what is written again.
    if fs::read(&place).is_ok_and(|there| there == text) {
        return;
    }
    fs::write(place, text).expect("a new file");
}

/// The folder that a crate is built in.
fn target(source: &Path) -> PathBuf {
    let name = source.file_name().expect("it has a name");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("published").join(name)
}

#[test]
fn tests_of_the_netcdf_crate() {
    let source = folder("FERROCDF_CRATE_TESTED");
    let mut changed = ["--features", "memory"].map(str::to_string).to_vec();
    for (file, excuse) in EXCUSED {
        let tests = source.join("tests");
        let folder = tempfile::tempdir().expect("a folder for the changed source");
        let path = excuse.change(&tests.join(file).with_extension("rs"), folder.path());
        let path = path.unwrap_or_else(|why| panic!("{file}: {why}"));
        let name = format!("changed_{file}");
        add_test(&source, &name, &fs::read(path).expect("it can be read"));
        changed.extend(["--test".to_string(), name]);
    }
    let files = tempfile::tempdir().expect("a folder for files");
    let results = test(&source, TESTS, files.path());
    let excused = EXCUSED.iter().map(|(_, excuse)| excuse.program.to_string()).collect();
    assert_eq!(results.failed, excused, "{}", results.output);
    assert_eq!(results.passed + EXCUSED.len(), COUNT, "{}", results.output);
    let changed: Vec<&str> = changed.iter().map(String::as_str).collect();
    let rest = test(&source, &changed, files.path());
    assert!(rest.failed.is_empty() && rest.passed == CHANGED, "though excused: {}", rest.output);
    println!("{} of {COUNT} tests pass", results.passed);
    for (_, excuse) in EXCUSED {
        println!("{}: {}", excuse.program, excuse.why);
    }
}

#[test]
fn newest_netcdf_crate() {
    let source = folder("FERROCDF_CRATE");
    add_test(&source, "files", include_bytes!("../../rust/files.rs"));
    let written = tempfile::tempdir().expect("a folder for the files");
    let results = test(&source, &["--lib", "--test", "files"], written.path());
    assert!(results.failed.is_empty() && results.passed == 6, "{}", results.output);
    let expected = include_str!("../../rust/files.cdl");
    let mut dumped = String::new();
    for name in ["groups", "classic", "offset", "data", "model"] {
        let file = written.path().join(name).with_extension("nc");
        let mut ncdump = Command::new("ncdump");
        // With `-s`, that of the reference fails for CDF-5.
        if name != "data" {
            ncdump.arg("-s");
        }
        let done = ncdump.arg(&file).output().expect("ncdump of the reference runs");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        dumped.push_str(&String::from_utf8_lossy(&done.stdout));
    }
    assert_eq!(dumped, expected);
}
