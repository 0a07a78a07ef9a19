//! `ncdump` and `ncgen` of the reference, and our `ncdump`, run on the same command line.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What a run of `ncdump` left.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

/// Runs the reference. Fails the test if it is not installed.
pub fn reference(args: &[&str]) -> Run {
    let output =
        Command::new("ncdump").args(args).output().expect("the reference's ncdump must be installed");
    Run { code: output.status.code(), out: output.stdout, err: output.stderr }
}

/// Runs ours.
pub fn ours(args: &[&str]) -> Run {
    let (mut out, mut err) = (vec![], vec![]);
    let args = std::iter::once("ncdump").chain(args.iter().copied()).map(OsString::from);
    let code = ferrocdf_tools::ncdump::main(args, &mut out, &mut err);
    Run { code: Some(code), out, err }
}

/// Makes a file from CDL with the reference. Fails the test if it cannot.
pub fn generate(kind: &str, cdl: &Path, file: &Path) {
    let run = Command::new("ncgen").arg(kind).arg("-o").arg(file).arg(cdl).output();
    let run = run.expect("the reference's ncgen must be installed");
    assert!(run.status.success(), "{}: {}", cdl.display(), String::from_utf8_lossy(&run.stderr));
}

/// Fails with the first line that differs.
pub fn assert_same(args: &[&str], reference: &Run, ours: &Run) {
    if reference == ours {
        return;
    }
    assert_eq!(reference.code, ours.code, "exit code of ncdump {args:?}");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (theirs, mine) = (text(&reference.out), text(&ours.out));
    for (number, (their, my)) in theirs.lines().zip(mine.lines()).enumerate() {
        assert_eq!(their, my, "line {} of ncdump {args:?}", number + 1);
    }
    assert_eq!(reference.out.len(), ours.out.len(), "length of the output of ncdump {args:?}");
    assert_eq!(text(&reference.err), text(&ours.err), "messages of ncdump {args:?}");
    panic!("ncdump {args:?}: the output differs in bytes that are not UTF-8");
}
