//! Damaged HDF4 files: each ends with an error or with values, within 2 s and 200 MB, without a panic.
//!
//! Files of libhdf4 are cut and changed, mostly in their structures: data descriptors, headers of special elements, Vgroups and Vdatas. With
//! `FERROCDF_EVERY` there are twenty times as many.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use ferrocdf_compat::python::seed;
use ferrocdf_store::testing::Rng;

use crate::hdf4::libhdf4;
use crate::hostile;

/// Damaged files that one run reads.
const FILES: usize = 400;

/// The tag of an empty descriptor.
const NULL: u16 = 1;
/// Elements that are longer hold data.
const STRUCTURE: usize = 300;

/// A data descriptor: the place of its 12 bytes, and where its element lies.
#[derive(Clone, Copy)]
struct Descriptor {
    at: usize,
    tag: u16,
    offset: usize,
    len: usize,
}

fn big(bytes: &[u8], at: usize, width: usize) -> usize {
    bytes[at..at + width].iter().fold(0, |number, &byte| number << 8 | usize::from(byte))
}

/// The descriptors of a sound file.
fn descriptors(bytes: &[u8]) -> Vec<Descriptor> {
    let mut found = vec![];
    let mut block = 4;
    // libhdf4 may leave unused descriptors at the end of a file unwritten.
    while block != 0 && block + 6 <= bytes.len() {
        let count = big(bytes, block, 2).min((bytes.len() - block - 6) / 12);
        for number in 0..count {
            let at = block + 6 + 12 * number;
            let tag = big(bytes, at, 2) as u16;
            let (offset, len) = (big(bytes, at + 4, 4), big(bytes, at + 8, 4));
            if tag != NULL && offset.saturating_add(len) <= bytes.len() {
                found.push(Descriptor { at, tag, offset, len });
            }
        }
        block = big(bytes, block + 2, 4);
    }
    found
}

/// Numbers at which programs go wrong.
const NUMBERS: [u32; 12] =
    [0, 1, 2, 4, 0x7f, 0xff, 0x7fff, 0xffff, 0x10_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/// A sound file with some numbers changed, or with its end cut off.
fn damaged(sound: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = sound.to_vec();
    let known = descriptors(sound);
    let structures: Vec<&Descriptor> = known.iter().filter(|one| (1..STRUCTURE).contains(&one.len)).collect();
    for _ in 0..1 + rng.index(4) {
        let at = match rng.index(8) {
            0 => rng.index(bytes.len()),
            1 => 4 + rng.index(6),
            2 | 3 if !known.is_empty() => known[rng.index(known.len())].at + 2 * rng.index(6),
            _ if !structures.is_empty() => {
                let structure = structures[rng.index(structures.len())];
                structure.offset + rng.index(structure.len)
            }
            _ => rng.index(bytes.len()),
        };
        let width = [1, 2, 4][rng.index(3)];
        let number = match rng.index(3) {
            // Another element, or a place in the file: structures that meet, and cycles.
            0 if !known.is_empty() => known[rng.index(known.len())].offset as u32,
            1 if !known.is_empty() => big(sound, known[rng.index(known.len())].at + 2, 2) as u32,
            _ => NUMBERS[rng.index(NUMBERS.len())],
        };
        let number = number.to_be_bytes();
        for (byte, &new) in bytes.iter_mut().skip(at).zip(&number[4 - width..]) {
            *byte = new;
        }
    }
    if rng.index(6) == 0 {
        bytes.truncate(rng.index(bytes.len()));
    }
    bytes
}

/// Files that are made to harm, each from the first sound file that has the structure.
fn bombs(sound: &[(PathBuf, Vec<u8>)]) -> Vec<(String, Vec<u8>)> {
    let mut made = vec![];
    let mut bomb = |name: &str, part: &str, change: &dyn Fn(&mut Vec<u8>, &[Descriptor])| {
        let (_, bytes) = sound
            .iter()
            .find(|(path, _)| path.to_string_lossy().contains(part))
            .unwrap_or_else(|| panic!("no file {part}"));
        let mut bytes = bytes.clone();
        let known = descriptors(&bytes);
        change(&mut bytes, &known);
        made.push((name.to_string(), bytes));
    };
    let set = |bytes: &mut Vec<u8>, at: usize, number: u32| {
        bytes[at..at + 4].copy_from_slice(&number.to_be_bytes())
    };
    bomb("block_of_descriptors_that_follows_itself", "storage_plain", &|bytes, _| {
        set(bytes, 6, 4);
    });
    bomb("descriptors_without_end", "storage_plain", &|bytes, _| {
        bytes[4..6].copy_from_slice(&[0x7f, 0xff]);
    });
    for (tag, what) in [(701, "dimensions"), (1965, "vgroup"), (1962, "vdata"), (720, "group")] {
        for number in [0x7fff_ffff, 0xffff_ffff] {
            for offset in [0, 2, 4, 6] {
                bomb(
                    &format!("{what}_{number:x}_at_{offset}"),
                    "storage_chunked_deflate",
                    &|bytes, known| {
                        for one in known.iter().filter(|one| one.tag == tag && one.len >= offset + 4) {
                            set(bytes, one.offset + offset, number);
                        }
                    },
                );
            }
        }
    }
    // Headers of special elements: their tags have a bit of their own.
    for kind in [
        "linked",
        "external",
        "rle",
        "nbit",
        "skphuff",
        "deflate",
        "chunked_",
        "chunked_deflate",
        "chunked_nbit",
    ] {
        for offset in (0..40).step_by(2) {
            for number in [0, 0x7fff_ffff, 0xffff_ffff] {
                let name = format!("special_{kind}_{number:x}_at_{offset}");
                bomb(&name, &format!("storage_{kind}"), &|bytes, known| {
                    for one in known.iter().filter(|one| one.tag & 0x4000 != 0 && one.len >= offset + 4) {
                        set(bytes, one.offset + offset, number);
                    }
                });
            }
        }
    }
    made
}

/// Reads files, each in a process of its own, two at a time. Returns what is wrong.
fn read_all(folder: &Path, files: &[(String, Vec<u8>)]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = vec![];
        while let Some((name, bytes)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let path = folder.join(format!("{name}.hdf"));
            fs::write(&path, bytes).expect("a folder that can be written to");
            match hostile::read_apart(&path) {
                Ok(_) => fs::remove_file(&path).expect("just written"),
                Err(why) => wrong.push(format!("{name}: {why}")),
            }
        }
        wrong
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(work);
        let mine = work();
        [mine, other.join().expect("a thread that reads")].concat()
    })
}

#[test]
fn damaged_hdf4_files_end_in_errors() {
    let folder = tempfile::tempdir().expect("a folder");
    let seed = seed();
    let mut sound: Vec<(PathBuf, Vec<u8>)> = libhdf4()
        .write(folder.path(), seed % 1_000_000)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).expect("just written")))
        .collect();
    // Most of a long file is data.
    sound.retain(|(_, bytes)| bytes.len() < 60_000);
    let mut files = bombs(&sound);
    let mut rng = Rng::new(seed);
    let count = FILES * if std::env::var_os("FERROCDF_EVERY").is_some() { 20 } else { 1 };
    for number in 0..count {
        let (path, bytes) = &sound[rng.index(sound.len())];
        let stem = path.file_stem().expect("a file").to_string_lossy();
        files.push((format!("{number}_{stem}"), damaged(bytes, &mut rng)));
    }
    println!("{} damaged files, seed {seed}", files.len());
    let wrong = read_all(folder.path(), &files);
    if !wrong.is_empty() {
        // Those that went wrong are kept.
        println!("the files are in {}", folder.keep().display());
    }
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong.join("\n"));
}
