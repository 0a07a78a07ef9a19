//! Random sequences of define, write, redefine, rename and close, on the reference and on ferrocdf.

use std::path::PathBuf;

use ferrocdf_compat::script::{Op, run};

use crate::compare::{self, Difference};
use crate::generate::{Story, story};
use crate::reference;

/// Sequences that a run of the tests makes.
const SEQUENCES: u64 = 1500;

/// Sequences that go to one process of the reference.
const BATCH: u64 = 100;

#[test]
fn random_sequences_leave_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut total = Difference::default();
    let (mut identical, mut elsewhere, mut died) = (0, 0, 0);
    for first in (0..SEQUENCES).step_by(BATCH as usize) {
        let seeds = first..(first + BATCH).min(SEQUENCES);
        let stories: Vec<Story> = seeds.clone().map(story).collect();
        let file = |who: &str, seed: u64| folder.path().join(format!("{who}{seed}.nc"));
        let jobs: Vec<(PathBuf, &[Op])> =
            seeds.clone().zip(&stories).map(|(seed, story)| (file("their", seed), &story.ops[..])).collect();
        let transcripts = reference().run_all(&jobs);
        for ((seed, story), theirs) in seeds.zip(&stories).zip(&transcripts) {
            let path = file("our", seed);
            let ours = run(&path, &story.ops);
            let differs = ours.iter().zip(&theirs.lines).position(|(our, their)| our != their);
            if let Some(at) = differs {
                let (op, our, their) = (&story.ops[at], &ours[at], &theirs.lines[at]);
                if story.realigned && matches!(op, Op::Enddef(Some(_))) && their == "-51" {
                    // It laid out data in a way that its own check refuses.
                    died += 1;
                    continue;
                }
                panic!(
                    "seed {seed}, call {at}, {op}: the reference gives {their}, ferrocdf {our}\n{}",
                    tell(story, at)
                );
            }
            if theirs.died {
                died += 1;
                assert!(
                    story.realigned,
                    "seed {seed}: the reference died\n{}",
                    tell(story, theirs.lines.len())
                );
                continue;
            }
            assert_eq!(ours.len(), theirs.lines.len());
            let bytes = |who| std::fs::read(file(who, seed)).unwrap();
            match compare::files(&bytes("their"), &bytes("our"), story) {
                Ok(None) => elsewhere += 1,
                Ok(Some(difference)) => {
                    identical += u64::from(difference.total() == 0);
                    total.undefined += difference.undefined;
                    total.padding += difference.padding;
                    total.gaps += difference.gaps;
                    total.tail += difference.tail;
                }
                Err(why) => {
                    let places = ["their", "our"].map(|who| compare::places(&bytes(who)));
                    panic!("seed {seed}: {why}\n{}{}", tell(story, story.ops.len()), places.concat())
                }
            }
            for path in [file("their", seed), path] {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
    println!(
        "{SEQUENCES} sequences: {identical} files identical to the last byte, {elsewhere} with data elsewhere"
    );
    println!("the reference failed on {died}");
    println!("bytes that differ and may: {total:?}");
    assert!(identical * 10 > SEQUENCES * 7, "most files are identical to the last byte");
    assert!(died * 20 < SEQUENCES, "the reference survives nearly all");
}

/// The script up to a call.
fn tell(story: &Story, to: usize) -> String {
    story.ops.iter().take(to + 1).enumerate().map(|(at, op)| format!("{at} {op}\n")).collect()
}
