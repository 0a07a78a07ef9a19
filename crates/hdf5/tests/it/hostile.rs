//! Files that are cut short or damaged: an error, or data, and never harm.

use std::sync::Arc;

use ferrocdf_bytes::{Result, lookup3};
use ferrocdf_hdf5::File;
use ferrocdf_store::MemoryBlob;
use ferrocdf_store::testing::{Counting, Rng};

use crate::sample::{bytes, everything, names, open};

/// All that is in a file of these bytes, if nothing in it is an error, with a bound on the work.
fn read(bytes: &[u8]) -> Result<String> {
    let blob = Arc::new(Counting::new(MemoryBlob::new(bytes.to_vec())));
    let file = File::open(blob.clone())?;
    let (text, errors) = everything(&file);
    let (reads, read) = blob.reads();
    // A sound file takes far less: at most 700 reads.
    assert!(reads < 20_000 && read < 1 << 24, "{reads} reads of {read} bytes");
    assert!(text.len() < 50 * bytes.len(), "{} bytes of text out of {}", text.len(), bytes.len());
    errors.into_iter().next().map_or(Ok(text), Err)
}

#[test]
fn cut_anywhere_it_is_said_to_be_truncated() {
    for name in names() {
        let whole = bytes(&name);
        for end in 0..whole.len() {
            let error = File::open(Arc::new(MemoryBlob::new(whole[..end].to_vec()))).unwrap_err();
            let says = error.what.contains("truncated") || error.what.contains("signature") || end < 2048;
            assert!(says, "{name} cut at {end}: {error}");
        }
    }
}

/// Makes a file say that it ends where it does.
fn set_end(bytes: &mut [u8]) {
    let base = if bytes.starts_with(b"\x89HDF") { 0 } else { 1024 };
    let old = bytes[base + 8] < 2;
    let width = usize::from(bytes[base + if old { 13 } else { 9 }]);
    let at = base + if old { 24 } else { 12 } + 2 * width;
    let end = (bytes.len() as u64).to_le_bytes();
    bytes[at..at + width].copy_from_slice(&end[..width]);
    if !old {
        let checksum = at + 2 * width;
        let computed = lookup3(&bytes[base..checksum], 0).to_le_bytes();
        bytes[checksum..checksum + 4].copy_from_slice(&computed);
    }
}

#[test]
fn cut_anywhere_and_not_said_so_it_does_no_harm() {
    for name in names() {
        let whole = bytes(&name);
        let sound = read(&whole).unwrap();
        for end in (1200..whole.len()).step_by(if whole.len() > 10_000 { 17 } else { 3 }) {
            let mut cut = whole[..end].to_vec();
            set_end(&mut cut);
            // What is left may be all that is read.
            if let Ok(text) = read(&cut) {
                assert_eq!(text, sound, "{name} cut at {end}");
            }
        }
    }
}

/// Whether a damaged byte of what is read is always noticed: all metadata has checksums.
fn is_checked(name: &str) -> bool {
    // Symbol tables, version 1 headers, and objects outside the blocks of a heap have none.
    let unchecked = [
        "old_",
        "narrow_",
        "user_block",
        "earliest",
        "shared_tree",
        "links",
        "huge_attributes",
        "filtered_heap_deep",
    ];
    !unchecked.iter().any(|part| name.contains(part))
}

#[test]
fn damaged_bytes_do_no_harm() {
    let names = names();
    std::thread::scope(|scope| {
        for part in names.chunks(names.len().div_ceil(2)) {
            scope.spawn(move || part.iter().for_each(|name| flip(name)));
        }
    });
}

fn flip(name: &str) {
    let whole = bytes(name);
    let sound = read(&whole).unwrap();
    let mut rng = Rng::new(whole.len() as u64);
    for _ in 0..2000 {
        let at = rng.index(whole.len());
        let mut damaged = whole.clone();
        damaged[at] ^= 1 + rng.below(255) as u8;
        match read(&damaged) {
            Err(error) => assert!(!error.what.is_empty(), "{name}, byte {at}"),
            Ok(text) if is_checked(name) => assert_eq!(text, sound, "{name}, byte {at}"),
            Ok(_) => {}
        }
    }
}

#[test]
fn wrong_checksums_say_where() {
    let whole = bytes("compact.h5");
    let root = open("compact.h5").superblock().root;
    let fails = |byte: usize, place: &str| {
        let mut damaged = whole.clone();
        damaged[byte] ^= 1;
        let file = File::open(Arc::new(MemoryBlob::new(damaged)));
        let error = file.and_then(|file| file.root()).unwrap_err();
        assert!(error.what.contains(&format!("{place}: wrong checksum")), "{error}");
    };
    // The flags of the file, which nobody asks for.
    fails(11, "superblock at 0x0");
    fails(root.0 as usize + 20, &format!("chunk 0 at {root}"));
}

/// Structures with a checksum: where each starts, and where its checksum is.
fn checked_structures(bytes: &[u8]) -> Vec<(usize, usize)> {
    const SIGNATURES: [&[u8; 4]; 9] =
        [b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHIB", b"SMTB", b"MDCI"];
    let starts = (0..bytes.len()).filter(|&at| SIGNATURES.iter().any(|s| bytes[at..].starts_with(*s)));
    let checksum = |start: usize| {
        let ends = (start + 8..bytes.len().saturating_sub(3).min(start + 1500)).map(|end| (start, end));
        ends.into_iter()
            .find(|&(start, end)| lookup3(&bytes[start..end], 0).to_le_bytes() == bytes[end..end + 4])
    };
    starts.filter_map(checksum).collect()
}

#[test]
fn damaged_bytes_with_a_right_checksum_do_no_harm() {
    for name in names() {
        let whole = bytes(&name);
        let structures = checked_structures(&whole);
        let mut rng = Rng::new(whole.len() as u64);
        for &(start, end) in structures.iter().take(40) {
            for _ in 0..80 {
                let mut damaged = whole.clone();
                for _ in 0..=rng.below(2) {
                    let value = rng.pick(&[0, 1, 2, 0x7f, 0x80, 0xfe, 0xff, rng.clone().number() as u8]);
                    damaged[start + 4 + rng.index(end - start - 4)] = value;
                }
                let checksum = lookup3(&damaged[start..end], 0).to_le_bytes();
                damaged[end..end + 4].copy_from_slice(&checksum);
                if let Err(error) = read(&damaged) {
                    assert!(!error.what.is_empty(), "{name}, structure at {start}");
                }
            }
        }
        let checked = structures.len();
        assert!(!is_checked(&name) || checked > 1, "{name}: {checked} structures with checksums");
    }
}
