//! The programs that `ncgen3` writes for every classic file of the corpus, by way of the reference's dump.
//!
//! Where the reference is not followed, the kind of the difference is listed here with the reason.

use std::collections::BTreeMap;

use crate::files;
use crate::ncdump_tool::reference as dump;
use crate::ncgen_tool::without_negative_zeros;
use crate::ncgen3_tool::{as_the_reference, ours, statements, theirs};

/// Why the reference is not followed, if there is a reason.
fn exception(text: &str, said: &str, code: Option<i32>) -> Option<&'static str> {
    let special = ["NaN", "Infinity", "inf"].iter().any(|word| text.contains(word));
    match code {
        None => Some("the reference crashes"),
        Some(0) if special => Some("NaN and infinity are fill values to the reference"),
        Some(0) if text.contains("\"\"") => {
            Some("a text of no characters among others is a zero to the reference")
        }
        Some(0) => None,
        _ if said.contains("FORTRAN statement too long") => Some("the reference refuses long statements"),
        _ => Some("a text that the reference does not read"),
    }
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
        for language in ["-c", "-f"] {
            let (expected, said, code) = theirs(&[language, cdl], folder.path());
            let mine = ours(&[language, cdl]);
            let equal = match language {
                "-f" => statements(&expected) == as_the_reference(&statements(&mine.0)),
                _ => expected == mine.0,
            };
            if equal && (&said, code) == (&mine.1, mine.2) {
                same += 1;
            } else if let Some(reason) = exception(&String::from_utf8_lossy(&run.out), &said, code) {
                *reasons.entry(reason).or_default() += 1;
            } else {
                wrong.push(format!("{language} {path}"));
            }
        }
    }
    println!("{same} programs are the same; {reasons:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(same > 100, "only {same} programs were compared");
}
