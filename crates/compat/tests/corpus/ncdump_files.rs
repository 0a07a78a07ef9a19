//! Every classic file of the corpus printed in every way, byte for byte.
//!
//! Where the reference is wrong, or crashes, the file and the way are listed here with the reason.

use std::path::PathBuf;

use crate::ncdump_tool::{Run, ours, reference};

const WAYS: [&[&str]; 19] = [
    &[],
    &["-h"],
    &["-s"],
    &["-c"],
    &["-b", "f"],
    &["-b", "c"],
    &["-f", "c"],
    &["-f", "f"],
    &["-p", "9,17"],
    &["-d", "5,9"],
    &["-t"],
    &["-i"],
    &["-x"],
    &["-k"],
    &["-K"],
    &["-l", "120"],
    &["-n", "name"],
    &["-h", "-t", "-s"],
    &["-l", "40", "-b", "c", "-f", "c"],
];

/// The classic files of the corpus: those whose kind the index says is a version of CDF.
fn files() -> Vec<(String, PathBuf)> {
    let folder =
        std::env::var("FERROCDF_CORPUS").expect("FERROCDF_CORPUS must name the folder of real files");
    let folder = PathBuf::from(folder);
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
    let mut lines = index.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let head = lines.next().expect("the index has a head");
    let column =
        |name: &str| head.iter().position(|title| *title == name).expect("the index has this column");
    let (path, kind) = (column("path"), column("kind"));
    lines
        .filter(|line| matches!(line[kind], "cdf1" | "cdf2" | "cdf5"))
        .map(|line| (line[path].to_string(), folder.join(line[path])))
        .collect()
}

/// Why the reference is not followed.
fn exception(path: &str, way: &[&str], theirs: &Run, mine: &Run) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if theirs.code.is_none() && mine.code == Some(1) {
        return Some("a broken header crashes the reference");
    }
    let fails = theirs.err.starts_with(b"NetCDF: Attempting netcdf-4 operation");
    // What it prints before that is what ours prints.
    if way.contains(&"-s") && fails && mine.out.starts_with(&theirs.out) {
        return Some("-s fails at the byte order of a variable of CDF-5 in the reference, 4.10.1 among them");
    }
    if name.starts_with("bad_xtype.") {
        return Some("the reference opens files with types that do not exist, and fails when it prints them");
    }
    None
}

/// Takes away the differences that concern single lines: see `index_of_a_scalar` and `numbers_that_are_no_dates` in
/// the tests of the printer.
fn same_output(way: &[&str], theirs: &[u8], mine: &[u8]) -> bool {
    if way.windows(2).any(|pair| pair == ["-f", "f"]) {
        return same_but_scalars(theirs, mine);
    }
    same_but_dates(theirs, mine)
}

/// Whether two texts are the same but for the index of scalars.
fn same_but_scalars(theirs: &[u8], mine: &[u8]) -> bool {
    let (theirs, mine): (Vec<_>, Vec<_>) =
        (theirs.split(|&b| b == b'\n').collect(), mine.split(|&b| b == b'\n').collect());
    theirs.len() == mine.len()
        && theirs.iter().zip(&mine).all(|(their, my)| {
            their == my || (my.ends_with(b"(1)") && their.strip_suffix(b"(34)") == my.strip_suffix(b"(1)"))
        })
}

/// Whether two texts are the same but for the dates of numbers that are none: what the reference prints there is what
/// memory held, any bytes, ends of lines among them.
fn same_but_dates(theirs: &[u8], mine: &[u8]) -> bool {
    // What comes before each such date, and what comes after the last one, from the end of its line on.
    let mut parts = vec![];
    let mut rest = mine;
    while let Some(at) = find(rest, b"// \"\"") {
        parts.push(&rest[..at]);
        let end = rest[at..].iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| at + end);
        rest = &rest[end..];
    }
    let mut left = theirs;
    for (number, part) in parts.iter().enumerate() {
        let at = if number == 0 { left.starts_with(part).then_some(0) } else { find(left, part) };
        match at {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    if parts.is_empty() { left == rest } else { left.ends_with(rest) }
}

/// Where a part is first found in a text.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

#[test]
fn dates_of_numbers_that_are_none_are_not_compared() {
    let mine = b"a = 1 ; // \"\"\nb = 2 ; // \"\"\nend\n";
    assert!(same_but_dates(b"a = 1 ; // \"x\ny\" z\nb = 2 ; // \"\0\"\nend\n", mine));
    assert!(!same_but_dates(b"a = 1 ; // \"x\"\nb = 3 ; // \"\"\nend\n", mine));
    assert!(!same_but_dates(b"a = 1 ; // \"x\"\nb = 2 ; // \"\"\nend", mine));
    assert!(!same_but_dates(b"b", b"a"));
}

#[test]
fn classic_files() {
    let files = files();
    assert!(files.len() > 200, "{} classic files", files.len());
    let (mut runs, mut exceptions, mut failures) = (0, vec![], vec![]);
    for (path, full) in &files {
        let file = full.to_str().expect("names in the corpus are UTF-8");
        for way in WAYS {
            let args = [way, &[file]].concat();
            let (theirs, mine) = (reference(&args), ours(&args));
            runs += 1;
            // What goes wrong is said in the same form, and by the same code where the cause is the same.
            let prefix = format!("ncdump: {file}: ");
            let form = mine.code == Some(0) || String::from_utf8_lossy(&mine.err).starts_with(&prefix);
            if theirs.code == mine.code && same_output(way, &theirs.out, &mine.out) && form {
                continue;
            }
            match exception(path, way, &theirs, &mine) {
                Some(why) => exceptions.push(format!("{path} {way:?}: {why}")),
                None => failures.push(format!("{path} {way:?}: codes {:?} {:?}", theirs.code, mine.code)),
            }
        }
    }
    println!("{runs} runs, {} exceptions:\n{}", exceptions.len(), exceptions.join("\n"));
    assert!(failures.is_empty(), "{} of {runs} runs differ:\n{}", failures.len(), failures.join("\n"));
    assert!(exceptions.len() < runs / 20, "too many exceptions");
}
