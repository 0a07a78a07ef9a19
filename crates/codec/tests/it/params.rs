//! Tests of valid, invalid and random parameters of each filter.

use ferrocdf_bytes::Code;

use crate::help::{Random, chain, data};

/// Scale-offset parameters for 50 signed integers of 4 bytes.
const SCALE_OFFSET: [u32; 20] = [2, 0, 50, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Returns [`SCALE_OFFSET`] with some values changed.
fn scale_offset(changes: &[(usize, u32)]) -> [u32; 20] {
    let mut params = SCALE_OFFSET;
    changes.iter().for_each(|&(at, value)| params[at] = value);
    params
}

/// Encodes and decodes data with these parameters.
fn round_trip(id: u32, params: &[u32], decoded: &[u8]) -> Vec<u8> {
    let chain = chain(&[(id, params)]);
    let mut encoded = Vec::new();
    assert_eq!(chain.encode(decoded, &mut encoded), Ok(0), "{id} {params:?}");
    let mut back = vec![0x55; decoded.len()];
    assert_eq!(chain.decode(0, &encoded, &mut back), Ok(()), "{id} {params:?}");
    back
}

#[test]
fn szip_round_trips_pixels_of_every_width() {
    for bits in (1..=24).chain([32, 64]) {
        let size = match bits {
            64 => 8,
            17.. => 4,
            9.. => 2,
            _ => 1,
        };
        for options in [4, 4 | 16, 32, 32 | 16, 32 | 8 | 128 | 1] {
            for (block, scanline) in [(2, 5), (8, 64), (8, 61), (32, 4000), (16, 16)] {
                let mut random = Random::new(bits.into());
                // Small steps, which can be compressed, and a random step after each 90 pixels.
                let mut pixel = 0u64;
                let decoded: Vec<u8> = (0..700)
                    .flat_map(|at| {
                        let step = if at % 90 == 0 { random.next() } else { random.next() % 3 };
                        pixel = pixel.wrapping_add(step) & (u64::MAX >> (64 - bits));
                        let bytes = pixel.to_le_bytes();
                        let mut bytes = bytes[..size].to_vec();
                        if options & 16 != 0 {
                            bytes.reverse();
                        }
                        bytes
                    })
                    .collect();
                let params = [options, block, bits, scanline];
                let mut encoded = Vec::new();
                let chain = chain(&[(4, &params)]);
                match chain.encode(&decoded, &mut encoded) {
                    Ok(_) => assert!(round_trip(4, &params, &decoded) == decoded, "{params:?}"),
                    // Random pixels of few bits cannot be compressed.
                    Err(error) => assert!(error.what.contains("does not apply"), "{params:?}: {error}"),
                }
            }
        }
    }
}

/// Pixels of 32 and 64 bits are coded as planes of bytes.
#[test]
fn szip_round_trips_large_unsigned_pixels() {
    for (bits, size) in [(32, 4), (64, 8)] {
        let mut random = Random::new(9);
        let decoded: Vec<u8> = (0..1000)
            .flat_map(|_| {
                let top = u64::MAX - random.next() % 200;
                top.to_le_bytes().into_iter().skip(8 - size).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(round_trip(4, &[32, 8, bits, 256], &decoded), decoded);
    }
}

#[test]
fn n_bit_keeps_the_significant_bits_of_every_type() {
    // A compound of a big-endian number of 5 bits at bit offset 3, three opaque bytes, an array of numbers of 12 bits, and a
    // number of 79 bits in 10 bytes.
    let tree = [3, 30, 4, 0, 1, 2, 1, 5, 3, 4, 4, 3, 8, 2, 8, 1, 4, 0, 12, 4, 18, 1, 10, 0, 79, 1];
    let mut params = vec![tree.len() as u32 + 3, 0, 20];
    params.extend_from_slice(&tree);
    let decoded = data(0, 600);
    let back = round_trip(5, &params, &decoded);
    for (actual, original) in back.chunks(30).zip(decoded.chunks(30)) {
        let mut expected = [0; 30];
        expected[1] = original[1] & 0b1111_1000;
        expected[4..7].copy_from_slice(&original[4..7]);
        for at in [8, 12] {
            (expected[at], expected[at + 1]) = (original[at] & 0xf0, original[at + 1]);
        }
        expected[18..28].copy_from_slice(&original[18..28]);
        expected[18] &= 0xfe;
        assert_eq!(actual, expected);
    }
    // The flag for "not compressed".
    assert_eq!(round_trip(5, &[8, 1, 20, 1, 4, 0, 3, 0], &decoded), decoded);
}

#[test]
fn scale_offset_keeps_integers_and_rounds_floats() {
    for (size, sign, order) in [(1, 0, 0), (2, 1, 1), (4, 0, 1), (4, 1, 0), (8, 1, 1), (8, 0, 0)] {
        for fill in [0, 1] {
            for kind in 0..4 {
                let decoded = data(kind, 50 * size as usize);
                let params = scale_offset(&[(4, size), (5, sign), (6, order), (7, fill), (8, 1000)]);
                assert_eq!(round_trip(6, &params, &decoded), decoded, "{params:?}");
            }
        }
    }
    let numbers: Vec<f64> = (0..50).map(|at| f64::from(at) * 0.37 - 5.0).collect();
    let decoded: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let back = round_trip(6, &scale_offset(&[(0, 0), (1, 2), (3, 1), (4, 8), (6, 1)]), &decoded);
    for (bytes, number) in back.as_chunks::<8>().0.iter().zip(&numbers) {
        assert!((f64::from_be_bytes(*bytes) - number).abs() <= 0.005 + 1e-9);
    }
    // Data with NaN cannot be scaled and keep all their bits.
    let decoded: Vec<u8> =
        (0..50).flat_map(|at| if at == 7 { f64::NAN } else { 1.5 }.to_le_bytes()).collect();
    assert_eq!(round_trip(6, &scale_offset(&[(0, 0), (1, 2), (3, 1), (4, 8)]), &decoded), decoded);
}

#[test]
fn invalid_parameters_are_rejected() {
    let deep: Vec<u32> = [200, 0, 1].into_iter().chain([2, 4].into_iter().cycle().take(197)).collect();
    let invalid: &[(u32, &[u32])] = &[
        (1, &[10]),
        (2, &[]),
        (4, &[32, 8, 32]),
        (4, &[32, 7, 32, 64]),
        (4, &[32, 8, 25, 64]),
        (4, &[32, 8, 8, 0]),
        (5, &[]),
        (5, &[7, 0, 1, 1, 4, 0, 8, 0]),
        (5, &[8, 0, 1, 1, 4, 0, 30, 3]),
        (5, &[8, 0, 1, 1, 4, 0, 0, 0]),
        (5, &[7, 0, 1, 3, 4, u32::MAX, 0]),
        (5, &[5, 0, 1, 9, 4]),
        (5, &deep),
        (6, &SCALE_OFFSET[..19]),
        (6, &scale_offset(&[(0, 1), (3, 1)])),
        (6, &scale_offset(&[(1, 33)])),
        (6, &scale_offset(&[(4, 3)])),
        (307, &[10]),
        (32001, &[2, 2, 4, 0, 5, 1, 6]),
        (32001, &[2, 2, 4, 0, 10, 1, 0]),
        (32004, &[u32::MAX]),
        (32008, &[0, 4, 0]),
        (32008, &[0, 4, 4, 12]),
        (32015, &[23]),
    ];
    for &(id, params) in invalid {
        let error = chain(&[(id, params)]).check(0).unwrap_err();
        assert_eq!(error.code, Code::EFILTER, "{id} {params:?}");
        assert!(error.what.contains(&id.to_string()), "{error}");
    }
}

#[test]
fn bitshuffle_decodes_an_undefined_compressor_as_none_but_does_not_encode_it() {
    let decoded = data(1, 4 * 1000);
    let mut encoded = Vec::new();
    chain(&[(32008, &[0, 4, 4, 0, 0])]).encode(&decoded, &mut encoded).unwrap();
    let undefined = chain(&[(32008, &[0, 4, 4, 0, 6])]);
    let mut back = vec![0; decoded.len()];
    assert_eq!((undefined.decode(0, &encoded, &mut back), back), (Ok(()), decoded.clone()));
    assert_eq!(undefined.check_encode().unwrap_err().code, Code::EFILTER);
    let error = undefined.encode(&decoded, &mut encoded).unwrap_err();
    assert!(error.code == Code::EFILTER && error.what.contains("compressor 6 is undefined"), "{error}");
}

#[test]
fn random_parameters_and_bytes_do_not_panic() {
    let mut random = Random::new(3);
    for id in [1, 2, 3, 4, 5, 6, 307, 32000, 32001, 32004, 32008, 32015] {
        let mut errors = 0;
        for _ in 0..300 {
            let params: Vec<u32> = (0..random.below(24))
                .map(|_| match random.below(4) {
                    0 => random.next() as u32,
                    1 => random.below(70) as u32,
                    _ => random.below(5) as u32,
                })
                .collect();
            let chain = chain(&[(id, &params)]);
            let bytes = data(random.below(4), random.below(200));
            let mut back = vec![0; random.below(300)];
            errors += usize::from(chain.decode(0, &bytes, &mut back).is_err());
            let mut encoded = Vec::new();
            let _ = chain.encode(&bytes, &mut encoded);
        }
        assert!(errors > 0, "filter {id} accepts everything");
    }
}
