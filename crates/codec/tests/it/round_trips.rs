//! Round trips of every filter, and decoding of damaged bytes.

use ferrocdf_codec::{Chain, Codecs, Step};

use crate::help::{Random, Steps, data, step};

/// Chains of every filter, with an element size of which the length of the data must be a multiple.
const CHAINS: &[(usize, &Steps)] = &[
    (1, &[(1, &[1])]),
    (1, &[(1, &[9])]),
    (1, &[(2, &[1])]),
    (1, &[(2, &[2])]),
    (1, &[(2, &[3])]),
    (1, &[(2, &[4])]),
    (1, &[(2, &[8])]),
    (1, &[(2, &[16])]),
    (1, &[(2, &[100])]),
    (1, &[(3, &[])]),
    (1, &[(2, &[4]), (1, &[4]), (3, &[])]),
    (1, &[(3, &[]), (2, &[4]), (1, &[4])]),
    (1, &[(4, &[32, 8, 8, 100])]),
    (1, &[(4, &[4, 4, 32, 128])]),
    (2, &[(4, &[32 | 16, 32, 16, 1000])]),
    (8, &[(4, &[32, 16, 64, 256])]),
    (1, &[(307, &[9])]),
    (1, &[(307, &[1])]),
    (1, &[(32000, &[])]),
    (4, &[(2, &[4]), (32000, &[4, 261, 0])]),
    (1, &[(32004, &[])]),
    (1, &[(32004, &[1000])]),
    (1, &[(32015, &[])]),
    (1, &[(32015, &[19])]),
    (1, &[(2, &[4]), (32015, &[1])]),
    (1, &[(32008, &[0, 4, 1, 0, 0])]),
    (64, &[(32008, &[0, 4, 64, 16, 2])]),
    (4, &[(32008, &[0, 4, 4, 0, 0])]),
    (8, &[(32008, &[0, 4, 8, 64, 2])]),
    (3, &[(32008, &[0, 4, 3, 0, 2])]),
    (2, &[(32008, &[0, 4, 2, 0, 3, 5])]),
    (1, &[(32001, &[2, 2, 1, 0, 5, 0, 0])]),
    (1, &[(32001, &[2, 2, 4, 0, 5, 1, 0])]),
    (1, &[(32001, &[2, 2, 4, 0, 5, 2, 1])]),
    (1, &[(32001, &[2, 2, 8, 0, 5, 1, 2])]),
    (1, &[(32001, &[2, 2, 2, 0, 5, 1, 3])]),
    (1, &[(32001, &[2, 2, 12, 0, 5, 2, 4])]),
    (1, &[(32001, &[2, 2, 3, 0, 5, 1, 5])]),
    (1, &[(32001, &[2, 2, 4, 0, 0, 1, 0])]),
    (1, &[(32001, &[2, 2, 200, 0, 9, 1, 1])]),
];

const SIZES: &[usize] = &[
    0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 128, 129, 255, 257, 511, 513, 1000,
    1023, 1025, 4095, 4096, 4097, 8191, 8193, 10_007, 65_537, 140_001,
];

#[test]
fn decoding_restores_the_encoded_data() {
    for &(element, steps) in CHAINS {
        let chain = chain_with_optional(steps);
        // High levels are slow.
        let slow = matches!(steps[0], (32015, &[19]) | (307, _) | (32001, &[.., 5]));
        for &size in SIZES.iter().filter(|&&size| !slow || size < 5000) {
            for kind in 0..4 {
                let decoded = data(kind, size * element);
                let mut encoded = vec![9; 3];
                let mask = chain.encode(&decoded, &mut encoded).unwrap();
                let mut back = vec![0x55; decoded.len()];
                let result = chain.decode(mask, &encoded, &mut back);
                assert_eq!(result, Ok(()), "{steps:?}, {size} elements, kind {kind}");
                assert!(back == decoded, "{steps:?}, {size} elements, kind {kind}");
            }
        }
    }
}

#[test]
fn damaged_bytes_do_not_panic_and_are_detected_if_their_length_changes() {
    let mut random = Random::new(7);
    for &(element, steps) in CHAINS {
        let chain = chain_with_optional(steps);
        let mut errors = 0;
        for round in 0..150 {
            let decoded = data(round, element * random.below(600));
            let mut encoded = Vec::new();
            let mask = chain.encode(&decoded, &mut encoded).unwrap();
            damage(&mut encoded, &mut random);
            let mut back = vec![0; decoded.len()];
            errors += usize::from(chain.decode(mask, &encoded, &mut back).is_err());
            let noise = data(0, random.below(100));
            let _ = chain.decode(0, &noise, &mut back);
        }
        // Half of the damage changes the length, which some filters detect only in part.
        assert!(errors > 15, "{steps:?}: {errors} errors in 150 rounds");
    }
}

/// Returns a chain in which szip and LZF are optional, because they do not encode data that they would enlarge.
fn chain_with_optional(steps: &Steps) -> Chain {
    Chain::new(
        steps
            .iter()
            .map(|&(id, params)| Step { optional: id == 4 || id == 32000, ..step(id, params) })
            .collect(),
        &Codecs::default(),
    )
}

/// Truncates the bytes, inserts a byte, or changes up to three bytes.
fn damage(encoded: &mut Vec<u8>, random: &mut Random) {
    match random.below(4) {
        0 => encoded.truncate(random.below(encoded.len())),
        1 => encoded.insert(random.below(encoded.len()), random.next() as u8),
        _ if encoded.is_empty() => {}
        _ => {
            for _ in 0..=random.below(3) {
                let at = random.below(encoded.len());
                encoded[at] = match random.below(3) {
                    0 => 0xff,
                    1 => encoded[at] ^ 1 << random.below(8),
                    _ => random.next() as u8,
                };
            }
        }
    }
}

#[test]
fn parts_of_chunks_are_those_of_the_whole() {
    let mut random = Random::new(9);
    for &(element, steps) in CHAINS {
        let chain = chain_with_optional(steps);
        for kind in 0..4 {
            // More than one block of Blosc.
            let decoded = data(kind, element * if kind == 1 { 300_000 / element } else { 1000 });
            let mut encoded = vec![];
            let mask = chain.encode(&decoded, &mut encoded).unwrap();
            for _ in 0..5 {
                let start = random.below(decoded.len());
                let end = start + random.below(decoded.len() - start + 1);
                let mut back = vec![0x55; decoded.len()];
                chain.decode_part(mask, &encoded, start..end, &mut back).unwrap();
                assert!(back[start..end] == decoded[start..end], "{steps:?}, kind {kind}, {start}..{end}");
            }
        }
    }
}

#[test]
fn blosc_and_zstd_leave_out_what_is_not_wanted() {
    let decoded = data(1, 1_000_000);
    let part = |steps: &Steps, wanted: std::ops::Range<usize>| {
        let chain = chain_with_optional(steps);
        let mut encoded = vec![];
        let mask = chain.encode(&decoded, &mut encoded).unwrap();
        let mut back = vec![0x55; decoded.len()];
        chain.decode_part(mask, &encoded, wanted.clone(), &mut back).unwrap();
        assert!(back[wanted.clone()] == decoded[wanted], "{steps:?}");
        back
    };
    let is_untouched = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0x55);
    const SHUFFLES: [&Steps; 3] = [
        &[(32001, &[2, 2, 4, 0, 5, 0, 1])],
        &[(32001, &[2, 2, 4, 0, 5, 1, 1])],
        &[(32001, &[2, 2, 4, 0, 5, 2, 1])],
    ];
    for steps in SHUFFLES {
        let back = part(steps, 400_000..400_100);
        assert!(is_untouched(&back[..200_000]) && is_untouched(&back[700_000..]), "{steps:?}");
    }
    assert!(is_untouched(&part(&[(32015, &[3])], 1000..1100)[1100..]));
    // A checksum covers all bytes.
    assert!(part(&[(32015, &[3, 1])], 1000..1100) == decoded);
    assert!(part(&[(32001, &[2, 2, 4, 0, 0, 1, 1])], 1000..1100)[1100..].iter().all(|&byte| byte == 0x55));
}
