//! Every way a commit can be cut off leaves the state before or the one after.

use std::collections::HashSet;
use std::sync::Arc;

use ferrocdf_hdf5::edit::{Barrier, Editor, GroupOptions, Profile};
use ferrocdf_hdf5::{File, Link, LinkTarget, OpenOptions};
use ferrocdf_store::testing::{Event, Log, Recording, Rng};
use ferrocdf_store::{Blob, MemoryBlob};

use super::model::{text, text_of};
use super::sequences::Pair;
use super::{attribute, options};

/// Bytes that a disk writes whole at least.
const SECTOR: u64 = 64;

/// A log of changes with a mark behind each commit, and what the file says at each mark.
fn record(seed: u64, changes: usize) -> (Log, Vec<String>) {
    let mut rng = Rng::new(seed);
    let blob = Arc::new(Recording::new(MemoryBlob::default()));
    let profile = rng.pick(&[Profile::Compatible, Profile::Modern]);
    let mut pair = Pair::create(blob.clone(), profile);
    let mut texts = Vec::new();
    for _ in 0..changes {
        for _ in 0..1 + rng.index(6) {
            pair.change_but_contiguous(&mut rng);
        }
        pair.commit();
        if rng.once_in(3) {
            pair.editor.close(0).unwrap();
        }
        blob.mark();
        texts.push(pair.model.text());
        if rng.once_in(4) {
            pair.reopen();
        }
    }
    (Log { start: Vec::new(), events: blob.events(), sector: SECTOR }, texts)
}

/// The number of cuts that leave something else than a committed state.
fn wrong(log: &Log, texts: &[String], rng: &mut Rng) -> usize {
    let mut wrong = 0;
    log.cuts(rng, &mut |bytes, marks, _| {
        let before = marks.checked_sub(1).map(|mark| &texts[mark]);
        let found = std::panic::catch_unwind(|| text_of(bytes)).unwrap_or(Err("a panic".to_string()));
        let good = match (&found, before) {
            (Ok(found), Some(before)) => found == before || Some(found) == texts.get(marks),
            (Ok(found), None) => Some(found) == texts.first(),
            (Err(_), None) => true,
            (Err(_), Some(_)) => false,
        };
        wrong += usize::from(!good);
        if let (true, Ok(found)) = (good && is_one_of_four(bytes), found) {
            // It can be edited, too.
            let blob = Arc::new(MemoryBlob::new(bytes.to_vec()));
            let editor = Editor::open(blob, OpenOptions::default(), Barrier::Sync).unwrap();
            assert_eq!(text(editor.file()), found);
        }
    });
    wrong
}

/// True for some of all.
fn is_one_of_four(bytes: &[u8]) -> bool {
    ferrocdf_bytes::lookup3(bytes, 1).is_multiple_of(4)
}

#[test]
fn a_commit_that_is_cut_off_leaves_a_committed_state() {
    for seed in 0..12 {
        let (log, texts) = record(seed, 8);
        assert_eq!(wrong(&log, &texts, &mut Rng::new(seed)), 0, "seed {seed}");
    }
}

#[test]
fn the_test_can_fail() {
    // Without barriers everything may come in any order.
    let (log, texts) = record(1, 8);
    let events = log.events.iter().filter(|event| **event != Event::Barrier).cloned().collect();
    std::panic::set_hook(Box::new(|_| {}));
    let wrong = wrong(&Log { start: Vec::new(), events, sector: SECTOR }, &texts, &mut Rng::new(1));
    let _ = std::panic::take_hook();
    assert!(wrong > 0);
}

/// What every object of a file that hard links lead to has.
fn facts(bytes: &[u8]) -> Result<Vec<String>, String> {
    let file = File::open(Arc::new(MemoryBlob::new(bytes.to_vec()))).map_err(|error| error.to_string())?;
    let (mut facts, mut waiting) = (Vec::new(), vec![file.superblock().root]);
    let mut seen = HashSet::new();
    while let Some(at) = waiting.pop() {
        if seen.insert(at) {
            let object = file.object(at).map_err(|error| error.to_string())?;
            let links = object.links().map_err(|error| error.to_string())?.list;
            let attributes = object.attributes().map_err(|error| error.to_string())?.list;
            let hard = |link: &Link| match link.target {
                LinkTarget::Hard(at) => Some(at),
                _ => None,
            };
            waiting.extend(links.iter().filter_map(hard));
            facts.push(format!("{at} {links:?} {attributes:?}"));
        }
    }
    Ok(facts)
}

#[test]
fn files_of_others_are_changed_at_one_instant() {
    for name in ["old_small", "old_large", "tiny", "narrow_4", "user_block", "dense", "cache_image", "links"]
    {
        let path = format!("{}/tests/data/{name}.h5", env!("CARGO_MANIFEST_DIR"));
        let start = std::fs::read(path).unwrap();
        let before = facts(&start).unwrap();
        let blob = Arc::new(Recording::new(MemoryBlob::new(start.clone())));
        let mut editor = Editor::open(blob.clone(), OpenOptions::default(), Barrier::Sync).unwrap();
        let root = editor.root();
        for number in 0..3 {
            editor.set_attribute(root, attribute(&format!("added{number}"), &[number; 100])).unwrap();
        }
        editor.create_group(root, "added", GroupOptions::default()).unwrap();
        editor.commit().unwrap();
        let mut end = vec![0; blob.size().unwrap() as usize];
        blob.read_exact_at(0, &mut end).unwrap();
        let after = facts(&end).unwrap();
        assert_eq!(after.len(), before.len() + 1, "{name}");
        let log = Log { start, events: blob.events(), sector: SECTOR };
        let (mut old, mut new) = (0, 0);
        log.cuts(&mut Rng::new(1), &mut |bytes, _, events| {
            let found = facts(bytes).unwrap_or_else(|why| panic!("{name}, {events} events: {why}"));
            assert!(found == before || found == after, "{name}, {events} events");
            *(if found == before { &mut old } else { &mut new }) += 1;
        });
        assert!(old > 3 && new > 3, "{name}: {old} {new}");
    }
}

#[test]
fn attributes_rewritten_a_thousand_times_do_not_make_a_file_grow() {
    let blob = Arc::new(MemoryBlob::default());
    let mut editor = Editor::create(blob.clone(), &options(Profile::Compatible)).unwrap();
    let root = editor.root();
    let mut rng = Rng::new(9);
    for round in 0..1000 {
        for name in ["small", "other", "large"] {
            let longest = if name == "large" { 100_000 } else { 500 };
            let data = vec![round as u8; rng.index(longest)];
            editor.set_attribute(root, attribute(name, &data)).unwrap();
        }
        editor.commit().unwrap();
    }
    // What there is, and room for it twice: the last state and the one before.
    let size = blob.size().unwrap();
    assert!(size < 500_000, "{size} bytes");
}

#[test]
fn files_that_are_closed_and_opened_again_do_not_grow() {
    let blob = Arc::new(MemoryBlob::default());
    let mut rng = Rng::new(4);
    let mut sizes = Vec::new();
    Editor::create(blob.clone(), &options(Profile::Compatible)).unwrap().close(0).unwrap();
    for round in 0..600 {
        let mut editor = Editor::open(blob.clone(), OpenOptions::default(), Barrier::Sync).unwrap();
        let root = editor.root();
        for name in ["small", "other", "large"] {
            let longest = if name == "large" { 70_000 } else { 500 };
            let data = vec![round as u8; rng.index(longest)];
            editor.set_attribute(root, attribute(name, &data)).unwrap();
        }
        editor.close(0).unwrap();
        sizes.push(blob.size().unwrap());
    }
    // Some 20 MB were written.
    assert!(sizes.iter().all(|&size| size < 1_000_000), "{sizes:?}");
}
