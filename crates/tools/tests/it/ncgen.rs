//! `ncgen`: which file it writes, and when it writes none.

use std::ffi::OsString;
use std::path::Path;

use ferrocdf::{Format, Values, open};
use ferrocdf_tools::ncgen::{Program, run};

const TEXT: &[u8] = b"netcdf set { dimensions: x = 2, y = 3; variables: int v(x, y); data: v = 1, 2, 3, 4; }";

/// Runs a tool; its exit code and what it said.
fn call(program: Program, args: &[&str], input: &[u8]) -> (u8, String) {
    let mut errors = vec![];
    let args = ["tool"].iter().chain(args).map(OsString::from);
    let code = run(program, args, &mut &*input, &mut vec![], &mut errors);
    (code, String::from_utf8(errors).unwrap())
}

fn values(path: &Path) -> Values {
    let file = open(path).unwrap();
    let var = file.model().var_ids().next().unwrap();
    file.read_values(var, &[0, 0], &[2, 3]).unwrap()
}

#[test]
fn the_file_asked_for_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    let fill = -2147483647;
    for args in [&["-P", "-b"][..], &["-5"], &["-6", "-W", "1"], &[]] {
        let args = [args, &["-o", path.to_str().unwrap(), "-"]].concat();
        assert_eq!(call(Program::Ncgen, &args, TEXT), (0, String::new()));
        assert_eq!(values(&path), Values::Int(vec![1, 2, 3, 4, fill, fill]));
        std::fs::remove_file(&path).unwrap();
    }
    let args = ["-k", "64-bit offset", "-o", path.to_str().unwrap()];
    assert_eq!(call(Program::Ncgen3, &args, TEXT), (0, String::new()));
    assert_eq!(open(&path).unwrap().format(), Format::OFFSET64);
}

#[test]
fn a_mark_of_utf8_is_skipped_and_others_are_refused() {
    assert_eq!(call(Program::Ncgen, &[], &[b"\xef\xbb\xbf", TEXT].concat()).0, 0);
    let (code, said) = call(Program::Ncgen, &[], b"\xff\xfen\0e\0");
    assert_eq!((code, said.as_str()), (1, "Input file contains a BOM indicating a non-UTF8 encoding\n"));
}

#[test]
fn a_wrong_text_leaves_the_file_that_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    std::fs::write(&path, "old").unwrap();
    let args = ["-3", "-o", path.to_str().unwrap()];
    for text in [&TEXT[..TEXT.len() - 1], b"netcdf a { :a = 3U; }", b"netcdf a { group: g { } }"] {
        let (_, said) = call(Program::Ncgen, &args, text);
        assert!(!said.is_empty());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }
    // Without a kind the text decides.
    assert_eq!(call(Program::Ncgen, &args[1..], b"netcdf a { group: g { } }").0, 0);
    assert_eq!(ferrocdf::File::open(&path).unwrap().format(), Format::NETCDF4);
}

#[test]
fn a_text_is_not_overwritten_by_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let [text, hard, soft] = ["text.cdl", "hard.cdl", "soft.cdl"].map(|name| folder.path().join(name));
    std::fs::write(&text, TEXT).unwrap();
    std::fs::hard_link(&text, &hard).unwrap();
    std::os::unix::fs::symlink(&text, &soft).unwrap();
    let names = [&text, &hard, &soft].map(|path| path.to_str().unwrap());
    for program in [Program::Ncgen, Program::Ncgen3] {
        for (input, output) in names.into_iter().flat_map(|a| names.map(|b| (a, b))) {
            let (code, said) = call(program, &["-o", output, input], b"");
            assert_eq!(code, 1);
            assert!(said.contains("output would overwrite input"), "{said}");
            assert_eq!(std::fs::read(&text).unwrap(), TEXT);
        }
    }
}

#[test]
fn names_that_are_not_utf8_are_wrong_in_a_check_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.nc");
    for text in [
        &b"netcdf a { dimensions: x\xff = 2; }"[..],
        b"netcdf a { variables: int x\xff; }",
        b"netcdf a { variables: int x; x:x\xff = 1; }",
        b"netcdf a { :x\xff = 1; }",
        b"netcdf a { types: opaque(2) x\xff; }",
        b"netcdf a { group: x\xff { } }",
    ] {
        let checked = call(Program::Ncgen, &[], text);
        assert_eq!(checked.0, 1, "{}", text.escape_ascii());
        assert!(checked.1.contains(r#"x\xff" is not UTF-8"#), "{}", checked.1);
        assert_eq!(call(Program::Ncgen, &["-o", path.to_str().unwrap()], text).0, 1);
    }
}

#[test]
fn a_check_writes_nothing() {
    assert_eq!(call(Program::Ncgen, &[], TEXT), (0, String::new()));
    assert_eq!(call(Program::Ncgen3, &[], TEXT), (0, String::new()));
}

#[test]
fn programs_go_to_standard_output() {
    for (language, start) in [("-lc", "#include"), ("-lf77", "      program main"), ("-ljava", "import java")]
    {
        let (mut out, mut errors) = (vec![], vec![]);
        let args = ["tool", language].map(OsString::from);
        let code = run(Program::Ncgen, args, &mut &*TEXT, &mut out, &mut errors);
        assert_eq!((code, errors), (0, vec![]));
        assert!(out.starts_with(start.as_bytes()), "{language}");
    }
}
