//! `ncgen` of the reference and ours, run for the programs that they write.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use ferrocdf_tools::ncgen::{Program, run};

pub const LANGUAGES: [&str; 3] = ["-lc", "-lf77", "-ljava"];

/// Standard output, messages and exit code of the reference; no code if it crashed.
pub fn theirs(args: &[&str], folder: &Path) -> (Vec<u8>, String, Option<i32>) {
    let run = Command::new("ncgen").args(args).current_dir(folder).output().expect("the reference's ncgen");
    (run.stdout, String::from_utf8_lossy(&run.stderr).into_owned(), run.status.code())
}

/// The same of ours. Paths are relative to the present folder.
pub fn ours(args: &[&str], input: &[u8]) -> (Vec<u8>, String, Option<i32>) {
    let (mut out, mut errors) = (vec![], vec![]);
    let args = ["ncgen"].iter().chain(args).map(OsString::from);
    let code = run(Program::Ncgen, args, &mut &*input, &mut out, &mut errors);
    (out, String::from_utf8_lossy(&errors).into_owned(), Some(code.into()))
}

/// Whether a text begins with a zero as `ncdump` prints it: in variables without a point, in attributes with one.
fn is_zero(text: &[u8]) -> bool {
    let rest = text.strip_prefix(b"0").unwrap_or_default();
    let rest = rest.strip_prefix(b".").unwrap_or(rest);
    let rest = rest.strip_prefix(b"f").unwrap_or(rest);
    matches!(rest, [b',' | b';' | b' ' | b'}' | b'\n', ..])
}

/// A text in which no zero has a sign: the reference's `ncgen` reads `-0` as the integer 0, where its `ncdump` printed a
/// negative zero. That ours keeps the sign is what `corpus/round_trip.rs` tests.
pub fn without_negative_zeros(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        let is_sign = byte == b'-'
            && at.checked_sub(1).is_some_and(|before| b" ,{".contains(&text[before]))
            && is_zero(&text[at + 1..]);
        if !is_sign {
            plain.push(byte);
        }
    }
    plain
}

/// The text without what the reference takes from uninitialized memory: numbers behind ids in the calls of Fortran.
/// They make lines longer, so continued lines are joined.
pub fn comparable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text).replace("\n     1", "");
    let without_number = |line: &str| match line.trim_start().strip_prefix("call write_") {
        Some(_) => {
            let digits = line
                .trim_end_matches(')')
                .trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
            digits.strip_suffix("_id_").map_or(line.to_string(), |start| format!("{start}_id)"))
        }
        None => line.to_string(),
    };
    text.lines().map(without_number).collect::<Vec<_>>().join("\n")
}

/// What is put right in Java is made wrong again.
pub fn java_as_the_reference(text: &str) -> String {
    let mut text = text.replace("\\\\", "\\");
    for class in ["Float", "Double"] {
        let ty = class.to_lowercase();
        text = text.replace(&format!("{class}.POSITIVE_INFINITY"), &format!("(({ty})inf)"));
        text = text.replace(&format!("{class}.NEGATIVE_INFINITY"), &format!("(({ty})-inf)"));
    }
    text.replace("set((char)'x');", "set((char)''x'');").replace("set((char)'\\u0000');", "set((char)''');")
}
