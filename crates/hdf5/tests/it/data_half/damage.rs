//! Files that are cut short or damaged: an error or data, and no more work than the bytes are worth.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ferrocdf_bytes::lookup3;
use ferrocdf_hdf5::{Dataset, File, LinkTarget};
use ferrocdf_store::testing::Rng;

use super::{bytes, numbers, open_bytes, read_bytes, read_values};

/// Files of the folder, and the random changes that each can take in the time of a test.
const FILES: [(&str, u64); 10] = [
    ("pages.h5", 200),
    ("chunks_old.h5", 60),
    ("chunks_new.h5", 60),
    ("chunks_v5.h5", 60),
    ("edges.h5", 2000),
    ("layouts.h5", 2000),
    ("types.h5", 1000),
    ("virtual_old.h5", 1000),
    ("virtual_new.h5", 1000),
    ("resized_new.h5", 500),
];

/// Elements that are read of a dataset; what claims more is not.
const MOST: u64 = 1 << 16;

/// Reads every dataset in every way. The numbers of those that were read, and of those that were not.
fn read_everything(bytes: Vec<u8>) -> (usize, usize) {
    let (mut good, mut bad) = (0, 0);
    let Ok(file) = open_bytes(bytes) else { return (0, 1) };
    let Ok(links) = file.root().and_then(|root| root.links()) else { return (0, 1) };
    for link in links.list {
        let LinkTarget::Hard(at) = link.target else { continue };
        match read(&file, at) {
            true => good += 1,
            false => bad += 1,
        }
    }
    (good, bad)
}

fn read(file: &File, at: ferrocdf_hdf5::Address) -> bool {
    let Ok(dataset) = file.object(at).and_then(|object| Dataset::open(&object)) else { return false };
    let Ok(shape) = dataset.shape() else { return false };
    let elements = shape.iter().try_fold(1u64, |product, &len| product.checked_mul(len));
    let size = u64::from(dataset.datatype().size());
    if elements.and_then(|elements| elements.checked_mul(size)).is_none_or(|bytes| bytes > MOST) {
        return false;
    }
    let one = dataset.array().is_ok_and(|placed| {
        let read = numbers(&placed);
        // What is read has the shape that is said.
        assert!(read.as_ref().map_or(true, |list| Some(list.len() as u64) == elements));
        read.is_ok()
    });
    let two = read_bytes(&dataset).is_ok();
    let three = read_values(file, &dataset).is_ok();
    let four = dataset.storage_size().is_ok();
    (one || dataset.datatype().number().is_none()) && two && three && four
}

fn timed(name: &str, change: &str, bytes: Vec<u8>) -> (usize, usize) {
    let start = Instant::now();
    let result = read_everything(bytes);
    assert!(start.elapsed() < Duration::from_secs(5), "{name}, {change}: {:?}", start.elapsed());
    result
}

#[test]
fn random_changes() {
    for (name, changes) in FILES {
        let whole = bytes(name);
        let (all, _) = timed(name, "whole", whole.clone());
        assert!(all >= 2, "{name}: {all}");
        let mut rng = Rng::new(7);
        let mut found = 0;
        for change in 0..changes {
            let mut changed = whole.clone();
            for _ in 0..=rng.below(3) {
                let at = rng.below(whole.len() as u64) as usize;
                changed[at] = match rng.below(3) {
                    0 => 0xff,
                    1 => rng.below(256) as u8,
                    _ => changed[at] ^ 1 << rng.below(8),
                };
            }
            let (_, bad) = timed(name, &format!("change {change}"), changed);
            found += usize::from(bad > 0);
        }
        assert!(found > 0, "{name}: no change was seen");
    }
}

#[test]
fn cut_short() {
    for (name, changes) in FILES {
        let whole = bytes(name);
        let (all, _) = read_everything(whole.clone());
        let step = (whole.len() as u64 / changes.min(50)).max(1) as usize;
        for end in (0..whole.len() - step).step_by(step) {
            let mut cut = whole[..end].to_vec();
            // The file says how long it is; zeros let it be opened.
            let (good, _) = timed(name, &format!("cut at {end}"), cut.clone());
            assert_eq!(good, 0, "{name} cut at {end}");
            cut.resize(whole.len(), 0);
            let (good, _) = timed(name, &format!("zeros from {end}"), cut);
            assert!(good <= all, "{name} zeros from {end}");
        }
    }
}

/// The structures of chunk indexes and virtual datasets that have checksums: where they begin and end.
fn structures(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for at in 0..bytes.len() - 4 {
        let name = &bytes[at..at + 4];
        if ![b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"BTHD", b"BTLF"]
            .iter()
            .any(|n| *n == name)
        {
            continue;
        }
        let last = (at + 4096).min(bytes.len() - 4);
        let is_sum = |&end: &usize| bytes[end..end + 4] == lookup3(&bytes[at..end], 0).to_le_bytes();
        found.extend((at + 8..=last).find(is_sum).map(|end| (at, end)));
    }
    found
}

#[test]
fn changes_behind_right_checksums() {
    for (name, least) in [("chunks_new.h5", 20), ("chunks_v5.h5", 20), ("pages.h5", 4)] {
        let whole = bytes(name);
        let structures = structures(&whole);
        assert!(structures.len() >= least, "{name}: {}", structures.len());
        let mut rng = Rng::new(11);
        let mut seen = 0;
        for change in 0..300 {
            let (start, end) = structures[rng.below(structures.len() as u64) as usize];
            let mut changed = whole.clone();
            let at = start + rng.below((end - start) as u64) as usize;
            changed[at] = if rng.below(2) == 0 { 0xff } else { rng.below(256) as u8 };
            let sum = lookup3(&changed[start..end], 0).to_le_bytes();
            changed[end..end + 4].copy_from_slice(&sum);
            let (_, bad) = timed(name, &format!("change {change} at byte {at}"), changed);
            seen += usize::from(bad > 0);
        }
        assert!(seen > 50, "{name}: {seen}");
    }
}

#[test]
fn sources_are_shared_by_threads() {
    let file = open_bytes(bytes("virtual_new.h5")).unwrap();
    let file = Arc::new(file);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let file = Arc::clone(&file);
            scope.spawn(move || assert_eq!(super::read_numbers(&file, "grown"), super::expected(&[6, 3])));
        }
    });
}
