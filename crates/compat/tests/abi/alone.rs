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
