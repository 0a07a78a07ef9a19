//! New inputs from old ones.
//!
//! HDF5 structures have checksums (lookup3), behind which damage goes no further. [`repaired`] sets them right: in a seed,
//! every checksum that is right is found; in a mutation that moved nothing, it is computed again.

use ferrocdf_bytes::lookup3;
use ferrocdf_store::testing::Rng;

/// A number below `end`; 0 if that is 0.
fn below(rng: &mut Rng, end: usize) -> usize {
    if end == 0 { 0 } else { rng.index(end) }
}

/// Numbers at which programs go wrong.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    3,
    4,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    u64::MAX,
];

/// No input is longer.
const LONGEST: usize = 1 << 16;

/// One of the seeds with a few changes.
pub fn mutate(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = seeds[below(rng, seeds.len())].clone();
    for _ in 0..1 + below(rng, 6) {
        change(&mut bytes, seeds, rng);
    }
    bytes.truncate(LONGEST);
    bytes
}

/// A structure of a seed: where it begins, and where its checksum is.
pub type Checked = (usize, usize);

/// What structures with checksums begin with.
const SIGNATURES: [&[u8; 4]; 19] = [
    b"\x89HDF", b"OHDR", b"OCHK", b"BTHD", b"BTIN", b"BTLF", b"FRHP", b"FHIB", b"FHDB", b"SMTB", b"SMLI",
    b"MDCI", b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"FSHD",
];

/// No checked structure of a seed is longer.
const STRUCTURE: usize = 4096;

/// The structures of a seed.
pub fn structures(seed: &[u8]) -> Vec<Checked> {
    let mut found = Vec::new();
    for start in 0..seed.len().saturating_sub(12) {
        if SIGNATURES.iter().any(|name| seed[start..].starts_with(*name)) {
            let last = (start + STRUCTURE).min(seed.len() - 4);
            let right = |&end: &usize| seed[end..end + 4] == lookup3(&seed[start..end], 0).to_le_bytes();
            found.extend((start + 8..=last).find(right).map(|end| (start, end)));
        }
    }
    found
}

/// A seed with a few numbers changed, half of them in structures whose checksums are right again.
pub fn repaired(seeds: &[Vec<u8>], structures: &[Vec<Checked>], rng: &mut Rng) -> Vec<u8> {
    let which = below(rng, seeds.len());
    let (mut bytes, structures) = (seeds[which].clone(), &structures[which]);
    for _ in 0..1 + below(rng, 4) {
        let within =
            if structures.is_empty() { (0, bytes.len()) } else { structures[below(rng, structures.len())] };
        let (from, to) = if below(rng, 2) == 0 { within } else { (0, bytes.len()) };
        let at = from + below(rng, to - from);
        let width = [1, 1, 2, 4, 8][below(rng, 5)];
        let number = match below(rng, 3) {
            0 => rng.number(),
            1 => rng.below(bytes.len() as u64),
            _ => NUMBERS[below(rng, NUMBERS.len())],
        };
        let place = bytes[at..].iter_mut().take(width);
        place.zip(number.to_le_bytes()).for_each(|(place, byte)| *place = byte);
    }
    // Those within others come later and must be right first.
    for &(start, end) in structures.iter().rev() {
        let checksum = lookup3(&bytes[start..end], 0).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&checksum);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Rng) {
    let len = bytes.len();
    let at = below(rng, len);
    match below(rng, 9) {
        0 if len > 0 => bytes[at] ^= 1 << below(rng, 8),
        1 if len > 0 => bytes[at] = rng.number() as u8,
        2 => bytes.truncate(at),
        // A number of 4 or 8 bytes, mostly where such a number may stand.
        3..=5 => {
            let width = if below(rng, 2) == 0 { 4 } else { 8 };
            let at = if below(rng, 4) == 0 { at } else { at & !3 };
            let number =
                NUMBERS[below(rng, NUMBERS.len())].wrapping_add(below(rng, 3) as u64).wrapping_sub(1);
            if let Some(place) = bytes.get_mut(at..at + width) {
                match below(rng, 2) {
                    0 => place.copy_from_slice(&number.to_be_bytes()[8 - width..]),
                    _ => place.copy_from_slice(&number.to_le_bytes()[..width]),
                }
            }
        }
        6 => {
            let end = (at + below(rng, 64)).min(len);
            bytes.drain(at..end);
        }
        // A part of this or another input, inserted or written over.
        7 => {
            let other = &seeds[below(rng, seeds.len())];
            let from = below(rng, other.len());
            let part = other[from..(from + below(rng, 64)).min(other.len())].to_vec();
            bytes.splice(at..at, part);
        }
        _ => {
            let other = &seeds[below(rng, seeds.len())];
            let from = below(rng, other.len());
            for (to, byte) in bytes[at..].iter_mut().zip(&other[from..]).take(1 + below(rng, 64)) {
                *to = *byte;
            }
        }
    }
}

/// A number for the name of a saved input.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
