//! Every way a commit can be cut off leaves the state before or the one after.

use std::sync::Arc;

use ferrocdf_hdf5::OpenOptions;
use ferrocdf_hdf5::edit::{Barrier, Editor, Profile};
use ferrocdf_store::MemoryBlob;
use ferrocdf_store::testing::{Event, Failing, Log, Recording, Rng};

use super::model::{text, text_of};
use super::sequences::Pair;

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
        blob.mark();
        texts.push(pair.model.text());
        if rng.once_in(4) {
            pair.reopen();
        }
    }
    (Log { start: Vec::new(), events: blob.events() }, texts)
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
        if good && found.is_ok() && rng_is(bytes) {
            // It can be edited, too.
            let blob = Arc::new(MemoryBlob::new(bytes.to_vec()));
            let editor = Editor::open(blob, OpenOptions::default(), Barrier::Sync).unwrap();
            assert_eq!(text(editor.file()), found.unwrap());
        }
    });
    wrong
}

/// Some of all.
fn rng_is(bytes: &[u8]) -> bool {
    ferrocdf_bytes::lookup3(bytes, 1) % 4 == 0
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
    let wrong = wrong(&Log { start: Vec::new(), events }, &texts, &mut Rng::new(1));
    let _ = std::panic::take_hook();
    assert!(wrong > 0);
}

#[test]
fn a_full_disk_leaves_a_committed_state() {
    let mut failed = 0;
    for writes in 0..120 {
        let inner = Arc::new(MemoryBlob::default());
        let blob = Arc::new(Failing::after(inner.clone(), writes));
        let mut rng = Rng::new(writes);
        let mut pair = Pair::create(blob, Profile::Compatible);
        let mut before = None;
        for _ in 0..10 {
            // Writes of elements and of the heap may fail, too.
            let changes = || (0..3).for_each(|_| pair.change_but_contiguous(&mut rng));
            let changed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(changes)).is_ok();
            if changed && pair.editor.commit().is_ok() {
                before = Some(pair.model.text());
                continue;
            }
            failed += 1;
            if changed {
                assert!(pair.editor.commit().is_err());
            }
            let found = text_of(&inner.to_bytes());
            match before {
                Some(before) => {
                    assert!([before, pair.model.text()].contains(&found.unwrap()), "{writes} writes")
                }
                None => assert!(found.is_err() || found.unwrap() == pair.model.text()),
            }
            break;
        }
    }
    assert!(failed > 50);
}
