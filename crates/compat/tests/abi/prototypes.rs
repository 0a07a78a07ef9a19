//! Every function is declared as the reference declares it. The compiler judges: it refuses a name declared in two ways.

use std::collections::BTreeMap;

use crate::headers::Headers;
use crate::{output, text};

/// Declared by the newest release, and defined nowhere.
const LEFT_OUT: &[&str] = &["nc_filter_path_query"];

/// Compiles headers and further declarations; gives what the compiler has to say against them.
fn refused(headers: &Headers, declarations: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("both.c");
    std::fs::write(&file, headers.includes() + declarations).unwrap();
    let done = output(headers.cc().args(["-fsyntax-only", "-Wno-unused-function"]).arg(&file));
    (!done.status.success()).then(|| String::from_utf8_lossy(&done.stderr).into_owned())
}

fn assert_agrees(headers: &Headers, declarations: &BTreeMap<String, String>) {
    let text: String = declarations.values().map(|declaration| format!("{declaration};\n")).collect();
    if let Some(why) = refused(headers, &text) {
        panic!("{why}");
    }
}

/// What one has and the other has not, but for what is listed.
fn missing<'a>(from: &BTreeMap<String, String>, names: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
    names.filter(|name| !from.contains_key(*name) && !LEFT_OUT.contains(&name.as_str())).collect()
}

#[test]
fn functions_are_those_of_the_installed_headers() {
    let theirs = Headers::installed().declared().functions;
    let mut ours = Headers::ours_as_installed().declared().functions;
    assert!(theirs.len() > 430, "only {} functions were found", theirs.len());
    assert!(missing(&ours, theirs.keys()).is_empty(), "{:?}", missing(&ours, theirs.keys()));
    ours.retain(|name, _| theirs.contains_key(name));
    assert_agrees(&Headers::installed(), &ours);
}

#[test]
fn functions_are_those_of_the_newest_headers() {
    let newest: BTreeMap<String, String> = text("crates/capi/package/newest-facts.txt")
        .lines()
        .filter(|line| line.starts_with("extern ") || line.starts_with("static "))
        .map(|line| line.trim_end_matches(';'))
        .map(|line| {
            let name = line.split('(').next().unwrap().rsplit([' ', '*']).next().unwrap();
            (name.to_string(), line.to_string())
        })
        .filter(|(name, _)| !LEFT_OUT.contains(&name.as_str()))
        .collect();
    let ours = Headers::ours().declared().functions;
    assert!(newest.len() > 490, "only {} functions were found", newest.len());
    assert!(missing(&ours, newest.keys()).is_empty(), "{:?}", missing(&ours, newest.keys()));
    assert_agrees(&Headers::ours(), &newest);
}

/// How lines that declare something begin, with single spaces.
fn beginnings(header: &str) -> Vec<String> {
    let is_declared =
        |line: &&str| ["nc", "EXTERNL int nc", "#define NC"].iter().any(|start| line.starts_with(start));
    let line = |line: &str| {
        let words: Vec<&str> = line.split('(').next().unwrap().split_whitespace().collect();
        let named = if words[0] == "#define" { 2 } else { words.len() };
        words[..named].join(" ")
    };
    // Comments have lines that begin so too, but go on.
    header
        .lines()
        .filter(is_declared)
        .map(line)
        .filter(|line| !line.starts_with("nc") || !line.contains(' '))
        .collect()
}

/// Build scripts search headers line by line.
#[test]
fn lines_begin_as_in_the_installed_header() {
    let theirs = beginnings(&Headers::installed().main_header());
    let ours = beginnings(&Headers::ours().main_header());
    assert!(theirs.len() > 500, "only {} lines were found", theirs.len());
    let missing: Vec<&String> = theirs.iter().filter(|line| !ours.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_wrong_signature_is_refused() {
    for wrong in [
        "extern int nc_close(long ncid);",
        "extern int nc_open(char *path, int mode, int *ncidp);",
        "extern int nc_get_var_long(int ncid, int varid, long long *ip);",
        "extern void nc_sync(int ncid);",
    ] {
        for headers in [Headers::installed(), Headers::ours()] {
            assert!(refused(&headers, wrong).is_some(), "{wrong}");
        }
    }
}
