//! Each header compiles by itself, and what the headers hold of code does its work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{root, run, source};

fn include() -> PathBuf {
    root().join("crates/capi/include")
}

/// The compilers that a header must please, and the language each is told.
const LANGUAGES: &[&[&str]] =
    &[&["cc", "-x", "c", "-std=c99"], &["cc", "-x", "c", "-std=c11"], &["c++", "-x", "c++", "-std=c++17"]];

#[test]
fn each_header_compiles_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("alone");
    let mut headers = 0;
    for header in std::fs::read_dir(include()).unwrap() {
        let header = header.unwrap().file_name();
        let header = header.to_str().unwrap();
        // A file must declare something.
        std::fs::write(&file, format!("#include <{header}>\n#include <{header}>\nint something;\n")).unwrap();
        for language in LANGUAGES {
            let mut compiler = Command::new(language[0]);
            compiler.args(&language[1..]).args([
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                "-fsyntax-only",
                "-I",
            ]);
            run(compiler.arg(include()).arg("-I").arg(source("stub")).arg(&file));
        }
        headers += 1;
    }
    assert_eq!(headers, 13);
}

/// How programs find out which filter mechanism is there ("NetCDF-4 Filter Support", "Build Flags for Detecting the Filter
/// Mechanism"): the third case.
#[test]
fn the_mechanism_of_filters_is_the_newest() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flags.c");
    let program = "#include <netcdf.h>\n#include <netcdf_meta.h>\n#include <netcdf_filter.h>\n\
                   #if !defined(NC_ENOFILTER) || !defined(NC_HAS_MULTIFILTERS) || !NC_HAS_MULTIFILTERS\n#error\n#endif\n";
    std::fs::write(&file, program).unwrap();
    run(Command::new("cc").arg("-fsyntax-only").arg("-I").arg(include()).arg(&file));
}

/// Compiles a program of `c/headers` with checks for memory errors, and runs it.
fn run_program(name: &str, input: &Path) -> String {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let mut cc = Command::new("cc");
    cc.args([
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover",
        "-I",
    ]);
    run(cc.arg(include()).arg(source(name)).arg("-o").arg(&program));
    run(Command::new(&program).stdin(Stdio::from(std::fs::File::open(input).unwrap())))
}

#[test]
fn the_json_header_reads_and_writes() {
    let printed = run_program("json.c", &source("json.txt"));
    assert_eq!(printed, std::fs::read_to_string(source("json.expected")).unwrap());
}

#[test]
fn lists_and_texts_grow() {
    assert_eq!(run_program("vutils.c", Path::new("/dev/null")), "done\n");
}
