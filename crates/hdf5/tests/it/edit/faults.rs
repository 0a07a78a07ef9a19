//! A commit in which requests fail, and a program that goes on: the file is in a committed state at any time, and the
//! commit succeeds as soon as requests do.

use std::sync::Arc;

use ferrocdf_bytes::Result;
use ferrocdf_hdf5::OpenOptions;
use ferrocdf_hdf5::edit::{Barrier, Editor, Profile};
use ferrocdf_store::testing::{Failing, Faults, Rng};
use ferrocdf_store::{BlobMut, MemoryBlob, WriteBehind};

use super::model::text_of;
use super::sequences::Pair;

/// A file in memory whose requests can fail, as an editor sees it and below that.
struct Disk {
    memory: Arc<MemoryBlob>,
    failing: Arc<Failing<Arc<MemoryBlob>>>,
    blob: Arc<dyn BlobMut>,
}

impl Disk {
    fn new(writes_behind: bool) -> Disk {
        let memory = Arc::new(MemoryBlob::default());
        let failing = Arc::new(Failing::never(memory.clone()));
        let blob: Arc<dyn BlobMut> = match writes_behind {
            true => Arc::new(WriteBehind::new(failing.clone())),
            false => failing.clone(),
        };
        Disk { memory, failing, blob }
    }
}

/// Commits, closes at times, and tries again until that goes well; between tries more is changed at times. The texts are
/// those that the file may have: that of the last commit, and those of all tries. How many tries failed.
fn commit(disk: &Disk, pair: &mut Pair, texts: &mut Vec<String>, rng: &mut Rng, faults: Faults) -> usize {
    let closes = rng.once_in(4);
    let mut failed = 0;
    disk.failing.arm(faults);
    loop {
        texts.push(pair.model.text());
        let done: Result<()> = if closes { pair.editor.close(0) } else { pair.editor.commit() };
        match done {
            Ok(()) => break,
            Err(error) => assert!(error.what.contains("the test's disk is full"), "{error}"),
        }
        failed += 1;
        let found = text_of(&disk.memory.to_bytes());
        match found {
            Ok(found) => assert!(texts.contains(&found), "{failed} tries: the file has another state"),
            // A new file that was never committed.
            Err(why) => assert!(texts[0].is_empty(), "{failed} tries: {why}"),
        }
        if rng.once_in(2) {
            disk.failing.arm(Faults::default());
            (0..rng.index(4)).for_each(|_| pair.change_but_contiguous(rng));
            disk.failing.arm(Faults { after: rng.below(faults.after + 1), ..faults });
        }
        if failed > 20 {
            disk.failing.arm(Faults::default());
        }
    }
    disk.failing.arm(Faults::default());
    let found = text_of(&disk.memory.to_bytes()).unwrap();
    assert_eq!(found, pair.model.text());
    *texts = vec![found];
    failed
}

/// Changes a file in several commits, of each of which some requests fail. How many tries failed.
fn story(seed: u64, writes_behind: bool) -> usize {
    let mut rng = Rng::new(seed);
    let disk = Disk::new(writes_behind);
    let profile = rng.pick(&[Profile::Compatible, Profile::Modern]);
    let mut pair = Pair::create(disk.blob.clone(), profile);
    let mut texts = vec![String::new()];
    let mut failed = 0;
    for _ in 0..10 {
        for _ in 0..1 + rng.index(6) {
            pair.change_but_contiguous(&mut rng);
        }
        let faults =
            Faults { after: rng.below(16), times: rng.pick(&[1, 1, 2, 10, u64::MAX]), torn: rng.once_in(2) };
        failed += commit(&disk, &mut pair, &mut texts, &mut rng, faults);
        if rng.once_in(4) {
            pair.reopen();
        }
    }
    // What others open.
    let bytes = disk.memory.to_bytes();
    let editor = Editor::open(Arc::new(MemoryBlob::new(bytes)), OpenOptions::default(), Barrier::Sync);
    assert_eq!(super::model::text(editor.unwrap().file()), pair.model.text());
    failed
}

#[test]
fn a_commit_that_fails_can_be_tried_again_and_loses_nothing() {
    let failed: usize = (0..300).map(|seed| story(seed, false) + story(seed, true)).sum();
    assert!(failed > 5_000, "only {failed} tries failed");
}
