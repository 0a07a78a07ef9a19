//! The programs that `ncgen -l` writes for every classic file of the corpus, by way of the reference's dump.
//!
//! Where the reference is not followed, the file or the kind of the difference is listed here with the reason.

use std::collections::BTreeMap;

use crate::files;
use crate::ncdump_tool::reference as dump;
use crate::ncgen_tool::{LANGUAGES, comparable, java_as_the_reference, ours, theirs, without_negative_zeros};

type Run = (Vec<u8>, String, Option<i32>);

/// Why the reference is not followed, if there is a reason.
fn exception(language: &str, text: &[u8], theirs: &Run, mine: &Run) -> Option<&'static str> {
    if theirs.2.is_none() {
        return Some("the reference crashes");
    }
    if theirs.1.contains("syntax error") && mine.2 == Some(0) {
        return Some("names that are words of CDL, as the reference prints them and does not read them");
    }
    let (their_text, my_text) = (comparable(&theirs.0), comparable(&mine.0));
    if mine.1.contains("NC_UNLIMITED size already in use") {
        return Some("two unlimited dimensions, with which the program of the reference fails");
    }
    let refusals = ["NetCDF: Not a valid data type", "Illegal integer constant for classic format"];
    if language != "-lc" && refusals.iter().any(|refusal| mine.1.contains(refusal)) {
        return Some("types of CDF-5, which classic files that such programs make do not hold");
    }
    if language == "-lc" && my_text.replace("NC_CLOBBER|NC_64BIT_DATA", "NC_CLOBBER") == their_text {
        return Some("the reference does not create CDF-5 files");
    }
    if language == "-lc" && String::from_utf8_lossy(text).contains("\tint64 ") {
        return Some("the reference has int for int64");
    }
    if language == "-ljava" && scalars_as_the_reference(&java_as_the_reference(&my_text)) == their_text {
        return Some("the reference's text is not Java");
    }
    None
}

/// Puts the quotes in quotes around characters, as the reference does.
fn scalars_as_the_reference(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.split_once("data.set((char)'") {
        Some((start, rest)) if !rest.starts_with('\'') => match rest.strip_suffix("');") {
            Some(letter) => format!("{start}data.set((char)''{letter}'');"),
            None => line.to_string(),
        },
        _ => line.to_string(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn programs_of_all_classic_files() {
    let folder = tempfile::tempdir().unwrap();
    let cdl = folder.path().join("a.cdl");
    let cdl = cdl.to_str().unwrap();
    let (mut same, mut reasons, mut wrong) = (0, BTreeMap::<_, usize>::new(), vec![]);
    for entry in files(&["cdf1", "cdf2", "cdf5"]) {
        let path = entry.path.to_str().unwrap();
        let run = dump(&[path]);
        if run.code != Some(0) {
            continue;
        }
        std::fs::write(cdl, without_negative_zeros(&run.out)).unwrap();
        for language in LANGUAGES {
            let expected = theirs(&[language, cdl], folder.path());
            let mine = ours(&[language, cdl], b"");
            let equal = match language {
                "-lf77" => comparable(&expected.0) == comparable(&mine.0),
                _ => expected.0 == mine.0,
            };
            if equal && (&expected.1, expected.2) == (&mine.1, mine.2) {
                same += 1;
            } else if let Some(reason) = exception(language, &run.out, &expected, &mine) {
                *reasons.entry(reason).or_default() += 1;
            } else {
                wrong.push(format!("{language} {path}"));
            }
        }
    }
    println!("{same} programs are the same; {reasons:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(same > 500, "only {same} programs were compared");
}
