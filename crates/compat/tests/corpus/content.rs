//! What is in the files: everything, through both libraries.

use std::path::PathBuf;

use ferrocdf_compat::script::{Op, run};

use crate::{classic, reference};

#[test]
fn every_value_is_what_the_reference_reads() {
    let script = [Op::Read, Op::Dump, Op::Close];
    let files = classic();
    let (normal, other): (Vec<_>, Vec<_>) = files.iter().partition(|entry| entry.normal);
    let mut wrong = vec![];
    for batch in normal.chunks(50) {
        let jobs: Vec<(PathBuf, &[Op])> =
            batch.iter().map(|entry| (entry.path.clone(), &script[..])).collect();
        for (entry, theirs) in batch.iter().zip(reference().run_all(&jobs)) {
            let ours = run(&entry.path, &script);
            if theirs.died || theirs.lines != ours {
                wrong.push(format!("{}: {}", entry.path.display(), difference(&theirs.lines, &ours)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} files differ:\n{}", wrong.len(), wrong.join("\n"));
    println!("{} files have the reference's content, value by value", normal.len());
    let mut readable = 0;
    for entry in &other {
        match ferrocdf::open(&entry.path) {
            Ok(file) => {
                readable += 1;
                for variable in file.variables() {
                    let model = file.model();
                    let shape = model.shape(variable.id());
                    if shape
                        .iter()
                        .try_fold(8u64, |size, &len| size.checked_mul(len))
                        .is_some_and(|size| size < 1 << 28)
                    {
                        // Data or an error: what counts is to come back.
                        let _ = file.read_values(variable.id(), &vec![0; shape.len()], &shape);
                    }
                }
            }
            Err(error) => {
                let what = error.to_string();
                assert!(what.contains("byte") || what.contains("variable"), "{what} does not say where");
            }
        }
    }
    println!("{} damaged files: {readable} open, the others say what is wrong", other.len());
}

fn difference(theirs: &[String], ours: &[String]) -> String {
    let at = theirs.iter().zip(ours).position(|(their, our)| their != our);
    let Some(at) = at else { return format!("{} and {} lines", theirs.len(), ours.len()) };
    let (their, our) = (&theirs[at], &ours[at]);
    let from = their.bytes().zip(our.bytes()).position(|(their, our)| their != our).unwrap_or(0);
    let part = |text: &str| text[from.saturating_sub(30)..text.len().min(from + 60)].to_string();
    format!("line {at}, character {from}: \"{}\" and \"{}\"", part(their), part(our))
}

#[test]
fn opening_for_writing_and_closing_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.nc");
    for entry in classic().iter().filter(|entry| entry.normal) {
        let before = std::fs::read(&entry.path).unwrap();
        std::fs::write(&copy, &before).unwrap();
        let file = ferrocdf::append(&copy).unwrap();
        file.close().unwrap();
        let after = std::fs::read(&copy).unwrap();
        // A file cut short inside its last padding is made whole, as by the reference.
        assert!(after.starts_with(&before), "{}", entry.path.display());
        assert!(after[before.len()..].iter().all(|&byte| byte == 0), "{}", entry.path.display());
    }
}
