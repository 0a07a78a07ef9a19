//! Our library under load, and under the eyes of valgrind.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::folder;

/// Seconds of sixteen threads; `FERROCDF_STRESS_SECONDS` asks for more.
const SECONDS: &str = "10";

/// Programs of the reference that run under valgrind: those for classic files, then some for netCDF-4 files.
const CHECKED: &[&str] = &[
    "nctest",
    "t_nc",
    "tst_atts3",
    "tst_inmemory",
    "tst_misc",
    "tst_names",
    "tst_norm",
    "tst_small",
    "t_type",
    "tst_compounds",
    "tst_endian_fill",
    "tst_enums",
    "tst_grps2",
    "tst_opaques",
    "tst_put_vars",
    "tst_strings",
    "tst_vl",
];

fn compile(name: &str, folder: &Path) -> PathBuf {
    let (prefix, program) = (crate::folder("FERROCDF_PREFIX"), folder.join(name));
    let lib = prefix.join("lib");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/clients").join(name).with_extension("c");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-g", "-Wall", "-Werror", "-I"])
        .arg(prefix.join("include"))
        .arg("-o")
        .arg(&program)
        .arg(source);
    cc.arg("-L").arg(&lib).arg(format!("-Wl,-rpath,{}", lib.display())).args(["-lnetcdf", "-lpthread"]);
    let done = cc.output().expect("there is a compiler");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

fn run(command: &mut Command) -> String {
    let done = command.output().expect("it starts");
    let text = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(40)..].join("\n");
    assert!(done.status.success(), "{}\n{tail}", done.status);
    tail
}

#[test]
fn functions_at_the_end_of_a_process() {
    let here = tempfile::tempdir().expect("a folder for the program");
    let program = compile("ends", here.path());
    assert_eq!(run(Command::new(program).arg(here.path().join("ends.nc"))), "the same");
}

#[test]
fn sixteen_threads() {
    let here = tempfile::tempdir().expect("a folder for the program");
    let program = compile("threads", here.path());
    let seconds = std::env::var("FERROCDF_STRESS_SECONDS").unwrap_or_else(|_| SECONDS.to_string());
    println!("{}", run(Command::new(program).arg(seconds).current_dir(here.path())));
}

#[test]
fn children_of_fork() {
    let here = tempfile::tempdir().expect("a folder for the program");
    println!("{}", run(Command::new(compile("forks", here.path())).current_dir(here.path())));
}

/// How valgrind is asked.
const VALGRIND: &[&str] = &[
    "valgrind",
    "--quiet",
    "--error-exitcode=99",
    "--leak-check=full",
    "--errors-for-leak-kinds=definite",
    "--fair-sched=yes",
];

/// A single thread's share of the same work, and the whole version-2 interface, without a wrong access or a leak. All of the
/// reference's programs run so with `FERROCDF_UNDER`.
#[test]
fn valgrind_finds_nothing() {
    let here = tempfile::tempdir().expect("a folder for the programs");
    let threads = compile("threads", here.path());
    run(Command::new(VALGRIND[0]).args(&VALGRIND[1..]).arg(threads).arg("2").current_dir(here.path()));
    let reference = folder("FERROCDF_REFERENCE");
    for name in CHECKED {
        let judged = crate::suite::judge_under(&reference, name, here.path(), VALGRIND);
        judged.unwrap_or_else(|why| panic!("{name}: {why}"));
    }
}
