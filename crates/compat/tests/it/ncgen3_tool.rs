//! `ncgen3` of the reference and ours, run for the programs that they write.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use ferrocdf_tools::ncgen::{Program, run};

/// Standard output, messages and exit code of the reference; no code if it crashed.
pub fn theirs(args: &[&str], folder: &Path) -> (String, String, Option<i32>) {
    let run = Command::new("ncgen3").args(args).current_dir(folder).output().expect("the reference's ncgen3");
    let [out, said] = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (out, said, run.status.code())
}

/// The same of ours. Paths are relative to the present folder.
pub fn ours(args: &[&str]) -> (String, String, Option<i32>) {
    let (mut out, mut errors) = (vec![], vec![]);
    let args = ["ncgen3"].iter().chain(args).map(OsString::from);
    let code = run(Program::Ncgen3, args, &mut &b""[..], &mut out, &mut errors);
    let [out, said] = [out, errors].map(|text| String::from_utf8_lossy(&text).into_owned());
    (out, said, Some(code.into()))
}

/// The statements of a Fortran program, each on one line, without the zeros at the end of texts: the reference leaves
/// away those that the text it reads does not have, though the variable does.
pub fn statements(program: &str) -> Vec<String> {
    let mut whole: Vec<String> = vec![];
    for line in program.lines() {
        match (whole.last_mut(), line.strip_prefix("     ").and_then(|rest| rest.split_at_checked(1))) {
            (Some(statement), Some((mark, rest))) if mark != " " => statement.push_str(rest),
            _ => whole.push(line.to_string()),
        }
    }
    for statement in whole.iter_mut().filter(|line| line.contains("= nf_put_var") && line.contains("_text("))
    {
        while let Some(shorter) = statement.strip_suffix("//char(0))") {
            *statement = format!("{shorter})");
        }
    }
    whole
}

/// Our statements with what the reference leaves away of data: it appends to a statement only what brings it to the
/// length that it had before.
pub fn as_the_reference(mine: &[String]) -> Vec<String> {
    let is_double = |name: &str| {
        mine.iter().any(|line| {
            let rest = line.trim_start().strip_prefix("double precision  ");
            rest.is_some_and(|rest| rest.split('(').next() == Some(name))
        })
    };
    let clip = |line: &String| {
        let data = line.strip_prefix("      data ").and_then(|rest| rest.strip_suffix('/')?.split_once(" /"));
        match data {
            Some((name, values)) if !values.contains(" * ") => {
                format!("      {}", clipped(name, values, is_double(name)))
            }
            _ => line.clone(),
        }
    };
    mine.iter().map(clip).collect()
}

/// Appends what fits into this many characters and a zero.
fn append(made: &mut String, piece: &str, room: usize) {
    let room = room.saturating_sub(1 + made.len());
    made.push_str(&piece[..piece.len().min(room)]);
}

fn clipped(name: &str, values: &str, double: bool) -> String {
    let mut made = format!("data {name} /");
    let mut counted = made.len();
    let mut values = values.split(", ").peekable();
    while let Some(value) = values.next() {
        let mut piece = value.to_string();
        match values.peek() {
            // In double precision, the comma is appended in the same way, and counted twice.
            Some(_) if double => {
                append(&mut piece, ", ", counted);
                counted += 2;
            }
            Some(_) => piece.push_str(", "),
            None => {}
        }
        append(&mut made, &piece, counted);
        counted += piece.len();
    }
    append(&mut made, "/", counted);
    made
}
