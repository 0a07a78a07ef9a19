//! `nccopy` of the reference and ours, run on the same command line, and what the reference prints of the copies.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// What a run left: its exit code (`None` if it crashed) and the first line it said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub code: Option<i32>,
    pub said: String,
}

impl Run {
    fn of(code: Option<i32>, said: &[u8]) -> Run {
        let said = String::from_utf8_lossy(said).lines().next().unwrap_or_default().to_string();
        Run { code, said }
    }
}

/// Runs the reference in a folder. Fails the test if it is not installed.
pub fn reference(args: &[&str], folder: &Path) -> Run {
    let output = Command::new("nccopy").args(args).current_dir(folder).output();
    let output = output.expect("the reference's nccopy must be installed");
    Run::of(output.status.code(), &output.stderr)
}

/// Runs ours.
pub fn ours(args: &[&str]) -> Run {
    let mut said = vec![];
    let args = std::iter::once("nccopy").chain(args.iter().copied()).map(OsString::from);
    let code = ferrocdf_tools::nccopy::run(args, &mut said);
    Run::of(Some(i32::from(code)), &said)
}

/// The whole of a file with all digits, as the reference prints it.
pub fn printed(file: &Path) -> Vec<u8> {
    let output = Command::new("ncdump").args(["-n", "copy", "-p", "9,17"]).arg(file).output();
    let output = output.expect("the reference's ncdump must be installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", file.display());
    output.stdout
}
